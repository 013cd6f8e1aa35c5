#!/bin/bash
# tests/static/includes.sh - the model stays independent of what it judges
#
# core/ knows nothing above it; no part of the model itself uses rdma-core's headers (its
# tests and clients do); nothing of it uses the project's own lib/.
. "$(dirname "$0")/lib.sh"
bad=0

forbid() # REASON REGEX FILE...
{
	local reason=$1 regex=$2

	shift 2
	[ $# -gt 0 ] || return
	if grep -nE "^# *include +[<\"]($regex)" "$@"; then
		echo "  ^ $reason"
		bad=1
	fi
}

model=tests/model
mapfile -t core < <(files "$model/core/*.[ch]" "$model/core/*.def")
mapfile -t parts < <(files $model/{core,uverbs,wire,cxmodel,cxrun}'/*.[ch]')
mapfile -t all < <(files "$model/*.[ch]")

forbid 'core/ includes core/ only' '\.\./|infiniband/|rdma/|linux/|sys/' "${core[@]}"
forbid 'no header of rdma-core in the model' 'infiniband/' "${parts[@]}"
forbid 'the model is written without lib/' '(\.\./)*lib/|prm/|m5/' "${all[@]}"
exit $bad
