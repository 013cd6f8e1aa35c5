#!/bin/bash
# operations/screens.sh - pictures of `mlx5fwdctl top` and of the dashboard, as operators see them
#
#   sudo tests/operations/screens.sh    draws those of the README anew, in etc/screens
#
# With tests/run they are drawn in the build folder. Prometheus scrapes a router on the
# modelled card, with traffic in waves, for some minutes; routes come and go, and a cable is pulled
# once. There is no Grafana in Debian: screens.py draws its dashboard.
# timeout: 700
# long
if [ -z "${top:-}" ]; then
	set -e
	top=$(cd "$(dirname "$0")/../.." && pwd)
	BUILD_DIR=${BUILD_DIR:-$top/build}
	SCREENS=$top/etc/screens
	"$top/tests/setup.sh" long
	cmake -S "$top" -B "$BUILD_DIR/gcc" -G Ninja
	ninja -C "$BUILD_DIR/gcc" mlx5fwd mlx5fwdctl cxmodel cxrun cxshim
	export top BUILD_DIR SCREENS FWD_BIN=$BUILD_DIR/gcc MODEL_BIN=$BUILD_DIR/gcc/tests/model
	exec unshare --net --pid --mount --fork --kill-child --propagation private --mount-proc \
		"$top/tests/isolate.sh" bash "$top/tests/operations/screens.sh"
fi
. "$top/tests/operations/lib.sh"

here=$top/tests/operations
pictures=${SCREENS:-$BUILD_DIR/screens}
scrape_s=5
scrapes=${SCREENS_SCRAPES:-60}
bytes_max=204800
export MPLCONFIGDIR=$TMPDIR/matplotlib PYTHONDONTWRITEBYTECODE=1
# Those of Debian, which has the packages.
screens() { in_r /usr/bin/python3 "$here/screens.py" "$@"; }
n_scrapes() { in_r python3 "$here/prom.py" query 'count_over_time(up[1h])' 2>/dev/null; }
scraped() { [ "$(n_scrapes | cut -d ' ' -f 1)" -ge "$1" ] 2>/dev/null; }
wait_scrapes() { wait_for $((scrapes * scrape_s + 60)) "scrape $1" scraped "$1"; }

# Routes that come in one commit and go in another.
some_routes() # add | del
{
	local i

	for ((i = 0; i < 200; i++)); do
		if [ "$1" = add ]; then
			echo "route add 172.16.$i.0/24 $b_mac dev eth1"
		else
			echo "route del 172.16.$i.0/24"
		fi
	done | fwdctl -b -
}

small() # FILE
{
	at_least "$1: bytes that are left" $((bytes_max - $(stat -c %s "$1"))) 1
}

mkdir -p "$pictures" "$TMPDIR/prom"
hosts_up
config 'workers = 2' 'metrics_listen = 127.0.0.1:15350' 'latency_sample = 4'
router_start
routes_add
check 'a route to nowhere' fwdctl route add 10.9.0.0/16 blackhole
check 'a group' fwdctl route add 198.51.100.0/24 nexthop $a_mac dev eth0 nexthop $b_mac dev eth1
sed "s/_interval: 1s/_interval: ${scrape_s}s/; s/_timeout: .*/_timeout: ${scrape_s}s/
	/rule_files/d" "$here/prometheus.yml" >"$TMPDIR/prom/prometheus.yml"
ip netns exec r prometheus --config.file="$TMPDIR/prom/prometheus.yml" --log.level=warn \
	--web.listen-address=127.0.0.1:9090 --storage.tsdb.path="$TMPDIR/prom/data" \
	>"$TMPDIR/prometheus.log" 2>&1 &
in_a python3 "$here/traffic.py" "$TMPDIR/stop" 10.0.2.2,16,400,100,600 \
	2001:db8:2::2,8,150,70,300 10.9.0.1,2,15,60,100 10.77.0.1,1,4,80,100 \
	198.51.100.9,4,30,90,200 &
in_b python3 "$here/traffic.py" "$TMPDIR/stop" 10.0.1.2,16,300,130,1200 \
	2001:db8:1::2,8,100,60,900 198.51.100.9,4,20,50,200 &

for ((part = 1; part <= 6; part++)); do
	check "part $part: routes come" some_routes add
	wait_scrapes $(((2 * part - 1) * scrapes / 12))
	[ $part != 4 ] || ctl link eth1 down
	check "part $part: and go" some_routes del
	[ $part = 6 ] || wait_scrapes $((2 * part * scrapes / 12))
	[ $part != 4 ] || ctl link eth1 up
done
screens terminal "$pictures/top.png" 24x112 4 "$tool" -S "$socket" -T 60 top >"$TMPDIR/top"
equal 'top: status' $? 0
check 'shows both ports' [ "$(grep -cE '^eth[01] +up ' "$TMPDIR/top")" = 2 ]
equal 'columns are in line' \
	"$(awk '/max us$|^eth[01] +up / { print length }' "$TMPDIR/top" | sort -u | wc -l)" 1
check 'both workers' [ "$(grep -cE '^[01] +[0-9]+ .*%$' "$TMPDIR/top")" = 2 ]
check 'and a reason of drops' grep -qE '^eth0 +drop +blackhole +[1-9][0-9]* +[1-9]' "$TMPDIR/top"
small "$pictures/top.png"
wait_scrapes "$scrapes"
equal 'panels of the dashboard' "$(screens dashboard "$pictures/dashboard.png" \
	"$top/etc/mlx5fwd.dashboard.json" $scrape_s $((scrapes * scrape_s)))" \
	"$(grep -c '"gridPos"' "$top/etc/mlx5fwd.dashboard.json") panels"
small "$pictures/dashboard.png"
: >"$TMPDIR/stop"
router_stop
model_stop
finish
