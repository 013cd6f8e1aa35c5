#!/bin/bash
# datapath/pkt.sh - mlx5pkt: what it says of a device, counts and sends back, and refuses
# timeout: 300
#
#   gen --- eth0 --- mlx5pkt        every frame is made and checked by the generator
. "$top/tests/model/judges/lib/model.sh"

: "${FWD_BIN:?the build folder with mlx5pkt; tests/run sets it}"
pkt_bin=$FWD_BIN/control/mlx5pkt
out=$TMPDIR/pkt.out
mac=02:00:00:00:cc:00
preload=()
asan=$(ldd "$pkt_bin" | awk '/libasan/ { print $3 }')
[ -z "$asan" ] || preload=(--preload "$asan")

pkt() { "$MODEL_BIN/cxrun" "${preload[@]}" -d "$cx_dir" -- "$pkt_bin" "$@"; }

# A number of the last row of a port.
told() # NAME [PORT]
{
	awk -v port="${2:-eth0}" -v name="$1" '$1 == "port" && $2 == port {
		for (i = 3; i < NF; i += 2) if ($i == name) v = $(i + 1) } END { print v }' "$out"
}

serving() { [ "$(alive TIR eth0)" -ge 6 ] && [ "$(alive FTE eth0)" -ge 1 ]; }

pkt_start() # ARGS
{
	"$MODEL_BIN/cxrun" "${preload[@]}" -d "$cx_dir" -- "$pkt_bin" "$@" >"$out" 2>&1 &
	pkt_pid=$!
	wait_for 30 "mlx5pkt $*: packets come to it" taken "$@"
}

# Rules for transit come last: once they are there a frame for nobody here is taken.
taken()
{
	kill -0 "$pkt_pid" 2>/dev/null || { cat "$out"; die "mlx5pkt $* did not start"; }
	serving
}

pkt_stop() # WHAT [SIGNAL]
{
	kill "-${2:-TERM}" $pkt_pid
	wait $pkt_pid
	equal "$1: exit status" $? 0
}

gen_start() # OPTIONS [COUNT of ports]
{
	local ports=() i

	for ((i = 0; i < ${2:-1}; i++)); do
		ports+=(--port "eth$i=gen:start=ctl,$1,mac=${mac%0}$i")
	done
	model_start "${ports[@]}"
	before=$(alive objects)
}

gone() { [ "$(alive clients)" = 0 ] && [ "$(alive objects)" = "$before" ]; }
gen_end()
{
	wait_for 5 "$1: its objects are gone" gone
	model_stop
}

all_back() { [ "$(wire_stat "$1" returned)" -ge "$2" ]; }
all_sent() { [ "$(wire_stat eth0 running)" = 0 ] && [ "$(wire_stat eth0 sent)" = "$1" ]; }

# ---- reflect: each frame comes back once, its MAC addresses exchanged ----
reflected() # WHAT COUNT GEN-OPTIONS ARGS...
{
	local what=$1 count=$2 options=$3 port ports=(eth0)

	shift 3
	case " $* " in *' eth1 '*) ports+=(eth1) ;; esac
	gen_start "window=24,count=$count,check=macswap,family=46,$options" ${#ports[@]}
	pkt_start reflect --interval 0 "$@"
	for port in "${ports[@]}"; do ctl wire "$port" start; done
	for port in "${ports[@]}"; do
		wait_for 60 "$what: all are back at $port" all_back "$port" "$count"
	done
	pkt_stop "$what"
	for port in "${ports[@]}"; do
		equal "$what, $port: changed, twice, without a buffer" \
			"$(for n in bad duplicate rx_no_buffer; do wire_stat "$port" $n; done |
				xargs)" '0 0 0'
		equal "$what, $port: received, sent, found a full ring, no buffer" \
			"$(for n in received sent ring_full out_of_buffer; do
				told $n "$port"
			done | xargs)" "$count $count 0 0"
	done
	gen_end "$what"
}

reflected 'one queue' 20000 len=70 eth0
reflected 'sizes' 20000 len=70,len_max=1514 eth0
reflected 'four queues' 20000 len=70,flows=64 --queues 4 eth0
reflected 'a CPU named' 10000 len=70 --cpus 0 eth0
for how in off basic enhanced; do
	reflected "compression $how" 20000 len=70 --compression $how eth0
done
reflected 'cyclic' 20000 len=70 --striding no eth0
reflected 'copied' 20000 len=70,len_max=300 --send copied --rings 4 eth0
reflected 'mixed' 20000 len=70,len_max=1514 --send mixed eth0
reflected 'two ports, small rings' 10000 len=70 --packets 128 eth0 eth1

