#!/bin/bash
# tests/bench/lpm6.sh - IPv6 lookups of lib/fib against rte_fib6 and rte_lpm6
#
#   tests/bench/run lpm6 [--reps N] [--addresses N]
#
# One process, the same routes and addresses, structures in turn; every answer is compared
# with the sorted routes. The figures at the end are of batch 64; see tests/bench/fib/lpm.c.
. "$top/tests/bench/fib/lib.sh"

fib_prepare 2800
bench lpm -l "$program_core" "${eal[@]}" --no-pci --log-level=1 -- "$@" "$tables/full6.txt"
