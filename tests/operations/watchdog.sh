#!/bin/bash
# operations/watchdog.sh - a worker that is stuck is fenced: the kernel forwards, the daemon ends
# timeout: 120
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")
told=$TMPDIR/told
export NOTIFY_SOCKET=$TMPDIR/notify

# What systemd would hear, a line each.
python3 - "$NOTIFY_SOCKET" >"$told" <<'PY' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(s.recv(4096).decode().replace('\n', ' '), flush=True)
PY
wait_for 10 'systemd listens' [ -s "$told" ]
was_told() { grep -qx "$1" "$told"; }
fed() { grep -cx 'WATCHDOG=1' "$told"; }
fed_since() { [ "$(fed)" -gt "$1" ]; }

heartbeat_age() # in tenths of a second
{
	in_r python3 "$here/exposition.py" get 127.0.0.1:15350 /metrics | python3 -c '
import json, re, sys
text = json.load(sys.stdin)["body"]
print(int(10 * max(map(float, re.findall(r"heartbeat_age_seconds\{.*\} (.*)", text)))))'
}
is_late() { [ "$(heartbeat_age)" -ge 15 ]; }

# ---- idle workers are alive ----
hosts_up
export WATCHDOG_USEC=10000000
config 'workers = 2' 'idle = sleep'
router_start
wait_for 10 'READY, when it forwards' was_told 'READY=1 STATUS=forwarding on 2 ports with 2 workers'
equal 'state then' "$(fwdctl status | value_of state)" forwarding
# Longer than a stuck worker has.
wait_for 30 'the dog is fed while they sleep' fed_since 7
check 'it still forwards' fwdctl status
router_stop
check 'STOPPING' was_told 'STOPPING=1 STATUS=draining'

# ---- nobody asked for a dog ----
unset WATCHDOG_USEC
before=$(fed)
config 'idle = pause'
router_start
routes_add
answers a 10 10.0.2.2
conserved

# ---- one is stuck ----
freeze() # NAME: the worker stands still; the process is held when it is about to abort
{
	python3 "$here/freeze.py" "$(pgrep -x mlx5fwd)" "$TMPDIR/$1" &
	wait_for 10 'the worker stands still' [ -e "$TMPDIR/$1.frozen" ]
}

daemon=$(pgrep -x mlx5fwd)
freeze one
in_a ping -q -c 5 -i 0.01 -W 1 10.0.2.2 >/dev/null
equal 'pings that come back while nobody serves the rules' $? 1
wait_for 4 'its heartbeat is late' is_late
wait_for 20 'the daemon is about to abort' [ -e "$TMPDIR/one.aborting" ]
# The process is held there: its queues are, only its rules are gone.
check 'the process is there' kill -0 "$daemon"
check 'and the kernel forwards' answers a 20 10.0.2.2
check 'IPv6 too' answers a 20 2001:db8:2::2
check 'it said why' grep -q 'error: worker 0: no turn for 5000 ms; the kernel gets all ports' \
	"$fwd_log"
check 'to systemd, too' was_told 'STATUS=a worker is stuck'
touch "$TMPDIR/one.go"
wait "$fwd_pid"
equal 'exit status: SIGABRT' $? $((128 + 6))
equal 'no dog was fed' "$(fed)" "$before"

# ---- one is stuck, and the control thread wants to tell it that a carrier is gone ----
router_start
routes_add
answers a 10 10.0.2.2
freeze two
in_b ip link set b0 down
waits() { ! fwdctl -T 0.2 status >/dev/null 2>&1; }
wait_for 4 'the control thread waits for it' waits
wait_for 20 'the daemon is about to abort' [ -e "$TMPDIR/two.aborting" ]
in_b ip link set b0 up
in_b ip route add default via 10.0.2.1
check 'the kernel forwards' answers a 20 10.0.2.2
equal 'it said why' "$(grep -c 'error: worker 0: no turn for 5000 ms; the kernel gets all ports' \
	"$fwd_log")" 2
touch "$TMPDIR/two.go"
wait "$fwd_pid"
equal 'exit status: SIGABRT' $? $((128 + 6))

# ---- and starts again ----
router_start
routes_add
check 'a reaches b' answers a 10 10.0.2.2
conserved
router_stop
finish
