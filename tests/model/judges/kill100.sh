#!/bin/bash
# judges/kill100.sh - a client killed 100 times, at any moment, leaves nothing in the device
# timeout: 400
#
# SIGKILL from 0 to 60 ms after start: before open, between commands, in full traffic.
# What the device holds afterwards is what it held before; another client goes on.
. "$(dirname "$0")/lib/model.sh"

seed=${TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"
names='objects clients handles mappings event_fds mapped_bytes fds threads'

holdings()
{
	ctl stat | awk -v names=" $names " 'index(names, " " $1 " ") { printf "%s %s, ", $1, $2 }'
}

holds()
{
	[ "$(holdings)" = "$1" ]
}

# Starts a program and kills it, itself, when SECONDS have passed.
killed_after() # SECONDS COMMAND...
{
	local seconds=$1 pid_file=$TMPDIR/victim runner

	shift
	rm -f "$pid_file"
	# shellcheck disable=SC2016 # expanded by the inner shell
	on bash -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"' "$pid_file" "$@" \
		<&7 >/dev/null 2>&1 &
	runner=$!
	wait_for 60 'the victim runs' [ -s "$pid_file" ]
	sleep "$seconds"
	kill -KILL "$(cat "$pid_file")" 2>/dev/null || finished=$((finished + 1))
	wait $runner 2>/dev/null
}

series() # WHAT TIMES MILLISECONDS COMMAND...
{
	local what=$1 times=$2 most=$3 i before rss

	shift 3
	finished=0
	before=$(holdings)
	rss=$(alive rss_kb)
	for ((i = 0; i < times; i++)); do
		killed_after "$(printf '0.%03d' $((RANDOM % most)))" "$@"
	done
	echo "$what: $finished of $times ended before the kill"
	check "$what: most were killed" [ $finished -lt $((times / 4)) ]
	wait_for 60 "$what: holds what it held before: $before" holds "$before"
	equal "$what: holds after $times" "$(holdings)" "$before"
	echo "$what: resident $rss kB before, $(alive rss_kb) kB after"
}

# Standard input that never ends: testpmd stops at its end.
mkfifo "$TMPDIR/endless"
exec 7<>"$TMPDIR/endless"

model_start --port eth0=loop --port eth1=pair:eth2 --port eth2=pair:eth1
first=$(holdings)
series 't_devx' 95 60 "$MODEL_BIN/t_devx" --rounds 1000000
series 'testpmd' 5 999 dpdk-testpmd --no-huge -m 256 --no-telemetry -l 0,1 \
	-a "$(pci eth1)" -- --total-num-mbufs=4096 --no-mlockall --tx-first
# Two clients of one port, by destination address: one is killed, again and again.
start_on "$MODEL_BIN/t_devx" --rounds 300000 --mac 9 >"$TMPDIR/survivor" 2>&1
for ((n = 0; n < 20; n++)); do
	killed_after "$(printf '0.%03d' $((RANDOM % 60)))" "$MODEL_BIN/t_devx" --rounds 1000000
done
wait "$on_pid"
equal 'exit status of the client that was left alone' $? 0
wait_for 60 'as at the start' holds "$first"

rss=$(alive rss_kb)
series 't_devx again' 40 60 "$MODEL_BIN/t_devx" --rounds 1000000
at_least 'resident memory did not grow by 4 MB' $((rss + 4096)) "$(alive rss_kb)"
equal 'holds at the end' "$(holdings)" "$first"
model_stop
finish
