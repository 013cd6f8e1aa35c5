# shellcheck shell=bash
# bench/lib/instructions.sh - instructions a packet costs our worker; after programs.sh
#
#   instructions FRAMES OPTIONS PROGRAM ARGS...
#                  mlx5fwd or mlx5pkt under callgrind, FRAMES of the generator (wire gen, OPTIONS)
#                  go through it. Prints the instructions of the thread that forwards, by frame,
#                  and leaves in $TMPDIR/instructions what they are of: "NUMBER FILE" and
#                  "NUMBER FILE:LINE", by frame too.
#
# Bursts are full, since the device is much faster than a program under callgrind. A processor of
# callgrind's has no AVX-512: what we do with it counts as what we do without. Empty turns
# are few, since the worker sleeps when nothing comes.
# shellcheck disable=SC2154 # by programs.sh
instructions()
{
	local frames=$1 options=$2 program=$3 pid file

	shift 2
	rm -f "$TMPDIR"/callgrind.* "$TMPDIR/routed"
	model_start --port "eth0=gen:window=256,start=ctl,mac=$drain_mac,$options" >&2
	under=(valgrind -q --tool=callgrind --instr-atstart=no --separate-threads=yes
		--compress-strings=no --compress-pos=no "--callgrind-out-file=$TMPDIR/callgrind")
	idle='sleep' "$@" >"$TMPDIR/program.log" 2>&1 &
	program=$!
	wait_for 60 "$1 runs" "ready_$1" >&2
	under=()
	pid=$(pgrep -x "callgrind.*" | head -n 1)
	callgrind_control -i on "$pid" >&2
	ctl wire eth0 start "count=$frames" >/dev/null
	wait_for 100 'all frames are back' returned "$frames" >&2
	kill -TERM "$pid"
	wait "$program"
	model_stop >&2
	file=$(grep -lE '^fn=(loop|turn|worker_main)' "$TMPDIR"/callgrind*-*)
	by_place "$frames" "$file" >"$TMPDIR/instructions"
	awk '$2 == "all" { print $1 }' "$TMPDIR/instructions"
}

returned() { [ "$(wire_stat eth0 returned)" = "$1" ]; }

# Of each source file and line: its own instructions, also those that were inlined elsewhere.
by_place() # FRAMES FILE
{
	awk -v frames="$1" '
		/^f[lie]=/ { file = substr($0, 4); sub(".*/main/|.*/lib/", "lib/", file) }
		/^calls=/ { getline; next }
		/^[0-9]/ { n[file] += $2; n[file ":" $1] += $2; n["all"] += $2 }
		END { for (at in n) printf "%.2f %s\n", n[at] / frames, at }' "$2" | sort -rn
}
