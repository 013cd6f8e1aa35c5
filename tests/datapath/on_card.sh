#!/bin/bash
# datapath/on_card.sh PROGRAM [ARGS] - run it on two ports of the model with a cable between them
#
# In the network namespace that tests/run made. The kernel says nothing there by itself.
set -eu
: "${MODEL_BIN:?the folder of cxrun; tests/run sets it}"

sysctl -qw net.ipv6.conf.default.disable_ipv6=1
preload=()
if ldd "$1" | grep -q libasan; then
	preload=(--preload "$(ldd "$1" | awk '/libasan/ { print $3 }')")
fi
exec "$MODEL_BIN/cxrun" "${preload[@]}" --port "eth0=pair:eth1,mtu=9000" \
	--port "eth1=pair:eth0,mtu=9000" -- "$@"
