#!/bin/bash
# tests/static/include_bites.sh - include_direction.sh finds what is wrong in a small tree
. "$(dirname "$0")/lib.sh"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
bad=0

line() # FILE LINE
{
	mkdir -p "$tree/${1%/*}"
	echo "$2" >>"$tree/$1"
}

line lib/base/be.h ''
line lib/fib/fib.h '#include "../pkt/eth.h"'
line lib/pkt/eth.h '#include "../base/be.h"'
line lib/fwd/loop.c '#include "../place/pin.h"' # by way of m5
line lib/place/pin.h '#include <numa.h>'
line lib/mirror/nl.h '#include <libmnl/libmnl.h>'
line daemon/main.c '#include "../lib/fwd/worker.h"'
line lib/fwd/worker.h '#include <stdint.h>'
line lib/m5/verbs.h '#include <infiniband/verbs.h>'
# what is wrong
line lib/pkt/bad.c '#include "../fib/fib.h"'
line lib/base/bad.c '#include "../pkt/eth.h"'
line lib/m5/bad.c '#include <infiniband/verbs.h>'
line control/bad.c '#include "../daemon/main.h"'
line daemon/bad.c '#  include <jansson.h>'
line daemon/worse.c '#include "gone.h"'
line lib/mirror/bad.c '#include "../odd/x.h"'

said=$(tests/static/include_direction.sh "$tree")
for words in 'pkt/bad.c: .*pkt may not include fib' 'base/bad.c: .*base may not include pkt' \
	'm5/bad.c: <infiniband/verbs.h>: its only door is lib/m5/verbs.h' \
	'control/bad.c: .*control may not include daemon' \
	'daemon/bad.c: <jansson.h>: its only door' \
	'daemon/worse.c: .*there is no daemon/gone.h' \
	'mirror/bad.c: .*no row says who may include odd' \
	'place/pin.h: <numa.h>: its only door is'; do
	grep -q "$words" <<<"$said" || { echo "not found: $words"; bad=1; }
done
if grep -qE 'fib/fib.h:|fwd/loop.c:|daemon/main.c:|mirror/nl.h:|m5/verbs.h:' <<<"$said"; then
	echo "$said"
	bad=1
fi
exit $bad
