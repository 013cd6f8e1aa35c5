#!/bin/bash
# operations/metrics_scale.sh - a scrape of 4 ports and 16 workers with a million routes
#
# Neither time nor the number of series may depend on how many routes there are.
# plain
# timeout: 120
. "$(dirname "$0")/../netns/lib.sh"

routes=${ROUTES:-1000000}
here=$(dirname "$0")

# Milliseconds of 20 scrapes: $fastest, $median and $slowest.
timed_scrapes()
{
	read -r fastest median slowest < <(python3 -c '
import http.client, time
took = []
for _ in range(20):
    connection = http.client.HTTPConnection("127.0.0.1:15350", timeout=60)
    start = time.monotonic()
    connection.request("GET", "/metrics")
    connection.getresponse().read()
    took.append((time.monotonic() - start) * 1000)
took.sort()
print("%.1f %.1f %.1f" % (took[0], took[10], took[-1]))')
}

fast_enough() # WHAT
{
	report "scrape, $1: median $median ms, longest $slowest ms, shortest $fastest ms, of 20"
	within "$1: milliseconds of a scrape, median of 20" "${median%.*}" 0 49
}

page() # to $TMPDIR/text; how many series there are
{
	python3 "$here/exposition.py" get 127.0.0.1:15350 /metrics |
		python3 -c 'import json, sys
print(json.load(sys.stdin)["body"], end="")' >"$TMPDIR/text"
	python3 "$here/exposition.py" check text "$TMPDIR/text" | awk '{ print $4 }'
}

model_start --port eth0=loop --port eth1=loop --port eth2=loop --port eth3=loop
{
	printf '[daemon]\ncontrol_socket = %s\nworkers = 16\nidle = sleep\n' "$socket"
	for port in eth0 eth1 eth2 eth3; do
		ip link set "$port" up
		printf '[port %s]\nrx_packets = 64\ntx_packets = 64\n' "$port"
	done
} >"$conf"
"$MODEL_BIN/cxrun" -d "$cx_dir" -- "$FWD_BIN/daemon/mlx5fwd" -c "$conf" >>"$fwd_log" 2>&1 &
fwd_pid=$!
wait_for 60 'mlx5fwd forwards' router_answers

awk -v n="$routes" 'BEGIN {
	for (i = 0; i < n; i++)
		printf "route add %d.%d.%d.0/24 02:00:00:00:ee:01 dev eth%d\n", 1 + i / 65536,
			i / 256 % 256, i % 256, i % 4
}' >"$TMPDIR/lines"
check '10 routes' fwdctl -b <(head -n 10 "$TMPDIR/lines")
timed_scrapes
fast_enough '10 routes'
few=$fastest series=$(page)

check "$routes routes" fwdctl -b <(tail -n +11 "$TMPDIR/lines")
timed_scrapes
fast_enough "$routes routes"
within 'percent of the time that 10 routes took, shortest of 20 each' \
	"$(awk -v few="$few" -v many="$fastest" 'BEGIN { printf "%d", 100 * many / few }')" 0 200
report "series of 4 ports and 16 workers: $series"
within 'series, on 4 ports and 16 workers' "$series" 1000 1500
equal 'as many as with 10 routes' "$(page)" "$series"
equal 'routes counted' "$(python3 "$here/exposition.py" value text "$TMPDIR/text" \
	mlx5fwd_fib_routes)" "$routes"
router_stop
finish
