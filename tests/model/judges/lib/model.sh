# shellcheck shell=bash
# judges/lib/model.sh - a device process, programs on it, what it counted; sourced first
#
#   model_start ARGS...         cxmodel with these arguments (--port ...), ready on return
#   model_stop                  orderly; checks its exit status
#   on COMMAND...               runs a program on the device
#   start_on COMMAND...         the same in the background; $on_pid passes SIGTERM on to it
#   ctl COMMAND...              a line to its control socket
#   count_of PORT NAME          a counter of `ctl stats PORT`
#   alive NAME [PORT]           a number of `ctl stat [PORT]`: objects, clients, CQ, FTE ...
#   wire_stat PORT NAME         a number of `ctl wire PORT stat`
#   pci PORT, mac_of PORT       address on the bus; of the netdev
. "$top/tests/lib.sh"

: "${MODEL_BIN:?the folder of cxmodel and cxrun; tests/run sets it}"
cx_dir=$TMPDIR/cx
cx_log=$TMPDIR/cxmodel.log
cx_pid=
on_pid=

# The kernel would speak on its netdevs by itself (MLD, router solicitation): counts of
# frames are exact without. The namespace is the test's own.
for knob in /proc/sys/net/ipv6/conf/{all,default}/disable_ipv6; do
	[ ! -e "$knob" ] || echo 1 >"$knob"
done

ctl()
{
	"$MODEL_BIN/cxmodel" ctl "$cx_dir" "$@"
}

model_answers()
{
	ctl ports >/dev/null 2>&1 || ! kill -0 "$cx_pid" 2>/dev/null
}

model_start()
{
	"$MODEL_BIN/cxmodel" -d "$cx_dir" "$@" >>"$cx_log" 2>&1 &
	cx_pid=$!
	wait_for 60 'cxmodel is ready' model_answers
	if ! kill -0 $cx_pid 2>/dev/null; then
		cat "$cx_log"
		die 'cxmodel did not start'
	fi
}

model_stop()
{
	ctl stop
	wait "$cx_pid"
	equal 'exit status of cxmodel' $? 0
}

on()
{
	"$MODEL_BIN/cxrun" -d "$cx_dir" -- "$@"
}

value_of() # NAME: second word of the line that starts with it
{
	awk -v name="$1" '$1 == name { print $2; exit }'
}

start_on()
{
	"$MODEL_BIN/cxrun" -d "$cx_dir" -- "$@" &
	on_pid=$!
}

count_of()
{
	ctl stats "$1" | value_of "$2"
}

alive()
{
	local name=$1

	shift
	ctl stat "$@" | value_of "$name"
}

wire_stat()
{
	ctl wire "$1" stat | value_of "$2"
}

port_word() # PORT WORD: what follows that word in the port's line
{
	ctl ports | awk -v port="$1" -v word="$2" '$3 == port {
		for (i = 4; i < NF; i++) if ($i == word) print $(i + 1)
	}'
}

pci()
{
	port_word "$1" pci
}

mac_of()
{
	port_word "$1" mac
}

# What the device refused so far, for the log of a failed judge.
model_said()
{
	sed 's/^/  model| /' "$cx_log" | tail -n 40
}
trap model_said EXIT
