#!/bin/bash
# judges/l3fwd.sh - DPDK's l3fwd routes pcap files to the byte
# timeout: 300
#
# 4000 frames into each port, IPv4 and IPv6, UDP and TCP, options, fragments, some not IP;
# what leaves by each port must be what lib/l3fwd_frames.py computed, in order. l3fwd
# relies on the packet types of the completions.
. "$(dirname "$0")/lib/model.sh"

count=4000
lib=$(dirname "$0")/lib
seed=${TEST_SEED:-$RANDOM}
macs=(02:00:00:00:aa:00 02:00:00:00:aa:01)

check 'expected frames computed' \
	python3 "$lib/l3fwd_frames.py" "$TMPDIR" "${macs[@]}" $count "$seed"
finish