# ---- drop: all that came is counted; what is for this host stays with it ----
gen_start count=30000,window=0,rate=100000,family=4,check=none,len=100
pkt_start drop --queues 2 --interval 1 eth0
ctl wire eth0 start
wait_for 30 'drop: all are sent' all_sent 30000
wait_for 5 'drop: rates' grep -q received_pps "$out"
pkt_stop drop INT
equal 'drop: received' "$(told received)" "$(wire_stat eth0 rx_queued)"
equal 'drop: bytes' "$(told received_bytes)" $(($(wire_stat eth0 rx_queued) * 100))
equal 'drop: taken, no buffer' "$(($(told received) + $(told out_of_buffer)))" 30000
at_least 'drop: rows of rates' "$(grep -c received_pps "$out")" 1
gen_end drop

printf '198.51.100.%d\n' 1 2 >"$TMPDIR/dst"
gen_start "count=1000,window=0,rate=50000,family=4,check=none,dst=$TMPDIR/dst"
ip addr add 198.51.100.1/24 dev eth0
pkt_start drop --interval 0 eth0
ctl wire eth0 start
wait_for 10 'half for this host: all are sent' all_sent 1000
pkt_stop 'half for this host'
equal 'half for this host: received' "$(told received)" 500
equal 'half for this host: the kernel had' "$(wire_stat eth0 rx_kernel)" 500

pkt drop --seconds 1 --interval 0 -j eth0 >"$out"
equal 'it ends by itself' $? 0
equal 'its sums as JSON' \
	"$(python3 -c 'import json, sys; r = json.load(sys.stdin)
print(len(r), r[0]["port"], r[0]["received"])' <"$out")" '1 eth0 0'

# ---- info ----
pkt info eth0 >"$out"
equal 'info: device' "$(value_of device <"$out")" mlx5_0
equal 'info: pci' "$(value_of pci <"$out")" "$(pci eth0)"
equal 'info: address, MTU' "$(value_of address <"$out") $(value_of mtu <"$out")" "$mac 1500"
equal 'info: what it can do' "$(value_of striding_receive <"$out")" yes
equal 'info: as JSON' "$(pkt info -j eth0 | python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["address"])')" $mac
wait_for 5 'info: its objects are gone' gone

# ---- refused ----
refused() # SENTENCE STATUS ARGS...
{
	local said status

	said=$(pkt "${@:3}" 2>&1 >/dev/null)
	status=$?
	equal "refused: ${*:3}" "$status: ${said#mlx5pkt: }" "$2: $1"
}
help='; see mlx5pkt --help'
refused "blow: there is no such command$help" 1 blow eth0
refused "eth0: named twice$help" 1 drop eth0 eth0
refused '--queues 0: must be 1 to 64' 1 drop --queues 0 eth0
refused '--packets 100: must be a power of two, 64 to 32768' 1 drop --packets 100 eth0
refused '--send all: must be auto|pointer|copied|mixed' 1 reflect --send all eth0
refused "--send: its value is missing$help" 1 reflect eth0 --send
refused "2-1: --cpus: must be a list of CPUs such as 2-5,8, each once$help" 1 \
	drop --cpus 2-1 eth0
refused "--cpus: fewer CPUs than queues$help" 1 drop --queues 2 --cpus 0 eth0
refused "turbo: unknown option$help" 1 drop --turbo 1 eth0
refused 'nosuch0: there is no such network interface here' 2 drop nosuch0
refused "there is no CPU 1023, but $(cat /sys/devices/system/cpu/present)" 2 \
	drop --cpus 1023 eth0
check 'without words: usage' [ "$(pkt 2>&1 | head -c 6)" = Usage: ]
check 'help names every command' \
	[ "$(pkt --help | grep -cE '^  (info|drop|reflect) ')" = 3 ]
gen_end refused

# ---- a queue that fails is said, and ends it ----
gen_start count=1000,window=16,family=4,check=macswap
pkt_start reflect --interval 0 eth0
queue=$(ctl dump | value_of RQ)
ctl fault eth0 cqe type=rq "num=$queue" syndrome=0x04
wait $pkt_pid
equal 'a queue that fails: exit status' $? 2
equal 'a queue that fails: what is said' "$(tail -n 1 "$out")" \
	'mlx5pkt: eth0: receive queue 0: error completion (syndrome 0x04: local protection error)'
gen_end 'a queue that fails'
finish
