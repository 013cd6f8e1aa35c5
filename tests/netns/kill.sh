#!/bin/bash
# netns/kill.sh - kill -9: the kernel forwards within a second, nothing leaks; ten restarts
# timeout: 180
. "$(dirname "$0")/lib.sh"

objects()
{
	ctl stat | grep -vE '^(rss_kb|poller_)'
}

daemon_pid() { pgrep -x mlx5fwd; }
gone() { ! pgrep -x mlx5fwd >/dev/null; }
received_more_than() { [ "$(port_count eth0 received)" -gt "$1" ]; }
given_more_than() { [ "$(count_of eth0 netdev_given)" -gt "$1" ]; }
# Frames that the device put into receive rings, and that came neither back nor to the kernel.
held() # PUNTED
{
	echo $(($(count_of eth0 rx_queued) + $(count_of eth1 rx_queued) -
		$(count_of eth0 tx_frames) - $(count_of eth1 tx_frames) - $1))
}
no_clients() { [ "$(alive clients)" = 0 ]; }

hosts_up
before=$(objects)

# The kernel alone first, so that its neighbours are known and it is shown to work.
check 'the kernel forwards without the daemon' answers a 2 10.0.2.2
router_start
routes_add
check 'the daemon forwards' answers a 20 10.0.2.2
at_least 'eth0 took them' "$(settled_count eth0 received)" 20

stream_start kill a b 10.0.2.2 100
wait_for 20 'the stream flows' received_more_than 60
punted=$(($(port_count eth0 punted) + $(port_count eth1 punted)))
kill -9 "$(daemon_pid)"
wait_for 10 'the daemon is gone' gone
given=$(count_of eth0 netdev_given)
wait_for 20 'the kernel forwards' given_more_than $((given + 100))
stream_stop kill 'over the kill' 0 1000
# What waited in the daemon's rings went with it; at 100 a second, a second without anybody who
# forwards is 100 more.
within 'lost beside that' $((stream_lost - $(held $punted))) 0 99
wait "$fwd_pid"
wait_for 5 'the device let go of its client' no_clients
equal 'objects in the device' "$(objects)" "$before"
check 'the kernel forwards' answers a 20 10.0.2.2
check 'IPv6 too' answers a 20 2001:db8:2::2

for i in 1 2 3 4 5 6 7 8 9 10; do
	router_start
	fwdctl route add 10.0.2.0/24 $b_mac dev eth1
	fwdctl route add 10.0.1.0/24 $a_mac dev eth0
	check "start $i: forwards" answers a 5 10.0.2.2
	at_least "start $i: eth0 took them" "$(settled_count eth0 received)" 5
	conserved
	router_stop
done
wait_for 5 'the device let go of its client' no_clients
equal 'objects in the device' "$(objects)" "$before"
model_stop
finish
