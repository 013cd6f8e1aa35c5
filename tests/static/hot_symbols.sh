#!/bin/bash
# tests/static/hot_symbols.sh BUILD... - what the packet loop calls that is not in its own object
#
# The loop does not log, allocate, lock or call the system. A function it may call is a line
# here, with the reason; anything else that `nm -u` shows is a failure.
. "$(dirname "$0")/lib.sh"
bad=0

allowed='
fwd_idle             nothing came
m5_rx_burst          once a burst
m5_rx_burst_stamped  or this
fwd_odd              once a burst: those of its packets that are not plain
fwd_shut             once a burst that cannot leave
fwd_latency_start    one burst in many
fwd_latency_end
fwd_publish          counters, when nothing came any more
fwd_publish_busy     or once in some hundred bursts
memcpy               what the compiler makes of a struct
memmove              minis of a session that is larger than the burst
memset               padding of a frame that was cut; what the compiler makes of a struct
urcu_qsbr_gp         end of a turn: the reader says so, ...
urcu_qsbr_reader
compat_futex_async   ... and wakes the control thread if that waits for it: the only system
syscall              call there is, at most one for each table that is replaced
__errno_location
'
# Not code: added by linkers and compilers.
allowed+='
_GLOBAL_OFFSET_TABLE_
__tls_get_addr
__stack_chk_fail
'

# The build of the loop for workers that have a trace, and no other.
traced='
fwd_odd_traced       fwd_odd(), built like it
fwd_trace_burst      frames are copied, ...
fwd_trace_route      ... decisions noted, ...
fwd_trace_leg
fwd_trace_sent
fwd_trace_dropped
fwd_trace_end        ... and pushed to the control thread
'

[ $# -gt 0 ] || { echo 'use: hot_symbols.sh BUILD...'; exit 1; }
for build in "$@"; do
	for object in "$build"/lib/CMakeFiles/{router,loop_*}.dir/fwd/loop.c.o \
		"$build/lib/CMakeFiles/m5io.dir/m5/rx_burst.c.o"; do
		if ! undefined=$(nm -u "$object"); then
			bad=1
			continue
		fi
		while read -r _ name; do
			[ -z "$name" ] || grep -q "^$name\( \|$\)" <<<"$allowed" && continue
			[[ $object == */loop_traced.dir/* ]] &&
				grep -q "^$name\( \|$\)" <<<"$traced" && continue
			echo "$object: $name is not allowed here"
			bad=1
		done <<<"$undefined"
	done
done
exit $bad
