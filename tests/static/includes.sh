#!/bin/bash
# tests/static/includes.sh - the model stays independent of what it judges
#
# core/ knows nothing above it; no part of the model but the client programs uses
# rdma-core's headers; nothing of the model uses the project's own lib/.
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

mapfile -t core < <(files 'tests/model/core/*.[ch]' 'tests/model/core/*.def')
mapfile -t clients < <(files 'tests/model/test/t_*.c')
mapfile -t rest < <(files 'tests/model/*.[ch]' | grep -v '/test/t_')

forbid 'core/ includes core/ only' '\.\./|infiniband/|rdma/|linux/|sys/' "${core[@]}"
forbid 'libibverbs only in test/t_*.c' 'infiniband/|rdma/rdma_cma' "${rest[@]}"
forbid 'the model is written without lib/' '(\.\./)*lib/|prm/|m5/' "${rest[@]}" "${clients[@]}"
exit $bad
