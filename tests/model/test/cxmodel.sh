#!/bin/bash
# test/cxmodel.sh - the device process without any RDMA program on it
# timeout: 300
#
#   ns A: eth0 = TAP of port mlx5_0     ns W: v0 = its wire     ns B: v1
#         10.9.0.1 ---- model ---------------- v0 ------------------ 10.9.0.2
#
# The kernel's path through the device, what administrators do to netdevs and wires,
# and how the process starts, stops and is killed.
# shellcheck disable=SC2154 # top is exported by tests/run
. "$top/tests/lib.sh"

: "${MODEL_BIN:?the folder of cxmodel; tests/run sets it}"
lib=$top/tests/model/test/lib
cxmodel=$MODEL_BIN/cxmodel
dir=$TMPDIR/cx
err=$TMPDIR/err
a=cxm$$a b=cxm$$b w=cxm$$w # unique, for those who run this without tests/run
pid=

cleanup()
{
	local n

	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$pid" ] || wait "$pid"
	for n in $a $b $w; do ip netns del "$n" 2>/dev/null; done
	[ ! -s "$err" ] || sed 's/^/  model| /' "$err"
}
trap cleanup EXIT

in_ns() { local n=$1; shift; ip netns exec "$n" "$@"; }
ctl() { "$cxmodel" ctl "$dir" "$@"; }

# Starts it; returns when it says that it is ready.
start() # DIR ARGS...
{
	local line

	rm -f "$TMPDIR/ready"
	mkfifo "$TMPDIR/ready"
	"$cxmodel" -d "$@" >"$TMPDIR/ready" 2>>"$err" &
	pid=$!
	read -r line <"$TMPDIR/ready"
	[ "${line%% *}" = ready ] || die "cxmodel $*: did not start"
}

stop()
{
	kill -TERM "$pid"
	wait "$pid"
	equal 'exit status after SIGTERM' $? 0
	pid=
}

count() { ctl stats "${2:-eth0}" | awk -v n="$1" '$1 == n { print $2 }'; }
stat_of() { ctl stat | awk -v n="$1" '$1 == n { print $2 }'; }
word_of() # PORT WORD: what follows that word in the port's line
{
	ctl ports | awk -v port="$1" -v word="$2" '$3 == port {
		for (i = 4; i < NF; i++) if ($i == word) print $(i + 1) }'
}
is() { [ "$(word_of eth0 "$1")" = "$2" ]; }
counted() { [ "$(count "$1")" -ge "$2" ]; }
flag() { in_ns $a cat "/sys/class/net/$1/$2" 2>/dev/null; }
carrier_is() { [ "$(flag "$1" carrier)" = "$2" ]; }
no_answer() { ! pings "$@"; }
no_netdev() { ! ip -n "$1" link show "$2" 2>/dev/null; }
logged() { ctl log | grep -q "$1"; }
pings() { in_ns "$1" ping -q -c "$2" -i 0.002 -W 2 "${@:3}" >"$TMPDIR/ping"; }

netns()
{
	local n

	for n in $a $b $w; do
		ip netns add "$n" || die "ip netns add $n"
		# Counts are exact: no stack says anything on its own.
		in_ns "$n" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
		ip -n "$n" link set lo up
	done
	ip -n $w link add v0 mtu 9000 type veth peer name v1 netns $b
	ip -n $w link set v0 up
	ip -n $b link set v1 address 02:00:00:00:00:02 mtu 9000 up
	ip -n $b address add 10.9.0.2/24 dev v1
	ip -n $b neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev v1
}

address() # IF: eth0's own, also after it was moved or made again
{
	ip -n $a address add 10.9.0.1/24 dev "$1"
	ip -n $a neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev "$1"
}

start_port() # OPTIONS, with the usual port
{
	start "$dir" "$@" --netns $a --port "eth0=veth:v0@$w,mac=02:00:00:00:00:01"
	address eth0
}

# ---- the kernel's path ----

