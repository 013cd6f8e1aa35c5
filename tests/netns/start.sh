#!/bin/bash
# netns/start.sh - each step of the start made to fail: a clear error, status 1, nothing left
# timeout: 400
# alone
. "$(dirname "$0")/lib.sh"

daemon=$FWD_BIN/daemon/mlx5fwd
said=$TMPDIR/said

no_clients() { [ "$(alive clients)" = 0 ]; }
objects()
{
	wait_for 5 'the device let go of its client' no_clients
	ctl stat | grep -vE '^(rss_kb|poller_)'
}

# Runs the daemon to its end; it must fail, say so in one line, and leave nothing.
fails() # WHAT EXPECTED-REGEX COMMAND-BEFORE-THE-DAEMON...
{
	local what=$1 expected=$2 status

	shift 2
	"$MODEL_BIN/cxrun" -d "$cx_dir" ${asan:+--preload "$asan"} --netns r -- \
		"$@" "$daemon" -c "$conf" >"$TMPDIR/out" 2>"$said" &
	wait_or_kill $!
	status=$?
	grep -vE '^mlx5fwd: (info|warning|debug):' "$said" >"$TMPDIR/errors"
	if [ $status = 1 ] && [ "$(wc -l <"$TMPDIR/errors")" = 1 ] &&
		grep -qE "^mlx5fwd: (error: )?.*$expected" "$TMPDIR/errors" &&
		[ ! -s "$TMPDIR/out" ] && [ ! -e "$socket" ] && [ "$(objects)" = "$before" ]; then
		pass "$what: $(cut -c1-160 "$TMPDIR/errors")"
	else
		cat "$said"
		diff <(echo "$before") <(objects)
		fail "$what: status $status, expected 1 and one line with '$expected'"
	fi
}

router_launch_under() # COMMAND-BEFORE-THE-DAEMON...
{
	device_remember
	"$MODEL_BIN/cxrun" -d "$cx_dir" ${asan:+--preload "$asan"} --netns r -- \
		"$@" "$daemon" -c "$conf" >>"$fwd_log" 2>&1 &
	fwd_pid=$!
}

# A daemon that starts all the same is ended.
wait_or_kill() # PID
{
	local end=$((${EPOCHREALTIME/./} + 20000000))

	while kill -0 "$1" 2>/dev/null && [ "${EPOCHREALTIME/./}" -lt $end ]; do
		if [ -S "$socket" ] && [ "$(fwdctl status 2>/dev/null | value_of state)" = \
			forwarding ]; then
			ctl fault eth0 clear
			ctl fault eth1 clear
			pkill -TERM -x mlx5fwd
			wait "$1"
			return 99
		fi
		sleep 0.01
	done
	wait "$1"
}

says() # WHAT STATUS STDOUT-REGEX STDERR-REGEX ARGS...
{
	local what=$1 status=$2 out=$3 err=$4 rc

	shift 4
	"$daemon" "$@" >"$TMPDIR/out" 2>"$said" </dev/null
	rc=$?
	equal "$what: status" $rc "$status"
	for file in out:"$out" said:"$err"; do
		if [ -n "${file#*:}" ]; then
			check "$what: $file" grep -qE -- "${file#*:}" "$TMPDIR/${file%%:*}"
		else
			equal "$what: nothing on ${file%%:*}" "$(cat "$TMPDIR/${file%%:*}")" ''
		fi
	done
}

# ---- the command line; nothing is opened ----
says --help 0 '^Usage: mlx5fwd ' '' --help
says -h 0 '^Usage: mlx5fwd ' '' -h
says --version 0 '^mlx5fwd [0-9]' '' --version
says 'unknown option' 1 '' '^Usage: mlx5fwd ' --frob
says 'an argument' 1 '' '^mlx5fwd: frob: unexpected argument' frob
says '-c without a file' 1 '' '^Usage: mlx5fwd ' -c
says 'no file' 1 '' '^mlx5fwd: /nowhere: No such file or directory$' -c /nowhere
says 'no file, --check' 1 '' '^mlx5fwd: /nowhere: No such file or directory$' --check -c /nowhere
says 'the example' 0 '' '' --check -c "$top/etc/mlx5fwd.conf"
printf '[daemon]\nworkers = 0\n[port eth0]\n' >"$conf"
says 'a bad value' 1 '' "^mlx5fwd: $conf:2: workers = 0: must be 1 to 64 \(threads\)$" --check \
	--config "$conf"
