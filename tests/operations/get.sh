#!/bin/bash
# operations/get.sh - mlx5fwdctl route get says which leg a flow takes, and packets take it
# timeout: 120
. "$(dirname "$0")/lib.sh"

flows=12

said_leg() # SPORT: the port by which a packet leaves, as route get has it
{
	fwdctl route get 198.51.100.9 from 10.0.1.2 iif eth0 proto udp sport "$1" dport 9 |
		sed -n '1s/.* leg lladdr [^ ]* dev \([^ ]*\) .*/\1/p'
}

send_from() # SPORT COUNT
{
	in_a python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.1.2", int(sys.argv[1])))
for _ in range(int(sys.argv[2])):
    s.sendto(b"x" * 30, ("198.51.100.9", 9))' "$1" "$2"
}

all_forwarded()
{
	[ "$(port_count eth0 forwarded)" = $((expected_eth0 + expected_eth1)) ]
}

hosts_up
router_start
routes_add
check 'a group' fwdctl route add 198.51.100.0/24 nexthop $a_mac dev eth0 nexthop $b_mac dev eth1
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
expected_eth0=0
expected_eth1=0
for ((flow = 0; flow < flows; flow++)); do
	leg=$(said_leg $((30000 + flow)))
	case $leg in
	eth0) expected_eth0=$((expected_eth0 + 2 + flow)) ;;
	eth1) expected_eth1=$((expected_eth1 + 2 + flow)) ;;
	*) fail "flow $flow: leg '$leg'" ;;
	esac
done
at_least 'flows by eth0' $expected_eth0 1
at_least 'flows by eth1' $expected_eth1 1
conserved
check 'counters begin anew' fwdctl port reset
for ((flow = 0; flow < flows; flow++)); do
	send_from $((30000 + flow)) $((2 + flow))
done
wait_for 10 'all are forwarded' all_forwarded
equal 'packets by eth0, as was said' "$(port_count eth0 egress)" $expected_eth0
equal 'packets by eth1, as was said' "$(port_count eth1 egress)" $expected_eth1
fits route-get route get 198.51.100.9 from 10.0.1.2
fits route-get route get 198.51.100.9
fits route-get route get 10.0.1.1
prints '10.0.1.1 verdict punt reason local' route get 10.0.1.1
router_stop
model_stop
finish