kernel_path()
{
	start_port
	equal 'link at start' "$(word_of eth0 link)" up
	equal 'MAC of the netdev' "$(flag eth0 address)" 02:00:00:00:00:01
	equal 'MTU of the netdev' "$(flag eth0 mtu)" 1500
	equal 'speed of the netdev' "$(flag eth0 speed)" 100000
	check 'ping from the netdev to the wire' pings $a 200 10.9.0.2
	check 'ping from the wire to the netdev' pings $b 200 10.9.0.1
	equal 'frames from the wire' "$(count wire_rx_frames)" 400
	equal 'frames to the wire' "$(count wire_tx_frames)" 400
	equal 'frames given to the kernel' "$(count netdev_given)" 400
	equal 'frames that no rule took' "$(count rx_kernel)" 400
	equal 'frames from the kernel' "$(count netdev_taken)" 400
	equal 'nothing lost' "$(count wire_tx_lost)$(count wire_rx_lost)$(count netdev_refused)" 000
	check 'wire to netdev, frame by frame' python3 "$lib/wirecheck.py" $b v1 $a eth0 2000
	check 'netdev to wire, frame by frame' python3 "$lib/wirecheck.py" $a eth0 $b v1 2000
	check 'tagged, wire to netdev' python3 "$lib/wirecheck.py" $b v1 $a eth0 200 vlan
	check 'tagged, netdev to wire' python3 "$lib/wirecheck.py" $a eth0 $b v1 200 vlan
	check 'streams and datagrams to the netdev' \
		python3 "$lib/bulk.py" $b 10.9.0.2 $a 10.9.0.1 16
	check 'streams and datagrams from the netdev' \
		python3 "$lib/bulk.py" $a 10.9.0.1 $b 10.9.0.2 16
	equal 'nothing lost under load' "$(count wire_tx_lost)$(count wire_rx_lost)" 00
}

sleeps()
{
	local before used

	# Two looks a second apart; a look itself wakes the poller for some hundred passes.
	before=$(stat_of poller_cpu_us)
	read -rt 1 <> <(:)
	used=$(($(stat_of poller_cpu_us) - before))
	within 'CPU of the idle poller, us in a second' $used 0 10000
	report "idle device without clients: $used us of CPU a second"
}

spins()
{
	start_port --poll spin
	check 'ping through a device that spins' pings $a 100 10.9.0.2
	stop
}

# Endless work at real-time priority: a third of the time is left to others all the same.
fifo_rests()
{
	local before used now

	start "$dir" --netns $a --poll fifo --port eth0=gen:count=0,window=0,start=ctl
	ctl wire eth0 start
	before=$(stat_of poller_cpu_us) now=${EPOCHREALTIME/./}
	read -rt 1 <> <(:)
	used=$(($(stat_of poller_cpu_us) - before))
	now=$((${EPOCHREALTIME/./} - now))
	at_least 'frames of endless work at real-time priority' "$(count rx_frames)" 1000
	within 'CPU of the busy real-time poller, per cent' $((100 * used / now)) 1 75
	stop
}

# ---- what an administrator does ----

counts() { [ "$(count "$1")" = "$2" ]; }

mtu()
{
	local before

	before=$(count rx_oversize)
	check 'a long frame does not get in' no_answer $b 1 -s 8000 -M 'do' -W 0.2 10.9.0.1
	wait_for 10 'and is counted' counts rx_oversize $((before + 1))
	pass 'and is counted'
	ip -n $a link set eth0 mtu 9000
	check 'after MTU 9000 it does' pings $b 50 -s 8000 -M 'do' 10.9.0.1
	check 'and out' pings $a 50 -s 8000 -M 'do' 10.9.0.2
	ip -n $a link set eth0 mtu 1500
	ip -n $b link set v1 mtu 1500
	ip -n $w link set v0 mtu 1500
}

down_and_up()
{
	local before

	ip -n $a link set eth0 down
	wait_for 60 'link follows down' is link down
	before=$(count rx_down)
	check 'nobody answers' no_answer $b 3 -W 0.2 10.9.0.1
	equal 'frames that found the link down' $(($(count rx_down) - before)) 3
	ip -n $a link set eth0 up
	wait_for 60 'link follows up' is link up
	wait_for 60 'carrier after up' carrier_is eth0 1
	ip -n $a neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0
	check 'ping after up' pings $a 20 10.9.0.2
}

carrier()
{
	ip -n $b link set v1 down
	wait_for 60 'wire without carrier: netdev without carrier' carrier_is eth0 0
	equal 'and the port is down' "$(word_of eth0 link)" down
	ip -n $b link set v1 up
	ip -n $b neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev v1
	wait_for 60 'carrier comes back' carrier_is eth0 1
	ctl link eth0 down
	wait_for 60 'cable pulled: netdev without carrier' carrier_is eth0 0
	ip -n $b link set v1 down
	ip -n $b link set v1 up
	wait_for 60 'the wire has carrier again' is carrier up
	equal 'but the cable is still out' "$(word_of eth0 link)" down
	ip -n $b neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev v1
	ctl link eth0 up
	wait_for 60 'cable back in' carrier_is eth0 1
	check 'ping after it' pings $a 20 10.9.0.2
}

