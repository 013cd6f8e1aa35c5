# shellcheck shell=bash
# judges/lib/testpmd.sh - drive an interactive dpdk-testpmd; sourced after model.sh
#
#   testpmd_start EAL-OPTIONS -- OPTIONS     started on the model, at its prompt
#   tp COMMAND       sends it, waits for the next prompt; what it printed is in $tp_out
#   tp_received PORT, tp_queue PORT QUEUE    packets since forwarding started
#   testpmd_quit     checks that it ends with status 0
tp_log=$TMPDIR/testpmd.log
tp_in=$TMPDIR/testpmd.in
tp_pid=
tp_out=

tp_prompts()
{
	grep -ao 'testpmd> ' "$tp_log" | wc -l
}

tp_prompted() # COUNT
{
	[ "$(tp_prompts)" -ge "$1" ] || ! kill -0 "$tp_pid" 2>/dev/null
}

testpmd_start()
{
	rm -f "$tp_in"
	mkfifo "$tp_in"
	exec 7<>"$tp_in"
	: >"$tp_log" # here and not behind &: nobody shall see the prompts of the one before
	# Standard input must stay open: testpmd ends at its end.
	on stdbuf -oL dpdk-testpmd --no-telemetry "$@" <"$tp_in" >>"$tp_log" 2>&1 &
	tp_pid=$!
	wait_for 180 "testpmd's first prompt" tp_prompted 1
	kill -0 "$tp_pid" 2>/dev/null || testpmd_died
}

testpmd_died()
{
	tail -n 30 "$tp_log"
	die 'testpmd ended'
}

tp()
{
	local before prompts

	before=$(stat -c %s "$tp_log")
	prompts=$(tp_prompts)
	printf '%s\n' "$1" >&7
	wait_for 60 "testpmd: $1" tp_prompted $((prompts + 1))
	kill -0 "$tp_pid" 2>/dev/null || testpmd_died
	tp_out=$(tail -c "+$((before + 1))" "$tp_log" | tr -d '\0')
	printf '%s\n' "$tp_out" | sed 's,^,  | ,' >&2
}

# RX-packets of a port since the start of forwarding.
tp_received() # PORT
{
	tp 'show fwd stats all'
	printf '%s\n' "$tp_out" | sed -n "/statistics for port $1 /,/RX-packets/p" |
		sed -nE 's/.*RX-packets: ([0-9]+).*/\1/p'
}

# Packets that one receive queue has given, of several. (mlx5's extended statistics want
# ethtool's counters of the real netdev, which a TAP does not have.)
tp_queue() # PORT QUEUE
{
	tp 'show fwd stats all'
	printf '%s\n' "$tp_out" |
		sed -n "/Stats for RX Port= *$1\/Queue= *$2 /,/RX-packets/p" |
		sed -nE 's/.*RX-packets: ([0-9]+).*/\1/p'
}

testpmd_quit()
{
	local rc

	printf 'quit\n' >&7
	wait "$tp_pid"
	rc=$?
	exec 7>&-
	[ $rc = 0 ] || tail -n 30 "$tp_log"
	equal 'exit status of testpmd' $rc 0
}

tp_has() # PORT COUNT: has received that many
{
	[ "$(tp_received "$1")" -ge "$2" ]
}
