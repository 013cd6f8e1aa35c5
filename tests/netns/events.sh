#!/bin/bash
# netns/events.sh - what happens to a port while it forwards: cable, netdev, MTU, MAC, name,
# queues in error, a device that dies
#
#     a ---- eth0 [mlx5fwd] eth1 ---- b
# timeout: 240
. "$(dirname "$0")/lib.sh"

logged() { grep -q -- "$1" "$fwd_log"; }
told() { wait_for 10 "log: $1" logged "$1"; }
port_says() { fwdctl port show "$1" | grep -q -- "$2"; }
forwards() { check "$1: forwards" answers a 20 10.0.2.2; }
# Number of the first queue of a kind: every port has one a worker.
queue() # PORT-NUMBER TYPE
{
	ctl dump | awk -v port="mlx5_$1" -v type="$2" '/^mlx5_/ { here = $1 == port }
		here && $1 == type { print $2; exit }'
}
recoveries() { port_count "$1" recoveries; }
received_more_than() { [ "$(port_count eth0 received)" -gt "$1" ]; }
# Some of the stream comes by.
flows() { wait_for 20 'the stream flows' received_more_than $(($(port_count eth0 received) + 30)); }
recovered() { [ "$(recoveries "$1")" -gt "$2" ]; }
dropped_for() { fwdctl -s drop show "$1" | pair "$2"; }
dropped_at_least() { [ "$(dropped_for "$1" "$2")" -ge "$3" ]; }

# Later on a's own kernel knows.
too_long()
{
	in_a ping -c 1 -W 1 -M 'do' -s 1300 10.0.2.2 2>&1 |
		grep -E 'Frag needed and DF set \(mtu = 1300\)|message too long, mtu=1300'
}

# The source MAC address of what b gets from the router.
seen_by_b()
{
	in_b timeout 20 tcpdump -c 1 -ne -i b0 'icmp and dst 10.0.2.2' 2>"$TMPDIR/tcpdump" | awk \
		'{ print $2 }' >"$TMPDIR/seen" &
	local dump=$!

	wait_for 10 'tcpdump listens' grep -q 'listening on' "$TMPDIR/tcpdump"
	in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
	wait $dump
	cat "$TMPDIR/seen"
}

hosts_up
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
forwards 'at first'

# ---- the cable ----
changes=$(port_count eth1 carrier_changes)
ctl link eth1 down
wait_for 10 'eth1 has no carrier' port_says eth1 no-carrier
equal 'route get: the port is down' "$(fwdctl route get 10.0.2.2 | head -n 1)" \
	"10.0.2.2 lladdr $b_mac dev eth1 by 10.0.2.0/24 proto static verdict drop reason link_down"
in_a ping -q -c 5 -i 0.01 -W 0.2 10.0.2.2 >/dev/null
wait_for 10 'what would leave there is dropped' dropped_at_least eth0 link_down 5
equal 'what would leave there is counted' "$(dropped_for eth0 link_down)" 5
equal 'ports up' "$(fwdctl status | value_of ports_up)" 1
ctl link eth1 up
wait_for 10 'eth1 has carrier' port_says eth1 ' carrier '
equal 'changes of carrier' $(($(port_count eth1 carrier_changes) - changes)) 2
forwards 'the cable is back'
# Pulled on the far side: the same, by the wire.
ip -n b link set b0 down
wait_for 10 'eth1 has no carrier' port_says eth1 no-carrier
ip -n b link set b0 up
ip -n b route replace default via 10.0.2.1
wait_for 10 'eth1 has carrier' port_says eth1 ' carrier '
forwards 'the far side is back'

# ---- the netdev ----
ip -n r link set eth1 down
wait_for 10 'eth1 is down' port_says eth1 ' down '
ip -n r link set eth1 up
wait_for 10 'eth1 is up' port_says eth1 ' up carrier'
ip -n r addr replace 2001:db8:2::1/64 dev eth1 nodad
forwards 'the netdev is up again'

