#!/bin/bash
# judges/l3fwd.sh - DPDK's l3fwd routes pcap files to the byte
# timeout: 300
#
#   in0.pcap -> eth0 -> l3fwd (one core, two ports) -> eth0 -> out0.pcap
#   in1.pcap -> eth1 ->                             -> eth1 -> out1.pcap
#
# 4000 frames into each port, one port after the other: IPv4 and IPv6, UDP and TCP,
# options, fragments, some not IP. What leaves by each port must be, in order and to the
# byte, what lib/l3fwd_frames.py computed. l3fwd relies on the packet types that the
# completions tell.
. "$(dirname "$0")/lib/model.sh"

count=4000
lib=$(dirname "$0")/lib
seed=${TEST_SEED:-$RANDOM}
macs=(02:00:00:00:aa:00 02:00:00:00:aa:01)
log=$TMPDIR/l3fwd.log

left() # frames that left by both ports
{
	echo $(($(count_of eth0 tx_frames) + $(count_of eth1 tx_frames)))
}

has_left()
{
	[ "$(left)" -ge "$1" ]
}

route() # WHAT LOOKUP DEVARGS
{
	local what=$1 lookup=$2 devargs=$3 port files

	rm -f "$TMPDIR"/out?.pcap
	for port in 0 1; do
		files=$TMPDIR/in$port.pcap,$TMPDIR/out$port.pcap
		set -- "$@" --port "eth$port=pcap:$files,start=ctl,retry,mac=${macs[port]}"
	done
	shift 3
	model_start "$@"
	: >"$log"
	start_on "$L3FWD" -l 1 --no-huge -m 512 --no-telemetry -a "$(pci eth0)$devargs" \
		-a "$(pci eth1)$devargs" -- -p 3 -P --lookup="$lookup" \
		--config='(0,0,1),(1,0,1)' --rule_ipv4="$TMPDIR/v4.cfg" \
		--rule_ipv6="$TMPDIR/v6.cfg" >"$log" 2>&1
	wait_for 60 "$what: l3fwd's main loop" grep -qa 'entering main loop' "$log"
	for port in 0 1; do
		ctl wire eth$port start
		wait_for 60 "$what: all frames of eth$port" has_left $(((port + 1) * count))
	done
	kill "$on_pid"
	wait "$on_pid"
	equal "$what: exit status of l3fwd" $? 0
	for port in 0 1; do
		ctl wire eth$port flush
		check "$what: out$port.pcap is as computed" python3 "$lib/same_frames.py" \
			"$TMPDIR/out$port.pcap" "$TMPDIR"/in{0,1}-out$port.pcap
	done
	equal "$what: left in all" "$(left)" $((2 * count))
	model_stop
}

check 'expected frames computed' \
	python3 "$lib/l3fwd_frames.py" "$TMPDIR" "${macs[@]}" $count "$seed"
route 'lpm' lpm ,rxq_cqe_comp_en=0
route 'lpm, compressed headers' lpm ,rxq_cqe_comp_en=4
route 'lpm, multi-packet' lpm ,mprq_en=1,rxqs_min_mprq=1
route 'fib, inline send' fib ,txqs_min_inline=1,txq_inline_mpw=128
finish
