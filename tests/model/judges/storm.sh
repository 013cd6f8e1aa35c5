#!/bin/bash
# judges/storm.sh - everything that can happen to ports and programs, under traffic
# timeout: 900
#
#   gen eth0 --> testpmd --> eth1 gen      both directions, without end
#
# In random order, each once a round: links flap in each of the three ways, testpmd stops and
# goes on, is killed and comes back; another program comes to the same port; netdevs get other
# sizes, addresses and names; faults, traces, dumps; ports are removed while open. The device
# answers within a second all the time, frames flow whenever links are up, and nothing is left.
#
#   TEST_SEED, STORM_SECONDS (0: one round; tests/run --long: 240)
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

seed=${TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"
seconds=${STORM_SECONDS:-0}
trap 'model_said; echo "  testpmd said:"; tail -n 20 "$tp_log"' EXIT
hostile=$top/tests/model/test/lib/hostile.py
# Frames are lost when a link is down: no window to wait for them.
wire="gen:start=auto,count=0,window=0,rate=100000,check=same,flows=256,len=60,len_max=1514"

# All links up, no fault, names as they were.
calm()
{
	local port

	for port in eth0 eth1; do
		ctl fault $port clear
		ctl trace $port off
		ctl link $port up
		ip link set $port mtu 1500 up
	done
}

forwarding()
{
	[ "$(count_of eth0 tx_frames)" -gt "$1" ] && [ "$(count_of eth1 tx_frames)" -gt "$2" ]
}

begin()
{
	testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)" -a "$(pci eth1)" \
		-- -i --total-num-mbufs=16384 --rxd=1024 --txd=1024 --no-mlockall
	tp 'start' 2>/dev/null
}

killed()
{
	pkill -KILL -x dpdk-testpmd # processes of others are not in our namespace
	wait "$tp_pid" 2>/dev/null
	exec 7>&-
}

holdings()
{
	local held='objects|clients|handles|mappings|event_fds|mapped_bytes|fds|threads'

	ctl stat | awk -v held="^($held)\$" '$1 ~ held { printf "%s %s, ", $1, $2 }'
}

holds()
{
	[ "$(holdings)" = "$1" ]
}

pause() # up to so many milliseconds
{
	sleep "$(printf '0.%03d' $((RANDOM % $1)))"
}

# ---- what happens ----

flap_forced()
{
	for _ in 1 2 3 4 5 6; do
		ctl link "$1" down
		pause 40
		ctl link "$1" up
	done
}

flap_admin()
{
	for _ in 1 2 3; do
		ip link set "$1" down
		pause 60
		ip link set "$1" up
	done
}

flap_fault() { ctl fault "$1" link down; pause 50; ctl fault "$1" link up; }

stand()
{
	pkill -STOP -x dpdk-testpmd
	pause 900
	pkill -CONT -x dpdk-testpmd
}

another()
{
	on timeout -s KILL "$(printf '0.%03d' $((RANDOM % 900 + 50)))" \
		"$MODEL_BIN/t_devx" --mac 7 --rounds 100000 --device "${1#eth}" >/dev/null 2>&1
}

resize() { ip link set "$1" mtu $((RANDOM % 1400 + 600)); pause 50; ip link set "$1" mtu 1500; }
rename() { ip link set "$1" name other; pause 50; ip link set other name "$1"; }
address() { ip link set "$1" address 02:00:00:00:00:$((RANDOM % 90 + 10)); }
lose() { ctl fault "$1" drop rx nth=1 times=$((RANDOM + 1)); ctl fault "$1" drop tx nth=3 times=9; }
slow() { ctl fault "$1" delay us=$((RANDOM % 500)); pause 200; ctl fault "$1" clear; }
show()
{
	ctl dump >/dev/null
	ctl log >/dev/null
	ctl trace "$1" all
	pause 30
	ctl trace "$1" off
}

hold()
{
	local cq

	cq=$(ctl dump | awk '$1 == "CQ" { print $2 }' | shuf -n 1 --random-source=<(yes "$RANDOM"))
	[ -n "$cq" ] || return
	ctl fault "$1" hold cq="$cq" >/dev/null 2>&1
	pause 200
	ctl fault "$1" clear
}

pull()
{
	ctl port del "$1" >/dev/null 2>&1 && fail "port del $1 while a program has it open"
}

again()
{
	killed
	wait_for 60 "killed in full traffic: holds what it held before" holds "$empty"
	begin
}

acts=(flap_forced flap_admin flap_fault stand another resize rename address lose slow show
	hold pull again)

model_start --port "eth0=$wire,family=4" --port "eth1=$wire,family=6"
empty=$(holdings)
rss=$(alive rss_kb)
declare -A count
slow_answers=0

step() # ACT PORT
{
	local act=$1 answer from0 from1

	count[$act]=$((${count[$act]:-0} + 1))
	$act "$2"
	answer=$(timeout 60 python3 "$hostile" "$cx_dir" alive)
	if [ "$answer" != alive ]; then
		echo "after $act: '$answer'"
		slow_answers=$((slow_answers + 1))
	fi
	calm
	if ! kill -0 "$tp_pid" 2>/dev/null; then
		fail "testpmd ended by itself after $act"
		tail -n 20 "$tp_log"
		begin
	fi
	from0=$(count_of eth0 tx_frames) from1=$(count_of eth1 tx_frames)
	wait_for 60 "frames flow again after $act" forwarding "$from0" "$from1"
}

begin
end=$((SECONDS + seconds))
while :; do
	mapfile -t order < <(shuf -e "${acts[@]}" --random-source=<(yes "$RANDOM"))
	for act in "${order[@]}"; do
		step "$act" eth$((RANDOM % 2))
	done
	[ $SECONDS -lt $end ] || break
done
for act in "${acts[@]}"; do printf '%s %d, ' "$act" "${count[$act]:-0}"; done
echo
equal 'answers that took longer than a second' $slow_answers 0
for port in eth0 eth1; do
	equal "$port: frames that came back changed" "$(wire_stat $port bad)" 0
	equal "$port: ignored doorbells" "$(count_of $port bad_doorbells)" 0
done
testpmd_quit
wait_for 60 "holds what it held before: $empty" holds "$empty"
equal 'holds after the storm' "$(holdings)" "$empty"
echo "resident $rss kB before, $(alive rss_kb) kB after"

echo '# a netdev is removed under traffic; the port goes, and comes back'
begin
from0=$(count_of eth0 tx_frames) from1=$(count_of eth1 tx_frames)
wait_for 60 'frames flow' forwarding "$from0" "$from1"
ip link del eth0
link_down() { [ "$(port_word eth0 link)" = down ]; }
wait_for 60 'the port without a netdev is down' link_down
killed
no_client() { [ "$(alive clients)" = 0 ]; }
wait_for 60 'killed: no client' no_client
check 'the port can be removed' ctl port del mlx5_0
check 'and added again' ctl port add "eth0=$wire,family=4"
begin
wait_for 60 'frames flow through the new port' forwarding 0 "$from1"
testpmd_quit
model_stop
finish
