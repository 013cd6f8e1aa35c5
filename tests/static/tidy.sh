#!/bin/bash
# tests/static/tidy.sh BUILD [1] - clang-tidy has nothing to say (.clang-tidy lists the checks)
#
# clang-analyzer-*, which follows paths, takes seconds for each file: minutes for all tests. All
# other checks together take a tenth of a second. So paths are followed through the program always,
# through tests only when the second argument is 1 (tests/run --long).
. "$(dirname "$0")/lib.sh"
build=$1 long=${2:-0}

tidy() # FILES-A-RUN [OPTION...], names on stdin
{
	local n=$1

	shift
	xargs -P "$(nproc)" -n "$n" clang-tidy --quiet -p "$build" \
		"--extra-arg=-I$PWD/lib" "$@" 2>&1 |
		grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter'
	return "${PIPESTATUS[0]}"
}

paths=('lib/*.c' 'daemon/*.c' 'control/*.c')
[ "$long" = 0 ] || paths+=('tests/*.c')
# One file a run: several confuse the va_list checker of version 14.
files "${paths[@]}" | tidy 1
rc=$?
files 'tests/*.c' | tidy 8 --checks='-clang-analyzer-*' && exit $rc
