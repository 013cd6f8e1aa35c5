# shellcheck shell=bash
# tests/unit - the libraries, a file at a time, and tests/fuzz replayed; sourced by tests/run
# shellcheck disable=SC2154 # top and BUILD_DIR are set by tests/run
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1

mapfile -t unit < <(cd "$top/tests/unit" && basename -s .c -- test_*.c)
mapfile -t fuzz < <(cd "$top/tests/fuzz" && basename -s .c -- fuzz_*.c)
for kind in gcc-asan clang; do
	case $kind in
	gcc-asan) build $kind -DSANITIZE=address,undefined || continue ;;
	clang) build $kind -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17 || continue ;;
	esac
	for program in "${unit[@]}"; do
		run_program "unit/$kind/$program" "$BUILD_DIR/$kind/tests/unit/$program"
	done
	for program in "${fuzz[@]}"; do
		run_program "fuzz/$kind/$program" "$BUILD_DIR/$kind/tests/fuzz/$program"
	done
done

# What a worker shares with others. (Of the tables: tests/fib.)
mapfile -t threads < <(cd "$top/tests/unit" &&
	grep -lE 'pthread_create|fwd_worker_start' test_fwd_*.c | xargs basename -s .c --)
export TSAN_OPTIONS=halt_on_error=1
targets=${threads[*]}
if build clang-tsan -DCMAKE_C_COMPILER=clang -DSANITIZE=thread; then
	for program in "${threads[@]}"; do
		run_program "unit/clang-tsan/$program" \
			"$BUILD_DIR/clang-tsan/tests/unit/$program"
	done
fi
targets=