names_and_addresses()
{
	ip -n $a link set eth0 down
	ip -n $a link set eth0 name uplink7
	ip -n $a link set uplink7 address 02:00:00:00:00:77 up
	wait_for 60 'MAC is followed' is mac 02:00:00:00:00:77
	equal 'the present name' "$(word_of eth0 netdev)" uplink7
	at_least 'the port is found by it: frames' "$(count rx_kernel uplink7)" 1000
	ip -n $a link set uplink7 address 02:00:00:00:00:01
	wait_for 60 'carrier under the new name' carrier_is uplink7 1
	ip -n $a neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev uplink7
	check 'ping under the new name' pings $a 20 10.9.0.2
	ip -n $a link set uplink7 netns $w
	ip -n $w link set uplink7 mtu 1400 up
	wait_for 60 'link of a netdev that was moved' is link up
	ip -n $w address add 10.9.0.1/24 dev uplink7
	ip -n $w neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev uplink7
	check 'ping from its new namespace' pings $w 20 10.9.0.2
	check 'its new MTU holds' no_answer $b 1 -s 1450 -M 'do' -W 0.2 10.9.0.1
	ip -n $w link set uplink7 down
	wait_for 60 'down is followed there' is link down
}

wire_goes()
{
	ip -n $w link del v0
	wait_for 60 'a removed wire is a pulled cable' is carrier down
	check 'and is told' logged "v0 is gone"
	equal 'the device lives: ports' "$(stat_of ports)" 1
}

netdev_goes()
{
	local before

	check 'a netdev at run time' ctl port add "gone0=loop,netns=$a"
	ip -n $a link del gone0
	wait_for 60 'its removal is told' logged 'gone0 was removed'
	equal 'its port is down' "$(ctl ports | awk '$3 == "gone0" { print $5, $11 }')" '- down'
	before=$(stat_of poller_cpu_us)
	read -rt 0.2 <> <(:)
	within 'and its dead descriptor keeps nobody awake, us' \
		$(($(stat_of poller_cpu_us) - before)) 0 20000
	check 'the port can be removed' ctl port del gone0
}

# ---- its life ----

stop_leaves_nothing()
{
	stop
	check 'the directory is gone' [ ! -e "$dir" ]
	check 'the netdev is gone' no_netdev $w uplink7
	ip -n $w link add v0 type veth peer name v1 netns $b
	ip -n $w link set v0 up
	ip -n $b link set v1 address 02:00:00:00:00:02 up
	ip -n $b address add 10.9.0.2/24 dev v1
	ip -n $b neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev v1
}

killed()
{
	local i

	for i in 1 2 3; do
		start_port
		kill -KILL "$pid"
		wait "$pid" 2>/dev/null
		check "kill $i: the directory is still there" [ -e "$dir/lock" ]
		check "kill $i: the netdev is gone" no_netdev $a eth0
		"$cxmodel" ctl "$dir" stat 2>/dev/null
		equal "kill $i: exit status of ctl" $? 3
	done
	start_port
	check 'taken over' pings $a 20 10.9.0.2
	check 'and told' logged "taken over from process"
	"$cxmodel" -d "$dir" 2>"$TMPDIR/second"
	equal 'exit status of a second one' $? 4
	check 'which says who has it' grep -q "in use by process $pid" "$TMPDIR/second"
	check 'the first one does not mind' pings $a 20 10.9.0.2
}

ports_at_run_time()
{
	local fds i

	fds=$(stat_of fds)
	for i in 1 2 3 4 5; do
		check "port add $i" ctl port add "p0=pair:p1,netns=$a,card=9"
		check "port add $i, its other end" ctl port add "p1=pair:p0,netns=$b,card=9"
		wait_for 60 'carrier of the new port' carrier_is p0 1
		check "port del $i" ctl port del p0
		check "port del $i, other end" ctl port del p1
		check 'its netdev is gone' no_netdev $b p1
	done
	equal 'descriptors' "$(stat_of fds)" "$fds"
	ctl port add eth0=loop 2>/dev/null
	equal 'a port whose name is taken is refused' $? 2
	ip -n $a link add dummy0 type bridge
	ctl port add "dummy0=loop,netns=$a" 2>"$TMPDIR/taken"
	equal 'so is one whose netdev exists' $? 2
	check 'with a reason' grep -q 'the name is taken' "$TMPDIR/taken"
	equal 'ports' "$(stat_of ports)" 1
	check 'the other port works' pings $a 20 10.9.0.2
	check 'ctl stop' ctl stop
	wait "$pid"
	equal 'exit status after ctl stop' $? 0
	pid=
	check 'ctl stop waited for the end' [ ! -e "$dir" ]
}

