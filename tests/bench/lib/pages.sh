#!/bin/bash
# bench/lib/pages.sh POOL - gives back the huge pages of a benchmark, however that ended
#
# Each line of standard input is how many pages the benchmark has added to POOL, or, below 0, taken
# away again; it ends when all processes of the benchmark have. tests/bench/run starts this outside
# the benchmark's process namespace, so it outlives a benchmark that is killed.
pool=$1
given=0

trap '' INT TERM HUP
while read -r count; do
	given=$((given + count))
done
[ $given = 0 ] || echo $(($(cat "$pool") - given)) >"$pool"
