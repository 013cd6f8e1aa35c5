#!/bin/bash
# operations/package/lintian.sh DIR - lintian and readers of manual pages have nothing to say
. "$(dirname "$0")/../../static/lib.sh"
dir=$1
bad=0

# cpack calls ldconfig in scripts of its own, besides the trigger that is there.
lintian --allow-root --fail-on error,warning --suppress-tags maintscript-calls-ldconfig \
	"$dir"/*.deb || bad=1

rm -rf "$dir/unpacked"
for package in "$dir"/*.deb; do dpkg-deb -x "$package" "$dir/unpacked"; done
pages=$(find "$dir/unpacked/usr/share/man" -name '*.gz')
[ -n "$pages" ] || { echo 'no manual pages'; exit 1; }
for page in $pages; do
	zcat "$page" >"$dir/page"
	# A page is of a version, not of a day.
	said=$(mandoc -T lint -W warning "$dir/page" | grep -v 'missing date')
	[ -z "$said" ] || { echo "${page##*/}: $said"; bad=1; }
	said=$(man --warnings -E UTF-8 -l "$dir/page" 2>&1 >/dev/null)
	[ -z "$said" ] || { echo "${page##*/}: $said"; bad=1; }
done
exit $bad
