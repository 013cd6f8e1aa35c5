#!/bin/bash
# datapath/refused.sh - what a user is told when the surroundings are wrong
#
# The sentences about cards that lack something are in test_dp_open.c.
# shellcheck disable=SC2016 # sentences with backquotes, and words for an inner shell
. "$top/tests/model/judges/lib/model.sh"

: "${FWD_BIN:?the build folder with dp_echo; tests/run sets it}"
# Where another user may go.
bin=$TMPDIR/bin
mkdir "$bin"
cp "$FWD_BIN/tests/datapath/dp_echo" "$MODEL_BIN/libcxshim.so" "$bin"
chmod 755 "$TMPDIR" "$bin" "$bin"/*
asan=$(ldd "$bin/dp_echo" | awk '/libasan/ { print $3 }')

dp_echo() # PORT PORT, on this machine as it is
{
	"$bin/dp_echo" "$1" "$2" 64 64 1500 striding 2>&1
}

as_nobody() # CAPABILITIES: on the model, in a subshell's place; cxrun itself wants to be root
{
	exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@" \
		env CXMODEL="$cx_dir" LD_PRELOAD="$asan${asan:+:}$bin/libcxshim.so" \
		"$bin/dp_echo" eth0 eth1 64 64 1500 striding 2>&1
}

# A /dev of its own, with or without the directory.
without_card() # YES|NO PORT
{
	unshare -m bash -c 'mount -t tmpfs tmpfs /dev && mknod /dev/null c 1 3 &&
		{ [ "$1" = no ] || mkdir /dev/infiniband; } &&
		"$2" "$3" lo 64 64 1500 striding 2>&1' - "$1" "$bin/dp_echo" "$2"
}

driver='load the driver (modprobe mlx5_ib) and install'
equal 'no such interface' "$(dp_echo nosuch0 lo)" \
	'dp_echo: nosuch0: there is no such network interface here'
equal 'no /dev/infiniband' "$(without_card no lo)" \
	"dp_echo: lo: there is no /dev/infiniband: $driver rdma-core"
equal 'no device in it' "$(without_card yes lo)" \
	"dp_echo: lo: rdma-core finds no RDMA device: $driver its library (ibverbs-providers)"
equal 'its status' "$(dp_echo nosuch0 lo >/dev/null; echo $?)" 1

model_start --port eth0=pair:eth1 --port eth1=pair:eth0
equal 'an interface of no card' \
	"$("$MODEL_BIN/cxrun" ${asan:+--preload "$asan"} -d "$cx_dir" -- \
		"$bin/dp_echo" lo eth1 64 64 1500 striding 2>&1)" \
	'dp_echo: lo: none of the 2 RDMA devices is behind this interface; `rdma link` shows '\
'which interface each has'
before=$(alive objects)
equal 'without CAP_NET_RAW' "$(as_nobody --inh-caps=-all --bounding-set=-all)" \
	'dp_echo: eth0: not permitted: DevX queues for raw frames and flow rules need '\
'CAP_NET_RAW (run as root, or AmbientCapabilities=CAP_NET_RAW in the unit)'

# With it, and no other privilege, everything works.
as_nobody --inh-caps=+net_raw --ambient-caps=+net_raw --bounding-set=-all,+net_raw \
	>"$TMPDIR/nobody" &
pid=$!
wait_for 20 'with CAP_NET_RAW it starts' grep -qx ready "$TMPDIR/nobody"
kill -TERM $pid
wait $pid
equal 'and ends' $? 0

wait_for 5 'all are gone' eval "[ \$(alive clients) = 0 ]"
equal 'objects left' "$(alive objects)" "$before"
model_stop
finish
