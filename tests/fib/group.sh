# shellcheck shell=bash
# tests/fib - the prefix tables: unit tests in every build, benchmarks on small tables
#
# The figures themselves are reported by tests/bench/run lpm4, lpm6, fibupdate and fwdwork.
# shellcheck disable=SC2154 # top and BUILD_DIR are set by tests/run
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1

mapfile -t fib_programs < <(cd "$top/tests/unit" && basename -s .c -- test_fib_*.c)
# ThreadSanitizer makes others slow and has nothing to say of them.
mapfile -t fib_threads < <(cd "$top/tests/unit" &&
	grep -l pthread_create test_fib_*.c | xargs basename -s .c --)
targets="${fib_programs[*]} test_bench_fib"
for kind in gcc-asan clang clang-tsan; do
	case $kind in
	gcc-asan) build $kind -DSANITIZE=address,undefined || continue ;;
	clang) build $kind -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17 || continue ;;
	clang-tsan)
		fib_programs=("${fib_threads[@]}")
		targets="${fib_programs[*]} test_bench_fib"
		build $kind -DCMAKE_C_COMPILER=clang -DSANITIZE=thread || continue
		;;
	esac
	for program in "${fib_programs[@]}"; do
		was_run "unit/$kind/$program" ||
			run_program "fib/$kind/$program" "$BUILD_DIR/$kind/tests/unit/$program"
	done
	run_program "fib/$kind/test_bench_fib" "$BUILD_DIR/$kind/tests/bench/fib/test_bench_fib"
done

targets='lpm fibupdate fwdwork ringport'
l3fwd_builder=$top/tests/model/judges/lib/build_l3fwd.sh
if build gcc && run_step build/l3fwd "$l3fwd_builder" "$BUILD_DIR/l3fwd"; then
	export L3FWD=$BUILD_DIR/l3fwd/l3fwd/build/l3fwd
	run_script fib/bench "$top/tests/fib/bench.sh"
fi
targets=
