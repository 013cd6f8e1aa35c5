#!/bin/bash
# judges/lib/build_l3fwd.sh DIR - DPDK's l3fwd from Debian's example source, as it is
set -eu
dir=$1
examples=/usr/share/dpdk/examples

if [ -x "$dir/l3fwd/build/l3fwd" ] &&
	[ "$dir/l3fwd/build/l3fwd" -nt "$examples/l3fwd/main.c" ]; then
	exit 0
fi
rm -rf "$dir"
mkdir -p "$dir"
cp -r "$examples/l3fwd" "$examples/common" "$dir/"
make -C "$dir/l3fwd" shared
