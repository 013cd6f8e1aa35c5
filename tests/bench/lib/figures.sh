# shellcheck shell=bash
# bench/lib/figures.sh - figures of forward.sh: programs, ratios, verdicts; after programs.sh
#
#   program NAME SETTINGS OPTIONS COMMAND...   something to measure; SETTINGS: ring=4096 ports=2 ...
#   figure NAME TARGET OURS PEER...            the best peer's time over ours must be TARGET; ">1"
#   more NAME OURS PEER...                     the same without a target
#   trial PROGRAM SETTINGS...                  one accepted run of each, or two tries; the best is
#                                              the program's.
#                                              SETTINGS: further words of its command, or ''
#   measure_targets RUN, measure_more RUNS     one pass over all that is chosen by $only
#   self_test, count_bells PROGRAM             a wrong expectation is noticed; packets a doorbell
#   show_settings, show_instructions, show_figures RUNS BELLS
# shellcheck disable=SC2154 # by programs.sh, drain.sh and forward.sh
declare -A settings=() options=() command=() target=() sides=() tried=()
figures=() extras=()
first_leg=02:00:00:01:00:01
min_packets_per_bell=32

program() # NAME SETTINGS OPTIONS COMMAND...
{
	settings[$1]=$2
	options[$1]=$3
	command[$1]=${*:4}
}

figure() # NAME TARGET OURS PEER...
{
	target[$1]=$2
	sides[$1]=${*:3}
	figures+=("$1")
}

more() # NAME OURS PEER...
{
	sides[$1]=${*:2}
	extras+=("$1")
}

chosen() # NAME
{
	[ ${#only[@]} = 0 ] || [[ " ${only[*]} " = *" $1 "* ]]
}

# ---- routes over several ports, and over legs ----

# Route r of the sixteen leaves by port r mod PORTS; what came by a port goes out by its
# neighbour.
make_spread() # PORTS
{
	local n=$1 file=$tables/spread$1 i

	awk -v n="$n" '{ print $0, "dev eth" (NR - 1) % n }' "$tables/16v4.batch" >"$file.batch"
	awk -v n="$n" '{ print $1, (NR - 1) % n }' "$tables/16v4.l3fwd" >"$file.l3fwd"
	for ((i = 0; i < n; i++)); do
		awk -v n="$n" -v out=$((i ^ 1)) 'BEGIN { hex = "0123456789abcdef" }
			{
				c = length($2)
				route = 16 * index(hex, substr($2, c - 1, 1))
				route += index(hex, substr($2, c))
			}
			(route - 18) % n == out # digits count from 1 here, and their MACs too
		' "$tables/16v4.to" >"$file-$i.to"
		awk '{ print $1 }' "$file-$i.to" >"$file-$i.dst"
	done
}

spread_options() # PORTS [l3fwd]
{
	local i out list=()

	for ((i = 0; i < $1; i++)); do
		out=check=routed,routed_smac=$(drain_mac $((i ^ 1)))
		if [ "${2:-}" = l3fwd ]; then
			out=$out,either_zero=1,routed_dmac=02:00:00:00:00:0$((i ^ 1))
			list+=("$v4,$out,dst=$tables/spread$1-$i.dst")
		else
			list+=("$v4,$out,dst=$tables/spread$1-$i.to")
		fi
	done
	(IFS=+ && echo "${list[*]}")
}

spread_same() # PORTS
{
	local i list=()

	for ((i = 0; i < $1; i++)); do list+=("$v4,check=same"); done
	(IFS=+ && echo "${list[*]}")
}

make_legs()
{
	printf 'route add 198.18.0.0/15%s\n' \
		"$(printf ' nexthop 02:00:00:01:00:%02x' {1..16})" >"$tables/legs.batch"
}

# ---- measuring ----

in_settings() # PROGRAM FUNCTION ARGS...
{
	local ring=$ring tx_ring=$tx_ring ports=$ports queues=$queues huge=$huge word

	for word in ${settings[$1]}; do local "${word?}"; done
	"${@:2}"
}

# l3fwd's busy process has its own name, testpmd another.
comm_of() # PROGRAM
{
	case ${command[$1]} in testpmd*) echo dpdk-testpmd ;; *) echo "${command[$1]%% *}" ;; esac
}

