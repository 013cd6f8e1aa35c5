# shellcheck shell=bash
# tests/static - what needs no running program; sourced by tests/run
static=$top/tests/static

if build clang -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17; then
	build gcc && run_check static/hot_symbols "$static/hot_symbols.sh" "$BUILD_DIR"/{gcc,clang}
	run_check static/orphans "$static/orphans.sh" "$BUILD_DIR/clang"
	run_check static/cppcheck "$static/cppcheck.sh" "$BUILD_DIR/clang"
	# shellcheck disable=SC2154 # set by tests/run
	run_check static/tidy "$static/tidy.sh" "$BUILD_DIR/clang" "$long"
fi
run_check static/format "$static/format.sh"
run_check static/lengths "$static/lengths.sh"
run_check static/shell "$static/shell.sh"
run_check static/paths "$static/paths.sh"
run_check static/links "$static/links.sh"
run_check static/includes "$static/includes.sh"
run_check static/include_direction "$static/include_direction.sh"
run_check static/include_bites "$static/include_bites.sh"
run_check static/lib_bites "$static/lib_bites.sh"
run_check static/prm_agree "$static/prm_agree.sh"
run_check static/aarch64 "$static/aarch64.sh"
run_check static/install "$static/install.sh" "$BUILD_DIR/release"
