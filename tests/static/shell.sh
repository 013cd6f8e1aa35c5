#!/bin/bash
# tests/static/shell.sh - shellcheck has nothing to say
. "$(dirname "$0")/lib.sh"

scripts | xargs -P "$(nproc)" -n 12 shellcheck -x -P SCRIPTDIR
