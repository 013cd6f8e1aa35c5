#!/bin/bash
# datapath/wires.sh - frames made and checked outside the program, through both kinds of queues
# timeout: 500
#
#   gen or pcap --- eth0 --- dp_echo --- eth1 --- gen or pcap
#
# Small rings, so that they go round many times, and cyclic ones past the 16 bits in which the card
# counts. (Past those of striding ones: tests/unit.)
. "$top/tests/model/judges/lib/model.sh"

: "${FWD_BIN:?the build folder with dp_echo; tests/run sets it}"
echo_bin=$FWD_BIN/tests/datapath/dp_echo
out=$TMPDIR/echo.out
macs=(02:00:00:00:cc:00 02:00:00:00:cc:01)
preload=()

asan=$(ldd "$echo_bin" | awk '/libasan/ { print $3 }')
[ -z "$asan" ] || preload=(--preload "$asan")

said() { grep -qx "$1" "$out"; }
told() { awk -v port="$1" -v name="$2" '$1 == port && $2 == name { print $3 }' "$out"; }

echo_start() # RX TX MTU KIND
{
	: >"$out"
	"$MODEL_BIN/cxrun" "${preload[@]}" -d "$cx_dir" -- "$echo_bin" eth0 eth1 "$@" >"$out" &
	echo_pid=$!
	wait_for 20 'dp_echo is ready' said ready
}

echo_stop()
{
	kill -TERM $echo_pid
	wait $echo_pid
	equal 'exit status of dp_echo' $? 0
	equal 'completions out of step' "$(told eth0 lost_step)$(told eth1 lost_step)" 00
	equal 'error completions' "$(told eth0 errors)$(told eth1 errors)" 00
}

gen_done() # PORT COUNT
{
	[ "$(wire_stat "$1" returned)" -ge "$2" ]
}

start_gen() # COUNT WINDOW OPTIONS MTU
{
	local wire="gen:count=$1,window=$2,start=ctl,check=same,family=46,flows=64,$3"

	model_start --port "eth0=$wire,dmac=${macs[0]},mac=${macs[0]},mtu=$4" \
		--port "eth1=$wire,dmac=${macs[1]},mac=${macs[1]},mtu=$4"
}

# Every frame of each generator comes out at the other port, once and unchanged.
generated() # NAME COUNT WINDOW OPTIONS RX TX MTU KIND
{
	local name=$1 count=$2 before port

	start_gen "$count" "$3" "$4" "$7"
	before=$(alive objects)
	echo_start "$5" "$6" "$7" "$8"
	for port in eth0 eth1; do ctl wire $port start; done
	for port in eth0 eth1; do
		wait_for 120 "$name: all frames of $port" gen_done $port "$count"
	done
	for port in eth0 eth1; do
		equal "$name: $port changed, twice, without a buffer" \
			"$(for what in bad duplicate rx_no_buffer; do wire_stat $port $what; done |
				tr '\n' ' ')" '0 0 0 '
	done
	echo_stop
	equal "$name: received" "$(told eth0 received) $(told eth1 received)" "$count $count"
	equal "$name: refused by a send ring" "$(told eth0 dropped)$(told eth1 dropped)" 00
	wait_for 5 "$name: the program's objects are gone" eval "[ \$(alive clients) = 0 ]"
	at_least "$name: objects before, and now" "$before" "$(alive objects)"
	model_stop
}

# A capture file in, a capture file out, byte by byte and in order.
captured() # NAME KIND MTU LONGEST
{
	local name=$1 kind=$2 mtu=$3 port files args=()

	for port in 0 1; do
		python3 "$(dirname "$0")/lib/frames.py" "$TMPDIR/in$port.pcap" 20000 "$4" \
			"${macs[port]}" "${TEST_SEED:-$RANDOM}"
		files=$TMPDIR/in$port.pcap,$TMPDIR/out$port.pcap
		args+=(--port "eth$port=pcap:$files,start=ctl,retry,mac=${macs[port]},mtu=$mtu")
	done
	model_start "${args[@]}"
	echo_start 64 64 "$mtu" "$kind"
	for port in 0 1; do ctl wire eth$port start; done
	for port in 0 1; do
		wait_for 60 "$name: all frames left by eth$port" \
			eval "[ \$(count_of eth$port tx_frames) -ge 20000 ]"
	done
	echo_stop
	for port in 0 1; do
		ctl wire eth$port flush
		check "$name: what came in by eth$((1 - port)) went out by eth$port" \
			cmp <(tcpdump -r "$TMPDIR/in$((1 - port)).pcap" -tnexx 2>/dev/null) \
			<(tcpdump -r "$TMPDIR/out$port.pcap" -tnexx 2>/dev/null)
	done
	model_stop
}

# A frame holds its buffer until its completion was looked at, when the generator has long sent the
# next: a window is less than half of the ring.
generated 'striding, smallest rings' 20000 6 len=70 8 64 1500 striding
generated 'cyclic' 70000 24 len=70,len_max=1514 64 64 1500 cyclic
generated 'striding' 100000 128 len=70,len_max=1514 512 256 1500 striding
generated 'striding, jumbo' 60000 24 len=70,len_max=9014 512 256 9000 striding
generated 'cyclic, jumbo' 30000 24 len=70,len_max=9014 256 256 9000 cyclic
captured 'capture, striding' striding 1500 1514
captured 'capture, striding, jumbo' striding 9000 9014
captured 'capture, cyclic' cyclic 1500 1514
finish