says 'a bad value, without --check' 1 '' "^mlx5fwd: $conf:2: workers = 0: must be" -c "$conf"

# ---- steps that fail without the device's doing ----
hosts_up
ip netns exec r ip link add other type veth peer name another
before=$(objects)
config 'workers = 0'
fails 'a bad configuration' 'workers = 0: must be 1 to 64'
printf '[daemon]\ncontrol_socket = %s\n[port eth0]\n[port eth9]\n' "$socket" >"$conf"
fails 'no such netdev' 'eth9: there is no such network interface here'
printf '[daemon]\ncontrol_socket = %s\n[port eth0]\n[port other]\n' "$socket" >"$conf"
fails 'no card behind the netdev' 'other: none of the 2 RDMA devices is behind this interface'
config 'cpus = 1023'
fails 'no such CPU' 'cpus: there is no CPU 1023, but 0'
config "control_socket = /nowhere/s" >/dev/null
printf '[daemon]\ncontrol_socket = /nowhere/s\n[port eth0]\n[port eth1]\n' >"$conf"
fails 'no folder for the socket' \
	'control socket /nowhere/s: No such file or directory; make its folder'
printf '[daemon]\ncontrol_socket = /proc/version\n[port eth0]\n[port eth1]\n' >"$conf"
fails 'a file in its place' 'control socket /proc/version: something else has this name'
check 'which stays' [ -e /proc/version ]
printf '[daemon]\ncontrol_socket = %s/busy\n[port eth0]\n[port eth1]\n' "$TMPDIR" >"$conf"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(1)
time.sleep(100)' "$TMPDIR/busy" &
busy=$!
wait_for 5 'somebody listens' [ -S "$TMPDIR/busy" ]
fails 'a daemon in its place' "control socket $TMPDIR/busy: another daemon listens there"
check 'which keeps its socket' [ -S "$TMPDIR/busy" ]
kill $busy
config
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("\0mlx5fwd/port/eth1")
s.listen(1)
print("here", flush=True)
time.sleep(100)' >"$TMPDIR/claim" &
wait_for 5 'nobody in this namespace' [ -s "$TMPDIR/claim" ]
kill $!

# ---- a memlock limit, as any user but root has one ----
limited() # KIB COMMAND...
{
	exec prlimit --memlock=$(($1 << 10)) -- setpriv --bounding-set -ipc_lock -- "${@:2}"
}
export -f limited
printf '%s\n' '[daemon]' "control_socket = $socket" '[port eth0]' 'rx_packets = 256' \
	'[port eth1]' 'rx_packets = 256' 'tx_packets = 64' >"$conf"
fails 'a memlock limit of 1 MiB' \
	'the memlock limit is 1024 KiB, and packet memory and queues need [0-9]* KiB: raise it' \
	bash -c 'limited 1024 "$@"' -
needed=$(sed -n 's/.* need \([0-9]*\) KiB: .*/\1/p' "$TMPDIR/errors")
at_least 'KiB needed: both devices know the packets of both ports' "$needed" $((2 * 2 * 512))
fails 'a page less than that' "limit is $((needed - 4)) KiB, and .* need $needed KiB" \
	bash -c "limited $((needed - 4)) \"\$@\"" -
router_launch_under bash -c "limited $needed \"\$@\"" -
wait_for 30 'with what is needed it forwards' router_answers
kill -0 "$fwd_pid" || cat "$fwd_log"
router_stop

