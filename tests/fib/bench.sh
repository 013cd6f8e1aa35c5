#!/bin/bash
# tests/fib/bench.sh - the benchmarks of the tables run and judge; their figures are not judged here
#
# Small tables and few repetitions, without huge pages: answers of all structures are right,
# every figure is there, and the exit status goes with the last line.
# timeout: 300
# alone
. "$top/tests/lib.sh"
programs=$BUILD_DIR/gcc/tests/bench/fib
tables=$TMPDIR/tables
eal=(--no-shconf --no-huge --no-telemetry --no-pci --force-max-simd-bitwidth=512 --log-level=1)

run() # NAME COMMAND...
{
	local name=$1 log=$TMPDIR/$1.log rc last

	shift
	"$@" >"$log" 2>&1
	rc=$?
	sed "s/^/$name: /" "$log"
	last=$(tail -n 1 "$log")
	equal "$name: nothing is wrong" "$(grep -c '^WRONG' "$log")" 0
	case "$rc $last" in
	'0 ok' | '1 short' | '1 too noisy') pass "$name: exit status $rc, $last" ;;
	*) fail "$name: exit status $rc, last line '$last'" ;;
	esac
}

figures() # NAME MINIMUM: lines with a verdict
{
	at_least "$1: figures that are judged" \
		"$(grep -cE ' (ok|short|too noisy)$' "$TMPDIR/$1.log")" "$2"
}

check 'small tables' "$top/tests/bench/tables.py" "$tables" --share 1
run lpm4 "$programs/lpm" -l 1 -m 1024 "${eal[@]}" -- \
	--reps 3 --addresses 65536 --hosts 2000 "$tables/full4.txt"
figures lpm4 4
run lpm6 "$programs/lpm" -l 1 -m 1024 "${eal[@]}" -- --reps 3 --addresses 65536 "$tables/full6.txt"
figures lpm6 2
run fibupdate "$programs/fibupdate" -l 0 -m 1024 "${eal[@]}" -- --slices 3 --builds 2 --ms 5 \
	"$tables/full4.txt" "$tables/full6.txt"
figures fibupdate 8
run fwdwork "$programs/fwdwork" --l3fwd "$L3FWD" --preload "$programs/ringport.so" --no-huge 512 \
	--reps 3 --ms 20 --flight 512 "$tables"
figures fwdwork 2

"$programs/lpm" -l 1 -m 256 "${eal[@]}" -- "$TMPDIR/absent" >"$TMPDIR/absent.log" 2>&1
equal 'without a table: exit status' $? 2

# ---- the huge pages of a benchmark that is killed ----
mkfifo "$TMPDIR/notes"
echo 1000 >"$TMPDIR/pool"
"$top/tests/bench/lib/pages.sh" "$TMPDIR/pool" <"$TMPDIR/notes" &
sh -c 'exec >"$1"; printf "%s\n" 300 -100 50; kill -9 $$' - "$TMPDIR/notes"
wait $!
equal 'pages that are left to others' "$(cat "$TMPDIR/pool")" 750
finish
