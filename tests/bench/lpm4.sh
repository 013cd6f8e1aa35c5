#!/bin/bash
# tests/bench/lpm4.sh - IPv4 lookups of lib/fib against rte_fib and rte_lpm
#
#   tests/bench/run lpm4 [--reps N] [--addresses N] [--hosts N]
#
# One process, the same routes and addresses, structures in turn; every answer is compared
# with the sorted routes. The figures at the end are of batch 64; see tests/bench/fib/lpm.c.
. "$top/tests/bench/fib/lib.sh"

fib_prepare 2800
bench lpm -l "$program_core" "${eal[@]}" --no-pci --log-level=1 -- "$@" "$tables/full4.txt"
