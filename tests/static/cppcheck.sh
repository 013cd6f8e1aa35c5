#!/bin/bash
# tests/static/cppcheck.sh BUILD - cppcheck has nothing to say
. "$(dirname "$0")/lib.sh"
build=$1

# No compiler tells it the processor, and what is for none of ours is an #error.
cppcheck --quiet --project="$build/compile_commands.json" --std=c11 -j "$(nproc)" \
	-D"__$(uname -m)__" --enable=warning,performance,portability --error-exitcode=1 \
	--suppress=missingIncludeSystem --suppress=unmatchedSuppression
