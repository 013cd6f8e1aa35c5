#!/bin/bash
# netns/change.sh - routes come, change and go while traffic runs; no other packet is lost
#
# Three streams of numbered packets from a, 250 a second each: two to addresses whose routes are
# left alone, one to an address whose route is changed over and over. Those must arrive whole; of
# this one each packet arrives once at most. The rings hold what comes in ten seconds, should
# somebody be kept from his CPU.
# timeout: 180
. "$(dirname "$0")/lib.sh"

rounds=80
changed=10.9.0.2

change()
{
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
}

arrives() { [ "$(port_count eth1 egress)" -gt "$1" ]; }

hosts_up
ip -n b addr add $changed/32 dev lo
sed -i '/^\[port/a rx_packets = 8192\ntx_packets = 8192' "$conf"
router_start
routes_add
check 'a route to change' fwdctl route add 10.9.0.0/16 $b_mac dev eth1
# The kernel's own answer for the changed prefix while no route of ours has it.
ip -n r route add blackhole 10.9.0.0/16
stream_start steady a b 10.0.2.2 250
stream_start steady6 a b 2001:db8:2::2 250
stream_start changed a b $changed 250
wait_for 20 'the streams flow' arrives 100
for ((i = 0; i < rounds; i++)); do
	change || fail "round $i of changes"
done
stream_stop steady 'IPv4 beside the changes'
stream_stop steady6 'IPv6 beside the changes'
stream_stop changed 'the changed one' 1 -1
conserved
router_stop
model_stop
finish
