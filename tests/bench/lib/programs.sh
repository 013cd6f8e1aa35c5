# shellcheck shell=bash
# bench/lib/programs.sh - what the burst drain measures, at its best settings; after drain.sh
#
#   testpmd MODE DEVARGS                 dpdk-testpmd
#   l3fwd lpm|fib RULES4 RULES6 DEVARGS  l3fwd; RULES: names of tables
#   mlx5fwd WORD...                      the daemon with routes of tables, once they are in.
#                                        WORD: name of a table, daemon.KEY=VALUE or port.KEY=VALUE
#   mlx5pkt ARGS...                      our tool
#
# Each stays until its process is ended. Ours: FWD_BIN is the build folder, $under the words
# of a program that runs it, $idle what a worker does when nothing comes.
# shellcheck disable=SC2154 # top, BUILD_DIR by tests/bench/run; cx_dir, eal by drain.sh
tables=$BUILD_DIR/tables
l3fwd_big=$BUILD_DIR/l3fwd-big/l3fwd/build/l3fwd
: "${FWD_BIN:=$BUILD_DIR/gcc}"
under=()

# What drain.md found best: the frame inside the send entry, so that its buffer is free at once.
inline=,txqs_min_inline=1,txq_inline_mpw=128

# How, unless a figure says otherwise: depth of rings, that of sending where it differs, ports and
# queues, huge pages.
ring=1024
tx_ring=
ports=1
queues=1
huge=1

each_port() # PRINTF-FORMAT of the port's number, as often as it stands there
{
	local i

	# shellcheck disable=SC2059 # the format is the argument
	for ((i = 0; i < ports; i++)); do printf "${1//%d/$i}\n"; done
}

dpdk_eal() # DEVARGS: into $args
{
	local port

	args=("${eal[@]}")
	[ $huge = 1 ] || args=(--no-huge -m 1024 --no-telemetry --force-max-simd-bitwidth=512)
	for port in $(each_port eth%d); do args+=(-a "$(pci "$port")$1"); done
}

testpmd()
{
	local args

	dpdk_eal "${2:-}"
	on dpdk-testpmd -l 0,1 "${args[@]}" -- --forward-mode="$1" --nb-cores=1 \
		--rxq=$queues --txq=$queues --rxd=$ring --txd="${tx_ring:-$ring}" --burst=64 \
		--mbcache=512 --total-num-mbufs=$((ports * queues * 2 * ring + 1024)) --no-mlockall
}

l3fwd()
{
	local args config mask

	dpdk_eal "${4:-}"
	config=$(each_port '(%d,0,1)' | paste -sd ,)
	mask=$(printf '%x' $(((1 << ports) - 1)))
	on "$l3fwd_big" -l 1 "${args[@]}" -- -p "$mask" -P --lookup="$1" --config="$config" \
		--rx-queue-size=$ring --tx-queue-size="${tx_ring:-$ring}" \
		--rule_ipv4="$tables/$2.l3fwd" --rule_ipv6="$tables/$3.l3fwd"
}

fwdctl() { "$FWD_BIN/control/mlx5fwdctl" -S "$TMPDIR/control.sock" -T 60 "$@"; }

keys_of() # SECTION WORD...: those of the section, as its lines
{
	local section=$1 word

	for word in "${@:2}"; do
		[[ $word != "$section".* ]] || echo "${word#*.}"
	done
}

mlx5fwd_conf() # WORD...
{
	local keys port

	printf '[daemon]\ncontrol_socket = %s\ncontrol_group =\n' "$TMPDIR/control.sock"
	printf 'workers = 1\ncpus = %s\nidle = %s\n' "$program_core" "${idle:-spin}"
	keys_of daemon "$@"
	keys=$(keys_of port "$@")
	for port in $(each_port eth%d); do
		printf '[port %s]\nrx_packets = %s\ntx_packets = %s\n%s\n' \
			"$port" "$ring" "$ring" "$keys"
	done
}

mlx5fwd()
{
	local table tables_wanted=() port

	rm -f "$TMPDIR/routed"
	mlx5fwd_conf "$@" >"$TMPDIR/mlx5fwd.conf"
	for table in "$@"; do [[ $table = *=* ]] || tables_wanted+=("$table"); done
	for port in $(each_port eth%d); do ip link set "$port" up; done
	on "${under[@]}" "$FWD_BIN/daemon/mlx5fwd" -c "$TMPDIR/mlx5fwd.conf" &
	wait_for 30 'mlx5fwd forwards' fwd_forwards $!
	for table in "${tables_wanted[@]}"; do
		fwdctl -b "$tables/$table.batch" || { kill $!; return 1; }
	done
	{ fwdctl -d port show; fwdctl -d worker show; } >"$TMPDIR/mlx5fwd.chose"
	touch "$TMPDIR/routed"
	wait $!
}

fwd_forwards() # PID
{
	[ "$(fwdctl status 2>/dev/null | value_of state)" = forwarding ] ||
		! kill -0 "$1" 2>/dev/null
}

ready_mlx5fwd() { [ -e "$TMPDIR/routed" ]; }

mlx5pkt()
{
	ip link set eth0 up
	on "${under[@]}" "$FWD_BIN/control/mlx5pkt" "$1" --cpus "$program_core" --interval 0 \
		"${@:2}" eth0
}

# Its rules come last.
ready_mlx5pkt() { [ "$(alive FTE eth0)" -ge 6 ]; }
