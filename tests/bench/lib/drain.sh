# shellcheck shell=bash
# bench/lib/drain.sh - runs of the burst drain, gated by calibration; sourced after model.sh
#
#   drain_prepare SECONDS              huge pages, calibrator; root and two cores needed. When
#                                      SECONDS are over nothing new is begun
#   make_tables DIR                    routing tables and destinations (tables.py)
#   build_l3fwd_big DIR                l3fwd with table limits raised, nothing else
#   drain_bounds                       what counts as quiet, where this machine is not of the
#                                      reference's kind
#   drain_figure NAME REFERENCE OPTIONS COMM COMMAND...
#                                      one accepted run of COMMAND, whose busy process is COMM;
#                                      waits for ready_COMM, where there is such a function.
#                                      OPTIONS of more than one port are joined by +.
#                                      REFERENCE is ns, or ns@MEMORY when its tables were in
#                                      memory MEMORY ns away
#   drain_table PERCENT RUNS           all figures: median, range, against REFERENCE +- PERCENT;
#                                      "too noisy" with less than half of RUNS accepted,
#                                      "other machine" when the memory is not as far away, by
#                                      PERCENT. Last line ok, short, too noisy or other machine;
#                                      status 0 only when ok
# shellcheck disable=SC2154 # top, BUILD_DIR, MODEL_BIN by tests/bench/run; cx_* by model.sh
drain_core=0
program_core=1
drain_mac=02:cc:00:00:00:01
eal=(--in-memory --single-file-segments --no-telemetry --force-max-simd-bitwidth=512)
results=$TMPDIR/results
rejected=$TMPDIR/rejected
calib=$BUILD_DIR/calib
tries=4
drain_pages_wanted=1500

# sorted(text, v): the numbers in text, into v[1] .. v[what it returns]
awk_sorted='
	function sorted(text, v,   m, i, j, t) {
		m = split(text, v, " ")
		for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++)
			if (v[j] + 0 < v[i] + 0) { t = v[i]; v[i] = v[j]; v[j] = t }
		return m
	}'

# What a quiet machine of the reference's kind shows; see tests/bench/calib.c. The bounds are
# those that the reference was measured within: another machine's figures are not comparable.
min_ghz=3.1
max_l2_ns=7.5
max_l3_ns=30
# Of another machine: so near to the best of some looks.
bounds_percent=25
# The calibrator is a real-time process and does not see ordinary ones: what they use of
# a core while a program is measured.
max_others_percent=10

drain_prepare()
{
	[ "$(nproc)" -ge 2 ] || die 'two cores are needed: one for the device, one for the program'
	: >"$results"
	: >"$rejected"
	cc -O2 -o "$calib" "$top/tests/bench/calib.c" || die 'calibrator does not build'
	drain_end=$((SECONDS + $1))
	drain_pages $drain_pages_wanted
	trap 'drain_pages -$pages_given' EXIT
}

drain_mac() # NUMBER of the port
{
	printf '%s%02x' "${drain_mac%01}" $(($1 + 1))
}

# So many huge pages more. Others may add and take away meanwhile: we take back what we gave,
# $pages_given in all. tests/bench/run does when we are killed, by what is noted there.
pages_given=0
drain_pages() # COUNT
{
	local pool=/proc/sys/vm/nr_hugepages before now

	before=$(cat $pool)
	echo $((before + $1 > 0 ? before + $1 : 0)) >$pool
	now=$(cat $pool)
	pages_given=$((pages_given + now - before))
	[ -z "${PAGES_NOTED:-}" ] || echo $((now - before)) >&"$PAGES_NOTED"
}

make_tables()
{
	local args=() data=${MLX5FWD_TABLES:-$top/../shared/data}

	[ ! -f "$data/full-v4.txt.xz" ] || args+=(--v4 "$data/full-v4.txt.xz")
	[ ! -f "$data/full-v6.txt.xz" ] || args+=(--v6 "$data/full-v6.txt.xz")
	"$top/tests/bench/tables.py" "$1" "${args[@]}" || die 'no tables'
}

