#!/bin/bash
# judges/rules.sh - drop, queue and mark rules of testpmd, counted to the frame
# timeout: 200
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

seed=${TEST_SEED:-$RANDOM}
lib=$(dirname "$0")/lib

# Frames by kind. Primes, so that no wrong sum comes out right.
drop4=307 queue4=409 mark4=211 drop6=101 queue6=503 mark6=89 rest=601
marked=$((mark4 + mark6))
arriving=$((queue4 + queue6 + marked + rest))

python3 "$lib/rule_frames.py" "$TMPDIR/in.pcap" 02:00:00:00:00:aa "$seed" \
	4:udp:1000=$drop4 4:udp:2000=$queue4 4:udp:3000=$mark4 \
	6:tcp:1000=$drop6 6:udp:2000=$queue6 6:udp:3000=$mark6 4:tcp:7=$rest

rule() # PATTERN ACTIONS
{
	tp "flow create 0 ingress pattern $1 / end actions $2 / end"
	check "rule accepted: $1 -> $2" grep -q 'Flow rule #[0-9]* created' <<<"$tp_out"
}

hits() # RULE-NUMBER: as testpmd reads the rule's counter
{
	tp "flow query 0 $1 count"
	printf '%s\n' "$tp_out" | sed -nE 's/^ hits: ([0-9]+)$/\1/p'
}

marks() # ID: packets that testpmd printed with this mark
{
	grep -ac "FDIR matched ID=$1" "$tp_log"
}

run() # WHAT DEVARGS
{
	local what=$1 devargs=$2

	model_start --port "eth0=pcap:$TMPDIR/in.pcap,start=ctl"
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)$devargs" \
		-- -i --rxq=2 --txq=2 --total-num-mbufs=16384 --rxd=2048 --txd=1024 \
		--forward-mode=rxonly --no-mlockall
	# Only what a rule takes: the rest goes to the kernel.
	tp 'port stop 0'
	tp 'flow isolate 0 1'
	tp 'port start 0'
	rule 'eth / ipv4 / udp dst is 1000' 'count / drop'
	rule 'eth / ipv6 / tcp dst is 1000' 'drop'
	rule 'eth / ipv4 / udp dst is 2000' 'count / queue index 1'
	rule 'eth / ipv6 / udp dst is 2000' 'queue index 1'
	rule 'eth / ipv4 / udp dst is 3000' 'mark id 0x1234 / queue index 0'
	rule 'eth / ipv6 / udp dst is 3000' 'mark id 0xabcde / queue index 0'
	tp 'set verbose 1'
	tp start
	ctl wire eth0 start
	wait_for 60 "$what: all frames taken" tp_has 0 $((arriving - rest))
	equal "$what: queue 0" "$(tp_queue 0 0)" $marked
	equal "$what: queue 1" "$(tp_queue 0 1)" $((queue4 + queue6))
	tp 'stop'
	equal "$what: marked 0x1234" "$(marks 0x1234)" $mark4
	equal "$what: marked 0xabcde" "$(marks 0xabcde)" $mark6
	equal "$what: hits of the first rule" "$(hits 0)" $drop4
	equal "$what: hits of the third rule" "$(hits 2)" $queue4
	equal "$what: dropped by rules" "$(count_of eth0 rx_rule_drop)" $((drop4 + drop6))
	equal "$what: without a buffer" "$(count_of eth0 rx_no_buffer)" 0
	equal "$what: to the kernel" "$(count_of eth0 rx_kernel)" $rest

	# Without rules and without isolation everything comes, as the driver's own rules say.
	tp 'flow flush 0'
	tp 'port stop 0'
	tp 'flow isolate 0 0'
	tp 'port start 0'
	tp 'set verbose 0'
	tp start
	ctl wire eth0 start
	wait_for 60 "$what: all frames taken, without rules" tp_has 0 $((arriving + drop4 + drop6))
	equal "$what: all frames, without rules" "$(tp_received 0)" \
		$((arriving + drop4 + drop6))
	equal "$what: marked, still" "$(marks 0x1234)" $mark4
	testpmd_quit
	model_stop
}

run 'plain' ,rxq_cqe_comp_en=0
run 'compressed with tags' ,rxq_cqe_comp_en=2
finish
