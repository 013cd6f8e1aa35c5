#!/bin/bash
# test/hostile.sh - clients that break the protocol, stop in the middle, or come by the thousand
# timeout: 300
#
# Whatever they do, the device answers others and the control socket within a second, and
# holds afterwards what it held before. lib/hostile.py are the clients.
. "$(dirname "$0")/client/client.sh"

seed=${TEST_SEED:-$RANDOM}
echo "seed $seed"
lib=$(dirname "$0")/lib

hostile()
{
	timeout 100 python3 "$lib/hostile.py" "$cx_dir" "$@"
}

# The control socket, and a program that opens and registers: within a second.
answers() # WHILE
{
	equal "$1: the device" "$(hostile alive)" alive
}

holdings()
{
	local held='objects|clients|handles|mappings|event_fds|mapped_bytes|fds|threads'

	ctl stat | awk -v held="^($held)\$" '$1 ~ held { printf "%s %s, ", $1, $2 }'
}

has_clients()
{
	[ "$(alive clients)" = "$1" ]
}

model_start --notap --port eth0=loop --port eth1=gen:count=0
hostile alive >"$TMPDIR/first"
wait_for 60 'the first program is gone' has_clients 0
held_at_start=$(holdings)

echo '# nonsense'
equal 'connections that end in ten ways' "$(hostile connect 2000)" 'connect 2000'
nothing_left 'connections that end in ten ways'
equal 'noise' "$(hostile noise 3000 "$seed" | cut -d' ' -f 1-2)" 'noise 3000'
nothing_left noise
equal 'wrong answers to NEED_MEM' "$(hostile registrations "$seed")" \
	'registrations 41 taken 0 and a good one 0'
nothing_left 'wrong answers to NEED_MEM'
equal 'pieces without end' "$(hostile flood)" 'flood ended'
nothing_left 'pieces without end'
equal 'a hundred thousand pieces (ENOMEM)' "$(hostile pieces)" 'pieces 12'
nothing_left 'a hundred thousand pieces'

echo '# clients that stand still'
mkfifo "$TMPDIR/standing"
sleep 1000 >"$TMPDIR/standing" &
holder=$!
pids=()
for i in 1 2 3 4 5 6 7 8; do
	python3 "$lib/hostile.py" "$cx_dir" stand <"$TMPDIR/standing" >"$TMPDIR/stand.$i" &
	pids+=($!)
done
for i in 1 2 3 4 5 6 7 8; do
	wait_for 60 "client $i stands" grep -q standing "$TMPDIR/stand.$i"
done
kill -STOP "${pids[@]}"
answers 'eight clients stand still'
equal 'clients then' "$(alive clients)" 8
kill -KILL "${pids[@]}"
wait "${pids[@]}" 2>/dev/null
nothing_left 'clients killed while they stood still'

echo '# a thousand'
mkfifo "$TMPDIR/go"
hostile open 1000 <"$TMPDIR/go" >"$TMPDIR/open" &
opener=$!
exec 8>"$TMPDIR/go"
wait_for 60 'a thousand contexts are open' grep -q ^open "$TMPDIR/open"
equal 'a thousand contexts' "$(cat "$TMPDIR/open")" 'open 1000 refused 0'
equal 'clients then' "$(alive clients)" 1000
answers 'a thousand contexts'
exec 8>&-
wait $opener
nothing_left 'a thousand contexts'
model_stop

echo '# out of descriptors'
(ulimit -n 80 && exec "$MODEL_BIN/cxmodel" -d "$cx_dir" --notap --port eth0=loop) \
	>>"$cx_log" 2>&1 &
cx_pid=$!
wait_for 60 'cxmodel is ready' model_answers
hostile alive >"$TMPDIR/first"
wait_for 60 'the first program is gone' has_clients 0
held_at_start=$(holdings)
hostile open 200 <"$TMPDIR/go" >"$TMPDIR/open" &
opener=$!
exec 8>"$TMPDIR/go"
wait_for 60 'what can be opened is open' grep -q ^open "$TMPDIR/open"
read -r _ opened _ refused <"$TMPDIR/open"
equal 'opened and refused' $((opened + refused)) 200
within 'opened' "$opened" 10 30
equal 'clients then' "$(alive clients)" "$opened"
exec 8>&-
wait $opener
nothing_left 'descriptors given back'
answers 'descriptors given back'
nothing_left 'and after a program'

echo '# stopped while clients stand in the middle'
python3 "$lib/hostile.py" "$cx_dir" stand <"$TMPDIR/standing" >"$TMPDIR/stand.1" &
last=$!
wait_for 60 'a client stands' grep -q standing "$TMPDIR/stand.1"
kill -STOP $last
start=${EPOCHREALTIME/./}
model_stop
within 'milliseconds to stop' $(((${EPOCHREALTIME/./} - start) / 1000)) 0 2000
kill -KILL $last $holder
finish
