#!/bin/bash
# datapath/on_card.sh PROGRAM [ARGS] - run it on two ports of the model with a cable between them
#
# In the network namespace that tests/run made. The kernel says nothing there by itself. There are
# huge pages for the program, and for the copy that the model takes.
set -eu
: "${MODEL_BIN:?the folder of cxrun; tests/run sets it}"

need=16
pages=/proc/sys/vm/nr_hugepages
free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages)
if [ "$free" -lt $need ]; then
	before=$(cat $pages)
	echo $((before + need - free)) >$pages
	trap 'echo $before >$pages' EXIT
fi

sysctl -qw net.ipv6.conf.default.disable_ipv6=1
preload=()
asan=$(ldd "$1" | awk '/libasan/ { print $3 }')
[ -z "$asan" ] || preload=(--preload "$asan")
"$MODEL_BIN/cxrun" "${preload[@]}" --port eth0=pair:eth1,mtu=9000 --port eth1=pair:eth0,mtu=9000 \
	-- "$@"
