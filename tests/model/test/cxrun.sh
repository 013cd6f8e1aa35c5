#!/bin/bash
# test/cxrun.sh - cxrun starts, joins and ends devices, and passes everything else on
# timeout: 300
# shellcheck disable=SC2154,SC2016 # top is exported by tests/run; programs expand their own $
. "$top/tests/lib.sh"

: "${MODEL_BIN:?the folder of cxrun; tests/run sets it}"
cxrun=$MODEL_BIN/cxrun
cxmodel=$MODEL_BIN/cxmodel
dir=$TMPDIR/cx
out=$TMPDIR/out
err=$TMPDIR/err
ns=cxr$$
cleanup()
{
	"$cxmodel" ctl "$dir" stop 2>/dev/null
	ip netns del "$ns" 2>/dev/null
}
trap cleanup EXIT

# Runs a program on a device of its own; status, stdout and stderr are kept.
run() # [OPTION...] -- PROGRAM...
{
	"$cxrun" --notap --port eth0=loop "$@" >"$out" 2>"$err"
	rc=$?
}
live() { "$cxmodel" ctl "${1:-$dir}" ports >/dev/null 2>&1; }
not_live() { ! live "$@"; }
said() { grep -q "$1" "$err"; }
exists() { [ -e "$1" ]; }
gone() { [ ! -e "$1" ]; }

status()
{
	local n

	for n in 0 1 42 255; do
		run -- bash -c "exit $n"
		equal 'exit status of the program' $rc $n
	done
	for n in TERM KILL SEGV; do
		run -- bash -c "kill -$n \$\$"
		equal "ended by SIG$n" $rc $((128 + $(kill -l $n)))
	done
	run -- /nonexistent/program
	equal 'a program that does not exist' $rc 127
	run -- "$TMPDIR"
	equal 'a program that cannot be run' $rc 126
	run
	equal 'no program' $rc 125
	check 'with advice' said 'no program given'
	run --port eth0=loop -- true
	equal 'a device that does not start' $rc 125
	check 'with its reason' said 'of that name'
	run --netns nosuchns -- true
	equal 'a namespace that does not exist' $rc 125
	check 'with advice' said 'ip netns add'
}

surroundings()
{
	local device libs=/lib/x86_64-linux-gnu

	run -- bash -c 'echo "$CXMODEL"; echo "$LD_PRELOAD"; cat; ls "$CXMODEL" >&2' <<<'from stdin'
	device=$(head -n 1 "$out")
	equal 'what is printed is the program'"'"'s' "$(sed 1d "$out")" \
		"$MODEL_BIN/libcxshim.so
from stdin"
	check 'the device was there' said ctl.sock
	check 'and is gone' gone "$device"
	check 'the device stays silent' eval '! said link'
	# cxrun itself may be built with the sanitizer, which minds what comes before it.
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$libs/libm.so.6 \
		run --preload "$libs/librt.so.1" -- bash -c 'echo "$LD_PRELOAD"'
	equal 'order of preloading' "$(cat "$out")" \
		"$libs/librt.so.1:$libs/libm.so.6:$MODEL_BIN/libcxshim.so"
	gcc -fsanitize=address -o "$TMPDIR/asan" -x c - <<<'int main(void) { return 5; }'
	run --preload "$(gcc -print-file-name=libasan.so)" -- "$TMPDIR/asan"
	equal 'a program with the address sanitizer' $rc 5
}

# A program that notes the signals it gets and ends at SIGTERM with 9. Not a shell: what
# the background jobs of one ignore, its children cannot trap.
trapper='import signal, sys
for name in "USR1", "USR2", "HUP", "INT", "QUIT":
    signal.signal(getattr(signal, "SIG" + name), lambda n, f, name=name: print(name))
signal.signal(signal.SIGTERM, lambda n, f: sys.exit(9))
print("ready")
while True:
    signal.pause()'

has() { grep -qx "$1" "$out"; }

signals()
{
	local s cxpid

	"$cxrun" --notap --port eth0=loop -- python3 -uc "$trapper" >"$out" 2>"$err" &
	cxpid=$!
	wait_for 60 'the program runs' has ready
	for s in USR1 USR2 HUP INT QUIT; do
		kill -$s $cxpid
		wait_for 60 "SIG$s is passed on" has $s
	done
	kill -TERM $cxpid
	wait $cxpid
	equal 'SIGTERM is passed on; exit status' $? 9
}

