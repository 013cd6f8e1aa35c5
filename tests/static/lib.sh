# shellcheck shell=bash
# tests/static/lib.sh - shared by the static checks: which files there are
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# Tracked files and those about to be: what a commit of everything would hold.
files() # PATTERN...
{
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
		while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

scripts()
{
	files | while read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*.*) ;;
		*) head -c 64 "$file" | grep -qaE '^#!/bin/(ba)?sh' && echo "$file" ;;
		esac
	done
}
