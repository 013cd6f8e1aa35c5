#!/bin/bash
# operations/prometheus.sh - Debian's Prometheus scrapes the daemon and answers questions
# timeout: 200
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")
prom=$TMPDIR/prom
mkdir "$prom"

query() { in_r python3 "$here/prom.py" query "$1"; }
one() # EXPRESSION: sum of the answers
{
	query "$1" 2>/dev/null |
		awk '{ n += $1 } END { if (NR) printf "%.15g\n", n; else print "none" }'
}
is() { [ "$(one "$1")" = "$2" ]; }

hosts_up
config 'workers = 2'
router_start
routes_add
cp "$here"/{prometheus,alerts}.yml "$top/etc/mlx5fwd.rules.yml" "$prom/"
check 'alerts are sound' promtool check rules "$prom/mlx5fwd.rules.yml"
check 'each fires when it should' promtool test rules "$prom/alerts.yml"
equal 'alerts that are seen to fire' "$(grep -c exp_alerts "$prom/alerts.yml")" \
	"$(grep -c -- '- alert:' "$prom/mlx5fwd.rules.yml")"
check 'its configuration' promtool check config "$prom/prometheus.yml"
ip netns exec r prometheus --config.file="$prom/prometheus.yml" --log.level=warn \
	--web.listen-address=127.0.0.1:9090 --storage.tsdb.path="$prom/data" \
	>"$TMPDIR/prometheus.log" 2>&1 &
prom_pid=$!
wait_for 60 'Prometheus has scraped' is 'up{job="mlx5fwd"}' 1

# It asks for OpenMetrics, so the UNIT and the type of an info come from there.
equal 'what it knows of a metric' "$(in_r python3 - <<'PY'
import json, urllib.request
url = 'http://127.0.0.1:9090/api/v1/targets/metadata?metric=mlx5fwd_port_mtu_bytes'
print(*[(m['type'], m['unit']) for m in json.load(urllib.request.urlopen(url))['data']])
PY
)" "('gauge', 'bytes')"

check 'a reaches b' answers a 100 10.0.2.2
fwdctl route add 10.9.0.0/16 blackhole
in_a ping -q -c 7 -i 0.02 -W 0.1 10.9.0.1 >/dev/null
conserved
wait_for 30 'it has the drops' is 'mlx5fwd_dropped_packets_total{reason="blackhole"}' 7
wait_for 30 'it has all that the tool says' is 'sum(mlx5fwd_queue_receive_packets_total)' \
	$(($(port_count eth0 received) + $(port_count eth1 received)))
equal 'received = forwarded + dropped + punted, as PromQL has it' "$(one '
	sum by (port) (mlx5fwd_queue_receive_packets_total) ==
	sum by (port) (mlx5fwd_forwarded_packets_total)
	+ sum by (port) (mlx5fwd_dropped_packets_total)
	+ sum by (port) (mlx5fwd_punted_packets_total)')" "$(one '
	sum(mlx5fwd_queue_receive_packets_total)')"
equal 'a rate of what never happened is there, and zero' \
	"$(one 'sum(rate(mlx5fwd_dropped_packets_total{reason="tx_full"}[1m]))')" 0
check 'facts join counters' query 'sum by (rdma_device) (
	rate(mlx5fwd_forwarded_packets_total[1m]) * on (port) group_left (rdma_device)
	mlx5fwd_port_info)'

check 'every query of the dashboard has an answer' \
	in_r python3 "$here/prom.py" dashboard "$top/etc/mlx5fwd.dashboard.json"
# A router that is well gives no alert.
is_quiet() { [ "$(one 'count(ALERTS) or vector(0)')" = 0 ]; }
wait_for 30 'no alert is pending or firing' is_quiet
ctl link eth1 down
wait_for 30 'but for a cable that is pulled' is \
	'count(ALERTS{alertname="Mlx5fwdPortNoCarrier",port="eth1"})' 1
ctl link eth1 up
wait_for 30 'until it is back' is_quiet

# A restart is seen as one, not as a fall of the counters.
started=$(one process_start_time_seconds)
router_stop
wait_for 30 'Prometheus sees that it is gone' is 'up{job="mlx5fwd"}' 0
router_start
wait_for 30 'and that it is back' is "process_start_time_seconds > bool $started" 1
equal 'drops of the new one' "$(one 'mlx5fwd_dropped_packets_total{reason="blackhole"}')" 0
router_stop

equal 'complaints of Prometheus' "$(grep -v 'level=info' "$TMPDIR/prometheus.log")" ''
kill -TERM $prom_pid
wait $prom_pid
finish
