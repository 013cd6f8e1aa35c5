#!/bin/bash
# operations/metrics.sh - /metrics: both forms, true values, one failure spoils nothing else
# timeout: 200
. "$(dirname "$0")/lib.sh"

address=127.0.0.1:15350
here=$(dirname "$0")
openmetrics='application/openmetrics-text;version=1.0.0'
text_file=$TMPDIR/text open_file=$TMPDIR/open

page() # KEY PATH [METHOD [ACCEPT]]: of what `get` says
{
	in_r python3 "$here/exposition.py" get "$address" "${@:2}" |
		python3 -c 'import json, sys
print(json.load(sys.stdin)[sys.argv[1]], end="")' "$1"
}

scrape() # fills both files
{
	page body /metrics >"$text_file"
	page body /metrics GET "$openmetrics" >"$open_file"
}

value() { python3 "$here/exposition.py" value text "$text_file" "$@"; }
reads() { python3 "$here/exposition.py" check "$1" "$2"; }

# Involuntary switches of our threads, those that are workers among them.
switches()
{
	awk '/^nonvoluntary_ctxt_switches/ { n += $2 } END { print n + 0 }' \
		"/proc/$(pgrep -x mlx5fwd)"/task/*/status
}

hosts_up

# ---- other places to listen ----
config "metrics_listen = $TMPDIR/m.sock"
router_start
address=$TMPDIR/m.sock
equal 'a Unix socket' "$(page status /-/healthy)" 200
equal 'its mode' "$(stat -c %a "$TMPDIR/m.sock")" 660
router_stop
check 'it is gone with the daemon' [ ! -e "$TMPDIR/m.sock" ]

address=127.0.0.1:15350
ip netns exec r python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 15350))
print("here", flush=True)
time.sleep(100)' >"$TMPDIR/taken" &
taken=$!
wait_for 5 'somebody has the port' [ -s "$TMPDIR/taken" ]
config
router_start # forwarding comes first
check 'it says that there are no metrics' grep -q \
	"error: metrics socket $address: Address already in use; going on without" "$fwd_log"
router_stop
kill $taken
wait $taken

config 'workers = 2'
router_start
routes_add

# A client that sends a byte a second is cut off, however diligent.
in_r python3 - "$TMPDIR/dripped" <<'PY' &
import socket, sys, time
s = socket.create_connection(('127.0.0.1', 15350))
start = time.monotonic()
try:
    s.sendall(b'GET / HTTP/1.1\r\nA: ')
    while time.monotonic() - start < 100:
        s.sendall(b'x')
        s.settimeout(1)
        try:
            if not s.recv(100):
                break
        except socket.timeout:
            pass
except OSError:
    pass
with open(sys.argv[1] + '.new', 'w') as file:
    print(int(time.monotonic() - start), file=file)
import os
os.rename(sys.argv[1] + '.new', sys.argv[1])
PY

# ---- pages ----
for want in '200 /' '200 /metrics' '200 /-/healthy' '200 /-/ready' '404 /metric' '404 /metrics/' \
	'404 /-/' '405 /metrics POST' '405 / PUT' '200 /metrics HEAD'; do
	# shellcheck disable=SC2086 # words
	equal "${want#* }" "$(page status ${want#* })" "${want%% *}"
done
equal 'length of the body that HEAD gives' "$(page body /metrics HEAD | wc -c)" 0
equal 'type without a wish' "$(page type /metrics)" 'text/plain; version=0.0.4; charset=utf-8'
equal 'type by Accept' "$(page type /metrics GET "$openmetrics")" \
	'application/openmetrics-text; version=1.0.0; charset=utf-8'
check 'landing page leads to /metrics' grep -q 'href="/metrics"' <(page body /)

# ---- forms ----
scrape
check 'text form is sound' reads text "$text_file"
check 'OpenMetrics form is sound' reads openmetrics "$open_file"
check 'both have the same series' python3 "$here/exposition.py" same "$text_file" "$open_file"
series() { grep -v '^#' "$1" | sed 's/ [^ ]*$//' | sort; }
fwdctl metrics show >"$TMPDIR/shown"
check 'metrics show has them, too' diff <(series "$text_file") <(series "$TMPDIR/shown")
equal 'with their values' "$(grep '^mlx5fwd_fib_routes{' "$TMPDIR/shown")" \
	"$(grep '^mlx5fwd_fib_routes{' "$text_file")"
fits sample metrics show
check 'promtool has nothing to complain of' promtool check metrics <"$text_file"

# ---- zeros from the first scrape on ----
equal 'series of drops' "$(grep -c '^mlx5fwd_dropped_packets_total{' "$text_file")" \
	"$((2 * $(fwdctl -j drop show eth0 | python3 -c 'import json, sys
print(len(json.load(sys.stdin)[0]["dropped"]))')))"
equal 'drops before any packet' "$(value mlx5fwd_dropped_packets_total)" 0
equal 'requests that are none, before any' "$(value mlx5fwd_control_requests_total object=other)" 0
equal 'failures of queues, before any' "$(value mlx5fwd_completion_errors_total)" 0
equal 'ready' "$(value mlx5fwd_ready)" 1
equal 'collectors that succeed' "$(value mlx5fwd_scrape_collector_success)" \
	"$(grep -c '^mlx5fwd_scrape_collector_success{' "$text_file")"

# ---- values ----
check 'a reaches b' answers a 100 10.0.2.2
check 'a reaches b by IPv6' answers a 50 2001:db8:2::2
fwdctl route add 10.9.0.0/16 blackhole
in_a ping -q -c 7 -i 0.02 -W 0.1 10.9.0.1 >/dev/null
conserved
scrape
for port in eth0 eth1; do
	on=port=$port
	received=$(value mlx5fwd_queue_receive_packets_total $on)
	equal "$port: received, as the tool says" "$received" "$(port_count $port received)"
	equal "$port: received = forwarded + dropped + punted" "$received" $((
		$(value mlx5fwd_forwarded_packets_total $on) +
		$(value mlx5fwd_dropped_packets_total $on) +
		$(value mlx5fwd_punted_packets_total $on)))
	equal "$port: egress, by family" "$(value mlx5fwd_egress_packets_total $on)" \
		"$(value mlx5fwd_queue_transmit_packets_total $on)"
	equal "$port: sent" "$(value mlx5fwd_queue_transmit_packets_total $on)" \
		"$(port_count $port egress)"
	equal "$port: punts delivered or not" "$(value mlx5fwd_punted_packets_total $on)" $((
		$(value mlx5fwd_punt_delivered_packets_total $on) +
		$(value mlx5fwd_punt_dropped_packets_total $on)))
	equal "$port: rings at rest" \
		"$(value mlx5fwd_receive_ring_used $on),$(value mlx5fwd_transmit_ring_used $on)" 0,0
	equal "$port: packets that met a full ring" \
		"$(value mlx5fwd_transmit_ring_full_total $on)" 0
	at_least "$port: room of a receive queue" "$(value mlx5fwd_receive_descriptors $on)" 64
	at_least "$port: room of a send queue" "$(value mlx5fwd_transmit_descriptors $on)" 64
	equal "$port: mtu" "$(value mlx5fwd_port_mtu_bytes $on)" 1500
	equal "$port: carrier" "$(value mlx5fwd_port_carrier $on)" 1
	equal "$port: address" "$(value mlx5fwd_port_info $on "mac=$(mac_of $port)" \
		"pci=$(pci $port)")" 1
done
equal 'IPv6 packets forwarded of a' \
	"$(value mlx5fwd_forwarded_packets_total port=eth0 family=ipv6)" \
	"$(port_count eth0 forwarded_ipv6)"
equal 'they left by the port to b' \
	"$(value mlx5fwd_egress_packets_total port=eth1 family=ipv6)" \
	"$(port_count eth0 forwarded_ipv6)"
equal 'black hole' "$(value mlx5fwd_dropped_packets_total port=eth0 reason=blackhole)" 7
equal 'static IPv4 routes' "$(value mlx5fwd_fib_routes family=ipv4 origin=static)" 3
equal 'routes added' "$(value mlx5fwd_fib_updates_total operation=add)" 5
equal 'of them, IPv6' "$(value mlx5fwd_fib_updates_total family=ipv6 operation=add)" 2
equal 'as requests' "$(value mlx5fwd_control_requests_total object=route verb=add result=ok)" 5
equal 'each was a commit' "$(value mlx5fwd_fib_commit_duration_seconds_count)" \
	"$(value mlx5fwd_fib_commits_total)"
equal 'all within a second' "$(value mlx5fwd_fib_commit_duration_seconds_bucket le=1.0)" 5
equal 'routes of /24' "$(value mlx5fwd_fib_prefix_routes family=ipv4 length=24)" 2
equal 'routes of any length' "$(value mlx5fwd_fib_prefix_routes)" "$(value mlx5fwd_fib_routes)"
equal 'workers' "$(value mlx5fwd_worker_info)" 2
at_least 'turns of both' "$(value mlx5fwd_worker_polls_total)" 2
equal 'packets of all bursts' "$(value mlx5fwd_receive_burst_packets_sum)" \
	"$(value mlx5fwd_queue_receive_packets_total)"
within 'bursts' "$(value mlx5fwd_receive_burst_packets_count)" 1 \
	"$(value mlx5fwd_queue_receive_packets_total)"
equal 'descriptors open, as the kernel counts' "$(value process_open_fds)" \
	"$(($(find "/proc/$(pgrep -x mlx5fwd)/fd" -type l | wc -l) + 1))" # ours was open then
at_least 'resident memory' "$(value process_resident_memory_bytes)" 1000000
within 'seconds since the start' "$(python3 -c "import time
print(int(time.time() - $(value process_start_time_seconds)))")" 0 200
started=$(value process_start_time_seconds)

# Of each second of a worker all is busy or idle; a sleep of at most one is still to be counted.
spent() # milliseconds of both workers
{
	python3 -c "print(int(1000 * ($(value mlx5fwd_worker_busy_seconds_total) +
		$(value mlx5fwd_worker_idle_seconds_total))))"
}
has_spent() { scrape; [ "$(spent)" -ge "$1" ]; }
milliseconds() { echo $((${EPOCHREALTIME/./} / 1000)); }
check 'busy, but less than idle' python3 -c "assert 0 < $(value \
	mlx5fwd_worker_busy_seconds_total) < $(value mlx5fwd_worker_idle_seconds_total)"
scrape
from=$(milliseconds) spent_before=$(spent)
wait_for 20 'time of workers goes on' has_spent $((spent_before + 6000))
took=$((2 * ($(milliseconds) - from))) spent=$(($(spent) - spent_before))
within 'milliseconds of two workers' $spent $((took - 2500)) $((took + 2500))
within 'involuntary switches of workers' \
	"$(value mlx5fwd_worker_involuntary_context_switches_total)" 0 "$(switches)"

# The model's netdev has none of the card's counters: left out, not zero.
equal 'series of the driver that the netdev does not have' \
	"$(grep -c '^mlx5fwd_hw_receive_discards_phy' "$text_file")" 0
equal 'frames without a buffer, of our own queues' \
	"$(value mlx5fwd_hw_receive_out_of_buffer_total scope=own)" 0

# ---- one collector fails ----
ctl fault eth0 cmd op=0x773 status=8 times=1000
scrape
ctl fault eth0 clear
equal 'card, while the device does not answer' \
	"$(value mlx5fwd_scrape_collector_success collector=card)" 0
equal 'the others' "$(value mlx5fwd_scrape_collector_success)" \
	$(($(grep -c '^mlx5fwd_scrape_collector_success{' "$text_file") - 1))
equal 'the other port is read all the same' \
	"$(value mlx5fwd_hw_receive_out_of_buffer_total port=eth1 scope=own)" 0
equal 'and the rest' "$(value mlx5fwd_dropped_packets_total reason=blackhole)" 7
check 'it is sound' reads openmetrics "$open_file"
scrape
equal 'afterwards' "$(value mlx5fwd_scrape_collector_success collector=card)" 1
equal 'the start is where it was' "$(value process_start_time_seconds)" "$started"

# ---- a cable that is pulled ----
no_carrier() { scrape; [ "$(value mlx5fwd_port_carrier port=eth1)" = 0 ]; }
ctl link eth1 down
wait_for 10 'carrier of eth1 is gone' no_carrier
equal 'which was counted' "$(value mlx5fwd_port_carrier_changes_total port=eth1)" 1
equal 'still ready' "$(page status /-/ready)" 200
ctl link eth1 up

# ---- a queue in error ----
is_reset() { scrape; [ "$(value mlx5fwd_queue_recoveries_total port=eth0 result=ok)" = 1 ]; }
ctl fault eth0 cqe type=rq syndrome=0x04 vendor=0x77 \
	"num=$(ctl dump | awk '/^mlx5_/ { here = $1 == "mlx5_0" }
		here && $1 == "RQ" { print $2; exit }')"
wait_for 20 'a receive queue of eth0 is reset' is_reset
equal 'of that direction' "$(value mlx5fwd_queue_recoveries_total direction=receive)" 1
equal 'its syndrome' "$(value mlx5fwd_completion_errors_total port=eth0 direction=receive \
	syndrome=local_protection)" 1
equal 'no other' "$(value mlx5fwd_completion_errors_total)" 1

# ---- a device that is lost ----
not_ready() { [ "$(page status /-/ready)" = 503 ]; }
ctl fault eth1 fatal
wait_for 10 'not ready' not_ready
scrape
equal 'lost' "$(value mlx5fwd_port_lost port=eth1)" 1
equal 'ready' "$(value mlx5fwd_ready)" 0
equal 'healthy all the same' "$(page status /-/healthy)" 200

wait_for 60 'the client that drips is cut off' [ -e "$TMPDIR/dripped" ]
within 'after seconds' "$(cat "$TMPDIR/dripped")" 29 60
router_stop

finish