build_l3fwd_big()
{
	local dir=$1 src=/usr/share/dpdk/examples

	[ ! -x "$dir/l3fwd/build/l3fwd" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -r $src/l3fwd $src/common "$dir/"
	sed -i -E 's/(IPV4_L3FWD_LPM_MAX_RULES +)1024/\1(1 << 21)/
		s/(IPV4_L3FWD_LPM_NUMBER_TBL8S +)\(1 << 8\)/\1(1 << 13)/
		s/(IPV6_L3FWD_LPM_MAX_RULES +)1024/\1(1 << 19)/
		s/(IPV6_L3FWD_LPM_NUMBER_TBL8S +)\(1 << 16\)/\1(1 << 18)/' "$dir/l3fwd/l3fwd_lpm.c"
	sed -i -E 's/(config_ipv4\.max_routes = )\(1 << 16\)/\1(1 << 21)/
		s/(config\.max_routes = )\(1 << 16\) - 1/\1(1 << 19)/
		s/(config\.trie\.num_tbl8 = )\(1 << 15\)/\1(1 << 19)/' "$dir/l3fwd/l3fwd_fib.c"
	make -C "$dir/l3fwd" shared >"$dir/build.log" 2>&1 ||
		{ tail "$dir/build.log"; die 'l3fwd does not build'; }
}

calibrate()
{
	"$calib" $program_core
}

# Nobody tells when a neighbour is done: looks again for some seconds.
calibrate_quiet()
{
	local end=$((SECONDS + 5)) now

	now=$(calibrate)
	until quiet "$now" || [ $SECONDS -ge $end ]; do now=$(calibrate); done
	echo "$now"
}

# A ratio needs no certain machine, only an undisturbed one.
drain_bounds()
{
	local i best

	best=$(for ((i = 0; i < 10; i++)); do calibrate; sleep 0.2; done | awk '
		{ if ($2 > g) g = $2; if (!m || $4 < m) m = $4; if (!n || $6 < n) n = $6 }
		END { print "clock_ghz", g, "l2_ns", m, "l3_ns", n }')
	if ! quiet "$best"; then
		read -r min_ghz max_l2_ns max_l3_ns < <(awk -v p=$bounds_percent \
			'{ print $2 / (1 + p / 100), $4 * (1 + p / 100), $6 * (1 + p / 100) }' \
			<<<"$best")
	fi
	echo "quiet: clock over $min_ghz GHz, L2 under $max_l2_ns ns, L3 under $max_l3_ns ns" \
		"(best of this machine: $best)"
}

quiet() # CALIBRATION
{
	awk -v ghz=$min_ghz -v l2=$max_l2_ns -v l3=$max_l3_ns \
		'{ exit !($2 >= ghz && $4 < l2 && $6 < l3) }' <<<"$1"
}

# All rounds are run, or frames were lost, which no later round makes good.
drain_over()
{
	case $(ctl wire eth0 stat | awk '
		$1 == "state" { state = $2 } $1 == "lost" && $2 { state = "lossy" }
		END { print state }') in done | failed | lossy) return 0 ;; esac
	! kill -0 "$program" 2>/dev/null
}

# CPU time that others than the device and the program used, in ticks; the hypervisor too.
others() # PID
{
	local own

	own=$(awk '{ n += $14 + $15 } END { print n }' "/proc/$cx_pid/stat" "/proc/$1/stat")
	awk -v own="$own" \
		'/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 - own }' /proc/stat
}

# One run; prints what others used of a core, in per cent, and the figure when every frame
# came back right.
drain_once() # OPTIONS COMM COMMAND...
{
	local comm=$2 pid wires=() port i start ticks end

	program=
	trap 'kill $program $cx_pid 2>/dev/null' EXIT # when a wait fails
	for port in ${1//+/ }; do
		port=drain:$port,rounds=300,core=$drain_core,program_core=$program_core
		i=$((${#wires[@]} / 2))
		wires+=(--port "eth$i=$port,mac=$(drain_mac $i)")
	done
	shift 2
	model_start --poll spin "${wires[@]}" >&2
	"$@" < <(exec sleep 1000) >"$TMPDIR/program.log" 2>&1 &
	program=$!
	wait_for 60 "$comm runs" pgrep -x "$comm" >&2
	pid=$(pgrep -x "$comm" | head -n 1)
	wait_for 60 "$comm is on its core" on_core "$pid" >&2
	! declare -F "ready_$comm" >/dev/null || wait_for 60 "$comm is ready" "ready_$comm" >&2
	drain_begins "$pid" >&2
	ticks=$(others "$pid")
	start=${EPOCHREALTIME/./}
	end=$((SECONDS + 60))
	ctl wire eth0 start "pid=$pid" >/dev/null
	until drain_over || [ $SECONDS -ge $end ]; do sleep 0.3; done # seldom: a look disturbs
	ticks=$((($(others "$pid") - ticks) * 1000000 / $(getconf CLK_TCK)))
	printf '%d ' $((100 * ticks / (${EPOCHREALTIME/./} - start)))
	ctl wire eth0 stat >"$TMPDIR/stat"
	drain_ends >&2
	kill "$pid" 2>/dev/null
	wait "$program" 2>/dev/null
	model_stop >&2
	# Frames of a round that was given up come in the next one, and look like duplicates.
	awk '{ v[$1] = $2 } END {
		if (v["bad"] || (v["duplicate"] && !v["incomplete_rounds"]))
			print "changed: " v["bad"] " frames, twice: " v["duplicate"]
		else if (v["state"] != "done" || v["lost"] + v["incomplete_rounds"])
			print "unclean: state " v["state"] ", lost " v["lost"]
		else
			print v["ns_per_packet_median"]
	}' "$TMPDIR/stat"
}

# For whoever looks at the program meanwhile: around all rounds.
drain_begins() { :; } # PID
drain_ends() { :; }

# Its polling thread is there and has queues to poll.
on_core() # PID
{
	local task cores

	for task in /proc/"$1"/task/*; do
		cores=$(awk '/^Cpus_allowed_list:/ { print $2 }' "$task/status" 2>/dev/null)
		[ "$cores" = $program_core ] && [ "$(alive RQ eth0)" -ge 1 ] && return 0
	done
	return 1
}

drain_figure()
{
	local name=$1 reference=$2 try before after figure others calm

	shift 2
	for ((try = 1; try <= tries && SECONDS < drain_end; try++)); do
		before=$(calibrate_quiet)
		if ! quiet "$before"; then
			printf '%s try %d: not begun, [%s]\n' "$name" "$try" "$before" |
				tee -a "$rejected" >&2
			continue
		fi
		read -r others figure < <(drain_once "$@")
		after=$(calibrate)
		calm=0
		! quiet "$after" || [ "${others:-100}" -gt $max_others_percent ] || calm=1
		# What does not run in time on a disturbed machine may be no fault of its own;
		# frames that were changed are.
		if ! [[ $figure =~ ^[0-9]+(\.[0-9]+)?$ ]] &&
			{ [[ $figure = changed* ]] || [ $calm = 1 ]; }; then
			echo "$name: ${figure:-did not run}" >&2
			tail -n 5 "$TMPDIR/program.log" >&2
			printf '%s %s UNCLEAN\n' "$name" "$reference" >>"$results"
			return
		fi
		if [ $calm = 1 ]; then
			printf '%s %s %s %s %s\n' "$name" "$reference" "$figure" \
				"$(awk '{ print $8 }' <<<"$before")" \
				"$(value_of late <"$TMPDIR/stat")" >>"$results"
			printf 'run: %-10s %s ns (%s others %d%%)\n' \
				"$name" "$figure" "$before" "$others"
			return
		fi
		printf '%s try %d: %s ns between [%s] and [%s], others %s%%\n' \
			"$name" "$try" "$figure" "$before" "$after" "$others" |
			tee -a "$rejected" >&2
	done
	printf '%s %s NOISY\n' "$name" "$reference" >>"$results"
}

drain_table()
{
	awk -v percent="$1" -v wanted="$2" \
		-v rejected="$(wc -l <"$rejected")" "$awk_sorted"'
		!($1 in seen) {
			split($2, is, "@")
			order[++n] = $1; seen[$1] = 1; reference[$1] = is[1]; memory[$1] = is[2]
		}
		$3 == "NOISY" { noisy[$1]++; next }
		$3 == "UNCLEAN" { unclean[$1]++; next }
		{ figures[$1] = figures[$1] " " $3; runs[$1]++; mem[$1] = mem[$1] " " $4 }
		function within(ratio) {
			return ratio <= 1 + percent / 100 && ratio >= 1 - percent / 100
		}
		END {
			printf "%-12s %8s %10s %18s %10s\n",
				"name", "ns", "reference", "ratio (min-max)", "target"
			for (k = 1; k <= n; k++) {
				name = order[k]; ref = reference[name]
				m = sorted(figures[name], v)
				if (unclean[name]) {
					printf "%-12s did not run, or frames lost or changed: %s\n",
						name, "short"
					bad = 1
					continue
				}
				if (m * 2 < wanted) {
					printf "%-12s %8s %10.2f %18s %8s%% too noisy\n",
						name, m " runs", ref, "", "+-" percent
					noise = 1
					continue
				}
				median = v[int((m + 1) / 2)]
				ratio = median / ref
				verdict = within(ratio) ? "ok" : "short"
				sorted(mem[name], far)
				far_is = far[int((m + 1) / 2)]
				if (memory[name] && !within(far_is / memory[name]))
					verdict = "other machine: memory is " far_is \
						" ns away, not " memory[name]
				if (verdict ~ /^other/) other = 1
				if (verdict == "short") bad = 1
				printf "%-12s %8.2f %10.2f %6.2f (%.2f-%.2f) %9s%% %s\n",
					name, median, ref, ratio, v[1] / ref, v[m] / ref,
					"+-" percent, verdict
			}
			printf "%d tries rejected\n", rejected
			print bad ? "short" : noise ? "too noisy" : other ? "other machine" : "ok"
			exit bad || noise || other
		}' "$results"
}
