#!/bin/bash
# tests/static/cppcheck.sh BUILD - cppcheck has nothing to say
. "$(dirname "$0")/lib.sh"
build=$1

cppcheck --quiet --project="$build/compile_commands.json" --std=c11 -j "$(nproc)" \
	--enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	--suppress=missingIncludeSystem --suppress=unmatchedSuppression
