#!/bin/bash
# judges/recovery.sh - DPDK's driver gets over the errors that the fault script makes
# timeout: 500
#
# An error completion takes a queue to ERR; what brings it back was written against cards:
# the driver reads the syndrome, resets the queue and posts anew. A command that fails fails
# the port, and the next try works.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

queue() # SQ|RQ: the one that frames pass
{
	ctl dump | awk -v type="$1" '$1 == type && / log_size [1-9]/ { print $2; exit }'
}

ready() # SQ|RQ NUMBER
{
	ctl dump | grep -q "^$1 $2 .* RDY "
}

forwarded() { [ "$(count_of eth0 tx_frames)" -ge "$1" ]; }

goes_on() # WHAT
{
	local now

	now=$(count_of eth0 tx_frames)
	wait_for 60 "$1: frames go on" forwarded $((now + 2000))
	pass "$1: frames go on"
}

# Plain and striding receive are recovered by different code. The driver's vector code looks at
# the wrong completion for the end of the flush (mlx5_rx_err_handle, `cq_ci - vec`), so: without.
recover() # WHAT DEVARGS
{
	local what=$1 type num before syndrome

	model_start --port eth0=gen:count=0,window=0,rate=20000,start=ctl,check=same
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0),rxq_cqe_comp_en=0,rx_vec_en=0$2" \
		-- -i --total-num-mbufs=16384 --rxd=1024 --txd=256 --no-mlockall
	tp start
	ctl wire eth0 start
	goes_on "$what: at first"
	for type in SQ RQ SQ RQ; do
		num=$(queue $type)
		for syndrome in 0x04 0x02; do
			before=$(count_of eth0 cmds)
			# refused while the ring is empty: on a busy machine it may be
			wait_for 60 "$what: the error is made" \
				ctl fault eth0 cqe "type=${type,,}" "num=$num" syndrome=$syndrome
			wait_for 60 "$what: $type is ready again after $syndrome" ready $type "$num"
			at_least "$what: $type after $syndrome: commands" \
				$(($(count_of eth0 cmds) - before)) 2 # to RST and to RDY
			goes_on "$what: $type after $syndrome"
		done
	done
	equal "$what: frames changed" "$(wire_stat eth0 bad)" 0
	equal "$what: refused work entries" "$(count_of eth0 wqe_refusals)" 0
	equal "$what: refused commands" "$(count_of eth0 cmd_refusals)" 0
	equal "$what: ignored doorbells" "$(count_of eth0 bad_doorbells)" 0
}

fails_and_starts() # OPCODE
{
	tp 'port stop 0'
	ctl fault eth0 cmd "op=$1" status=8 syndrome=0x123456 times=1
	tp 'port start 0'
	check "port start with $1 failing: refused" grep -q 'Fail to start port 0' <<<"$tp_out"
	tp 'port start 0'
	check "port start after $1: starts" grep -q 'Done' <<<"$tp_out"
	tp start
	goes_on "after $1"
	tp stop
}

recover 'plain' ''
tp stop
for opcode in 0x904 0x908 0x400 0x905 0x909; do fails_and_starts $opcode; done
testpmd_quit
model_stop
recover 'multi-packet' ',mprq_en=1,rxqs_min_mprq=1'
tp stop
testpmd_quit
model_stop
finish
