#!/bin/bash
# netns/double.sh - a receive queue in error while the device that sends its packets fails
#
#   a --- eth0 (receive queue in error) ... eth1 (holds 20 packets of eth0, then fails) --- b
#
# eth1 is given up; eth0's queue begins anew, and nothing of its old packets may be let go of later.
# timeout: 60
. "$(dirname "$0")/lib.sh"

numbers() # PORT TYPE: objects of a port
{
	ctl dump | awk -v port="mlx5_$1" -v type="$2" \
		'/^mlx5_/ { here = $1 == port } here && $1 == type { print $2 }'
}
received() { port_count eth0 received; }
has_received() { [ "$(received)" -ge "$1" ]; }
says() { fwdctl port show "$1" | grep -q "$2"; }

hosts_up
printf '%s\n' '[daemon]' "control_socket = $socket" 'control_group =' \
	'[port eth0]' 'rx_packets = 64' '[port eth1]' 'rx_packets = 64' >"$conf"
router_start
routes_add
fwdctl route add 10.0.9.0/24 "$a_mac" dev eth0
in_a sysctl -qw net.ipv4.conf.all.rp_filter=0
check 'a reaches b' answers a 20 10.0.2.2

for cq in $(numbers 1 CQ); do ctl fault eth1 hold "cq=$cq"; done
before=$(received)
udp_flows 4 10.0.2.2 1 20
wait_for 10 'eth1 holds packets of eth0' has_received $((before + 20))
ctl fault eth1 cmd op=0x907 status=8 times=1000 # QUERY_SQ
ctl fault eth0 cqe type=rq "num=$(numbers 0 RQ | head -n 1)" syndrome=0x04
wait_for 10 'eth1 is given up' says eth1 lost
check 'eth0 is not' says eth0 forwarding

# Many laps of a ring of 64, a few at a time.
before=$(received)
for ((n = 1; n <= 20; n++)); do
	udp_flows 4 10.0.9.9 1 30
	wait_for 10 "eth0 receives, $n" has_received $((before + 30 * n))
done
finish
