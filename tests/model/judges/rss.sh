#!/bin/bash
# judges/rss.sh - two queues of testpmd get exactly the frames that their Toeplitz hash says
# timeout: 200
#
#   pcap with IPv4 -> eth0 -> port 0: queue 0, queue 1
#   pcap with IPv6 -> eth1 -> port 1: queue 0, queue 1
#
# The key is the driver's; the expected counts are computed by lib/rss_frames.py.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

count=4000
seed=${TEST_SEED:-$RANDOM}
lib=$(dirname "$0")/lib

# As testpmd prints the key of a port.
key_of() # PORT
{
	tp "show port $1 rss-hash key"
	printf '%s\n' "$tp_out" | sed -nE 's/^([0-9A-Fa-f]{80})$/\1/p'
}

expected() # FAMILY KIND KEY
{
	python3 "$lib/rss_frames.py" expect "$TMPDIR/v$1.pcap" "$3" "$2" 2
}

queue_counts() # PORT
{
	echo "$(tp_queue "$1" 0) $(tp_queue "$1" 1)"
}

# Rules that hash addresses and ports, one for each protocol of a port's family.
rules() # PORT FAMILY
{
	local proto pattern actions

	for proto in udp tcp; do
		pattern="eth / ipv$2 / $proto / end"
		actions="rss types ipv$2-$proto end queues 0 1 end / end"
		tp "flow create $1 ingress pattern $pattern actions $actions"
		check "RSS rule accepted: IPv$2, $proto" grep -q 'Flow rule #[0-9]* created' \
			<<<"$tp_out"
	done
}

# What lib/rss_frames.py calls KIND is set by `port config all rss`, or l4 by rules.
spread() # WHAT KIND DEVARGS
{
	local what=$1 kind=$2 devargs=$3 port family key

	model_start --port "eth0=pcap:$TMPDIR/v4.pcap,start=ctl,retry" \
		--port "eth1=pcap:$TMPDIR/v6.pcap,start=ctl,retry"
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)$devargs" -a "$(pci eth1)$devargs" \
		-- -i --rxq=2 --txq=2 --total-num-mbufs=16384 --rxd=1024 --txd=1024 \
		--forward-mode=rxonly --no-mlockall
	tp 'port stop all'
	tp "port config all rss ${kind/l4/ip}"
	tp 'port start all'
	for port in 0 1; do
		family=$((port * 2 + 4))
		key=$(key_of $port)
		equal "$what: IPv$family: digits of the key" ${#key} 80
		[ "$kind" != l4 ] || rules $port $family
		[ $port = 1 ] || tp start
		ctl wire eth$port start
		wait_for 60 "$what: IPv$family: all frames taken" tp_has $port $count
		equal "$what: IPv$family: frames of queue 0 and 1" "$(queue_counts $port)" \
			"$(expected $family "$kind" "$key")"
	done
	testpmd_quit
	model_stop
}

for family in 4 6; do
	python3 "$lib/rss_frames.py" make $family "$TMPDIR/v$family.pcap" 02:00:00:00:00:aa \
		$count "$seed"
done
spread 'addresses' ip ,rxq_cqe_comp_en=0
spread 'UDP only' udp ,rxq_cqe_comp_en=1
spread 'addresses and ports' l4 ,rxq_cqe_comp_en=4
spread 'addresses and ports, multi-packet' l4 ,mprq_en=1,rxqs_min_mprq=1
finish