# ---- no huge pages left: small ones, and one sentence for all queues ----
config 'workers = 3'
mkfifo "$TMPDIR/hold"
python3 -c '
import mmap, sys
free = int(open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").read())
huge, populate = 0x40000, 0x8000
if free:
    kept = mmap.mmap(-1, free << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | huge | populate)
print("taken", free, flush=True)
sys.stdin.read()' <"$TMPDIR/hold" >"$TMPDIR/taken" &
exec 8>"$TMPDIR/hold"
wait_for 60 'all huge pages are taken' grep taken "$TMPDIR/taken"
router_start
equal 'no huge pages: said once for 6 queues' "$(grep -c 'huge page' "$fwd_log")" 1
check 'and how many are needed' grep -q \
	'warning: no huge pages free for 2 MiB of packet memory: using small pages, which costs' \
	"$fwd_log"
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
routes_add
check 'and it forwards' in_a ping -q -c 5 -i 0.01 -W 2 10.0.2.2
conserved
router_stop
exec 8>&-
config

# ---- without a privilege: punts by another way, and said once ----
punts() # WAY LOG-REGEX COMMAND...
{
	local way=$1 log=$2

	shift 2
	: >"$fwd_log"
	router_launch_under "$@"
	wait_for 30 "without $way: forwards" router_answers
	equal "without $way: said once" "$(grep -cE "$log" "$fwd_log")" 1
	fwdctl route add 10.0.2.0/24 $b_mac dev eth1
	in_a ping -c 5 -i 0.05 -W 1 10.77.0.1 >"$TMPDIR/ping"
	conserved
}

# The model's card sends TTL 1 to the kernel by a rule, so what has no route is punted here.
drop='setpriv --bounding-set -bpf,-sys_admin,-perfmon'
# shellcheck disable=SC2086 # words
punts CAP_BPF \
	'CAP_BPF and CAP_NET_ADMIN are needed \(EPERM\); a TAP device of each port takes' \
	$drop
check 'the kernel answers for it' grep -q 'Net.* Unreachable' "$TMPDIR/ping"
equal 'by TAP' "$(fwdctl -s -s port show eth0 | pair punt_failed)" 0
at_least 'punts delivered' "$(fwdctl -s -s port show eth0 | pair punt_delivered)" 5
equal 'a TAP a port' "$(ip -n r -o link show | grep -c ': mlx5fwd[01]: .*UP')" 2
kill -TERM "$fwd_pid"
wait "$fwd_pid"
equal 'exit status' $? 0
equal 'the TAPs are gone' "$(ip -n r -o link show | grep -c ': mlx5fwd[01]: ')" 0
# shellcheck disable=SC2086 # words
punts 'CAP_BPF and CAP_NET_ADMIN' \
	'port eth0: TAP device for the kernel: .* \(EPERM\); its punts are counted as failed' \
	$drop,-net_admin
check 'nobody answers' grep -q '100% packet loss' "$TMPDIR/ping"
equal 'punts failed' "$(fwdctl -s -s port show eth0 | pair punt_failed)" 5
kill -TERM "$fwd_pid"
wait "$fwd_pid"
equal 'exit status' $? 0

# ---- each command to the device, in turn ----
# A few are rdma-core's, which does without what they ask for: then the daemon starts. Of flow
# rules and protection domains the kernel passes on an errno only.
refusal='the device says limit exceeded (status 0x08, syndrome 0x123456)'
for port in eth0 eth1; do
	failed=0
	tolerated=0
	in_words=0
	for ((k = 1; ; k++)); do
		refusals=$(count_of $port cmd_refusals)
		ctl fault $port cmd nth=$k status=8 syndrome=0x123456
		(fails "$port: command $k" 'mlx5_[01]') >"$TMPDIR/step" 2>&1
		[ "$(count_of $port cmd_refusals)" -gt "$refusals" ] || break
		if grep -q 'status 99' "$TMPDIR/step"; then
			tolerated=$((tolerated + 1))
			continue
		fi
		cat "$TMPDIR/step"
		grep -q "[A-Z_]* .*on mlx5_[01]: $refusal" "$TMPDIR/step" &&
			in_words=$((in_words + 1))
		failed=$((failed + 1))
		failed_checks=$((failed_checks + $(grep -c '^check FAILED' "$TMPDIR/step")))
	done
	at_least "$port: commands whose failure ended the start" $failed 40
	at_least "$port: with command, status and syndrome in words" $in_words 18
	within "$port: commands whose failure did not" $tolerated 0 4
done

# ---- and after all that it starts, and tells systemd ----
export NOTIFY_SOCKET=$TMPDIR/notify
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    print(s.recv(1000).decode().replace("\n", " "), flush=True)' "$NOTIFY_SOCKET" >"$TMPDIR/told" &
wait_for 5 'systemd listens' [ -S "$NOTIFY_SOCKET" ]
told() { [ "$(wc -l <"$TMPDIR/told")" = "$1" ]; }
router_start
wait_for 5 'systemd was told something' told 1
equal 'READY when it forwards' "$(cat "$TMPDIR/told")" \
	'READY=1 STATUS=forwarding on 2 ports with 1 worker'
router_stop
wait_for 5 'systemd was told something' told 2
equal 'then STOPPING' "$(sed 1d "$TMPDIR/told")" 'STOPPING=1 STATUS=draining'
unset NOTIFY_SOCKET
equal 'objects in the device' "$(objects)" "$before"
model_stop
finish
