#!/bin/sh
# tests/setup.sh - what a fresh Debian 12 needs to build and test this project
#
# Installs packages with apt as the machine has it configured, and nothing else.
# Does nothing when all are there. Run as root.
set -eu

# compile and check
build='gcc libc6-dev clang libclang-rt-14-dev cmake ninja-build pkg-config
	libcmocka-dev libpcap-dev libibverbs-dev libnuma-dev liburcu-dev libmnl-dev
	libsystemd-dev libinih-dev libjansson-dev'
check='clang-format clang-tidy cppcheck shellcheck git'
# the programs of others that judge the model, and l3fwd's source with what it needs
judges='ibverbs-providers ibverbs-utils rdma-core perftest dpdk libdpdk-dev dpdk-doc
	librte-net-mlx5-23 librte-mempool-ring23'
# what the test scripts call
tools='bash iproute2 iputils-ping ethtool procps util-linux coreutils python3 tcpdump'

missing=
for package in $build $check $judges $tools; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "tests/setup.sh: not root; install by hand:$missing" >&2
	exit 1
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
# shellcheck disable=SC2086 # one word a package
apt-get -q -y --no-install-recommends install $missing
