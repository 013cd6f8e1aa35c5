#!/bin/bash
# operations/trace.sh - mlx5fwdctl trace: what became of packets, and a file that tshark reads
#
#   a ---- eth0  mlx5fwd  eth1 ---- b     10.0.2.2 is forwarded, 198.51.100.0/24 a black hole,
#                                         to 203.0.113.0/24 there is no route
# timeout: 120
. "$(dirname "$0")/lib.sh"

file=$TMPDIR/trace.pcapng

# From a, each packet from port 4000 with so many bytes of payload.
send_udp() # ADDRESS PORT COUNT [BYTES]
{
	in_a python3 -c '
import socket, sys
for _ in range(int(sys.argv[3])):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("10.0.1.2", 4000))
    s.sendto(b"x" * int(sys.argv[4]), (sys.argv[1], int(sys.argv[2])))
    s.close()' "$1" "$2" "$3" "${4:-30}"
}

trace_status() { fwdctl trace status | value_of "$1"; }
trace_has() { [ "$(trace_status packets)" -ge "$1" ]; }
trace_ended() { [ "$(trace_status state)" = ended ]; }
ends() # BY PACKETS
{
	wait_for 20 "a trace ends by $1" trace_ended
	equal 'ended by, packets, lost' "$(trace_status ended_by) $(trace_status packets) \
$(trace_status lost)" "$1 $2 0"
}
at_least_received() { [ "$(port_count eth0 received)" -ge "$1" ]; }
fields() { tshark -r "$file" -T fields "${@/#/-e}" 2>"$TMPDIR/tshark"; }

hosts_up
router_start
routes_add
check 'a black hole' fwdctl route add 198.51.100.0/24 blackhole
answers a 1 10.0.2.2 >/dev/null

# ---- what it refuses ----
there_is_none='there is no trace (ENOENT); begin one by "trace start"'
prints 'state none' trace status
refused 2 "trace show: $there_is_none" trace show
refused 2 "trace show: $there_is_none" trace save "$file"
check 'and no file is made' [ ! -e "$file" ]
done_silently trace stop
while IFS='|' read -r words why; do
	# shellcheck disable=SC2086 # words
	refused 2 "trace start: $why" trace start $words
done <<'END'
frob 1|frob: must be one of count, port, bytes, seconds, match (EINVAL)
count|count: its value is missing (EINVAL)
count 0|count 0: must be 1 to 10000 (EINVAL)
count 10001|count 10001: must be 1 to 10000 (EINVAL)
count 5 count 6|count: once is enough (EINVAL)
bytes 63|bytes 63: must be 64 to 9216 (EINVAL)
seconds 3601|seconds 3601: must be 1 to 3600 (EINVAL)
count 10000 bytes 2000|count 10000 of 2000 bytes: more than 16 MiB; ask for less (EINVAL)
port eth9|port eth9: not a port of this router (ENODEV)
match|match: what? (EINVAL)
match count 5|count: must be one of src, dst, proto, sport, dport, verdict, reason (EINVAL)
match src 10.0/33|src 10.0/33: prefix length must be 0 to 32 (EINVAL)
match src 10/8 dst ::/0|src and dst: one is IPv4, the other IPv6 (EINVAL)
match proto icmp dport 5|sport, dport: only with proto tcp or udp (EINVAL)
match verdict lose|verdict lose: must be forward, punt or drop (EINVAL)
match verdict drop reason ttl|verdict drop: the reason is one of punt (EINVAL)
match reason frob|reason frob: must be one of those that drop show -s lists (EINVAL)
END

# ---- forwarded, dropped, punted ----
done_silently trace start count 100 port eth0 match src 10.0.1.2 proto udp
refused 2 'trace start: a trace runs already (EBUSY); end it by "trace stop"' trace start
send_udp 10.0.2.2 5001 2
send_udp 198.51.100.7 5002 1
send_udp 203.0.113.7 5003 1
answers a 1 10.0.2.2 >/dev/null # does not match
wait_for 10 'four packets are there' trace_has 4
done_silently trace stop
ends stop 4
fits trace trace show
shown=$(json '[(r["number"], r["dst"], r["dport"], r["verdict"], r.get("reason"),
	r.get("route", {}).get("prefix"), r.get("hop", {}).get("dev"), r.get("out")) for r in j]')
equal 'what became of each' "$shown" "[(1, '10.0.2.2', 5001, 'forward', None, '10.0.2.0/24',\
 'eth1', 'eth1'), (2, '10.0.2.2', 5001, 'forward', None, '10.0.2.0/24', 'eth1', 'eth1'),\
 (3, '198.51.100.7', 5002, 'drop', 'blackhole', '198.51.100.0/24', None, None),\
 (4, '203.0.113.7', 5003, 'punt', 'no_route', None, None, None)]"
equal 'the frame is as it came, and left to b' "$(json '[(
	bytes.fromhex(r["data"])[:6].hex(":"), r["ttl"], r["bytes"], r["captured"], r["out_bytes"],
	r["hop"]["lladdr"]) for r in j[:1]]')" \
	"[('$eth0_mac', 64, 72, 72, 72, '$b_mac')]"
