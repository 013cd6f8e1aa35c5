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
no_clients() { [ "$(alive clients)" = 0 ]; }

hosts_up
before=$(objects)

# The kernel alone first, so that its neighbours are known and it is shown to work.
check 'the kernel forwards without the daemon' in_a ping -q -c 2 -W 2 10.0.2.2
router_start
routes_add
check 'the daemon forwards' in_a ping -q -c 20 -i 0.02 -W 2 10.0.2.2
at_least 'eth0 took them' "$(settled_count eth0 received)" 20

# One ping every 10 ms over the kill; each says when it came back.
in_a ping -D -i 0.01 -c 300 10.0.2.2 >"$TMPDIR/ping" &
ping_pid=$!
pinging() { [ "$(grep -c icmp_seq "$TMPDIR/ping")" -ge 50 ]; }
wait_for 10 'pings come back' pinging
kill -9 "$(daemon_pid)"
wait_for 5 'the daemon is gone' gone
wait $ping_pid
lost=$((300 - $(grep -c icmp_seq= "$TMPDIR/ping")))
# At 100 a second, a gap of one second is 100 pings.
within 'pings lost over the kill' "$lost" 0 99
wait "$fwd_pid"
wait_for 5 'the device let go of its client' no_clients
equal 'objects in the device' "$(objects)" "$before"
check 'the kernel forwards' in_a ping -q -c 20 -i 0.02 -W 2 10.0.2.2
check 'IPv6 too' in_a ping -q -c 20 -i 0.02 -W 2 2001:db8:2::2

for i in 1 2 3 4 5 6 7 8 9 10; do
	router_start
	fwdctl route add 10.0.2.0/24 $b_mac dev eth1
	fwdctl route add 10.0.1.0/24 $a_mac dev eth0
	check "start $i: forwards" in_a ping -q -c 5 -i 0.02 -W 2 10.0.2.2
	at_least "start $i: eth0 took them" "$(settled_count eth0 received)" 5
	conserved
	router_stop
done
wait_for 5 'the device let go of its client' no_clients
equal 'objects in the device' "$(objects)" "$before"
model_stop
finish
