#!/bin/bash
# judges/perftest.sh - raw_ethernet_bw and raw_ethernet_lat, client and server two processes
# timeout: 240
#
#   two ports:     client - mlx5_0 - eth0 ===== eth1 - mlx5_1 - server
#   one device:    client and server - mlx5_2 - eth2 - loop
#
# They use libmlx5's own data path: a raw packet QP, ibv_create_flow, BlueFlame. Receive
# rings are as deep as the run is long, so that no message can be lost.
. "$(dirname "$0")/lib/model.sh"

client_mac=02:00:00:00:00:01
server_mac=02:00:00:00:00:02
server_log=$TMPDIR/server.log
client_log=$TMPDIR/client.log

# A new rule, and a receive queue with buffers: from now on nothing is lost.
listens() # PORT RULES-BEFORE
{
	[ "$(alive FTE "$1")" -gt "$2" ] && ctl dump | grep -qE '^RQ .* posted [1-9]'
}

run_pair() # WHAT PROGRAM CLIENT-DEVICE SERVER-DEVICE OPTIONS...
{
	local what=$1 program=$2 from=$3 to=$4 server rules

	shift 4
	rules=$(alive FTE "eth${to#mlx5_}")
	on timeout 60 "$program" --server -d "$to" -B $server_mac -E $client_mac "$@" \
		>"$server_log" 2>&1 &
	server=$!
	wait_for 60 "$what: the server's queue and rule" listens "eth${to#mlx5_}" "$rules"
	on timeout 60 "$program" --client -d "$from" -B $client_mac -E $server_mac "$@" \
		>"$client_log" 2>&1
	equal "$what: exit status of the client" $? 0
	wait $server
	equal "$what: exit status of the server" $? 0
	cat "$client_log" "$server_log"
}

# Counters of a port since the last call of mark().
mark()
{
	local port

	for port in eth0 eth1 eth2; do
		eval "sent_$port=$(count_of $port tx_frames) got_$port=$(count_of $port rx_queued)"
	done
}

since() # PORT -> "sent N queued N"
{
	local sent=sent_$1 got=got_$1

	echo "sent $(($(count_of "$1" tx_frames) - ${!sent}))" \
		"queued $(($(count_of "$1" rx_queued) - ${!got}))"
}

# Iterations that a report's row gives for a message size.
iterations() # LOG SIZE
{
	awk -v size="$2" '$1 == size { print $2 }' "$1"
}

bandwidth() # SIZE ITERATIONS OPTIONS...
{
	local size=$1 n=$2

	shift 2
	mark
	run_pair "bw $size $*" raw_ethernet_bw mlx5_0 mlx5_1 -s "$size" -n "$n" -r 2048 "$@"
	equal "bw $size $*: client's iterations" "$(iterations "$client_log" "$size")" "$n"
	equal "bw $size $*: server's iterations" "$(iterations "$server_log" "$size")" "$n"
	equal "bw $size $*: client's port" "$(since eth0)" "sent $n queued 0"
	equal "bw $size $*: server's port" "$(since eth1)" "sent 0 queued $n"
}

latency() # SIZE ITERATIONS
{
	mark
	run_pair "lat $1" raw_ethernet_lat mlx5_0 mlx5_1 -s "$1" -n "$2" -r 2048
	equal "lat $1: client's iterations" "$(iterations "$client_log" "$1")" "$2"
	equal "lat $1: client's port" "$(since eth0)" "sent $2 queued $2"
	equal "lat $1: server's port" "$(since eth1)" "sent $2 queued $2"
}

# Client and server spin: the device, a third on two cores, must not wait for its turn.
model_start --poll fifo --port eth0=pair:eth1 --port eth1=pair:eth0 --port eth2=loop
bandwidth 64 2000
bandwidth 1500 1000
bandwidth 256 1000 -J 198.18.0.2 -j 198.18.0.1 -K 2000 -k 1000
bandwidth 64 2000 -I 64
latency 64 1000

mark
run_pair 'bw on one device' raw_ethernet_bw mlx5_2 mlx5_2 -s 128 -n 1000 -r 2048
equal 'bw on one device: the port' "$(since eth2)" 'sent 1000 queued 1000'
mark
run_pair 'lat on one device' raw_ethernet_lat mlx5_2 mlx5_2 -s 128 -n 1000 -r 2048
equal 'lat on one device: the port' "$(since eth2)" 'sent 2000 queued 2000'

equal 'objects left' "$(alive clients) $(alive handles) $(alive SQ) $(alive RQ) $(alive FTE)" \
	'0 0 0 0 0'
for port in eth0 eth1 eth2; do
	equal "$port: refused work entries" "$(count_of $port wqe_refusals)" 0
	equal "$port: ignored doorbells" "$(count_of $port bad_doorbells)" 0
done
# The bandwidth client forgets its receive CQ, so that libmlx5, at the end, frees a doorbell
# page that is in use. Nothing else is refused.
refused=$(($(count_of eth0 cmd_refusals) + $(count_of eth1 cmd_refusals) + $(
	count_of eth2 cmd_refusals)))
equal 'refused commands' $refused "$(grep -c 'DEALLOC_UAR .* is in use' "$cx_log")"
equal 'refused commands, one a bandwidth run' $refused 5
model_stop
finish
