#!/bin/bash
# tests/bench/forward.sh - forwarding by burst drain: ours against DPDK on the same device
#
#   tests/bench/run forward [--quick] [--only NAME]... [--runs N]
#
# Nanoseconds a packet until it is received, routed and posted again, seen by the device
# (tests/model/wire/drain.h), of mlx5fwd, mlx5pkt, DPDK's l3fwd and dpdk-testpmd: same generator,
# same core, one after the other in one session, each run between two calibrations that show an
# undisturbed machine, every frame of every round checked. A ratio is the peer's median over
# ours; min and max are of single runs side by side.
#
# Both sides of a figure with a target run at their best settings, by the same rule: a trial at
# the start runs each with compressed completions and without, and the faster one is taken.
# Other settings were settled beforehand, by longer looks at each program: ours are the defaults,
# l3fwd and testpmd have $inline, rings, bursts and caches as they like them best. "settings" at
# the end says what each ran with.
#
# First those with a target, which is judged after five accepted runs (else "too noisy"), then
# others for comparison. --quick: one run of the former. Status 0: all that has a target is ok.
# After nine minutes no run is begun. No figure here is the speed of a card.
. "$top/tests/model/judges/lib/model.sh"
. "$top/tests/bench/lib/drain.sh"
. "$top/tests/bench/lib/programs.sh"
. "$top/tests/bench/lib/instructions.sh"
. "$top/tests/bench/lib/figures.sh"

needed=5
runs=$((needed + 1)) # one may be rejected
more_runs=2
only=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick) runs=1 more_runs=0 ;;
	--runs) runs=$2; shift ;;
	--only) only+=("$2"); shift ;;
	*) die "unknown option $1" ;;
	esac
	shift
done

drain_prepare 540
make_tables "$tables"
build_l3fwd_big "$BUILD_DIR/l3fwd-big"
make_spread 2
make_spread 4
make_legs

# ---- what runs: name, settings, options of the drain, command ----
# Ours rewrites to the next hop of each route; l3fwd to 02:00:00:00:00:PORT, and it leaves
# the hop limit of IPv6 as it is.
v4=n=1024,family=4,len=60
v6=n=1024,family=6,len=70
ours=check=routed,routed_smac=$drain_mac
theirs=check=routed,either_zero=1,routed_dmac=02:00:00:00:00:00,routed_smac=$drain_mac

program fwd_full4 '' "$v4,$ours,dst=$tables/full4.to" mlx5fwd full4
program fib_full4 '' "$v4,$theirs,dst=$tables/full4.dst" l3fwd fib full4 16v6
program fwd_full6 '' "$v6,$ours,dst=$tables/full6.to" mlx5fwd full6
program fib_full6 '' "$v6,$theirs,hop=0,dst=$tables/full6.dst" l3fwd fib 16v4 full6
program fwd_16 '' "$v4,$ours,dst=$tables/16v4.to" mlx5fwd 16v4
program lpm_16 '' "$v4,$theirs,dst=$tables/16v4.dst" l3fwd lpm 16v4 16v6
program io '' "$v4,check=same" testpmd io
program reflect '' "$v4,check=macswap" mlx5pkt reflect
program macswap '' "$v4,check=macswap" testpmd macswap
program drop '' "$v4,mode=rx" mlx5pkt drop
program rxonly '' "$v4,mode=rx" testpmd rxonly

#      name         target  ours      peers
figure full_ipv4    2.2     fwd_full4 fib_full4
figure full_ipv6    2.2     fwd_full6 fib_full6
figure 16_routes    1.65    fwd_16    lpm_16
figure 16_and_io    '>1'    fwd_16    io
figure mac_swap     1.6     reflect   macswap
figure drop         1.6     drop      rxonly

# ---- for comparison ----
program fwd_16v6 '' "$v6,$ours,dst=$tables/16v6.to" mlx5fwd 16v6
program lpm_16v6 '' "$v6,$theirs,hop=0,dst=$tables/16v6.dst" l3fwd lpm 16v4 16v6 "$inline"
program fwd_legs '' "$v4,$ours,flows=4096,dst=$tables/16v4.dst,routed_dmac=$first_leg,legs=16" \
	mlx5fwd legs
more ipv6_16 fwd_16v6 lpm_16v6
more 16_legs fwd_legs lpm_16
# What is not inlined is held until a later completion: l3fwd wants a deeper ring for that.
for bytes in 128 256 512 1024 1500; do
	len=len=$((bytes - 4))
	deep=
	[ $bytes = 128 ] || deep=tx_ring=2048
	program "fwd_$bytes" '' "$v4,$ours,dst=$tables/16v4.to,$len" mlx5fwd 16v4
	program "lpm_$bytes" "$deep" "$v4,$theirs,dst=$tables/16v4.dst,$len" \
		l3fwd lpm 16v4 16v6 "$inline"
	more "${bytes}_bytes" "fwd_$bytes" "lpm_$bytes"
done
# A worker has one queue of each port: two and four of them on one core.
for n in 2 4; do
	program "fwd_${n}q" "ports=$n" "$(spread_options $n)" mlx5fwd "spread$n"
	program "lpm_${n}q" "ports=$n" "$(spread_options $n l3fwd)" \
		l3fwd lpm "spread$n" 16v6 "$inline"
	program "io_${n}q" "ports=$n" "$(spread_same $n)" testpmd io "$inline"
	more "${n}_ports" "fwd_${n}q" "lpm_${n}q" "io_${n}q"
done
for word in off basic enhanced; do
	program "fwd_$word" '' "$v4,$ours,dst=$tables/16v4.to" \
		mlx5fwd 16v4 "port.compression=$word"
	more "comp_$word" "fwd_$word" lpm_16
done
program fwd_4096 ring=4096 "$v4,$ours,dst=$tables/full4.to,n=4096" mlx5fwd full4
program fib_4096 ring=4096 "$v4,$theirs,dst=$tables/full4.dst,n=4096" \
	l3fwd fib full4 16v6 "$inline"
more n_4096_full fwd_4096 fib_4096
program fwd_dram '' "$v4,$ours,dst=$tables/full4.to,temp=dram" mlx5fwd full4
program fib_dram '' "$v4,$theirs,dst=$tables/full4.dst,temp=dram" \
	l3fwd fib full4 16v6 "$inline"
more dram_full fwd_dram fib_dram
program fwd_small huge=0 "$v4,$ours,dst=$tables/16v4.to" mlx5fwd 16v4
program lpm_small huge=0 "$v4,$theirs,dst=$tables/16v4.dst" l3fwd lpm 16v4 16v6 "$inline"
more small_pages fwd_small lpm_small

# ---- the session ----
drain_bounds
self_test
# Without $inline all peers are slower here, and l3fwd does not get through a full ring.
for peer in fib_full4 fib_full6 lpm_16 io macswap; do
	trial "$peer" "$inline" "$inline,rxq_cqe_comp_en=0"
done
trial rxonly '' ,rxq_cqe_comp_en=0
for own in fwd_full4 fwd_full6 fwd_16; do trial "$own" '' port.compression=off; done
for own in reflect drop; do trial "$own" '' '--compression off'; done
for ((run = 1; run <= runs; run++)); do measure_targets $run; done
bells=$(count_bells fwd_16)
measure_more $more_runs
show_settings
[ $more_runs = 0 ] || show_instructions
show_figures $((runs < needed ? runs : needed)) "$bells"