measure() # PROGRAM [RESULT-NAME SETTINGS]
{
	local name=${2:-$1}

	# shellcheck disable=SC2086 # words
	in_settings "$1" measure_now "$name" "${options[$1]}" "$(comm_of "$1")" \
		${command[$1]} ${3:-${tried[$1]:-}}
}

# Without huge pages: ours takes those that there are, so there must be none.
measure_now() # RESULT-NAME OPTIONS COMM COMMAND...
{
	[ "$huge" = 1 ] || drain_pages "-$pages_given"
	drain_figure "$1" - "${@:2}"
	[ "$huge" = 1 ] && return
	if [ "$3" = mlx5fwd ] && ! grep -q 'no huge pages' "$TMPDIR/program.log"; then
		echo "$1: there were huge pages of others"
		sed -i "/^$1 /d" "$results"
	fi
	drain_pages "$drain_pages_wanted"
}

# A disturbed try counts too: what disturbs makes it slower, so the fastest tells most. Otherwise
# a setting whose tries were all disturbed would lose to a worse one.
trial() # PROGRAM SETTINGS...
{
	local name=$1 i=0 best tries=2

	shift
	needed "$name" || return 0
	for args in "$@"; do measure "$name" "trial:$name:$((i++))" "$args"; done
	best=$(awk -v is="^trial:$name:" '{ ns = ($2 == "try" ? $4 : $3) + 0 }
		$1 ~ is && ns > 0 && (!min || ns < min) { min = ns; sub(is, "", $1); best = $1 }
		END { print best + 1 }' "$results" "$rejected")
	tried[$name]=${!best}
}

# The figures that are chosen, and of them the programs, each once.
programs_of() # FIGURE...
{
	local name

	for name in "$@"; do
		! chosen "$name" || tr ' ' '\n' <<<"${sides[$name]}"
	done | awk '!seen[$0]++'
}

needed() # PROGRAM
{
	programs_of "${figures[@]}" "${extras[@]}" | grep -qx "$1"
}

measure_targets()
{
	local name

	for name in $(programs_of "${figures[@]}"); do measure "$name"; done
}

# Peers that have been measured already are not measured again.
measure_more() # RUNS
{
	local name run

	for ((run = 0; run < $1; run++)); do
		for name in $(programs_of "${extras[@]}"); do
			grep -qx "$name" <(programs_of "${figures[@]}") || measure "$name"
		done
	done
}

# A program that changes the addresses, where none was to be changed.
self_test()
{
	local said

	said=$(drain_once "$v4,check=same" mlx5pkt mlx5pkt reflect 2>/dev/null)
	if [[ $said = *'changed: '* ]] && [ "$(value_of good <"$TMPDIR/stat")" = 0 ]; then
		echo "self-test: a wrong expectation is noticed (${said#* })"
	else
		die "self-test: a wrong expectation went unnoticed: $said"
	fi
}

# Doorbells counted by the processor while full rings are drained.
count_bells() # PROGRAM
(
	drain_begins()
	{
		mkfifo "$TMPDIR/bells.in"
		"$MODEL_BIN/t_bells" "$1" <"$TMPDIR/bells.in" >"$TMPDIR/bells" &
		bells_pid=$!
		exec 8>"$TMPDIR/bells.in"
		wait_for 20 'watchpoints are set' watching
	}
	watching() { grep -q watching "$TMPDIR/bells" || ! kill -0 "$bells_pid" 2>/dev/null; }
	drain_ends()
	{
		echo >&8
		wait "$bells_pid"
	}
	# shellcheck disable=SC2086 # words
	in_settings "$1" drain_once "${options[$1]}" "$(comm_of "$1")" ${command[$1]} \
		>/dev/null 2>&1
	read -r _ rung _ <<<"$(tail -n 1 "$TMPDIR/bells")"
	awk -v rung="$rung" '$1 == "good" { printf "%.1f", rung ? $2 / rung : 0 }' "$TMPDIR/stat"
)

# ---- what it was ----

show_settings()
{
	local name

	echo 'settings: rings of 1024, one queue, 60 bytes and FCS (IPv6 70), 2 MiB pages'
	echo "  mlx5fwd: idle = spin; what the last one chose:"
	[ ! -s "$TMPDIR/mlx5fwd.chose" ] || sed 's/^/    /' "$TMPDIR/mlx5fwd.chose"
	echo '  testpmd: --burst=64 --mbcache=512; l3fwd: its own burst of 32; 512-bit vectors'
	for name in "${!tried[@]}"; do echo "  $name: ${tried[$name]:-its defaults}"; done | sort
}

show_instructions()
{
	local name

	for name in 16v4 full4 full6; do
		printf 'instructions a packet, mlx5fwd, %s: %s (callgrind, without AVX-512)\n' \
			"$name" "$(instructions 100000 \
				"family=${name: -1},len=70,$ours,dst=$tables/$name.to" \
				mlx5fwd "$name" 2>/dev/null)"
	done
}

show_figures() # RUNS BELLS
{
	local name
	{
		for name in "${figures[@]}"; do
			! chosen "$name" || echo "$name ${target[$name]} $1 ${sides[$name]}"
		done
		for name in "${extras[@]}"; do
			! chosen "$name" || [ "$more_runs" = 0 ] || echo "$name - 1 ${sides[$name]}"
		done
	} >"$TMPDIR/figures"
	awk -v rejected="$(wc -l <"$rejected")" -v bells="$2" -v least=$min_packets_per_bell \
		"$awk_sorted$awk_figures" "$results" "$TMPDIR/figures"
}

# shellcheck disable=SC2016 # fields of awk
awk_figures='
	FNR == NR {
		late += $5
		if ($3 == "NOISY" || $3 == "UNCLEAN") { failed[$1, $3]++; next }
		of[$1] = of[$1] " " $3
		next
	}
	function range(v, m) {
		return sprintf("%.2f (%.2f-%.2f)", v[int((m + 1) / 2)], v[1], v[m])
	}
	function median(name,   v, m) {
		m = sorted(of[name], v)
		return m ? v[int((m + 1) / 2)] : 0
	}
	# Of runs side by side: the first with the first, and so on.
	function pairs(mine, peer,   a, b, n, k, i, text) {
		n = split(of[mine], a, " ")
		k = split(of[peer], b, " ")
		for (i = 1; i <= n && i <= k; i++) text = text " " b[i] / a[i]
		return text
	}
	function unclean(from,   i) {
		for (i = from; i <= NF; i++) if (failed[$i, "UNCLEAN"]) return $i
	}
	FNR == 1 {
		printf "%-12s %19s  %-9s %20s %18s %8s\n", "name", "ours, ns", "best peer", "ns",
			"ratio (min-max)", "target"
	}
	{
		best = $5
		for (i = 6; i <= NF; i++)
			if (median($i) && (!median(best) || median($i) < median(best))) best = $i
		m = sorted(of[$4], v)
		k = sorted(of[best], w)
		n = sorted(pairs($4, best), r)
		if (who = unclean(4)) {
			printf "%-12s %s did not run, or frames lost or changed", $1, who
			verdict = "short"
		} else if (m < $3 || k < $3) {
			printf "%-12s %d and %d accepted runs", $1, m, k
			verdict = "too noisy"
		} else {
			ratio = w[int((k + 1) / 2)] / v[int((m + 1) / 2)]
			printf "%-12s %19s  %-9s %20s", $1, range(v, m), best, range(w, k)
			printf " %6.2f (%.2f-%.2f) %8s", ratio, r[1], r[n], $2
			verdict = substr($2, 1, 1) == ">" ? ratio > substr($2, 2) + 0 \
				: ratio >= $2 + 0
			verdict = verdict ? "ok" : "short"
		}
		if ($2 == "-") verdict = verdict == "ok" || ratio ? "" : verdict
		print " " verdict
		bad += $2 != "-" && verdict == "short"
		noise += $2 != "-" && verdict == "too noisy"
	}
	END {
		verdict = bells == "" ? "not counted" : bells + 0 >= least ? "ok" : "short"
		bad += verdict == "short"
		printf "%-12s %19s  %61s %s\n", "packets/bell", bells, ">=" least, verdict
		printf "%d tries rejected, %d rounds looked at too late\n", rejected, late
		print bad ? "short" : noise ? "too noisy" : "ok"
		exit bad || noise
	}'
