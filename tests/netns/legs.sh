#!/bin/bash
# netns/legs.sh - a route with two next hops: shares, flows that stay, a leg that goes and comes
# timeout: 120
#
# From a, by eth0 back to a (one in four) or by eth1 to b (three in four).
. "$(dirname "$0")/lib.sh"

received() { [ "$(port_count eth0 received)" -ge "$1" ]; }

# What leaves by eth0 and by eth1 while all that COMMAND sends comes in.
spread() # COUNT COMMAND...
{
	local count=$1 in e0 e1

	shift
	in=$(settled_count eth0 received)
	e0=$(settled_count eth0 egress) e1=$(settled_count eth1 egress)
	"$@"
	wait_for 20 'all are received' received $((in + count)) >&2
	echo "$(($(settled_count eth0 egress) - e0)) $(($(settled_count eth1 egress) - e1))"
}

leg_down() { fwdctl route show 192.0.2/24 | grep -q 'dev eth1 weight 3 linkdown'; }
leg_up() { ! leg_down; }
no_nexthop() { [ "$(fwdctl status | value_of nexthops)" = 0 ]; }

hosts_up
router_start
for prefix in 192.0.2.0/24 2001:db8:99::/48; do
	check "a route with two next hops: $prefix" fwdctl route add $prefix \
		nexthop $a_mac dev eth0 nexthop $b_mac dev eth1 weight 3
done
equal 'both routes share a group' "$(fwdctl status | value_of nexthop_groups)" 1
in_a ping -q -c 1 -W 0.1 192.0.2.1 >/dev/null
in_a ping -q -c 1 -W 0.1 2001:db8:99::1 >/dev/null

for family in 4 6; do
	to=192.0.2.1
	[ $family = 4 ] || to=2001:db8:99::1
	first=$(spread 800 udp_flows $family $to 400 2)
	read -r by0 by1 <<<"$first"
	equal "IPv$family: every packet leaves once" $((by0 + by1)) 800
	equal "IPv$family: both packets of a flow by one leg" $((by0 % 2 + by1 % 2)) 0
	at_least "IPv$family: the share of one in four" "$by0" 110
	at_least "IPv$family: the share of three in four" "$by1" 510
	equal "IPv$family: each flow goes where it went" \
		"$(spread 800 udp_flows $family $to 400 2)" "$first"
done
first=$(spread 800 udp_flows 4 192.0.2.1 400 2)
ip -n b link set b0 down
wait_for 20 'the leg is down' leg_down
equal 'all flows go by the other' "$(spread 800 udp_flows 4 192.0.2.1 400 2)" '800 0'
ip -n b link set b0 up
wait_for 20 'the leg is up' leg_up
equal 'and go where they went before' "$(spread 800 udp_flows 4 192.0.2.1 400 2)" "$first"

fwdctl route del 192.0.2.0/24
fwdctl route del 2001:db8:99::/48
wait_for 20 'no next hop is left' no_nexthop
conserved
router_stop
model_stop
finish
