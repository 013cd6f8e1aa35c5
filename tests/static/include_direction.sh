#!/bin/bash
# tests/static/include_direction.sh [DIR] - who may include whom, and one door per library
#
# A folder includes itself, what its row names, and what those may include in turn: the
# picture in the design. A header of a foreign library is included where its row says and
# nowhere else. DIR (default: the project) is another tree, for the test of this test.
. "$(dirname "$0")/lib.sh"
cd "${1:-.}" || exit 1
bad=0

# FOLDER: what it may include
rows='
base:
prm: base
place: base
pkt: base
metrics: base
ctl: base
m5: prm place
fib: pkt
exc: m5 pkt metrics
mirror: fib
fwd: m5 pkt fib exc metrics
control: ctl prm base
mlx5pkt: m5 pkt place ctl prm base
daemon: fwd exc mirror m5 fib prm place pkt metrics ctl base
'

# Start of a foreign header's name: files that may include it
doors='
infiniband/: lib/m5/verbs.h
urcu: lib/base/rcu.h
libmnl/: lib/mirror/nl.h
numa: lib/place/huge.c lib/place/near.c
ini.h: daemon/config.c
jansson: lib/ctl/row.c
systemd/: daemon/notify.c
microhttpd: daemon/http.c
'

declare -A row=()
while IFS=: read -r folder may; do
	[ -z "$folder" ] || row[$folder]=$may
done <<<"$rows"

reach() # FOLDER: itself, and all it may include, once each
{
	local queue=("$1") seen=' '

	while [ ${#queue[@]} -gt 0 ]; do
		case $seen in
		*" ${queue[0]} "*) ;;
		*)
			seen="$seen${queue[0]} "
			# shellcheck disable=SC2206 # words
			queue+=(${row[${queue[0]}]})
			;;
		esac
		queue=("${queue[@]:1}")
	done
	echo "$seen"
}

# "lib/fib/../pkt/eth.h" -> "lib/pkt/eth.h"
plain()
{
	realpath -m --relative-to=. "$1"
}

folder_of() # FILE -> name of a row
{
	local dir=${1%/*}

	case $1 in
	control/mlx5pkt.* | control/pkt_*) dir=mlx5pkt ;; # talks to the card, not to the daemon
	esac
	echo "${dir#lib/}"
}

complain()
{
	echo "$1"
	bad=1
}

check_own() # FILE HEADER-AS-WRITTEN
{
	local from to target

	target=$(plain "${1%/*}/$2")
	from=$(folder_of "$1")
	to=$(folder_of "$target")
	[ -f "$target" ] || complain "$1: \"$2\": there is no $target"
	[ -n "${row[$to]+x}" ] || complain "$1: \"$2\": no row says who may include $to"
	case "${may[$from]} " in
	*" $to "*) ;;
	*) complain "$1: \"$2\": $from may not include $to" ;;
	esac
}

check_foreign() # FILE HEADER
{
	local start files

	while IFS=: read -r start files; do
		case $2 in
		"${start:-/}"*)
			case "$files " in
			*" $1 "*) ;;
			*) complain "$1: <$2>: its only door is$files" ;;
			esac
			;;
		esac
	done <<<"$doors"
}

declare -A may=()
for folder in "${!row[@]}"; do
	may[$folder]=$(reach "$folder")
done
while IFS=: read -r file header; do
	case $header in
	\"*) check_own "$file" "${header//\"/}" ;;
	\<*) check_foreign "$file" "${header//[<>]/}" ;;
	esac
done < <(grep -oE '^# *include +("[^"]+"|<[^>]+>)' -r lib daemon control --include='*.[ch]' |
	sed -E 's/:# *include +/:/')
exit $bad
