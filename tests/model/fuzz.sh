#!/bin/bash
# tests/model/fuzz.sh - the fuzz targets of test/fuzz_*.c under libFuzzer
#
#   tests/model/fuzz.sh [SECONDS [TARGET...]]     60 s each, all targets
#
# Programs and what they found lie in $BUILD_DIR/fuzz (default: build/fuzz), where the next run goes
# on. The corpora in the tree, test/fuzz_*.in, are read and never written. An input that breaks a
# promise is TARGET.crash-...; put it into the corpus when the fault is mended. Needs clang.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "${BUILD_DIR:-build}/fuzz" && cd "${BUILD_DIR:-build}/fuzz" && pwd)
seconds=${1:-60}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(fuzz_cmd fuzz_flow fuzz_queue fuzz_text fuzz_parse)
cd "$here"
helpers=(test/fuzz.c test/direct*.c test/cmd_rig.c test/flow_rig.c test/queue_rig.c
	test/queue_unzip.c test/frame.c)

for t in "${targets[@]}"; do
	clang -std=gnu11 -g -O1 -fno-omit-frame-pointer -DFUZZ_MAIN -D_GNU_SOURCE=1 -Wall -Wextra \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		core/*.c "${helpers[@]}" "test/$t.c" -lcmocka -o "$out/$t"
	mkdir -p "$out/$t.corpus"
	echo "== $t, $seconds s"
	"$out/$t" -max_total_time="$seconds" -max_len=2048 -len_control=0 -verbosity=0 \
		-print_final_stats=1 -artifact_prefix="$out/$t." "$out/$t.corpus" "test/$t.in"
done
