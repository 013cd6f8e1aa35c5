#!/bin/bash
# datapath/modes.sh - the same frames through the router in every mode, the same bytes come out
# timeout: 600
# alone
#
#   in0.pcap --- eth0                eth0 --- out0.pcap
#   in1.pcap --- eth1    mlx5fwd     eth1 --- out1.pcap       four ports, each to each
#   ...                              ...
#
# What must come out of each port is computed by lib/routed.py, which knows no mode: every frame
# once, each byte, those of a flow in their order (but not where a worker sends by several rings of
# the hardware, and says so: they may overtake each other). Each port's counters have known values.
#
#   modes.sh                  every two settings meet in a mode
#   modes.sh -N               every N settings do (modes_all.sh: 4)
#   modes.sh NAME=VALUE...    this mode: all names of a line that failed
. "$top/tests/netns/lib.sh"

ports='eth0 eth1 eth2 eth3'
seed=${TEST_SEED:-$RANDOM}
settings='workers=1,2,3,4
burst=4,64,256
receive_bytes=auto,65536,67108864
compression=off,basic,enhanced
prefetch=0,1,16
striding=yes,no
send=pointer,copied,mixed,auto
send_rings=1,4
doorbell=nc,wc
pace=fast,slow
ttl=card,router
card=new,old'
declare -A mode=()
judged= kept=

# ---- the router ----

# Frames never find a send ring full: it has more room than all receive queues. Those that find no
# receive buffer come again. Punts are delivered to a kernel that throws them away.
configure()
{
	local port key

	{
		printf '[daemon]\ncontrol_socket = %s\n' "$socket"
		printf '%s\n' 'control_group =' 'log_level = debug' 'punt_ring = 16384' \
			"workers = ${mode[workers]}" "burst = ${mode[burst]}" 'latency_sample = 1' \
			"receive_bytes = ${mode[receive_bytes]}"
		for port in $ports; do
			printf '[port %s]\nrx_packets = 256\ntx_packets = 8192\n' "$port"
			for key in compression prefetch striding send send_rings doorbell; do
				printf '%s = %s\n' $key "${mode[$key]}"
			done
		done
	} >"$conf"
}

device_start()
{
	local i mtu=9000 args=() options=

	[ "${mode[pace]}" = fast ] || options=,rate=20000
	[ "${mode[ttl]}" = card ] ||
		options+=,cap=ft.rx_outer_ipv4_ttl=0,cap=ft.rx_outer_ipv6_hop_limit=0
	# One packet a work entry, its header in it.
	[ "${mode[card]}" = new ] ||
		options+=,cap=eth.enhanced_multi_pkt_send_wqe=0,cap=eth.wqe_inline_mode=0
	for i in 0 1 2 3; do
		[ $i != 3 ] || mtu=1500
		args+=(--port "eth$i=pcap:$TMPDIR/in$i.pcap,$TMPDIR/out$i.pcap,start=ctl,retry")
		args[-1]+="$options,netns=r,mac=02:00:00:00:cc:0$i,mtu=$mtu"
	done
	model_start "${args[@]}"
}

routes()
{
	local i

	for i in 0 1 2 3; do
		printf 'route add %s 02:00:00:00:dd:0%s dev eth%s\n' 10.1$i.0.0/16 $i $i \
			2001:db8:1$i::/48 $i $i
	done
	printf 'route add %s blackhole\n' 198.51.100.0/24 2001:dba::/32
}

# ---- what it counted ----

# "PORT NAME VALUE" of every counter.
counters()
{
	fwdctl -s -s port show | awk '/^eth/ { port = substr($1, 1, 4) }
		{ for (i = 1; i < NF; i++) if ($(i + 1) ~ /^[0-9]+$/) print port, $i, $(i + 1) }'
}

# VALUE VALUE ..., in one line.
counts() # PORT NAME...
{
	local port=$1 name

	shift
	for name in "$@"; do count "$port" "$name"; done | xargs
}

count() { awk -v port="$1" -v name="$2" '$1 == port && $2 == name { print $3 }' "$TMPDIR/count"; }

replayed()
{
	local port

	for port in $ports; do
		[ "$(wire_stat "$port" over)" = 1 ] || return 1
	done
}

# All that the wires gave came out, or went elsewhere; nothing is under way.
settled()
{
	local port

	counters >"$TMPDIR/count"
	for port in $ports; do
		[ "$(count "$port" received)" = "$(count_of "$port" rx_queued)" ] &&
			[ "$(count "$port" egress)" = "$(count_of "$port" tx_frames)" ] || return 1
	done
}

