#!/bin/bash
# tests/static/lengths.sh - functions end at 70 lines, C files at 700, lines at 100 columns
. "$(dirname "$0")/lib.sh"
bad=0

while read -r file; do
	awk -v file="$file" '
		/^[A-Za-z_].*\(/ && !/;$/ { name = $0; at = NR }
		/^\{/ { open = NR }
		/^\}/ {
			if (open && NR - open - 1 > 70) {
				printf "%s:%d: %d lines: %s\n", file, at, NR - open - 1, name
				bad = 1
			}
			open = 0
		}
		END {
			if (NR > 700) {
				printf "%s: %d lines in one file\n", file, NR
				bad = 1
			}
			exit bad
		}' "$file" || bad=1
done < <(files '*.c' '*.h')

while read -r file; do
	expand "$file" | awk -v file="$file" '
		length($0) > 100 { printf "%s:%d: %d columns\n", file, NR, length($0); bad = 1 }
		END { exit bad }' || bad=1
done < <(files '*.c' '*.h'; scripts)
exit $bad
