#!/bin/bash
# tests/bench/fwdwork.sh - work on a packet without I/O: our loop's passes against DPDK's l3fwd
#
#   tests/bench/run fwdwork [--reps N] [--ms N] [--flight N]
#
# l3fwd is Debian's example with table limits raised; see tests/bench/fib/fwdwork.c.
. "$top/tests/bench/fib/lib.sh"

fib_prepare 5400
build_l3fwd_big "$BUILD_DIR/l3fwd-big"
bench fwdwork --l3fwd "$BUILD_DIR/l3fwd-big/l3fwd/build/l3fwd" \
	--preload "$BUILD_DIR/gcc/tests/bench/fib/ringport.so" "$@" "$tables"