# ---- a new MAC address: neighbours learn it, routes over the port take it ----
new_mac=02:00:00:00:00:77
ip -n r link set eth1 address $new_mac
wait_for 10 'eth1 has the new address' port_says eth1 "address $new_mac"
equal 'frames to b come from' "$(seen_by_b)" $new_mac
in_b ip neigh flush dev b0
before=$(settled_count eth1 received)
check 'and b answers to it' answers b 20 10.0.1.2
at_least 'which eth1 takes' $(($(settled_count eth1 received) - before)) 20
fwdctl route add 10.9.0.0/16 $new_mac dev eth1 2>"$TMPDIR/said"
equal "the port's own address is the new one" $? 2
ip -n r link set eth1 address $eth1_mac
wait_for 10 'eth1 has its address back' port_says eth1 "address $eth1_mac"
in_b ip neigh flush dev b0
forwards 'with the old address'

# ---- MTU ----
ip -n r link set eth1 mtu 1300
wait_for 10 'eth1 has the new MTU' port_says eth1 'mtu 1300'
before=$(dropped_for eth0 mtu)
wait_for 20 'too long for eth1: the kernel says so' too_long
pass 'too long for eth1: the kernel says so'
at_least 'and was asked to' $(($(dropped_for eth0 mtu) - before)) 1
forwards 'what fits'
ip -n r link set eth1 mtu 1500
wait_for 10 'eth1 has its MTU back' port_says eth1 'mtu 1500'
in_a ip route flush cache
check 'full frames' answers a 3 10.0.2.2 -s 1472
ip -n r link set eth0 mtu 9000
told 'port eth0: MTU 9000 is over the 1500 that its queues were made for'
ip -n r link set eth0 mtu 1500
wait_for 10 'eth0 has its MTU back' port_says eth0 'mtu 1500'

# ---- a new name ----
ip -n r link set eth1 down
ip -n r link set eth1 name wan
ip -n r link set wan up
told 'port eth1: the interface is called wan now'
wait_for 10 'wan is up' port_says eth1 ' up carrier'
ip -n r addr replace 2001:db8:2::1/64 dev wan nodad
forwards 'under a new name'
check 'routes still know the port' fwdctl route replace 10.0.2.0/24 $b_mac dev eth1
ip -n r link set wan down
ip -n r link set wan name eth1
ip -n r link set eth1 up
wait_for 10 'eth1 is up' port_says eth1 ' up carrier'

# ---- queues in error: reset, counted, and traffic goes on ----
queue_fails() # TYPE PORT NUMBER-OF-PORT
{
	local type=$1 port=$2 before

	stream_start "$type" a b 10.0.2.2 100
	flows
	before=$(recoveries "$port")
	ctl fault "$port" cqe "type=$type" "num=$(queue "$3" "${type^^}")" syndrome=0x04 vendor=0x77
	wait_for 20 "$port has recovered" recovered "$port" "$before"
	flows
	stream_stop "$type" "over the reset of the $type" 0 300
	equal "$port: resets" $(($(recoveries "$port") - before)) 1
	forwards "after the error of the $type"
}
queue_fails rq eth0 0
queue_fails sq eth1 1
check 'the log has the reason of the receive queue' \
	logged 'port eth0: receive queue of worker 0 in error: .* (0x04, vendor 0x77); resetting it'
check 'and of the send queue' \
	logged 'port eth1: send queue of worker 0 in error: .* (0x04, vendor 0x77); resetting it'
at_least 'errors are counted' "$(port_count eth0 receive_errors)" 1
at_least 'on both sides' "$(port_count eth1 transmit_errors)" 1

# ---- the device dies: its port is given up, the rest lives ----
ctl fault eth1 fatal
told 'port eth1: the device is lost; the kernel has the port until a restart'
equal 'state of the port' "$(fwdctl port show eth1 | grep -c ' lost ')" 1
equal 'the other port' "$(fwdctl port show eth0 | grep -c ' forwarding ')" 1
equal 'route get' "$(fwdctl route get 10.0.2.2 | sed -n 's/.*verdict/verdict/p')" \
	'verdict drop reason port_down'
check 'the daemon answers' fwdctl status
equal 'once is enough' "$(grep -c 'the device is lost' "$fwd_log")" 1
kill -TERM "$fwd_pid"
wait "$fwd_pid"
equal 'it stops in order' $? 0
model_stop
finish
