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

expected() # FAMILY KIND KEY
{
	python3 "$lib/rss_frames.py" expect "$TMPDIR/v$1.pcap" "$3" "$2" 2
}

# Number of a queue's frames since the last `clear port xstats`.
queue_counts() # PORT
{
	echo "$(tp_xstat "$1" rx_q0_packets) $(tp_xstat "$1" rx_q1_packets)"
}

spread() # WHAT KIND OPTION DEVARGS
{
	local what=$1 kind=$2 option=$3 devargs=$4 port family key counts

	model_start --port "eth0=pcap:$TMPDIR/v4.pcap,start=ctl,retry" \
		--port "eth1=pcap:$TMPDIR/v6.pcap,start=ctl,retry"
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)$devargs" -a "$(pci eth1)$devargs" \
		-- -i --rxq=2 --txq=2 --total-num-mbufs=16384 --rxd=1024 --txd=1024 \
		--forward-mode=rxonly --no-mlockall "$option"
	for port in 0 1; do
		family=$((port * 2 + 4))
		tp "show port $port rss-hash key"
		key=$(printf '%s\n' "$tp_out" | sed -nE 's/^([0-9A-Fa-f]{80})$/\1/p')
		equal "$what: IPv$family: digits of the key" ${#key} 80
		[ $port = 0 ] && tp start
		ctl wire eth$port start
		wait_for 60 "$what: IPv$family: all frames taken" tp_has $port $count
		counts=$(queue_counts $port)
		equal "$what: IPv$family: frames of queue 0 and 1" "$counts" \
			"$(expected $family "$kind" "$key")"
		within "$what: IPv$family: queue 0" "${counts% *}" $((count * 4 / 10)) \
			$((count * 6 / 10))
	done
	testpmd_quit
	model_stop
}

for family in 4 6; do
	python3 "$lib/rss_frames.py" make $family "$TMPDIR/v$family.pcap" 02:00:00:00:00:aa \
		$count "$seed"
done
spread 'addresses' ip --rss-ip ,rxq_cqe_comp_en=0
spread 'addresses and UDP ports' udp --rss-udp ,rxq_cqe_comp_en=1
spread 'addresses, multi-packet' ip --rss-ip ,mprq_en=1,rxqs_min_mprq=1
finish
