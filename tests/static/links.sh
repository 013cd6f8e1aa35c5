#!/bin/bash
# tests/static/links.sh - files that the documents link to are there
. "$(dirname "$0")/lib.sh"
bad=0

while read -r document; do
	while read -r target; do
		[ -e "$(dirname "$document")/$target" ] && continue
		echo "$document: there is no $target"
		bad=1
	done < <(grep -oE '\]\([^)#: ]+' "$document" | cut -c3-)
done < <(files '*.md')
exit $bad
