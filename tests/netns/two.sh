#!/bin/bash
# netns/two.sh - a second daemon on a port refuses politely and disturbs nothing
# timeout: 120
. "$(dirname "$0")/lib.sh"

hosts_up
router_start
routes_add
first=$fwd_pid

router_launch
wait "$fwd_pid"
equal 'exit status of the second on the same port' $? 1
check 'it says who has the port' grep -q 'another mlx5fwd (pid [0-9]*) has this port' "$fwd_log"

# Nor one that wants only one of the ports, and has a control socket of its own.
second_conf() # PORT...
{
	conf=$TMPDIR/second.conf
	printf '[daemon]\ncontrol_socket = %s\n' "$TMPDIR/second.sock" >"$conf"
	printf '[port %s]\n' "$@" >>"$conf"
}
first_conf=$conf
second_conf eth1
: >"$fwd_log"
router_launch
wait "$fwd_pid"
equal 'exit status of one that wants one of them' $? 1
check 'it names the port' grep -q "eth1: another mlx5fwd (pid [0-9]*) has this port" "$fwd_log"
check 'and leaves no socket' [ ! -e "$TMPDIR/second.sock" ]

conf=$first_conf fwd_pid=$first
check 'the first still answers' fwdctl status
check 'and forwards' in_a ping -q -c 20 -i 0.02 -W 2 10.0.2.2
conserved
router_stop

# A port each, at the same time: they do not know of each other.
printf '[daemon]\ncontrol_socket = %s\n[port eth0]\n' "$socket" >"$conf"
router_start
fwdctl route add 10.0.2.0/24 blackhole
first=$fwd_pid first_socket=$socket
second_conf eth1
socket=$TMPDIR/second.sock
router_start
fwdctl route add 10.0.1.0/24 blackhole
in_a ping -q -c 5 -i 0.02 -W 0.1 10.0.2.2 >/dev/null
in_b ping -q -c 5 -i 0.02 -W 0.1 10.0.1.2 >/dev/null
equal 'the second has its own packets' "$(settled_count eth1 dropped)" 5
conserved eth1
router_stop
fwd_pid=$first socket=$first_socket conf=$first_conf
equal 'and the first its own' "$(settled_count eth0 dropped)" 5
conserved eth0
router_stop
model_stop
finish
