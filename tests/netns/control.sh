#!/bin/bash
# netns/control.sh - unpleasant clients of the control socket, while traffic is forwarded
#
#      silent x 1000 ─┐
#      half lines ────┤                        stream a -> b, 500 packets a second:
#      rubbish ───────┼──► control socket      not one may be lost
#      never reads ───┤
#      dies ──────────┘
# timeout: 300
. "$(dirname "$0")/lib.sh"

routes=100000
storm=1000000
limit=32768 # KiB; the replies of a million requests are more than that many
# Sanitizers take their time, and keep for a while what is freed.
[ -z "$asan" ] || routes=20000 storm=20000 limit=400000

clients() # KIND
{
	python3 "$top/tests/netns/clients.py" "$socket" "$1"
}

# Runs in the background until its standard input ends, that is until `send_away`.
keep_clients() # KIND
{
	rm -f "$TMPDIR/in"
	mkfifo "$TMPDIR/in"
	: >"$TMPDIR/out"
	clients "$1" <"$TMPDIR/in" >"$TMPDIR/out" &
	kept=$!
	exec 9>"$TMPDIR/in"
	wait_for 60 "clients: $1" grep -q ready "$TMPDIR/out"
}

send_away()
{
	exec 9>&-
	wait "$kept"
	kept_status=$?
}

daemon_pid() { pgrep -x mlx5fwd; }
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon_pid)/status"; }
descriptors() { find "/proc/$(daemon_pid)/fd" -type l | wc -l; }
no_more_descriptors_than() { [ "$(descriptors)" -le "$1" ]; }
answers() { check "$1: the daemon answers" fwdctl status; }

route_lines() # VERB NUMBER FIRST-OCTET [TARGET]
{
	awk -v verb="$1" -v n="$2" -v octet="$3" -v target="${4:-}" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "route %s %d.%d.%d.%d/32 %s\n", verb,
				octet + i / 16777216, i / 65536 % 256, i / 256 % 256, i % 256,
				target
	}'
}

milliseconds() # COMMAND...
{
	local start=${EPOCHREALTIME/./}

	"$@" || echo failed
	echo $(((${EPOCHREALTIME/./} - start) / 1000))
}

hosts_up
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
stream_start s a b 10.0.2.2 500

# ---- many routes, in and out ----
route_lines add $routes 100 "$b_mac dev eth1" >"$TMPDIR/routes"
ms=$(milliseconds fwdctl -b "$TMPDIR/routes")
check "$routes routes in one batch" [ "${ms#*failed}" = "$ms" ]
report "$routes routes loaded by -b in $ms ms"
dump() { fwdctl -j route show >"$TMPDIR/json"; }
ms=$(milliseconds dump)
report "$routes routes dumped as JSON in $ms ms, $(stat -c %s "$TMPDIR/json") bytes"
equal 'routes in the dump' "$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
assert all(set(r) == {"dst", "lladdr", "dev", "protocol", "metric", "flags"} for r in rows)
print(len(rows))' "$TMPDIR/json")" $((routes + 4))
fwdctl route show >"$TMPDIR/text1"
fwdctl route show >"$TMPDIR/text2"
check 'the order of a listing is always the same' cmp "$TMPDIR/text1" "$TMPDIR/text2"
within 'a slow reader of the list gets it all' \
	"$(fwdctl route show | (sleep 2; wc -l))" $((routes + 4)) $((routes + 4))

# ---- many more come and go: the second time costs no memory ----
route_lines add $storm 101 "$b_mac dev eth1" >"$TMPDIR/add"
route_lines del $storm 101 >"$TMPDIR/del"
for round in 1 2; do
	ms=$(milliseconds fwdctl -b "$TMPDIR/add")
	check "$storm routes in one batch, round $round" [ "${ms#*failed}" = "$ms" ]
	equal 'they are there' "$(fwdctl status | value_of routes_ipv4)" $((storm + routes + 2))
	report "$storm routes loaded by -b in $ms ms"
	check 'and gone again' fwdctl -b "$TMPDIR/del"
	[ $round = 2 ] || memory=$(memory_kb)
done
within 'memory that the second round cost, KiB' $(($(memory_kb) - memory + 100000)) 1 \
	$((limit / 8 + 100000))
# A route that changes all the time, and a batch that is given up.
for ((i = 0; i < 20; i++)); do
	route_lines replace 1000 102 "$(printf '02:00:00:00:cc:%02x' $i) dev eth1"
	echo 'route add 100.0.0.0/32 blackhole'
done >"$TMPDIR/changes"
fwdctl -b "$TMPDIR/changes" 2>"$TMPDIR/said"
equal 'status of a batch with an error' $? 2
equal 'nothing of it is left' "$(fwdctl status | value_of routes_ipv4) $(fwdctl status |
	value_of nexthops)" "$((routes + 2)) 2"

# ---- those who disturb ----
before=$(descriptors)
memory=$(memory_kb)
for kind in half rubbish die oversize batch; do
	check "clients: $kind" clients $kind
	answers $kind
done
wait_for 10 'descriptors of the dead are closed' no_more_descriptors_than "$before"
check 'the dead client'"'"'s batch was given up' fwdctl route add 198.51.100.0/24 blackhole
equal 'nothing of it was done' "$(fwdctl route show 203.0.113.0/24)" ''

keep_clients silent
answers '1000 silent clients'
within 'descriptors of the daemon' "$(descriptors)" 1 $((before + 64))
send_away

keep_clients flood
answers 'one that never reads'
within 'memory that disturbing clients cost, KiB' $(($(memory_kb) - memory)) -100000 $limit
send_away
wait_for 10 'descriptors of the dead are closed' no_more_descriptors_than "$before"

# The tool itself, stopped in the middle of a long list: the pipe after it is full.
lines=$(fwdctl route show | wc -l)
mkfifo "$TMPDIR/list"
exec 8<>"$TMPDIR/list"
fwdctl route show >&8 &
stopped=$!
read -r <&8
kill -STOP $stopped
answers 'a stopped tool'
check 'and does what it is told' fwdctl route replace 198.51.100.0/24 blackhole
kill -CONT $stopped
equal 'it goes on where it was' "$(head -n $((lines - 1)) <&8 | wc -l)" $((lines - 1))
wait $stopped
equal 'to the end' $? 0
exec 8>&-

# ---- signals that do not end it ----
for signal in HUP USR1 USR2 PIPE WINCH; do
	kill -$signal "$(daemon_pid)"
done
answers 'signals'
check 'SIGHUP is told of' grep -q "notice: SIGHUP: reloaded $conf" "$fwd_log"
check 'SIGUSR1 is told of' grep -q 'notice: SIGUSR1: means nothing to this program' "$fwd_log"

# ---- two who want to change something ----
keep_clients hold
fwdctl route add 192.0.2.0/24 blackhole 2>"$TMPDIR/busy"
equal 'exit status while another has a batch open' $? 2
check 'it says so' grep -q "another client's batch is open (EBUSY); try again" "$TMPDIR/busy"
check 'looking is not changing' fwdctl route show 192.0.2.0/24
send_away
equal 'the batch was committed' "$kept_status" 0
equal 'and took effect' "$(fwdctl route show 203.0.113.0/24)" \
	'blackhole 203.0.113.0/24 proto static'

stream_stop s 'beside all that'
conserved
router_stop
check 'the socket file is gone' [ ! -e "$socket" ]
model_stop
finish
