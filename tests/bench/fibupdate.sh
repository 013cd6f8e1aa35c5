#!/bin/bash
# tests/bench/fibupdate.sh - building and changing the tables of lib/fib, what readers lose, memory
#
#   tests/bench/run fibupdate [--slices N] [--builds N] [--ms N]
#
# Writer and reader have a core each; see tests/bench/fib/fibupdate.c.
. "$top/tests/bench/fib/lib.sh"

fib_prepare 3200
bench fibupdate -l 0 "${eal[@]}" --no-pci --log-level=1 -- "$@" \
	"$tables/full4.txt" "$tables/full6.txt"
