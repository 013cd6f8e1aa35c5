#!/bin/bash
# netns/change.sh - routes come, change and go while traffic runs; no other packet is lost
#
# Two streams of UDP packets from a, numbered, a thousand a second each: one to an address
# whose route is left alone and one whose route is changed over and over. The first must
# arrive whole; of the second each packet arrives once at most.
# timeout: 120
. "$(dirname "$0")/lib.sh"

receiver() # ADDRESS FILE
{
	in_b python3 - "$1" "$2" "$TMPDIR/end" <<'PY'
import os, socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
s.bind((sys.argv[1], 5000))
s.settimeout(0.2)
open(sys.argv[2] + '.ready', 'w').close()
got = []
while True:
    try:
        got.append(int(s.recv(100)))
    except socket.timeout:
        if os.path.exists(sys.argv[3]):
            break
with open(sys.argv[2], 'w') as f:
    f.write('%d %d\n' % (len(got), len(set(got))))
PY
}

sender() # ADDRESS COUNT
{
	in_a python3 - "$1" "$2" <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
start = time.monotonic()
for n in range(int(sys.argv[2])):
    s.sendto(b'%d' % n, (sys.argv[1], 5000))
    left = start + n / 1000 - time.monotonic()
    if left > 0:
        time.sleep(left)
PY
}

count=4000
steady=10.0.2.2 changed=10.9.0.2 steady6=2001:db8:2::2

hosts_up
ip -n b addr add $changed/32 dev lo
router_start
routes_add
check 'a route to change' fwdctl route add 10.9.0.0/16 $b_mac dev eth1
for file in steady changed steady6; do
	receiver "${!file}" "$TMPDIR/$file" &
done
ready()
{
	[ -e "$TMPDIR/steady.ready" ] && [ -e "$TMPDIR/changed.ready" ] &&
		[ -e "$TMPDIR/steady6.ready" ]
}
wait_for 10 'receivers are ready' ready
# The kernel's own answer for the changed prefix while no route of ours has it.
ip -n r route add blackhole 10.9.0.0/16
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
in_a ping -q -c 1 -W 2 2001:db8:2::2 >/dev/null
for file in steady changed steady6; do
	sender "${!file}" $count &
	senders+=($!)
done

changes=0
while kill -0 "${senders[0]}" 2>/dev/null; do
	fwdctl route replace 10.9.0.0/16 blackhole
	fwdctl route del 10.9.0.0/16
	fwdctl route add 10.9.0.0/16 $b_mac dev eth1
	fwdctl route add 10.9.0.2/32 $b_mac dev eth1
	fwdctl route replace 10.9.0.2/32 $b_mac dev eth1 metric 5
	fwdctl route del 10.9.0.2/32
	fwdctl -b - <<-LINES
		route add 10.9.0.0/24 $b_mac dev eth1
		route add 2001:db8:9::/48 $b_mac dev eth1
		route del 10.9.0.0/24
		route del 2001:db8:9::/48
	LINES
	changes=$((changes + 1))
done
wait "${senders[@]}"
at_least 'rounds of changes' $changes 20
conserved
touch "$TMPDIR/end"
done_counting() { [ -s "$TMPDIR/steady" ] && [ -s "$TMPDIR/steady6" ] && [ -s "$TMPDIR/changed" ]; }
wait_for 10 'receivers are done' done_counting
equal 'IPv4 beside the changes: all arrived, once' "$(cat "$TMPDIR/steady")" "$count $count"
equal 'IPv6 beside the changes: all arrived, once' "$(cat "$TMPDIR/steady6")" "$count $count"
read -r all distinct <"$TMPDIR/changed"
equal 'the changed one: none twice' "$all" "$distinct"
within 'the changed one: some arrived, some met the blackhole' "$all" 1 $((count - 1))
router_stop
model_stop
finish
