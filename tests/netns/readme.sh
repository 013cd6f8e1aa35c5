#!/bin/bash
# netns/readme.sh - the recording in README.md is what `tests/demo --check` prints
#
# Compared but for what differs from run to run: milliseconds of ping.
# timeout: 120
. "$top/tests/lib.sh"

same_every_time()
{
	sed -E 's/time [0-9]+ms/time Nms/; s/[[:space:]]+$//'
}

"$top/tests/netns/demo" --check >"$TMPDIR/printed"
equal 'exit status of the demo' $? 0
sed -n '/<!-- demo-output -->/,/<!-- \/demo-output -->/p' "$top/README.md" |
	sed '1,2d' | head -n -2 | same_every_time >"$TMPDIR/recorded"
same_every_time <"$TMPDIR/printed" | sed -n '/^Routes/,$p' >"$TMPDIR/now"
check 'README.md has what it prints' diff "$TMPDIR/recorded" "$TMPDIR/now"
finish
