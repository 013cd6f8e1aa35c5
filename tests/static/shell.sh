#!/bin/bash
# tests/static/shell.sh - shellcheck has nothing to say
. "$(dirname "$0")/lib.sh"

scripts | xargs shellcheck -x -P SCRIPTDIR
