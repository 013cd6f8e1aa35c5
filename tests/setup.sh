#!/bin/sh
# tests/setup.sh [demo|long] - what a fresh Debian 12 or newer needs to build and test this project
#
# Installs packages with apt as the machine has it configured, and nothing else; `demo`
# leaves out what only the tests need, `long` adds what only tests/run --long does. Does nothing
# when all are there. Run as root.
set -eu

# build, and run the demo
packages='gcc libc6-dev cmake ninja-build pkg-config libcmocka-dev libpcap-dev libibverbs-dev
	libnuma-dev liburcu-dev libmnl-dev libsystemd-dev libinih-dev libjansson-dev
	libmicrohttpd-dev ibverbs-providers rdma-core
	bash iproute2 iputils-ping procps util-linux mount coreutils python3-minimal'
# compile and check in other ways
checks='clang clang-format clang-tidy cppcheck shellcheck git valgrind libc6-dev-arm64-cross'
# the programs of others that judge the model, and l3fwd's source with what it needs
judges='ibverbs-utils perftest dpdk libdpdk-dev dpdk-doc make'
# what the test scripts call
tools='ethtool python3 tcpdump zsh iperf3 prometheus tshark systemd dpkg-dev lintian mandoc man-db'
# what draws pictures: operations/screens.sh
pictures='fonts-dejavu-core python3-matplotlib python3-pil python3-pyte'
# names that carry a version: PREFIX of a package that is installed or can be
versioned='libclang-rt-*-dev librte-net-mlx5-* librte-net-ring* librte-mempool-ring*'

installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Any installed package of that name pattern will do.
installed_like()
{
	dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$1" 2>/dev/null | grep -q ' installed$'
}

# The one that goes with this release: for clang's runtime that of its default compiler.
newest_like() # PATTERN
{
	case $1 in
	libclang-rt-*)
		echo "libclang-rt-$(apt-cache depends clang |
			sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')-dev"
		;;
	*)
		apt-cache pkgnames "${1%%\**}" | sort -V | tail -n 1
		;;
	esac
}

[ "${1:-}" = demo ] || packages="$packages $checks $judges $tools"
[ "${1:-}" != demo ] || versioned=
[ "${1:-}" != long ] || packages="$packages $pictures"

missing=
late=
for package in $packages; do
	installed "$package" || missing="$missing $package"
done
set -f
for pattern in $versioned; do
	installed_like "$pattern" || late="$late $pattern"
done
[ -n "$missing$late" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "tests/setup.sh: not root; install by hand:$missing$late" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
for pattern in $late; do
	missing="$missing $(newest_like "$pattern")"
done
echo "setup: installing$missing"
# shellcheck disable=SC2086 # one word a package
apt-get -q -y --no-install-recommends install $missing
