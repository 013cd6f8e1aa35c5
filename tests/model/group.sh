# shellcheck shell=bash
# tests/model - the device model: unit tests, front end, programs of others; sourced by tests/run
#
# Which build runs what:
#   gcc-asan    ASan and UBSan: every unit test, the device process under the front-end tests
#   clang       C17: every unit test
#   clang-tsan  where threads meet: the device process and the tests that start threads
#   gcc         as users build it: the judges
here=$top/tests/model
targets=tests/model/all
# shellcheck disable=SC2154 # set by tests/run
[ "$long" = 0 ] || export STORM_SECONDS=240

export CX_COVERAGE_DIR=$BUILD_DIR/coverage
rm -rf "$CX_COVERAGE_DIR"
mkdir -p "$CX_COVERAGE_DIR"

export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1

unit_tests() # BUILD PROGRAM...
{
	local name=$1 program

	shift
	for program in "$@"; do
		run_program "model/$name/$program" "$BUILD_DIR/$name/tests/model/$program"
	done
}

# Front-end tests and judges find the programs in $MODEL_BIN.
scripts() # BUILD FOLDER FILE...
{
	local name=$1 folder=$2 file

	shift 2
	export MODEL_BIN=$BUILD_DIR/$name/tests/model
	cores=2
	for file in "$@"; do
		run_script "model/$folder/$(basename "$file" .sh)" "$file"
	done
	cores=1
}

coverage() # KIND: how many different ones
{
	find "$CX_COVERAGE_DIR" -type f -exec cat {} + | grep "^$1 " | sort -u | wc -l
}

mapfile -t all < <(cd "$here/test" && basename -s .c -- test_*.c)
mapfile -t threaded < <(cd "$here/test" && grep -lE 'pthread_create|uvrig\.h' test_*.c |
	xargs -r basename -s .c --)

if build gcc-asan -DSANITIZE=address,undefined; then
	unit_tests gcc-asan "${all[@]}"
	scripts gcc-asan frontend-asan "$here"/test/*.sh
fi
if build clang -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17; then
	unit_tests clang "${all[@]}"
fi
if build clang-tsan -DCMAKE_C_COMPILER=clang -DSANITIZE=thread; then
	unit_tests clang-tsan "${threaded[@]}"
	scripts clang-tsan frontend-tsan "$here"/test/*.sh
fi
if build gcc && run_step build/l3fwd "$here/judges/lib/build_l3fwd.sh" "$BUILD_DIR/l3fwd"; then
	export L3FWD=$BUILD_DIR/l3fwd/l3fwd/build/l3fwd
	scripts gcc frontend "$here"/test/*.sh
	scripts gcc judges "$here"/judges/*.sh
fi

settle all
reports+=("$(printf "the model's tests exercised %d commands, %d fields and %d refusals" \
	"$(coverage cmd)" "$(coverage field)" "$(coverage refuse)")")
