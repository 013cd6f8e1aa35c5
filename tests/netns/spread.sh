#!/bin/bash
# netns/spread.sh - IPv6 spreads over workers like IPv4
# timeout: 120
. "$(dirname "$0")/lib.sh"

worker_count() { fwdctl worker show | awk -v w="$1" '$2 == w { print $6 }'; }

received() { [ "$(port_count eth0 received)" -ge "$1" ]; }

hosts_up
config 'workers = 2'
# Each ring holds all packets, should its worker be kept from its CPU.
sed -i '/^\[port/a rx_packets = 4096\ntx_packets = 4096' "$conf"
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
in_a ping -q -c 1 -W 2 2001:db8:2::2 >/dev/null
for family in 4 6; do
	to=10.0.2.2
	[ $family = 4 ] || to=2001:db8:2::2
	settled_count eth0 received >/dev/null
	w0=$(worker_count 0) w1=$(worker_count 1) before=$(settled_count eth0 received)
	udp_flows $family $to 200 10
	wait_for 20 'all are received' received $((before + 2000))
	w0=$(($(worker_count 0) - w0)) w1=$(($(worker_count 1) - w1))
	at_least "IPv$family: worker 0's share of 2000" $w0 600
	at_least "IPv$family: worker 1's share of 2000" $w1 600
done
conserved
router_stop
model_stop
finish
