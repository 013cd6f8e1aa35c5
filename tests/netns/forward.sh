#!/bin/bash
# netns/forward.sh - ping, TCP and UDP through the daemon, both families, both ways
# timeout: 300
. "$(dirname "$0")/lib.sh"

ping_exact() # WHAT FROM TO-ADDRESS
{
	local what=$1 from=$2 to=$3 before0 before1

	# Neighbours first: the kernel answers for the router, and nothing of it is transit.
	ip netns exec "$from" ping -c 1 -W 2 "$to" >/dev/null
	before0=$(settled_count eth0 received)
	before1=$(settled_count eth1 received)
	check "$what: 200 of 200 come back" ping_all "$from" "$to"
	equal "$what: eth0 took as many" $(($(settled_count eth0 received) - before0)) 200
	equal "$what: eth1 took as many" $(($(settled_count eth1 received) - before1)) 200
}

ping_all()
{
	ip netns exec "$1" ping -q -c 200 -i 0.005 -W 2 "$2" >"$TMPDIR/ping"
	cat "$TMPDIR/ping"
	grep -q ' 200 received' "$TMPDIR/ping"
}

iperf_server() # NS: takes one client
{
	ip netns exec "$1" iperf3 -s -1 -D \
		--pidfile "$TMPDIR/iperf.pid" --logfile "$TMPDIR/iperf.log"
	wait_for 5 'iperf3 listens' listening "$1" 5201
}

tcp() # WHAT SERVER-NS CLIENT-NS ADDRESS
{
	iperf_server "$2"
	check "$1: 4 MB by TCP" ip netns exec "$3" iperf3 -c "$4" -n 4M
	wait_for 5 'iperf3 is done' not_listening "$2" 5201
}

udp() # WHAT SERVER-NS CLIENT-NS ADDRESS
{
	iperf_server "$2"
	check "$1: UDP" ip netns exec "$3" iperf3 -c "$4" -u -b 20M -l 1000 -n 2M
	wait_for 5 'iperf3 is done' not_listening "$2" 5201
}

listening() { [ -n "$(ip netns exec "$1" ss -Hltn "sport = $2")" ]; }
not_listening() { ! listening "$@"; }

received_more_than() { [ "$(port_count eth0 received)" -gt "$1" ]; }

hosts_up
router_start
routes_add
# WHAT FROM TO ADDRESS
ways='a-to-b a b 10.0.2.2
b-to-a b a 10.0.1.2
a-to-b-IPv6 a b 2001:db8:2::2
b-to-a-IPv6 b a 2001:db8:1::2'
while read -r what from to address; do
	ping_exact "$what" "$from" "$address"
done <<<"$ways"
while read -r what from to address; do
	tcp "$what" "$to" "$from" "$address"
	udp "$what" "$to" "$from" "$address"
done <<<"$ways"

# All at once, numbered: not one is lost, and not one comes twice.
while read -r what from to address; do
	stream_start "$what" "$from" "$to" "$address" 500
done <<<"$ways"
before=$(port_count eth0 received)
wait_for 20 'some of all is under way' received_more_than $((before + 3000))
while read -r what from to address; do
	stream_stop "$what" "$what, UDP"
done <<<"$ways"
conserved
equal 'eth0: nothing dropped' "$(port_count eth0 dropped)" 0
equal 'eth1: nothing dropped' "$(port_count eth1 dropped)" 0
router_stop
model_stop
finish
