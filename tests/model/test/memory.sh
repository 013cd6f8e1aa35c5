#!/bin/bash
# test/memory.sh - memory shared with the device, and every trap of that; see uverbs/shim_mem.c
# timeout: 400
. "$(dirname "$0")/client/client.sh"

# The pool is the machine's: 64 pages more while this runs. A round needs 16; the device gives the
# pages of one back a moment after the next has begun.
pool=/proc/sys/vm/nr_hugepages
echo $(($(cat $pool) + 64)) >$pool
trap 'echo $(($(cat $pool) - 64)) >$pool; model_said' EXIT
at_least 'free huge pages' "$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)" 32

model_start --port eth0=loop
held_at_start=$(holdings)

for program in t_mem t_fork t_race; do
	echo "# $program"
	client $program --hugepages
	nothing_left $program
	client $program --nobody --hugepages
	nothing_left "$program --nobody"
	# The kernel's list of mappings as text, as before Linux 6.11.
	CXMODEL_MAPS=text client $program --hugepages
	nothing_left "$program, maps as text"
done
model_stop
finish