keep_and_join()
{
	run -d "$dir" --keep -- true
	equal 'with --keep' $rc 0
	check 'the device is there afterwards' live
	check 'and how to end it is told' said "cxmodel ctl $dir stop"
	run -d "$dir" -v -- true
	check 'another one joins' said joined
	check 'and leaves it alone' live
	"$cxrun" -d "$dir" --port eth7=loop -- true 2>"$err"
	equal 'a port that the device lacks' $? 125
	check 'is named' said 'no such port'
	(cd "$TMPDIR" && "$cxrun" -d cx -- bash -c 'cd / && echo "$CXMODEL"') >"$out"
	equal 'a relative directory' "$(cat "$out")" "$dir"
	"$cxmodel" ctl "$dir" stop
	check 'ended' gone "$dir"
}

# All at once in one directory: one of them starts the device, all run on it.
together()
{
	local i

	for i in 1 2 3 4 5 6; do
		"$cxrun" -d "$dir" --notap --port eth0=loop -v -- \
			bash -c "touch $TMPDIR/on.$i
				until [ -e $TMPDIR/go ]; do read -rt 0.02 <> <(:); done; true" \
			2>"$TMPDIR/err.$i" &
	done
	for i in 1 2 3 4 5 6; do
		wait_for 60 "program $i runs" exists "$TMPDIR/on.$i"
	done
	equal 'devices started' "$(cat "$TMPDIR"/err.? | grep -c 'started a device')" 1
	equal 'devices joined' "$(cat "$TMPDIR"/err.? | grep -c 'joined the device')" 5
	touch "$TMPDIR/go"
	for i in 1 2 3 4 5 6; do
		wait -n
		equal 'exit status of one of them' $? 0
	done
	check 'ended by the one that started it' gone "$dir"
}

sudden_ends()
{
	local cxpid

	"$cxrun" -d "$dir" --notap --port eth0=loop -- \
		bash -c "echo \$\$ >$TMPDIR/pid; exec sleep 1000" &
	cxpid=$!
	wait_for 60 'the program runs' exists "$TMPDIR/pid"
	kill -KILL $cxpid
	wait $cxpid 2>/dev/null
	wait_for 60 'cxrun killed: its device ends' not_live
	wait_for 60 'orderly' gone "$dir"
	kill "$(cat "$TMPDIR/pid")"
	# Its parent, cxrun, does not collect it before the program ends; and can only when its last
	# thread is gone.
	run -d "$dir" -- bash -c "pid=\$(cat $dir/lock); kill -KILL \$pid
		until grep -q '^State:.Z' /proc/\$pid/status &&
			grep -q '^Threads:.1$' /proc/\$pid/status
		do read -rt 0.02 <> <(:); done
		exit 3"
	equal 'device killed: the program has its own status' $rc 3
	check 'and it is told' said 'device ended under the program'
	run -d "$dir" -- true
	equal 'the next one takes over' $rc 0
}

namespace()
{
	local before

	ip netns add $ns
	before=$(ls /sys/class/net)
	"$cxrun" --netns $ns --port eth5=loop --port eth6=none,up=no -- \
		bash -c 'ls /sys/class/net; cat /sys/class/net/eth5/carrier
			ip -o link show up | wc -l; ip netns identify' >"$out"
	equal 'a program in a namespace sees' "$(tr '\n' ' ' <"$out")" "eth5 eth6 lo 1 1 $ns "
	equal 'nothing changed outside' "$(ls /sys/class/net)" "$before"
	check 'its netdevs are gone' eval "! ip -n $ns link show eth5 2>/dev/null"
	"$cxrun" --port eth5=loop --port eth6=none -- ibv_devices >"$out"
	equal 'ibv_devices' "$(awk '/mlx5_/ { printf "%s ", $1 }' "$out")" 'mlx5_0 mlx5_1 '
}

status
surroundings
signals
keep_and_join
together
sudden_ends
namespace
finish