# As lib/routed.py has computed: what reached the queues, and by which exit it left.
counts_are() # WHAT PORT QUEUED FORWARDED DROPPED PUNTED LATE-QUEUED LATE-PUNTED
{
	local queued=$3 punted=$6

	[ "${mode[ttl]}" = card ] || queued=$7 punted=$8
	equal "$1: $2 received, forwarded, dropped, punted" \
		"$(counts "$2" received forwarded dropped punted)" \
		"$queued $4 $5 $punted"
	equal "$1: $2 errors" \
		"$(counts "$2" receive_errors transmit_errors recoveries)" '0 0 0'
	equal "$1: $2 work entries refused" "$(count_of "$2" wqe_refusals)" 0
}

compressed()
{
	local port sum=0

	for port in $ports; do
		sum=$((sum + $(count_of "$port" mini_cqes)))
	done
	echo $sum
}

# What `port show -d` says is what was asked for, so that each mode is one.
chosen_is_asked_for() # WHAT
{
	local is queue=striding page=non-cached send=${mode[send]}

	is=$(fwdctl -d port show eth0)
	[ "${mode[striding]}" = yes ] || queue=cyclic
	[ "${mode[doorbell]}" = nc ] || page=write-combining
	[ "${mode[card]}" = new ] || send=single
	[ "$send" != auto ] || send=$(pair mode <<<"$is")
	equal "$1: chosen" \
		"$(for name in queue compression prefetch mode doorbell; do
			pair $name <<<"$is"; done | xargs)" \
		"$queue ${mode[compression]} ${mode[prefetch]} $send $page"
	kept=$(pair order <<<"$is")
}

# A byte of the last frame, and a frame that is not there.
judge_is_judged()
{
	local file=$TMPDIR/out0.pcap bytes

	judged=yes
	bytes=$(stat -c %s "$file")
	cp "$file" "$file.good"
	printf '\x99' | dd of="$file" bs=1 seek=$((bytes - 1)) conv=notrunc status=none
	check 'a wrong byte is seen' eval "! python3 $lib/routed.py check $TMPDIR >/dev/null"
	truncate -s 24 "$file"
	check 'frames that are missing are seen' \
		eval "! python3 $lib/routed.py check $TMPDIR >/dev/null"
	mv "$file.good" "$file"
}

# ---- one mode ----

# Where frames got stuck.
ports_said()
{
	local port

	kill -0 "$cx_pid" 2>/dev/null && for port in $ports; do
		printf '%s\n%s\n' "$port" "$(ctl wire "$port" stat; ctl stats "$port")" |
			grep -v ' 0$' | xargs
	done
	[ -z "$fwd_pid" ] || timeout 10 "$FWD_BIN/control/mlx5fwdctl" -S "$socket" -s -s port show
}
trap 'ports_said; router_said' EXIT

run_mode() # NAME=VALUE...
{
	local name=$* word port line order=

	for word in "$@"; do mode[${word%%=*}]=${word#*=}; done
	device_start
	configure
	router_start
	chosen_is_asked_for "$name"
	check "$name: routes" fwdctl -b "$TMPDIR/routes"
	for port in $ports; do ctl wire "$port" start; done
	wait_for 60 "$name: all frames came in" replayed
	wait_for 20 "$name: all frames are done with" settled
	for port in $ports; do ctl wire "$port" flush; done
	[ "${mode[send_rings]}" = 1 ] || [ "$kept" = kept ] || order=any-order
	# shellcheck disable=SC2086 # a word or none
	check "$name: frames (TEST_SEED=$seed)" python3 "$lib/routed.py" check "$TMPDIR" $order
	while read -r line; do
		# shellcheck disable=SC2086 # words
		counts_are "$name" eth${line%% *} ${line#* }
	done <"$TMPDIR/counts"
	[ -n "$judged" ] || judge_is_judged
	if [ "${mode[compression]}" = off ]; then
		equal "$name: compressed completions" "$(compressed)" 0
	elif [ "${mode[pace]}" = fast ]; then
		at_least "$name: compressed completions" "$(compressed)" 100
	fi
	router_stop
	model_stop
}

lib=$(dirname "$0")/lib
ip netns add r
ip -n r link set lo up
in_r sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.default.disable_ipv6=1
routes >"$TMPDIR/routes"
python3 "$lib/routed.py" make "$TMPDIR" "$seed" || die 'no frames'
if [[ ${1:-} == *=* ]]; then
	lines=("$*")
else
	# shellcheck disable=SC2086 # words
	mapfile -t lines < <(python3 "$lib/cover.py" ${1:-} $settings)
fi
for line in "${lines[@]}"; do
	# shellcheck disable=SC2086 # words
	run_mode $line
done
finish
