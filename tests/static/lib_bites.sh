#!/bin/bash
# tests/static/lib_bites.sh - what goes wrong in a test script is a failed check
#
# Each line: a script on top of tests/lib.sh, and how many checks of it tests/run must count as
# failed. A function that is gone from a library once looked like a router that stalled.
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0

bites() # FAILED SCRIPT
{
	local said n

	said=$(bash -c ". '$top/tests/lib.sh'; $2; finish" 2>&1)
	n=$(grep -c '^check FAILED: ' <<<"$said")
	[ "$n" = "$1" ] && return
	printf '%s failed checks, not %s: %s\n%s\n' "$n" "$1" "$2" "$said"
	bad=1
}

bites 0 'check a true; equal b 1 1; at_least c 2 1; within d 1 1 2; wait_for 1 e true'
bites 1 'check a false'
bites 1 'equal a 1 2'
bites 1 'at_least a 1 2'
bites 1 'at_least a "" 0'
bites 1 'within a 3 1 2'
bites 1 'within a -1 0 2'
bites 1 'wait_for 0 a false; check b false'
bites 1 'die a; check b false'
bites 1 'no_such_function; check a true'
bites 3 'no_such_function; check a no_such_function'
exit $bad
