#!/bin/bash
# operations/get.sh - mlx5fwdctl route get says which leg a flow takes and which worker has it, and
# so it is
# timeout: 120
. "$(dirname "$0")/lib.sh"

flows=12

workers=4
six=2001:db8:99::9

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

# One packet of a flow that nobody answers.
send_one() # icmp4 | icmp6 | tcp4 PORT | udp6 PORT
{
	case $1 in
	icmp4) in_a ping -q -c 1 -W 0.05 198.51.100.9 ;;
	icmp6) in_a ping -q -c 1 -W 0.05 $six ;;
	tcp4) in_a python3 -c '
import socket, sys
s = socket.socket()
s.setblocking(False)
s.bind(("10.0.1.2", int(sys.argv[1])))
s.connect_ex(("198.51.100.9", 9))' "$2" ;;
	udp6) in_a python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("2001:db8:1::2", int(sys.argv[1])))
s.sendto(b"x" * 30, (sys.argv[2], 9))' "$2" $six ;;
	esac >/dev/null
}

words_of() # the same for route get
{
	case $1 in
	icmp4) echo 198.51.100.9 from 10.0.1.2 proto icmp ;;
	icmp6) echo $six from 2001:db8:1::2 proto icmp ;;
	tcp4) echo 198.51.100.9 from 10.0.1.2 proto tcp sport "$2" dport 9 ;;
	udp4) echo 198.51.100.9 from 10.0.1.2 proto udp sport "$2" dport 9 ;;
	udp6) echo $six from 2001:db8:1::2 iif eth0 proto udp sport "$2" dport 9 ;;
	esac
}

said_worker() # FLOW
{
	# shellcheck disable=SC2046 # words
	fwdctl route get $(words_of "$@") | sed -n 's/^\tqueue \([0-9]\) worker \1$/\1/p'
}

by_worker() # packets that each has received
{
	fwdctl worker show | pair received | paste -sd ' '
}

worker_has_more() # WAS WORKER: just that one has more
{
	[ "$(by_worker)" = "$(awk -v w="$2" '{ $(w + 1)++; print }' <<<"$1")" ]
}

all_forwarded()
{
	[ "$(port_count eth0 forwarded)" = $((expected_eth0 + expected_eth1)) ]
}

hosts_up
config "workers = $workers"
router_start
routes_add
check 'a route that nobody answers' fwdctl route add 2001:db8:99::/64 $b_mac dev eth1
check 'a group' fwdctl route add 198.51.100.0/24 nexthop $a_mac dev eth0 nexthop $b_mac dev eth1
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
declare -a expected=()
expected_eth0=0
expected_eth1=0
for ((flow = 0; flow < flows; flow++)); do
	worker=$(said_worker udp4 $((30000 + flow)))
	expected[${worker:-99}]=$((${expected[${worker:-99}]:-0} + 2 + flow))
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
at_least 'workers that have some' ${#expected[@]} 3
read -ra before <<<"$(by_worker)"
check 'counters begin anew' fwdctl port reset
for ((flow = 0; flow < flows; flow++)); do
	send_from $((30000 + flow)) $((2 + flow))
done
wait_for 10 'all are forwarded' all_forwarded
equal 'packets by eth0, as was said' "$(port_count eth0 egress)" $expected_eth0
equal 'packets by eth1, as was said' "$(port_count eth1 egress)" $expected_eth1
read -ra after <<<"$(by_worker)"
for ((w = 0; w < workers; w++)); do
	equal "packets of worker $w, as was said" $((after[w] - before[w])) "${expected[w]:-0}"
done
for flow in icmp4 icmp6 'tcp4 3000' 'tcp4 3001' 'tcp4 3002' 'udp6 3000' 'udp6 3001' 'udp6 3002'; do
	was=$(by_worker)
	# shellcheck disable=SC2086 # words
	worker=$(said_worker $flow)
	# shellcheck disable=SC2086 # words
	send_one $flow
	wait_for 5 "$flow: comes to worker $worker" worker_has_more "$was" "$worker"
	pass "$flow: is worker $worker's"
done
fits route-get route get 198.51.100.9 from 10.0.1.2 sport 1 dport 2
fits route-get route get 198.51.100.9
equal 'what is missing' "$(json 'j[0]["queue_needs"]')" "['from', 'sport', 'dport']"
fits route-get route get 10.0.1.1
prints '10.0.1.1 verdict punt reason local' route get 10.0.1.1
prints "$six lladdr $b_mac dev eth1 by 2001:db8:99::/64 proto static verdict forward
	queue: depends on the flow, say sport,dport" route get $six from 2001:db8:1::2
prints "$six lladdr $b_mac dev eth1 by 2001:db8:99::/64 proto static verdict forward
	queue: depends on the flow, say from" route get $six proto icmp
prints "$six verdict punt reason ttl" \
	route get $six from 2001:db8:1::2 ttl 1

# ---- a port whose device is lost has no queue, and the other goes on ----
ctl fault eth0 fatal
is_lost() { fwdctl port show eth0 | grep -q ' lost '; }
wait_for 10 'eth0 is lost' is_lost
flow='from 10.0.2.2 sport 1 dport 2'
needs() { try -j route get 198.51.100.9 "$@" && json 'j[0].get("queue_needs", "queue" in j[0])'; }
# shellcheck disable=SC2086 # words
equal 'on every port' "$(needs $flow)" "['iif']"
# shellcheck disable=SC2086 # words
equal 'on the one' "$(needs $flow iif eth0)" False
# shellcheck disable=SC2086 # words
equal 'on the other' "$(needs $flow iif eth1)" True
router_stop
model_stop
finish
