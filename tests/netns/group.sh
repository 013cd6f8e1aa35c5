# shellcheck shell=bash
# tests/netns - mlx5fwd between real Linux hosts, on the modelled card; sourced by tests/run
# shellcheck disable=SC2154 # top and BUILD_DIR are set by tests/run
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1

# The device and its preload library come from the plain build: only the daemon is instrumented.
build gcc && export MODEL_BIN=$BUILD_DIR/gcc/tests/model
for kind in gcc clang gcc-asan; do
	case $kind in
	gcc) build $kind || continue ;;
	clang) build $kind -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17 || continue ;;
	gcc-asan) build $kind -DSANITIZE=address,undefined || continue ;;
	esac
	export FWD_BIN=$BUILD_DIR/$kind
	for file in "$top"/tests/netns/*.sh; do
		case $file in */lib.sh | */group.sh) continue ;; esac
		run_script "netns/$kind/$(basename "$file" .sh)" "$file"
	done
done
