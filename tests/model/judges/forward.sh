#!/bin/bash
# judges/forward.sh - testpmd's io forwarding between two ports: nothing lost or changed
# timeout: 400
#
#   gen eth0 --> testpmd --> eth1 gen      each gen wire sends 500,000 frames, IPv4 and
#   gen eth0 <-- testpmd <-- eth1 gen      IPv6, and checks every frame of the other
#
# The same with each way of receiving that Debian's driver has: it asks for the layout of
# its queues and completions by device arguments.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

count=500000
wire="gen:count=$count,window=512,start=ctl,check=same,flows=256"

forward() # NAME DEVARGS
{
	local name=$1 devargs=$2 port

	model_start --port "eth0=$wire,family=46,len=60,len_max=256" \
		--port "eth1=$wire,family=46,len=70,len_max=1514"
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)$devargs" -a "$(pci eth1)$devargs" \
		-- -i --total-num-mbufs=16384 --rxd=1024 --txd=1024 --no-mlockall
	tp 'start'
	for port in eth0 eth1; do ctl wire $port start; done
	for port in eth0 eth1; do
		wait_for 120 "$name: all frames of $port" gen_done $port
	done
	tp 'stop'
	for port in eth0 eth1; do
		equal "$name: $port sent" "$(wire_stat $port sent)" $count
		equal "$name: $port came back" "$(wire_stat $port returned)" $count
		equal "$name: $port changed" "$(wire_stat $port bad)" 0
		equal "$name: $port twice" "$(wire_stat $port duplicate)" 0
		equal "$name: $port without a buffer" "$(wire_stat $port rx_no_buffer)" 0
	done
	testpmd_quit
	model_stop
}

forward 'plain' ',rxq_cqe_comp_en=0'
forward 'compressed, hash' ',rxq_cqe_comp_en=1'
forward 'compressed, flow tag' ',rxq_cqe_comp_en=2'
forward 'compressed, checksum' ',rxq_cqe_comp_en=3'
forward 'compressed, headers' ',rxq_cqe_comp_en=4'
forward 'multi-packet' ',rxq_cqe_comp_en=0,mprq_en=1,rxqs_min_mprq=1'
forward 'multi-packet, compressed' ',rxq_cqe_comp_en=3,mprq_en=1,rxqs_min_mprq=1'
forward 'multi-packet, scalar' ',rxq_cqe_comp_en=1,mprq_en=1,rxqs_min_mprq=1,rx_vec_en=0'
forward 'inline send' ',txqs_min_inline=1,txq_inline_mpw=128'
finish
