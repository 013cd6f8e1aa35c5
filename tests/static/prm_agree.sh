#!/bin/bash
# tests/static/prm_agree.sh [FILE] - prm_agree.c (or FILE) leaves out nothing of lib/prm
#
# That what it compares is the same, the compiler says. This says that every PRM_ constant and
# every member of a struct that a header of lib/prm defines is named there.
. "$(dirname "$0")/lib.sh"
agree=${1:-tests/static/prm_agree.c}
bad=0

constants() # HEADER...: defined by #define or in an enum
{
	cat "$@" | sed -e 's,/\*.*\*/,,' -e 's,/\*.*,,' | grep -oE \
		'(#define PRM_[A-Z0-9_]+|(^|[{,])[[:space:]]*PRM_[A-Z0-9_]+ = )' |
		grep -oE 'PRM_[A-Z0-9_]+' | grep -vxE 'PRM_(FIELD|AT)' | sort -u
}

members() # HEADER...: "prm_cqe, hash" for each member that is not reserved
{
	awk '/^struct prm_[a-z_]+ \{/ { type = $2; next }
		/^\}/ { type = "" }
		type { sub(/\/\*.*/, ""); sub(/^[[:space:]]*(struct )?[a-z0-9_]+ /, "")
			gsub(/[;[:space:]]|\[[^]]*\]/, ""); n = split($0, m, ",")
			for (i = 1; i <= n; i++)
				if (m[i] != "" && m[i] !~ /^rsvd/) print type ", " m[i] }' "$@"
}

mapfile -t headers < <(files 'lib/prm/*.h' | grep -v '/bits.h$')
while read -r name; do
	grep -qw -- "$name" "$agree" && continue
	echo "$name: not in $agree"
	bad=1
done < <(constants "${headers[@]}")
while read -r name; do
	grep -qE "\((.*, )?$name, " "$agree" && continue
	echo "$name: not in $agree"
	bad=1
done < <(members "${headers[@]}")
exit $bad
