#!/bin/bash
# test/memory.sh - memory shared with the device, and every trap of that; see uverbs/shim_mem.c
# timeout: 400
. "$(dirname "$0")/client/client.sh"

# 16 more huge pages than there are, if the machine has the memory in one piece.
pool=/proc/sys/vm/nr_hugepages
echo $(($(cat $pool) + 16)) >$pool
trap 'echo $(($(cat $pool) - 16)) >$pool; model_said' EXIT
huge=
if [ "$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)" -ge 14 ]; then
	huge=--hugepages
fi

model_start --port eth0=loop
held_at_start=$(holdings)

for program in t_mem t_fork t_race; do
	echo "# $program"
	client $program $huge
	nothing_left $program
	client $program --nobody $huge
	nothing_left "$program --nobody"
	# The kernel's list of mappings as text, as before Linux 6.11.
	CXMODEL_MAPS=text client $program $huge
	nothing_left "$program, maps as text"
done
model_stop
finish
