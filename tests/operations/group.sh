# shellcheck shell=bash
# tests/operations - what operators run, read and script; sourced by tests/run
# shellcheck disable=SC2154 # top and BUILD_DIR are set by tests/run
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1

# The device and its preload library come from the plain build, as in tests/netns.
build gcc && export MODEL_BIN=$BUILD_DIR/gcc/tests/model
build gcc-asan -DSANITIZE=address,undefined

if build package -DPACKAGE=ON -DTESTS=OFF; then
	export PACKAGE_DIR=$BUILD_DIR/package
	package=$top/tests/operations/package
	# shellcheck disable=SC2016 # expanded there
	run_step operations/cpack bash -c 'cd "$1" && rm -f ./*.deb && cpack' - "$PACKAGE_DIR"
	run_check operations/reproducible "$package/reproducible.sh" "$PACKAGE_DIR" \
		"$BUILD_DIR/package-again"
	run_check operations/lintian "$package/lintian.sh" "$PACKAGE_DIR"
fi

for file in "$top"/tests/operations/*.sh; do
	case $file in */lib.sh | */group.sh) continue ;; esac
	# Figures and memory are those of the program that is installed.
	grep -qx '# plain' "$file" && kind=gcc || kind=gcc-asan
	export FWD_BIN=$BUILD_DIR/$kind
	run_script "operations/$(basename "$file" .sh)" "$file"
done
