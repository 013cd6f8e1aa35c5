#!/bin/bash
# tests/static/format.sh - clang-format has nothing to say
. "$(dirname "$0")/lib.sh"

files '*.c' '*.h' | xargs clang-format --dry-run -Werror