# Two devices of two processes on one cable; neither was given a MAC.
two_devices()
{
	local first mac dir2=$TMPDIR/cx2

	ip -n $b link set v1 netns $w
	ip -n $w link set v1 up
	start "$dir2" --netns $b --port "eth9=veth:v1@$w,card=1" --port "eth8=loop,card=1"
	first=$pid
	start "$dir" --netns $a --port "eth0=veth:v0@$w"
	ip -n $a address add 10.9.0.1/24 dev eth0
	ip -n $b address add 10.9.0.2/24 dev eth9
	check 'from one device to the other, by ARP' pings $a 100 10.9.0.2
	mac=$(in_ns $b cat /sys/class/net/eth9/address)
	check 'MACs differ' [ "$(flag eth0 address)" != "$mac" ]
	equal 'functions of one card' \
		"$("$cxmodel" ctl "$dir2" ports | awk '{ print $7 }' | tr '\n' ' ')" \
		'0000:04:00.0 0000:04:00.1 '
	stop
	"$cxmodel" ctl "$dir2" stop
	wait "$first"
	equal 'exit status of the other' $? 0
}

script()
{
	printf '# a comment\n\nlink eth0 down\ntrace eth0 cmd\n' >"$TMPDIR/script"
	start "$dir" --notap --port eth0=loop --script "$TMPDIR/script"
	equal 'a script was carried out' "$(word_of eth0 link)" down
	stop
	printf 'link eth0 up\nlink eth0 sideways\n' >"$TMPDIR/script"
	refused 2 "$TMPDIR/script:2: link: 'sideways'" -d "$TMPDIR/no" --notap --port eth0=loop \
		--script "$TMPDIR/script"
	refused 2 '--script /nonexistent' -d "$TMPDIR/no" --script /nonexistent
}

refused() # STATUS TEXT ARGS...
{
	local status=$1 text=$2

	shift 2
	"$cxmodel" "$@" >/dev/null 2>"$TMPDIR/refused"
	equal "cxmodel $*: exit status" $? "$status"
	check "cxmodel $*: says $text" grep -qF -- "$text" "$TMPDIR/refused"
	check 'and leaves nothing' [ ! -e "$TMPDIR/no" ]
}

bad_input()
{
	refused 1 '-d DIR'
	refused 1 'of at most 95 bytes' -d "/tmp/$(printf 'x%.0s' {1..100})"
	refused 1 "--poll doze" -d "$TMPDIR/no" --poll doze
	refused 1 '--trace cqx' -d "$TMPDIR/no" --trace cmd,cqx
	refused 1 '--ready-fd 77' -d "$TMPDIR/no" --ready-fd 77
	refused 1 'argument eth0=loop' -d "$TMPDIR/no" eth0=loop
	refused 2 'NAME=WIRE' -d "$TMPDIR/no" --port eth0
	refused 2 'unknown kind' -d "$TMPDIR/no" --port eth0=string:x
	refused 2 'ip link add' -d "$TMPDIR/no" --port eth0=nosuchif --notap
	refused 2 'ip netns add' -d "$TMPDIR/no" --port eth0=veth:v0@nosuchns --notap
	refused 2 'ip netns add' -d "$TMPDIR/no" --port eth0=loop,netns=nosuchns
	refused 2 'there is no such port' -d "$TMPDIR/no" --port eth0=pair:eth1 --notap
	refused 2 'whose parent exists' -d "$TMPDIR/nowhere/no" --port eth0=loop
	refused 3 'no live device' ctl "$TMPDIR/no" stat
	refused 1 'cxmodel ctl DIR COMMAND' ctl "$TMPDIR/no"
}

netns
spins
fifo_rests
kernel_path
sleeps
mtu
down_and_up
carrier
names_and_addresses
netdev_goes
wire_goes
stop_leaves_nothing
killed
ports_at_run_time
two_devices
script
bad_input
finish
