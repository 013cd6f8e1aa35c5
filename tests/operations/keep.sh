#!/bin/bash
# operations/keep.sh - routes and counters over a stop, a kill, a full disk, damage, fewer ports
# timeout: 200
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")
state=$TMPDIR/state

said() { grep -q -- "$1" "$fwd_log"; }
keeping()
{
	config "state_directory = $state" 'keep_routes = yes' 'keep_counters = yes' "$@"
}
saved() { fwdctl route save; }
daemon_pid() { pgrep -x mlx5fwd; }
gone() { ! daemon_pid >/dev/null; }
scrape() # FILE
{
	in_r python3 "$here/exposition.py" get 127.0.0.1:15350 /metrics |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["body"], end="")' >"$1"
}

# Every counter and histogram is at least what it was; a series may be missing if the pattern fits
# it.
never_back() # WHAT MAY-BE-MISSING
{
	mv "$TMPDIR/now" "$TMPDIR/was"
	scrape "$TMPDIR/now"
	python3 - "$TMPDIR/was" "$TMPDIR/now" "${2:-^$}" >"$TMPDIR/back" <<'PY'
import re, sys
def read(path):
    lines = [l.rsplit(' ', 1) for l in open(path) if l[0] != '#']
    return {k: float(v) for k, v in lines if not k.startswith('process_') and
            re.search('_total|_bucket|_sum|_count', k)}
was, now = map(read, sys.argv[1:3])
assert len(was) > 100 and sum(v > 0 for v in was.values()) > 20
print(*(k for k in was if not re.search(sys.argv[3], k) and now.get(k, -1) < was[k]))
PY
	equal "$1: counters that went back" "$(cat "$TMPDIR/back")" ''
}

# Counters of the device go on, too, so those of the daemon are compared with all it ever counted.
again()
{
	router_launch
	wait_for 30 'mlx5fwd forwards' router_answers
	kill -0 "$fwd_pid" 2>/dev/null || { cat "$fwd_log"; die 'mlx5fwd did not start'; }
}
killed()
{
	kill -9 "$(daemon_pid)"
	wait_for 10 'the daemon is gone' gone
	wait "$fwd_pid"
}

hosts_up

# ---- an orderly stop; then with fewer workers ----
keeping 'workers = 2'
router_start
routes_add
done_silently route add 198.51.100.0/24 nexthop $a_mac dev eth0 weight 2 nexthop $b_mac dev eth1
done_silently route add 203.0.113.0/24 blackhole metric 7
check 'a reaches b' answers a 30 10.0.2.2
in_a ping -q -c 3 -i 0.02 -W 1 203.0.113.1 >/dev/null
conserved
saved >"$TMPDIR/first"
scrape "$TMPDIR/now"
received=$(port_count eth0 received)
router_stop
check 'what is kept is what route save prints' \
	cmp "$TMPDIR/first" <(grep -v '^#' "$state/routes")
equal 'nobody else may read it' "$(stat -c %a "$state/counters" | cut -c 3)" 0
keeping
again
check 'the routes are there when it is ready' cmp "$TMPDIR/first" <(saved)
equal 'received' "$(port_count eth0 received)" "$received"
never_back 'after a stop' 'queue="1"|worker="1"'
check 'a reaches b' answers a 30 10.0.2.2
conserved

# ---- kill -9 under traffic ----
is_kept() { grep -qx -- "$1" "$state/routes"; }
done_silently route add 192.0.2.0/24 prohibit
wait_for 10 'a route is kept soon' is_kept 'route add 192.0.2.0/24 prohibit'
saved >"$TMPDIR/first"
stream_start s a b 10.0.2.2 500
for round in 1 2; do
	enough=$(($(port_count eth0 received) + 100))
	more_came() { [ "$(port_count eth0 received)" -ge "$enough" ]; }
	wait_for 20 "round $round: traffic flows" more_came
	scrape "$TMPDIR/now"
	killed
	again
	never_back "killed, round $round"
	check "round $round: the routes are there" cmp "$TMPDIR/first" <(saved)
done
stream_stop s 'over two kills, the kernel forwards meanwhile' 0 1000
# Between a change and the disk: the one or the other, and never half.
awk 'BEGIN { for (i = 0; i < 5000; i++)
	printf "route add 100.0.%d.%d/32 blackhole\n", i / 256, i % 256 }' >"$TMPDIR/many"
check 'many routes' fwdctl -b "$TMPDIR/many"
killed
again
within 'routes after that' "$(saved | wc -l)" 7 5007
check 'all or none of the change' \
	[ $((($(saved | wc -l) - 7) % 5000)) = 0 ]
done_silently route flush root 100/8
router_stop

# ---- damage: refused as a whole, kept aside, and said ----
sed -i 's/^route add 10.0.2.0/route add 10.0.3.0/' "$state/routes"
sed -i 's/^closed yes/closed yet/' "$state/counters"
again
check 'routes: it says so' \
	said "error: $state/routes:9: the checksum is wrong.*WITHOUT.*refused now"
check 'counters, too' \
	said "error: $state/counters:3: closed yet: must be yes or no; counters begin at 0"
equal 'routes then' "$(saved)" ''
equal 'counters then' "$(port_count eth0 forwarded)" 0
check 'it can be loaded by hand' fwdctl route restore "$state/routes.refused"
equal 'then there are' "$(saved | wc -l)" 7
router_stop

# ---- a port that is no more ----
grep -v 'eth1' "$conf" >"$TMPDIR/one.conf"
cp "$TMPDIR/one.conf" "$conf"
again
check 'a route by it: it says so' said "routes:3: dev eth1: not a port of this router.*WITHOUT"
equal 'routes then' "$(saved)" ''
equal 'ports' "$(fwdctl port show | grep -c ^eth)" 1
router_stop

# ---- no place to keep it ----
keeping
cp "$state/routes.refused" "$state/routes"
mount -t tmpfs -o size=64k tmpfs "$state"
fill() { dd if=/dev/zero of="$state/$1" bs=4k status=none 2>/dev/null; }
fill full
again
no_space='No space left on device'
check 'a full disk: it says so' said "error: $state: counters cannot be kept: $no_space"
routes_add
check 'and forwards' answers a 20 10.0.2.2
scrape "$TMPDIR/now"
rm "$state/full"
scrape "$TMPDIR/now"
check 'there is room again' said "notice: $state: counters are kept again"
saved >"$TMPDIR/first"
router_stop
again
check 'routes are there' cmp "$TMPDIR/first" <(saved)
never_back 'counters'
fill full
done_silently route add 192.0.2.0/24 blackhole
router_stop
check 'full at the end: it says so' said "error: $state: routes cannot be kept: $no_space"
check 'and what there was is there' cmp "$TMPDIR/first" <(grep -v '^#' "$state/routes")
mount -o remount,ro "$state"
again
check 'read only: it says so' said "error: $state: counters cannot be kept: Read-only file"
check 'what can be read is there' cmp "$TMPDIR/first" <(saved)
equal 'counters begin at 0' "$(port_count eth0 forwarded)" 0
router_stop
umount "$state"

model_stop
finish
