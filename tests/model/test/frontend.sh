#!/bin/bash
# test/frontend.sh - unmodified tools and our own clients through the preload library
# timeout: 300
. "$(dirname "$0")/client/client.sh"

model_start --port eth0=loop --port eth1=loop
held_at_start=$(holdings)

echo '# tools'
on ibv_devices >"$TMPDIR/devices"
equal 'ibv_devices' "$(awk '/mlx5_/ { printf "%s ", $1 }' "$TMPDIR/devices")" 'mlx5_0 mlx5_1 '
guid=$(awk '$1 == "mlx5_1" { print $2 }' "$TMPDIR/devices" | sed 's/..../&:/g; s/:$//')

on ibv_devinfo -v -d mlx5_1 >"$TMPDIR/devinfo" 2>&1
equal 'exit status of ibv_devinfo -v' $? 0
for line in 'hca_id: mlx5_1' "node_guid: $guid" 'vendor_id: 0x02c9' 'state: PORT_ACTIVE (4)' \
	'link_layer: Ethernet' 'max_sge_rd: 30' 'port: 1'; do
	check "ibv_devinfo -v says $line" \
		grep -q "^ $line$" <(sed 's/^/ /; s/[[:space:]]\+/ /g' "$TMPDIR/devinfo")
done

on rdma dev >"$TMPDIR/dev"
equal 'rdma dev' "$(wc -l <"$TMPDIR/dev")" 2
equal 'rdma dev, second' "$(sed -n 2p "$TMPDIR/dev" | tr -s ' ' | sed 's/ $//')" \
	"1: mlx5_1: node_type ca fw 22.35.4506 node_guid $guid sys_image_guid $guid"

links()
{
	on "$@" rdma link | sed 's/ *$//'
}

equal 'rdma link' "$(links)" \
	'link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0
link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev eth1'
equal 'rdma link of one device' "$(on rdma link show mlx5_1/1 | sed 's/ *$//')" \
	'link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev eth1'
equal 'rdma link in another network namespace' "$(links unshare -n)" \
	'link mlx5_0/1 state ACTIVE physical_state LINK_UP
link mlx5_1/1 state ACTIVE physical_state LINK_UP'
ip link set eth1 name lan7
equal 'rdma link after renaming a netdev' "$(links | tail -n 1)" \
	'link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev lan7'
ip link set lan7 name eth1
equal 'rdma system' "$(on rdma system | tr -s ' ' | sed 's/ $//')" \
	'netns shared copy-on-fork on'
on rdma resource >"$TMPDIR/resource" 2>&1
check 'rdma resource is refused, with a message' \
	grep -q 'is not modelled' "$TMPDIR/resource"
on rdma dev show mlx5_7 >/dev/null 2>&1
check 'a device that does not exist' [ $? != 0 ]

ctl link eth1 down
down='link mlx5_1/1 state DOWN physical_state DISABLED netdev eth1'
link_is_down()
{
	[ "$(links | tail -n 1)" = "$down" ]
}
wait_for 60 'rdma link follows the link' link_is_down
ctl link eth1 up

# Without netlink libibverbs reads the tree.
cat >"$TMPDIR/nonl.c" <<'END'
#include <errno.h>
#include <sys/socket.h>
int socket(int domain, int type, int protocol)
{
	(void)domain, (void)type, (void)protocol;
	errno = EPROTONOSUPPORT;
	return -1;
}
END
gcc -shared -fPIC -o "$TMPDIR/nonl.so" "$TMPDIR/nonl.c"
equal 'ibv_devices without netlink' \
	"$("$MODEL_BIN/cxrun" -d "$cx_dir" --preload "$TMPDIR/nonl.so" -- ibv_devices |
		awk '/mlx5_/ { printf "%s ", $1 }' | tr ' ' '\n' | sort | tr -d '\n')" \
	'mlx5_0mlx5_1'
nothing_left tools

echo '# clients'
client t_path eth0
client t_netlink eth0
client t_fd
nothing_left t_fd
client t_devx
nothing_left t_devx
client t_devx --device 1 --rounds 500
client t_devx --leave --rounds 500
nothing_left 't_devx --leave'

echo '# two at once on one device'
client t_devx --mac 4 >"$TMPDIR/first" &
client t_devx --mac 6
wait $!
cat "$TMPDIR/first"
failed_checks=$((failed_checks + $(grep -c '^check FAILED' "$TMPDIR/first")))
nothing_left 'two clients'

echo '# without privilege'
as_nobody ibv_devinfo -v -d mlx5_0 >"$TMPDIR/devinfo" 2>&1
equal 'exit status of ibv_devinfo -v as nobody' $? 0
equal 'rdma link as nobody' "$(links setpriv --reuid 65534 --regid 65534 --clear-groups)" \
	"$(links)"
client t_devx --nobody
client t_fd --nobody
nothing_left nobody

echo '# asynchronous events'
on "$MODEL_BIN/t_devx" --async >"$TMPDIR/async" 2>&1 &
wait_for 60 'the client waits' grep -q '^ready' "$TMPDIR/async"
ctl link eth0 down
wait $!
checks 't_devx --async' "$TMPDIR/async"
ctl link eth0 up
nothing_left 't_devx --async'

echo '# the device process is killed under a client'
on "$MODEL_BIN/t_fd" --linger >"$TMPDIR/linger" 2>&1 &
wait_for 60 'the client runs' grep -q '^ready' "$TMPDIR/linger"
kill -KILL "$cx_pid"
wait $!
checks 't_fd --linger' "$TMPDIR/linger"
finish
