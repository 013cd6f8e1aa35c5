# shellcheck shell=bash
# tests/netns/lib.sh - two hosts, a router, mlx5fwd on the modelled card; sourced first
#
#     ns a                 ns r: kernel and mlx5fwd             ns b
#   a0 10.0.1.2 ---- eth0 10.0.1.1     10.0.2.1 eth1 ---- b0 10.0.2.2
#      2001:db8:1::2      2001:db8:1::1  2001:db8:2::1       2001:db8:2::2
#
# eth0 and eth1 are the netdevs of the modelled ports; the hosts are real kernels, at the
# other ends of the ports' wires.
#
#   hosts_up [PORT-OPTIONS]   namespaces, wires, device
#   in_a, in_b, in_r COMMAND  runs in that namespace
#   config LINES              writes the configuration file
#   router_start              mlx5fwd, forwarding on return;  router_stop: orderly
#   fwdctl ARGS               mlx5fwdctl
#   routes_add                both ways, both families
#   port_count PORT KEY       a counter of `port show`; settled_count the same at rest
#   conserved                 checks received = forwarded + punted + dropped on every port at
#                             rest, and both ends of that with the device's own counts
#   answers NS COUNT ADDRESS [OPTIONS]      pings until so many came back, however late
#   udp_flows FAMILY ADDRESS FLOWS EACH     from a: so many packets each from so many source
#                                           ports, a little apart
#   stream_start NAME FROM TO ADDRESS PPS   numbered UDP packets from host to host;
#   stream_stop NAME WHAT [MIN MAX]         checks how many were lost (0; -1: all but one), and
#                                           that none was doubled; sets stream_lost
# shellcheck disable=SC2154 # top, MODEL_BIN, FWD_BIN are exported by tests/run
. "$top/tests/model/judges/lib/model.sh"

: "${FWD_BIN:?the build folder; tests/run sets it}"
conf=$TMPDIR/mlx5fwd.conf
fwd_log=$TMPDIR/mlx5fwd.log
socket=$TMPDIR/control.sock
a_mac=02:00:00:00:0a:02
b_mac=02:00:00:00:0b:02
eth0_mac=02:00:00:00:00:01
eth1_mac=02:00:00:00:00:02
fwd_pid=

in_a() { ip netns exec a "$@"; }
in_b() { ip netns exec b "$@"; }
in_r() { ip netns exec r "$@"; }

# A host's end is named, its wire's end w<name> stays here and belongs to the device.
host_up() # NS DEV MAC IPV4 IPV6 GW4 GW6
{
	local ns=$1 dev=$2 wire=w$2

	ip netns add "$ns"
	ip link add "$wire" type veth peer name "$dev" netns "$ns" address "$3"
	sysctl -qw "net.ipv6.conf.$wire.disable_ipv6=1"
	ip link set "$wire" up
	ip -n "$ns" link set lo up
	ip -n "$ns" link set "$dev" up
	ip -n "$ns" addr add "$4" dev "$dev"
	ip -n "$ns" addr add "$5" dev "$dev" nodad
	ip -n "$ns" route add default via "$6"
	ip -n "$ns" -6 route add default via "$7" dev "$dev"
}

router_addr() # DEV IPV4 IPV6
{
	ip -n r addr add "$2" dev "$1"
	ip -n r addr add "$3" dev "$1" nodad
}

hosts_up()
{
	ip netns add r
	ip -n r link set lo up
	in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	host_up a a0 $a_mac 10.0.1.2/24 2001:db8:1::2/64 10.0.1.1 2001:db8:1::1
	host_up b b0 $b_mac 10.0.2.2/24 2001:db8:2::2/64 10.0.2.1 2001:db8:2::1
	model_start --port "eth0=wa0,netns=r,mac=$eth0_mac${1:-}" \
		--port "eth1=wb0,netns=r,mac=$eth1_mac${1:-}"
	router_addr eth0 10.0.1.1/24 2001:db8:1::1/64
	router_addr eth1 10.0.2.1/24 2001:db8:2::1/64
	wait_for 10 'carrier of eth0' has_carrier eth0
	wait_for 10 'carrier of eth1' has_carrier eth1
	config
}

has_carrier() { ip -n r link show "$1" | grep -q LOWER_UP; }

# Lines for [daemon]; each port has a section of its own.
config()
{
	{
		printf '[daemon]\ncontrol_socket = %s\n' "$socket"
		printf '%s\n' 'control_group =' 'log_level = debug' "$@"
		printf '[port eth0]\n[port eth1]\n'
	} >"$conf"
}

# Patient: machines that run tests are slow.
fwdctl() { "$FWD_BIN/control/mlx5fwdctl" -S "$socket" -T 60 "$@"; }

router_answers()
{
	[ "$(fwdctl status 2>/dev/null | value_of state)" = forwarding ] ||
		! kill -0 "$fwd_pid" 2>/dev/null
}

# A sanitizer's runtime must come before the preloaded library.
asan=$(ldd "$FWD_BIN/daemon/mlx5fwd" | awk '/libasan/ { print $3 }')

router_launch() # ARGS...
{
	"$MODEL_BIN/cxrun" -d "$cx_dir" ${asan:+--preload "$asan"} --netns r -- \
		"$FWD_BIN/daemon/mlx5fwd" -c "$conf" "$@" \
		>>"$fwd_log" 2>&1 &
	fwd_pid=$!
}

