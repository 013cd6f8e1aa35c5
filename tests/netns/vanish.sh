#!/bin/bash
# netns/vanish.sh - addresses by the thousand, an interface that leaves, a card that is gone
# timeout: 200
. "$(dirname "$0")/lib.sh"

addresses=3000
[ -z "$asan" ] || addresses=500
# rdma-core keeps an object whose card no longer answers (mlx5dv_devx_obj_destroy() and others).
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

daemon_pid() { pgrep -x mlx5fwd; }
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon_pid)/status"; }
rules_are() { [ "$(alive FTE "$1")" = "$2" ]; }
port_says() { fwdctl port show "$1" | grep -q -- "$2"; }
forwards() { check "$1: forwards" in_a ping -q -c 20 -i 0.01 -W 2 10.0.2.2; }

address_lines() # add|del
{
	awk -v verb="$1" -v n=$addresses 'BEGIN {
		for (i = 0; i < n; i++)
			printf "addr %s 198.18.%d.%d/32 dev lo\n", verb, i / 256, i % 256
	}'
}

hosts_up
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null

# ---- each address of the host is a rule of each port ----
rules=$(alive FTE eth0)
address_lines add >"$TMPDIR/add"
address_lines del >"$TMPDIR/del"
for round in 1 2; do
	ip -n r -b "$TMPDIR/add"
	for port in eth0 eth1; do
		wait_for 60 "rules for $addresses addresses" rules_are $port \
			$((rules + addresses))
	done
	forwards "$addresses addresses more"
	check 'the last of them answers' in_a ping -q -c 1 -W 2 \
		198.18.$(((addresses - 1) / 256)).$(((addresses - 1) % 256))
	ip -n r -b "$TMPDIR/del"
	for port in eth0 eth1; do
		wait_for 60 'their rules are gone' rules_are $port "$rules"
	done
	[ $round = 2 ] || memory=$(memory_kb)
done
pass "rules: $rules, with $addresses addresses more, and $rules again; twice"
within 'memory that the second round cost, KiB' $(($(memory_kb) - memory + 100000)) 1 102048
forwards 'with the old addresses'
conserved

# ---- the interface leaves, and comes back with another index ----
ip -n r link set eth1 netns b
wait_for 10 'eth1 is gone' port_says eth1 ' down no-carrier '
check 'told once' [ "$(grep -c 'port eth1: the interface is gone' "$fwd_log")" = 1 ]
before=$(fwdctl -s drop show eth0 | pair link_down)
in_a ping -q -c 3 -i 0.01 -W 0.1 10.0.2.2 >/dev/null
dropped_are() { [ "$(fwdctl -s drop show eth0 | pair link_down)" = "$1" ]; }
wait_for 10 'what would leave there is counted' dropped_are $((before + 3))
ip -n b link set eth1 netns r
ip -n r link set eth1 up
ip -n r addr add 10.0.2.1/24 dev eth1
wait_for 10 'eth1 is back' port_says eth1 ' up carrier forwarding '
check 'told' grep -q 'notice: port eth1: the interface is back' "$fwd_log"
forwards 'the interface is back'
conserved

# ---- the card is gone, as when it is unplugged or its driver unloaded ----
kill -9 "$cx_pid"
wait "$cx_pid" 2>/dev/null
for port in eth0 eth1; do
	wait_for 10 "$port is lost" port_says $port ' lost '
done
ticks() { awk '{ print $14 + $15 }' "/proc/$(daemon_pid)/stat"; }
before=$(ticks)
sleep 1 # a daemon that rests takes no time from it, whatever else runs here
within 'hundredths of a second that it worked in one' $(($(ticks) - before)) 0 10
equal 'no port is up' "$(fwdctl status | value_of ports_up)" 0
check 'routes are still there' [ "$(fwdctl route show | wc -l)" = 4 ]
router_stop
finish
