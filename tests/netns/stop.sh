#!/bin/bash
# netns/stop.sh - the daemon comes and goes under traffic, and no packet is lost
#
#     a ---- eth0 [kernel | mlx5fwd | kernel | mlx5fwd ...] eth1 ---- b
#
# 250 packets a second: few enough to wait in a ring for seconds, where somebody is kept from
# his CPU. The kernel forwards before and after; between the first rule and the first route the
# daemon punts; what it received when the signal came leaves before it goes.
# timeout: 180
. "$(dirname "$0")/lib.sh"

both() { echo "$(port_count eth0 "$1") + $(port_count eth1 "$1")"; }
no_punts_wait() { [ $(($(both punted))) = $(($(both punt_delivered) + $(both punt_policed))) ]; }
daemon_pid() { pgrep -x mlx5fwd; }
given_more_than() { [ "$(count_of eth0 netdev_given)" -gt "$1" ]; }
received_more_than() { [ "$(port_count eth0 received)" -gt "$1" ]; }

hosts_up
config 'punt_burst = 2000'
check 'the kernel forwards' answers a 2 10.0.2.2
check 'IPv6 too' answers a 2 2001:db8:2::2
stream_start there a b 10.0.2.2 100
stream_start back b a 10.0.1.2 100
stream_start six a b 2001:db8:2::2 50

for signal in TERM INT TERM INT TERM; do
	router_start
	routes_add
	wait_for 20 'traffic goes by the daemon' received_more_than 60
	equal "SIG$signal: dropped until then" $(($(both dropped))) 0
	wait_for 10 'the kernel has what was punted' no_punts_wait
	equal "SIG$signal: policed" $(($(both punt_policed))) 0
	kill -"$signal" "$(daemon_pid)"
	wait "$fwd_pid"
	equal "SIG$signal: exit status" $? 0
	check "SIG$signal: said so" grep -q "notice: SIG$signal: stopping" "$fwd_log"
	wait_for 20 'traffic goes by the kernel' given_more_than \
		$(($(count_of eth0 netdev_given) + 60))
done

stream_stop there 'a to b'
stream_stop back 'b to a'
stream_stop six 'a to b, IPv6'
model_stop
finish
