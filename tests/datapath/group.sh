# shellcheck shell=bash
# tests/datapath - lib/m5 on the modelled card; sourced by tests/run
# shellcheck disable=SC2154 # top and BUILD_DIR are set by tests/run
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1

# A test is a sequence of turns between program, kernel and model: slow where they wait for a core.
timeout=400
cores=2
on_card=$top/tests/datapath/on_card.sh
mapfile -t dp_programs < <(cd "$top/tests/datapath" && basename -s .c -- test_dp_*.c)

# The device and its preload library come from the plain build: only the clients are instrumented.
build gcc && export MODEL_BIN=$BUILD_DIR/gcc/tests/model
for kind in gcc clang gcc-asan; do
	case $kind in
	gcc) build $kind || continue ;;
	clang) build $kind -DCMAKE_C_COMPILER=clang -DCMAKE_C_STANDARD=17 || continue ;;
	gcc-asan) build $kind -DSANITIZE=address,undefined || continue ;;
	esac
	for program in "${dp_programs[@]}"; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		run_program "datapath/$kind/$program" bash -c 'isolated "$@"' - "$on_card" \
			"$BUILD_DIR/$kind/tests/datapath/$program"
	done
	export FWD_BIN=$BUILD_DIR/$kind
	scripts='wires.sh pkt.sh refused.sh'
	# Many routers: once, where errors of memory are seen too.
	[ $kind != gcc-asan ] || scripts+=' modes.sh modes_all.sh'
	for script in $scripts; do
		run_script "datapath/$kind/${script%.sh}" "$top/tests/datapath/$script"
	done
done
unset timeout
