#!/bin/bash
# netns/onearm.sh - a one-armed router: two hosts behind one port, in by it and out by it
#
#   ns a a0 10.0.1.2 \
#                     bridge --- eth0 10.0.1.1, 10.0.2.1 (ns r)
#   ns b b0 10.0.2.2 /
# timeout: 120
. "$(dirname "$0")/lib.sh"

ip netns add r
ip -n r link set lo up
in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.{all,default}.send_redirects=0
host_up a a0 $a_mac 10.0.1.2/24 2001:db8:1::2/64 10.0.1.1 2001:db8:1::1
host_up b b0 $b_mac 10.0.2.2/24 2001:db8:2::2/64 10.0.2.1 2001:db8:2::1
ip link add br0 type bridge
sysctl -qw net.ipv6.conf.br0.disable_ipv6=1
ip link set br0 up
ip link add wr0 type veth peer name wr1
for dev in wr0 wr1; do sysctl -qw net.ipv6.conf.$dev.disable_ipv6=1; ip link set $dev up; done
for dev in wa0 wb0 wr1; do ip link set $dev master br0; done
model_start --port "eth0=wr0,netns=r,mac=$eth0_mac"
router_addr eth0 10.0.1.1/24 2001:db8:1::1/64
router_addr eth0 10.0.2.1/24 2001:db8:2::1/64
wait_for 10 'carrier of eth0' has_carrier eth0
printf '[daemon]\ncontrol_socket = %s\nlatency_sample = 1\nburst = 4\n[port eth0]\n' \
	"$socket" >"$conf"

router_start
check 'one port: no dev needed' fwdctl route add 10.0.2.0/24 $b_mac
check 'and back' fwdctl route add 10.0.1.0/24 $a_mac
check 'the line of the user' fwdctl route add 10.0.0.0/8 7c:c2:55:be:f3:c7
check 'IPv6' fwdctl route add 2001:db8:2::/64 $b_mac
check 'IPv6 back' fwdctl route add 2001:db8:1::/64 $a_mac
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
before=$(settled_count eth0 received)
check 'a to b' in_a ping -q -c 100 -i 0.01 -W 2 10.0.2.2
equal 'eth0 took both ways' $(($(settled_count eth0 received) - before)) 200
before=$(settled_count eth0 received)
check 'a to b, IPv6' in_a ping -q -c 100 -i 0.01 -W 2 2001:db8:2::2
equal 'eth0 took both ways' $(($(settled_count eth0 received) - before)) 200

# By one clock, so every burst is timed: from the card's receive stamp to its send completion.
latency() { fwdctl -j port show eth0 | jq ".[0].latency$1"; }
within 'bursts timed' "$(latency .samples)" 100 "$(port_count eth0 forwarded)"
equal 'each of them in one bucket' "$(latency '.up_to | add')" "$(latency .samples)"
within 'half of them' "$(latency .p50_ns)" 1 "$(latency .p99_ns)"
within 'nearly all' "$(latency .p99_ns)" 1 "$(latency .max_ns)"
within 'the slowest' "$(latency .max_ns)" 1 10000000000

# A next hop in a VLAN: frames come to b with its tag.
check 'a next hop with a tag' fwdctl route add 10.0.3.0/24 $b_mac vlan 7
check 'is shown with it' fwdctl route show 10.0.3.0/24
equal 'and saved' "$(fwdctl route save | grep 10.0.3)" \
	"route add 10.0.3.0/24 $b_mac dev eth0 vlan 7"
ip netns exec b python3 "$top/tests/netns/tagged.py" b0 7 100 "$TMPDIR/listens" \
	>"$TMPDIR/tagged" &
listener=$!
wait_for 10 'b listens' [ -e "$TMPDIR/listens" ]
in_a ping -q -c 100 -i 0.01 -W 1 10.0.3.2 >/dev/null
wait $listener
equal 'frames that b heard by the VLAN' "$(<"$TMPDIR/tagged")" 100
conserved eth0
router_stop
model_stop
finish
