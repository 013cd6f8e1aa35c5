#!/bin/bash
# tests/bench/anchors.sh - DPDK on the model by burst drain, against the first figures
#
#   tests/bench/run anchors [RUNS]      accepted runs of each program, default 5
#
# Nanoseconds per packet that dpdk-testpmd and l3fwd need to take, look at and send a full
# receive ring (1024 frames of 64 bytes, one queue, lines in the program's cache), seen by
# the device; see tests/model/wire/drain.h. The figures to repeat were taken on one kind of
# machine, so a run counts only between two calibrations that show this machine to be of its
# speed and undisturbed; four tries, then "too noisy" instead of a number. The two full tables
# are larger than that machine's share of the third level: where a load over 64 MiB does not
# take the 190 ns that it took there, their figures are shown as another machine's. After six
# minutes no run is begun.
. "$top/tests/model/judges/lib/model.sh"
. "$top/tests/bench/lib/drain.sh"
. "$top/tests/bench/lib/programs.sh"

runs=${1:-5}
drain_prepare 360
make_tables "$tables"
build_l3fwd_big "$BUILD_DIR/l3fwd-big"

# l3fwd: next hop 02:00:00:00:00:PORT; its IPv6 path does not touch the hop limit.
routed="check=routed,either_zero=1,routed_dmac=02:00:00:00:00:00,routed_smac=$drain_mac"
v4=n=1024,family=4,len=60
v6=n=1024,family=6,len=70

#       name       ns of drain.md   drain options                               program
anchor() { drain_figure "$@"; }
for ((run = 0; run < runs; run++)); do
	anchor rxonly 7.5 "$v4,mode=rx" dpdk-testpmd testpmd rxonly ''
	anchor io 10.4 "$v4,check=same" dpdk-testpmd testpmd io "$inline"
	anchor macswap 11.7 "$v4,check=macswap" dpdk-testpmd testpmd macswap "$inline"
	anchor lpm16 14.3 "$v4,$routed,dst=$tables/16v4.dst" \
		l3fwd l3fwd lpm 16v4 16v6 "$inline"
	anchor fib_full 31.7@190 "$v4,$routed,dst=$tables/full4.dst" \
		l3fwd l3fwd fib full4 16v6 "$inline"
	anchor fib6_full 40.0@190 "$v6,$routed,hop=0,dst=$tables/full6.dst" \
		l3fwd l3fwd fib 16v4 full6 "$inline"
done
drain_table 25 "$runs"
