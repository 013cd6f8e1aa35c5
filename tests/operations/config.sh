#!/bin/bash
# operations/config.sh - configuration shown, compared and read again under traffic; counters reset
# timeout: 120
. "$(dirname "$0")/lib.sh"

said() { grep -q -- "$1" "$fwd_log"; }

hosts_up
config 'punt_rate = 500'
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
stream_start s a b 10.0.2.2 500

# ---- what runs ----
fwdctl config show >"$TMPDIR/shown.conf"
check 'what config show prints is a configuration' \
	"$FWD_BIN/daemon/mlx5fwd" --check -c "$TMPDIR/shown.conf"
cp "$conf" "$TMPDIR/first.conf"
cp "$TMPDIR/shown.conf" "$conf"
prints '' config diff
done_silently config check
cp "$TMPDIR/first.conf" "$conf"
fits config config show
fits config-diff config diff
equal 'which is empty' "$(json j)" '[]'

# ---- reload ----
config 'punt_rate = 700' 'log_level = warning'
sed -i '0,/log_level = debug/{/log_level = debug/d}' "$conf"
fits config-diff config diff
prints '[daemon] punt_rate: 500 -> 700
[daemon] log_level: debug -> warning' reload
prints '' config diff
prints 'level warning' log level
config 'workers = 2' 'punt_rate = 900'
fits config-diff config diff
refused 2 "$conf: only a restart can change workers; nothing was changed (EOPNOTSUPP);\
 \"config diff\" shows what differs" reload
check 'the rate is as it was' grep -q '^punt_rate = 700$' <(fwdctl config show)
metric() # END-OF-NAME
{
	in_r python3 "$(dirname "$0")/exposition.py" get 127.0.0.1:15350 /metrics | python3 -c '
import json, re, sys
text = json.load(sys.stdin)["body"]
print(*re.findall("(?m)^mlx5fwd_config_last_reload_%s (.*)$" % sys.argv[1], text))' "$1"
}
equal 'Prometheus hears of it' "$(metric successful)" 0
was=$(metric success_timestamp_seconds)
kill -HUP "$(pgrep -x mlx5fwd)"
wait_for 5 'SIGHUP is refused, too' said 'error: reload: .*only a restart can change workers'
echo 'frob = 1' >"$conf"
refused 2 "$conf:1: frob: before the first section; there are [daemon] and [port NAME] (EINVAL)" \
	config check
config 'punt_rate = 500'
kill -HUP "$(pgrep -x mlx5fwd)"
wait_for 5 'SIGHUP reloads' said "SIGHUP: reloaded $conf"
prints 'level debug' log level
done_silently log level error
refused 2 'log level loud: must be error, warning, notice, info or debug (EINVAL)' log level loud
done_silently log level debug

equal 'Prometheus hears of that, too' "$(metric successful)" 1
check 'and when it was' python3 -c 'import sys
was, now = map(float, sys.argv[1:])
sys.exit(not 1e9 < was < now)' "$was" "$(metric success_timestamp_seconds)"

# ---- workers are tuned while packets flow ----
sleeps() { fwdctl -s worker show | pair sleeps; }
sleeps_more_than() { [ "$(sleeps)" -gt "$1" ]; }
config 'punt_rate = 500' 'idle = sleep' 'burst = 16' 'latency_sample = 1'
prints '[daemon] idle: adaptive -> sleep
[daemon] burst: 64 -> 16
[daemon] latency_sample: 64 -> 1' config reload
wait_for 10 'a worker that shall sleep sleeps' sleeps_more_than $(($(sleeps) + 5))
check 'every burst is timed' grep -q one_burst_in=1, <(fwdctl -j -d port show eth0 | tr -d '" ' |
	tr : =)
config 'punt_rate = 500' 'idle = spin'
check 'reload' fwdctl reload
stays() { was=$(sleeps); sleep 0.2; [ "$(sleeps)" = "$was" ]; }
wait_for 10 'one that shall spin does not' stays
config 'punt_rate = 500'
check 'reload' fwdctl reload

# ---- base lines: what is shown begins anew, what is counted goes on ----
stream_stop s 'beside all that'
conserved
received=$(port_count eth0 received)
at_least 'received so far' "$received" 200
done_silently port reset
equal 'received from here on' "$(port_count eth0 received)" 0
equal 'sent from here on' "$(port_count eth1 egress)" 0
in_a ping -q -c 3 -i 0.1 -W 2 10.0.2.2 >/dev/null
equal 'three came' "$(port_count eth0 received)" 3
equal 'and were forwarded' "$(port_count eth0 forwarded)" 3
at_least 'the worker counts them all' "$(fwdctl worker show | pair received)" $((received + 6))
done_silently route add 198.51.100.0/24 blackhole
in_a ping -q -c 2 -i 0.1 -W 1 198.51.100.1 >/dev/null
equal 'two were dropped' "$(fwdctl drop show eth0 | pair blackhole)" 2
done_silently drop reset eth0
equal 'none from here on' "$(fwdctl drop show eth0)" 'eth0:'
in_a ping -q -c 1 -W 1 198.51.100.1 >/dev/null
equal 'one more' "$(fwdctl drop show eth0 | pair blackhole)" 1
equal 'while the port has all of them' "$(port_count eth0 dropped)" 3
refused 2 'port reset eth9: not a port of this router (ENODEV)' port reset eth9

router_stop
model_stop
finish