router_start()
{
	device_remember
	router_launch "$@"
	wait_for 30 'mlx5fwd forwards' router_answers
	kill -0 "$fwd_pid" 2>/dev/null || { cat "$fwd_log"; die 'mlx5fwd did not start'; }
}

router_stop()
{
	kill -TERM "$fwd_pid"
	wait "$fwd_pid"
	equal 'exit status of mlx5fwd' $? 0
	fwd_pid=
}

routes_add()
{
	check 'route to a' fwdctl route add 10.0.1.0/24 $a_mac dev eth0
	check 'route to b' fwdctl route add 10.0.2.0/24 $b_mac dev eth1
	check 'IPv6 route to a' fwdctl route add 2001:db8:1::/64 $a_mac dev eth0
	check 'IPv6 route to b' fwdctl route add 2001:db8:2::/64 $b_mac dev eth1
}

# Counters as "name value" pairs anywhere in the text.
pair() # NAME
{
	awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'
}

port_count() { fwdctl -s -s port show "$1" | pair "$2"; }

# The value at rest, which comes when traffic ends; the last one of 5 s when it does not.
settled_count()
{
	local end=$((${EPOCHREALTIME/./} + 5000000)) was= is

	is=$(port_count "$1" "$2")
	until [ "$is" = "$was" ] && at_rest "$1"; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || break
		was=$is
		sleep 0.05
		is=$(port_count "$1" "$2")
	done
	echo "$is"
}

# What became of the packets a port received.
done_with() # PORT
{
	echo $(($(port_count "$1" forwarded) + $(port_count "$1" punted) +
		$(port_count "$1" dropped)))
}

# Counts of the device start with it, those of the daemon with the daemon.
declare -A device_before=()
device_count() # PORT NAME
{
	echo $(($(count_of "$1" "$2") - ${device_before[$1 $2]:-0}))
}

device_remember()
{
	local port name

	for port in $(ctl ports | awk '{ print $3 }'); do
		for name in rx_queued rx_no_buffer tx_frames; do
			device_before[$port $name]=$(count_of "$port" $name)
		done
	done
}

punts_of() # PORT
{
	echo $(($(port_count "$1" punt_delivered) + $(port_count "$1" punt_policed) +
		$(port_count "$1" punt_failed)))
}

# No count of the daemon alone tells that: it may not have had its turn yet.
at_rest() # PORT
{
	[ "$(port_count "$1" received)" = "$(device_count "$1" rx_queued)" ] &&
		[ "$(port_count "$1" egress)" = "$(device_count "$1" tx_frames)" ] &&
		[ "$(port_count "$1" punted)" = "$(punts_of "$1")" ]
}

conserved() # [PORT...]
{
	local port received

	[ $# -gt 0 ] || set -- eth0 eth1
	for port in "$@"; do
		wait_for 20 "$port: all that the device gave us and we gave it is done" \
			at_rest "$port"
		received=$(settled_count "$port" received)
		equal "$port: received = forwarded + punted + dropped" "$received" \
			"$(done_with "$port")"
		pass "$port: which is what the device gave us, and it sent what we forwarded"
		equal "$port: frames without a buffer, as the device counts" \
			"$(port_count "$port" out_of_buffer)" "$(device_count "$port" rx_no_buffer)"
	done
}

# A thread that is kept from its CPU for seconds is late and loses nothing: -w waits for COUNT
# answers, while -W gives up after two round trips.
answers()
{
	local ns=$1 count=$2 to=$3

	shift 3
	ip netns exec "$ns" ping -q -c "$count" -i 0.01 -w 30 "$@" "$to"
}

udp_flows() # FAMILY ADDRESS FLOWS EACH
{
	in_a python3 - "$@" <<'PY'
import socket, sys, time
family = socket.AF_INET6 if sys.argv[1] == '6' else socket.AF_INET
flows, each = int(sys.argv[3]), int(sys.argv[4])
for port in range(20000, 20000 + flows):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind(('', port))
    for _ in range(each):
        s.sendto(b'x' * 30, (sys.argv[2], 9))
    s.close()
    time.sleep(0.00025 * each)
PY
}

stream_start()
{
	local file=$TMPDIR/stream.$1 from=$2 to=$3

	rm -f "$file".*
	ip netns exec "$to" python3 "$top/tests/netns/stream.py" receive "$4" 5000 "$file" &
	wait_for 10 "stream $1: receiver listens" [ -e "$file.ready" ]
	ip netns exec "$from" python3 "$top/tests/netns/stream.py" send "$4" 5000 "$5" "$file" &
}

stream_stop()
{
	local file=$TMPDIR/stream.$1 sent came different

	touch "$file.stop"
	wait_for 20 "stream $1: receiver is done" [ -e "$file.got" ]
	sent=$(cat "$file.sent")
	read -r came different <"$file.got"
	set -- "$1" "$2" "${3:-0}" "${4:-0}"
	stream_lost=$((sent - different))
	within "$2: of $sent packets lost" $stream_lost "$3" \
		$(($4 < 0 ? sent + $4 : $4))
	equal "$2: packets that came twice" $((came - different)) 0
}

router_said()
{
	model_said
	sed 's/^/  mlx5fwd| /' "$fwd_log" 2>/dev/null | tail -n 40
}
trap router_said EXIT
