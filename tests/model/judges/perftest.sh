#!/bin/bash
# judges/perftest.sh - raw_ethernet_bw and raw_ethernet_lat, client and server two processes
#
#   on a pair:      client - mlx5_0 - eth0 ===== eth1 - mlx5_1 - server
#   on one device:  client and server - mlx5_0 - eth0 - loop
#
# They use libmlx5's own data path: a raw packet QP, ibv_create_flow, BlueFlame. Receive
# rings are as deep as the run is long, so that no message may be lost.
. "$(dirname "$0")/lib/model.sh"

client_mac=02:00:00:00:00:01
server_mac=02:00:00:00:00:02
server_log=$TMPDIR/server.log
client_log=$TMPDIR/client.log

# Frames that the model saw: what port sent, and what it gave to a receive queue.
frames() # PORT -> "SENT QUEUED"
{
	echo "$(stat_of "$1" tx_frames) $(stat_of "$1" rx_queued)"
}

run_pair() # WHAT PROGRAM CLIENT-DEVICE SERVER-DEVICE OPTIONS...
{
	local what=$1 program=$2 from=$3 to=$4 server rules

	shift 4
	rules=$(objects eth"${to#mlx5_}" FTE)
	on "$program" --server -d "$to" -B $server_mac -E $client_mac "$@" >"$server_log" 2>&1 &
	server=$!
	wait_for 20 "$what: the server's queue and rule" listens eth"${to#mlx5_}" "$rules"
	on timeout 60 "$program" --client -d "$from" -B $client_mac -E $server_mac "$@" \
		>"$client_log" 2>&1
	equal "$what: exit status of the client" $? 0
	wait $server
	equal "$what: exit status of the server" $? 0
}

# "#bytes #iterations" row of the report
iterations() # LOG SIZE
{
	awk -v size="$2" '$1 == size { print $2 }' "$1"
}
finish
