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

fwd_pid=$first
check 'the first still answers' fwdctl status
check 'and forwards' in_a ping -q -c 20 -i 0.02 -W 2 10.0.2.2
conserved
router_stop
model_stop
finish
