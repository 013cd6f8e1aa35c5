#!/bin/bash
# netns/kernel.sh - the kernel keeps its interface while transit goes by the daemon
#
# A TCP session and a ping to the router's own addresses live through start, traffic and
# stop of the daemon; tcpdump on the netdev sees no frame of the transit.
# timeout: 120
. "$(dirname "$0")/lib.sh"

transit_captured()
{
	tcpdump -nr "$TMPDIR/eth0.pcap" 'host 10.0.2.2 or host 2001:db8:2::2' 2>/dev/null | wc -l
}

hosts_up

# A TCP session to the router that says something ten times a second, and hears it back.
in_r python3 - <<'PY' &
import socket
s = socket.create_server(('10.0.1.1', 7777))
c, _ = s.accept()
while True:
    data = c.recv(100)
    if not data:
        break
    c.sendall(data)
PY
echo_pid=$!
session_listens() { [ -n "$(in_r ss -Hltn 'sport = 7777')" ]; }
wait_for 5 'the session can begin' session_listens
in_a python3 - "$TMPDIR/session" "$TMPDIR/end" <<'PY' &
import os, socket, sys, time
s = socket.create_connection(('10.0.1.1', 7777))
s.settimeout(5)
n = 0
while not os.path.exists(sys.argv[2]):
    s.sendall(b'%08d' % n)
    got = b''
    while len(got) < 8:
        got += s.recv(8 - len(got))
    assert got == b'%08d' % n
    n += 1
    time.sleep(0.1)
open(sys.argv[1], 'w').write(str(n))
PY
session_pid=$!

router_start
routes_add
in_r tcpdump -U -i eth0 -w "$TMPDIR/eth0.pcap" 2>"$TMPDIR/tcpdump.log" &
dump_pid=$!
capturing() { grep -q 'listening on' "$TMPDIR/tcpdump.log"; }
wait_for 10 'tcpdump listens' capturing

in_a ping -q -c 100 -i 0.02 10.0.2.2 >"$TMPDIR/ping4" &
p1=$!
in_a ping -q -c 100 -i 0.02 2001:db8:2::2 >"$TMPDIR/ping6" &
p2=$!
check 'own IPv4 address of eth0 answers' in_a ping -q -c 20 -i 0.02 -W 2 10.0.1.1
check 'own IPv6 address of eth0 answers' in_a ping -q -c 20 -i 0.02 -W 2 2001:db8:1::1
check 'own address of the other port answers' in_a ping -q -c 20 -i 0.02 -W 2 10.0.2.1
check 'own IPv6 address of the other port answers' in_a ping -q -c 20 -i 0.02 -W 2 2001:db8:2::1
# The neighbour entry goes; ARP and ND make a new one through the kernel.
in_a ip neigh flush dev a0
check 'ARP answers' in_a ping -q -c 1 -W 2 10.0.1.1
check 'ND answers' in_a ping -q -c 1 -W 2 2001:db8:1::1
wait $p1 $p2
check 'IPv4 transit: nothing lost' grep -q ' 100 received' "$TMPDIR/ping4"
check 'IPv6 transit: nothing lost' grep -q ' 100 received' "$TMPDIR/ping6"

# An address that comes later belongs to the kernel too, and one that goes is transit again.
verdict() { fwdctl route get "$1" | sed -n 's/.* verdict //p'; }
is_verdict() { [ "$(verdict "$1")" = "$2" ]; }
ip -n r addr add 10.0.2.77/32 dev lo
wait_for 5 'the new address is known' is_verdict 10.0.2.77 'punt reason local'
received=$(settled_count eth0 received)
check 'a new own address answers' in_a ping -q -c 5 -i 0.1 -W 2 10.0.2.77
wait $p1 $p2
equal 'and none of it is transit' "$(settled_count eth0 received)" "$received"
ip -n r addr del 10.0.2.77/32 dev lo
wait_for 5 'it is known to be gone' is_verdict 10.0.2.77 forward
in_a ping -q -c 3 -i 0.1 -W 0.1 10.0.2.77 >/dev/null
equal 'which is transit now' $(($(settled_count eth0 received) - received)) 3

# Own addresses that nobody has set: anycast of the routers of a network, broadcast of a network.
received=$(settled_count eth0 received)
check 'all routers of the network' in_a ping -q -c 2 -i 0.1 -W 2 2001:db8:1::
in_a ping -q -b -c 2 -i 0.1 -W 0.1 10.0.2.255 >/dev/null
# A container's and a bridge's addresses are the host's as well.
ip -n r link add br0 type bridge
ip -n r addr add 192.0.2.1/24 dev br0
wait_for 5 'the new address is known' is_verdict 192.0.2.1 'punt reason local'
check 'address of an interface that is down' in_a ping -q -c 2 -i 0.1 -W 2 192.0.2.1
equal 'none of it is transit' "$(settled_count eth0 received)" "$received"

received=$(settled_count eth0 received)
kill -TERM $dump_pid
wait $dump_pid
equal 'transit frames on the netdev' "$(transit_captured)" 0
at_least 'own frames on the netdev' "$(tcpdump -nr "$TMPDIR/eth0.pcap" 2>/dev/null | wc -l)" 40
at_least 'eth0 took the transit' "$received" 200
conserved
router_stop
touch "$TMPDIR/end"
wait $session_pid
equal 'the TCP session lived' $? 0
at_least 'and spoke' "$(cat "$TMPDIR/session")" 10
wait $echo_pid
model_stop
finish