stamps=$(json '" ".join("%d.%09d" % divmod(r["ts_ns"], 10**9) for r in j)')
equal 'stamps are the card'"'"'s, in order, and not all in one microsecond' "$(json '(
	{r["clock"] for r in j} <= {"card", "session"},
	sorted(r["ts_ns"] for r in j) == [r["ts_ns"] for r in j],
	len({r["ts_ns"] // 1000 for r in j}) > 1)')" '(True, True, True)'
within 'seconds since the last one' $(($(date +%s) - $(json 'j[3]["ts_ns"] // 10**9'))) -1 60
try trace show
equal 'as text' "$(sed -n '/^3: /,/^4: /p' "$TMPDIR/out" | sed '1d;$d')" \
	"	10.0.1.2 sport 4000 > 198.51.100.7 dport 5002 proto udp ttl 64
	route 198.51.100.0/24 type blackhole proto static
	drop reason blackhole: route says drop silently"
equal 'as a table' "$(fwdctl -br trace show |
	awk 'NR == 1 || NR == 4 { print $1, $3, $5, $8, $10 }')" \
	'NUMBER PORT TO VERDICT REASON
3 eth0 198.51.100.7 drop blackhole'

# ---- the file ----
prints 'packets 4 lost 0' trace save "$file"
equal 'interfaces' "$(fields frame.interface_name | sort -u)" eth0
equal 'times, as tshark has them' "$(fields frame.time_epoch | paste -sd ' ')" "$stamps"
equal 'destinations' "$(fields ip.dst | paste -sd ' ')" \
	'10.0.2.2 10.0.2.2 198.51.100.7 203.0.113.7'
fields frame.comment >"$TMPDIR/comments"
equal 'comments' "$(cat "$TMPDIR/comments")" "forward eth1; route 10.0.2.0/24; lladdr $b_mac
forward eth1; route 10.0.2.0/24; lladdr $b_mac
drop blackhole: route says drop silently; route 198.51.100.0/24
punt no_route: no route: the kernel answers unreachable"
equal 'tshark complains of' "$(grep -v 'Running as user' "$TMPDIR/tshark")" ''
capinfos -M "$file" >"$TMPDIR/capinfos"
for line in 'File type: .*pcapng' 'timestamp precision: *nanoseconds' 'Number of packets: *4' \
	'Number of interfaces in file: 2' 'Name = eth1' 'Time resolution = 0x09'; do
	check "capinfos: $line" grep -q "$line" "$TMPDIR/capinfos"
done
fwdctl trace save - | cmp - "$file"
equal 'the same by a pipe' "${PIPESTATUS[*]}" '0 0'
refused 1 "trace save /nowhere/x: No such file or directory (ENOENT)" trace save /nowhere/x
try trace save /dev/full
equal 'a full disk: status' $rc 1
check 'a full disk: said so' grep -q 'No space left\|Input/output error' "$TMPDIR/said"

# ---- a route that was changed since: nothing is made up ----
done_silently route del 198.51.100.0/24
done_silently route add 10.9.0.0/16 02:00:00:00:77:01 dev eth1
try -j trace show
equal 'the route that is no more, and one that is' "$(json '[r["route"] for r in j[1:3]]')" \
	"[{'prefix': '10.0.2.0/24', 'lladdr': '$b_mac', 'dev': 'eth1', 'protocol': 'static',\
 'metric': 0, 'flags': []}, {'prefix': '198.51.100.0/24', 'protocol': 'static', 'metric': 0,\
 'flags': ['changed']}]"
done_silently route add 198.51.100.0/24 blackhole

# ---- what ends it ----
done_silently trace start count 5 match dst 10.0.2.0/24
answers a 20 10.0.2.2 >/dev/null
ends count 5
in_a ping -q -i 0.02 -w 20 10.0.2.2 >/dev/null &
pings=$!
done_silently trace start seconds 1 match reason mtu
ends time 0
kill -INT $pings
wait $pings
check 'nothing matched' [ "$(trace_status seen)" -ge 2 ]
done_silently trace start match verdict drop
for ((i = 0; i < 3; i++)); do # one after the other, while workers may still have the last one
	done_silently trace stop
	done_silently trace start count $((i + 1)) match dport 5002
done
send_udp 198.51.100.7 5002 4
ends count 3

# ---- clients that vanish, and much traffic ----
rounds=0
python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall(b"trace start count 2000 bytes 1400 match dport 5004\n")
assert s.recv(100) == b"{\"status\":\"ok\"}\n"' "$socket"
# More than control thread and hosts may keep up with: what has no room is counted.
until trace_ended; do
	send_udp 10.0.2.2 5004 2000 1300
	[ $((rounds++)) -lt 20 ] || break
done
equal 'it has what it shall' "$(trace_status ended_by) $(trace_status packets)" 'count 2000'
report "trace of 2000 packets beside $((rounds * 2000)) in bursts: $(trace_status lost) had no room"
python3 -c '
import socket, sys
for request in b"trace show\n" * 3, b"trace show\ntrace stop\ntrace show\n":
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
    s.sendall(request); s.recv(1000); s.close()' "$socket"
check 'the daemon answers' fwdctl status
equal 'all are shown' "$(fwdctl -j trace show | python3 -c '
import json, sys
rows = json.load(sys.stdin)
print(len(rows), {(r["bytes"], r["captured"], len(r["data"])) for r in rows})')" \
	'2000 {(1342, 1342, 2684)}'
check 'and saved' fwdctl trace save "$file"
equal 'packets in the file' "$(capinfos -Mc "$file" | awk '/Number of packets/ { print $4 }')" 2000
conserved
received=$(port_count eth0 received)
stream_start s a b 10.0.2.2 500
wait_for 10 'the stream flows' at_least_received $((received + 50))
for ((i = 0; i < 20; i++)); do
	if ! fwdctl trace start || ! fwdctl trace stop; then
		fail "round $i"
	fi
done
stream_stop s 'beside traces that come and go'
conserved
done_silently trace start # one that runs while the daemon ends
router_stop
model_stop
finish
