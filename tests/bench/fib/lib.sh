# shellcheck shell=bash
# bench/fib/lib.sh - what the benchmarks of the tables share; sourced
#
#   fib_prepare MIB     tables in $tables, MIB of huge pages free, says what machine this is
#   bench PROGRAM ARGS  one of tests/bench/fib
#   $eal                options for DPDK, without cores; a word each
# shellcheck disable=SC2034,SC2154 # top, BUILD_DIR by tests/bench/run
. "$top/tests/lib.sh"
. "$top/tests/bench/lib/drain.sh"
tables=$BUILD_DIR/tables
page_mib=2

# In addition to what there is: free pages may be another's next moment.
huge_pages() # MIB
{
	local need=$((($1 + page_mib - 1) / page_mib))

	drain_pages "$need"
	trap 'drain_pages -$pages_given' EXIT
	[ "$(awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo)" -ge "$need" ] ||
		die "no $1 MiB of huge pages"
}

fib_prepare() # MIB
{
	[ "$(nproc)" -ge 2 ] || die 'two cores are needed'
	[ -x "$BUILD_DIR/gcc/tests/bench/fib/lpm" ] || die 'not built: libdpdk-dev is missing'
	sed -n 's/^model name[^:]*: /processor: /p' /proc/cpuinfo | head -n 1
	lscpu | sed -n 's/^\(L[23]\) cache: */\1: /p'
	cc -O2 -o "$calib" "$top/tests/bench/calib.c" || die 'calibrator does not build'
	echo "core $program_core: $(calibrate)"
	make_tables "$tables"
	huge_pages "$1"
}

bench() # PROGRAM ARGS...
{
	local program=$1

	shift
	"$BUILD_DIR/gcc/tests/bench/fib/$program" "$@"
}
