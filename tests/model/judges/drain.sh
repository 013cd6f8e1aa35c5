#!/bin/bash
# judges/drain.sh - the burst drain measures what it says: every frame of every round is checked
# timeout: 300
#
# testpmd under the generator of tests/bench, in short: both families, sizes, a table of
# destinations, lines near the program and in memory, several queues and ports; and an
# expectation that is wrong must be noticed in every frame. Figures are not judged here.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

[ "$(nproc)" -ge 2 ] || die 'two cores are needed: generator and program'
rounds=20

over()
{
	case $(wire_stat eth0 state) in done | failed) return 0 ;; esac
	return 1
}

# Runs testpmd in that mode on one port, or on as many as there are options.
drain() # MODE QUEUES OPTIONS...
{
	local mode=$1 queues=$2 ports=() devices=() i=0 option

	shift 2
	for option in "$@"; do
		option=rounds=$rounds,warmup=2,fifo=0,core=0,program_core=1,$option
		ports+=(--port "eth$i=drain:$option")
		i=$((i + 1))
	done
	model_start "${ports[@]}"
	for ((i = 0; i < $#; i++)); do devices+=(-a "$(pci eth$i),rxq_cqe_comp_en=0"); done
	testpmd_start -l 0,1 --no-huge -m 512 "${devices[@]}" -- -i --nb-cores=1 --rxq="$queues" \
		--txq="$queues" --rxd=1024 --txd=1024 --total-num-mbufs=16384 --no-mlockall \
		--forward-mode="$mode"
	tp start
	ctl wire eth0 start
	wait_for 100 "$mode $*: all rounds" over
	ctl wire eth0 stat >"$TMPDIR/stat"
	testpmd_quit
	model_stop
}

got() { value_of "$1" <"$TMPDIR/stat"; }

# All came back as they must be.
clean() # WHAT FRAMES
{
	equal "$1: state" "$(got state)" 'done'
	equal "$1: frames" "$(got offered)" "$2"
	equal "$1: right" "$(got good)" "$2"
	equal "$1: wrong, twice, foreign, lost" \
		"$(got bad) $(got duplicate) $(got foreign) $(got lost)" '0 0 0 0'
	equal "$1: rounds not covered" "$(got incomplete_rounds)" 0
	equal "$1: rounds timed" "$(got all_n)" $rounds
	# One whose look came too late, or was interrupted, has no figure of the first look.
	within "$1: rounds looked into" $(($(got ns_per_packet_n) + $(got late))) 0 $rounds
	check "$1: a figure: $(got all_median) ns" awk "BEGIN { exit !($(got all_median) > 0) }"
}

drain io 1 n=256,family=4,len=60,check=same,temp=local
clean 'IPv4, near' $((256 * (rounds + 2)))
drain macswap 1 n=200,family=6,len=70,len_max=1514,check=macswap,temp=dram
clean 'IPv6, sizes, in memory' $((200 * (rounds + 2)))

printf '198.51.100.%d\n' 1 2 3 77 200 >"$TMPDIR/dst"
options="n=512,len=64,check=same,temp=remote,flows=64"
drain io 2 "$options,family=4,dst=$TMPDIR/dst" "$options,family=6"
clean 'two ports of two queues' $((512 * (rounds + 2)))

drain rxonly 1 n=256,family=4,mode=rx
equal 'receiving only: state' "$(got state)" 'done'
equal 'receiving only: lost, rounds not covered' "$(got lost) $(got incomplete_rounds)" '0 0'

drain macswap 1 n=256,family=4,check=same
equal 'a wrong expectation: right' "$(got good)" 0
at_least 'a wrong expectation: wrong' "$(got bad)" 256
finish
