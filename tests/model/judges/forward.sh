#!/bin/bash
# judges/forward.sh - testpmd's io forwarding between two ports: nothing lost or changed
# timeout: 900
#
#   gen eth0 --> testpmd --> eth1 gen      each gen wire sends 500,000 frames, IPv4 from
#   gen eth0 <-- testpmd <-- eth1 gen      eth0, IPv6 from eth1; every frame is checked
#
# The same with each way of receiving that Debian's driver has: it asks for the layout of
# its queues and completions by device arguments. Formats that differ only in what a
# compressed completion says, and code that differs only in the driver, get 100,000 each.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

count=500000
fewer=100000

# All are back, or nothing came back for twenty seconds: what is lost stays lost.
gen_done() # PORT
{
	local now running under_way

	now=$(ctl wire "$1" stat)
	running=$(value_of running <<<"$now")
	under_way=$(value_of under_way <<<"$now")
	if [ "$now" != "$last" ]; then
		last=$now
		since=$SECONDS
	fi
	[ "$running $under_way" = '0 0' ] || [ $((SECONDS - since)) -ge 20 ]
}

start() # FORWARD-MODE DEVARGS [FRAMES]
{
	local port wire

	wire=gen:count=${3:-$count},window=512,start=ctl,check=same,flows=256
	model_start --port "eth0=$wire,family=4,len=60,len_max=256" \
		--port "eth1=$wire,family=6,len=70,len_max=1514"
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)$2" -a "$(pci eth1)$2" \
		-- -i --total-num-mbufs=16384 --rxd=1024 --txd=1024 --no-mlockall \
		--forward-mode="$1"
	tp 'start'
	for port in eth0 eth1; do ctl wire $port start; done
	for port in eth0 eth1; do
		last='' since=$SECONDS
		wait_for 120 "all frames of $port" gen_done $port
	done
	tp 'stop'
}

# The device did as it was asked: compressed or not, strides or not, refused nothing.
used() # NAME COMPRESSED STRIDING, each 0 or 1
{
	local port minis strides

	strides=$(ctl dump | grep -c '^RQ .* RDY .* strides ')
	equal "$1: striding queues" "$strides" $(($3 * 2))
	for port in eth0 eth1; do
		minis=$(count_of $port mini_cqes)
		equal "$1: $port compressed completions" $((minis > 0)) "$2"
		equal "$1: $port refused commands" "$(count_of $port cmd_refusals)" 0
		equal "$1: $port refused work entries" "$(count_of $port wqe_refusals)" 0
		equal "$1: $port ignored doorbells" "$(count_of $port bad_doorbells)" 0
	done
}

forward() # NAME COMPRESSED STRIDING DEVARGS [FRAMES]
{
	local name=$1 count=${5:-$count} port

	start io "$4" "$count"
	used "$1" "$2" "$3"
	for port in eth0 eth1; do
		equal "$name: $port sent" "$(wire_stat $port sent)" "$count"
		equal "$name: $port came back" "$(wire_stat $port returned)" "$count"
		equal "$name: $port changed" "$(wire_stat $port bad)" 0
		equal "$name: $port twice" "$(wire_stat $port duplicate)" 0
		equal "$name: $port without a buffer" "$(wire_stat $port rx_no_buffer)" 0
	done
	testpmd_quit
	model_stop
}

# The judge itself: MAC addresses exchanged must be noticed in every frame.
unlike()
{
	start macswap ,rxq_cqe_comp_en=0 50000
	equal 'macswap: eth0 came back unchanged' "$(wire_stat eth0 returned)" 0
	equal 'macswap: eth0 changed' "$(wire_stat eth0 bad)" 50000
	testpmd_quit
	model_stop
}

forward 'plain' 0 0 ',rxq_cqe_comp_en=0'
forward 'compressed, hash' 1 0 ',rxq_cqe_comp_en=1'
forward 'compressed, flow tag' 1 0 ',rxq_cqe_comp_en=2' $fewer
forward 'compressed, checksum' 1 0 ',rxq_cqe_comp_en=3' $fewer
forward 'compressed, headers' 1 0 ',rxq_cqe_comp_en=4' $fewer
forward 'multi-packet' 0 1 ',rxq_cqe_comp_en=0,mprq_en=1,rxqs_min_mprq=1'
forward 'multi-packet, compressed' 1 1 ',rxq_cqe_comp_en=3,mprq_en=1,rxqs_min_mprq=1'
forward 'multi-packet, scalar' 1 1 ',mprq_en=1,rxqs_min_mprq=1,rx_vec_en=0' $fewer
forward 'scalar, compressed' 1 0 ',rxq_cqe_comp_en=1,rx_vec_en=0' $fewer
forward 'inline send' 1 0 ',txqs_min_inline=1,txq_inline_mpw=128'
unlike
finish
