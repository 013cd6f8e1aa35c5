#!/bin/bash
# operations/monitor.sh - mlx5fwdctl monitor: routes, links and drops as they change
# timeout: 120
. "$(dirname "$0")/lib.sh"

# Runs in the background; what it says is in $TMPDIR/heard.NAME, its pid in $heard.
listen() # NAME ARGS...
{
	local file=$TMPDIR/heard.$1

	shift
	"$tool" -S "$socket" -T 60 "$@" >"$file" 2>&1 & # no function: signals are for the tool
	heard=$!
	# It is heard once it says something: a route comes and goes until then.
	wait_for 10 'the monitor listens' told_of_a_change "$file"
}

told_of_a_change()
{
	fwdctl route replace 203.0.113.0/24 blackhole metric "$RANDOM"
	fwdctl port show >/dev/null
	[ -s "$1" ]
}

says() { grep -q -- "$2" "$TMPDIR/heard.$1"; }
waits_for() { wait_for 10 "$1: $2" says "$1" "$2"; }

hosts_up
router_start
listen text monitor
first=$heard
listen json -j monitor route drop
second=$heard
listen stamps -ts monitor
third=$heard

routes_add
for name in text stamps; do
	waits_for $name "route add 10.0.1.0/24 lladdr $a_mac dev eth0 proto static"
done
waits_for json '"event":"add","object":"route","route":{"dst":"10.0.1.0/24"'
waits_for stamps '^\[20..-..-..T..:..:..[.]......Z\] route add 10.0.1.0/24 '
check 'a deletion' fwdctl route del 2001:db8:1::/64
waits_for text '^route delete 2001:db8:1::/64 lladdr '
ip -n r link set eth1 down
waits_for text '^port change eth1 address 02:00:00:00:00:02 mtu 1500 down .*carrier forwarding$'
ip -n r link set eth1 up
waits_for text '^port change eth1 address .* up carrier forwarding$'
check 'a black hole' fwdctl route add 198.51.100.0/24 blackhole
in_a ping -q -c 3 -i 0.01 -W 1 198.51.100.1 >/dev/null
waits_for text '^drop drop eth0 blackhole [123]$'
waits_for json '"event":"drop","object":"drop","port":"eth0","reason":"blackhole","packets":[123]'
equal 'ports were not asked for' "$(grep -c '"object":"port"' "$TMPDIR/heard.json")" 0
check 'each line is an object with ts, event, object' python3 -c '
import json, sys
for line in open(sys.argv[1]):
    assert {"ts", "event", "object"} <= set(json.loads(line))' "$TMPDIR/heard.json"

kill -INT $first
wait $first
equal 'SIGINT ends it: status' $? 0
kill -TERM $third
wait $third
equal 'so does SIGTERM' $? 0
refused 2 'monitor frob: must be route, port, drop or all (EINVAL)' monitor frob
router_stop
wait $second
equal 'the daemon is gone: status' $? 3
check 'and it says so' says json 'the daemon ended the connection (ECONNRESET)'
model_stop
finish
