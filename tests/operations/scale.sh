#!/bin/bash
# operations/scale.sh - a million routes by mlx5fwdctl: how long, and in how much memory
#
# The bounds are those of the project; the machine is to be quiet.
# long
# plain
# timeout: 240
. "$(dirname "$0")/../netns/lib.sh"

routes=${ROUTES:-1000000}

# IPv4 /24s and IPv6 /48s, three to one, over 64 gateways, in no order.
route_lines()
{
	awk -v n="$routes" 'BEGIN {
		for (i = 0; i < n; i++) {
			k = (i * 7919) % n
			nh = sprintf("02:00:00:00:ee:%02x dev eth%d", k % 64, k % 2)
			if (k % 4)
				printf "route add %d.%d.%d.0/24 %s\n", 1 + k / 65536,
					k / 256 % 256, k % 256, nh
			else
				printf "route add 2a%02x:%x:%x::/48 %s\n", k / 65536 / 16,
					k / 65536 % 16, k % 65536, nh
		}
	}'
}

# Runs the tool; milliseconds in $ms, its most memory in $kib.
measured() # OUTPUT ARGS...
{
	local out=$1 start=${EPOCHREALTIME/./}

	shift
	python3 -c '
import os, resource, subprocess, sys
with open(sys.argv[1], "w") as out:
    rc = subprocess.call(sys.argv[3:], stdout=out)
with open(sys.argv[2], "w") as f:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=f)
sys.exit(rc)' "$out" "$TMPDIR/kib" "$FWD_BIN/control/mlx5fwdctl" -S "$socket" -T 60 "$@"
	rc=$?
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	kib=$(cat "$TMPDIR/kib")
}

hosts_up
router_start
route_lines >"$TMPDIR/lines"
measured /dev/null -b "$TMPDIR/lines"
equal 'status of the batch' $rc 0
report "$routes routes loaded by -b in $ms ms, the tool in $kib KiB"
within 'milliseconds to load them' "$ms" 1 3000
small=$kib
equal 'all are there' "$(fwdctl status | awk '/^routes_/ { n += $2 } END { print n }')" "$routes"
measured "$TMPDIR/json" -j route show
equal 'status of the dump' $rc 0
report "$routes routes dumped as JSON in $ms ms, the tool in $kib KiB"
within 'milliseconds to dump them' "$ms" 1 5000
within 'memory of the tool, which holds one route at a time, KiB' "$kib" 1 $((small + 4096))
check 'the dump has them all' python3 -c '
import json, sys
sys.exit(len(json.load(open(sys.argv[1]))) != int(sys.argv[2]))' "$TMPDIR/json" "$routes"
measured "$TMPDIR/saved" route save
report "$routes routes saved in $ms ms, the tool in $kib KiB"
sed -i "1,10s/^route add/route replace/; 11,20d; 21,30s/:ee:/:dd:/" "$TMPDIR/saved"
measured "$TMPDIR/counts" route restore "$TMPDIR/saved"
report "$routes routes restored in $ms ms, the tool in $kib KiB"
equal 'what was restored' "$(cat "$TMPDIR/counts")" \
	"added 0 changed 10 deleted 10 unchanged $((routes - 20))"
router_stop
model_stop
finish
