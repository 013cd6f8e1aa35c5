#!/bin/bash
# netns/hostile.sh - frames that are not plain transit never come out wrong
# timeout: 120
. "$(dirname "$0")/lib.sh"

hosts_up
in_r sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
in_b ping -q -c 1 -W 2 10.0.2.1 >/dev/null
in_b ping -q -c 1 -W 2 2001:db8:2::1 >/dev/null
"$(dirname "$0")/hostile.py" || failed_checks=$((failed_checks + 1))
conserved
fwdctl drop show
# A wrong version or header length is no IPv4 to the card: the kernel has those.
for reason in ip_checksum ip_total_length martian_source martian_destination; do
	at_least "eth0 dropped: $reason" "$(fwdctl drop show eth0 | pair $reason)" 1
done
for reason in options no_route; do
	at_least "eth0 punted: $reason" "$(fwdctl drop show eth0 | pair $reason)" 1
done
equal 'punts that the kernel refused' "$(port_count eth0 punt_failed)" 0
router_stop
model_stop
finish
