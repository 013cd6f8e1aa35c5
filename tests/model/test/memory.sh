#!/bin/bash
# test/memory.sh - memory shared with the device, and every trap of that; see uverbs/shim_mem.c
# timeout: 400
. "$(dirname "$0")/client/client.sh"

# The pool is the machine's, and others take and give as well: what is missing is added, and
# taken back at the end. A round needs 16 pages; the device gives those of one back a moment
# after the next has begun.
pool=/proc/sys/vm/nr_hugepages
added=0

add_pages() # COUNT, may be negative
{
	local now

	now=$(cat $pool)
	echo $((now + $1 > 0 ? now + $1 : 0)) >$pool
	added=$((added + $1))
}

enough_pages()
{
	local free

	free=$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)
	[ "$free" -ge 64 ] || add_pages $((64 - free))
	free=$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)
	[ "$free" -ge 32 ] || die "no huge pages: $free"
}

round() # CLIENT ARGS
{
	enough_pages
	client "$@" --hugepages
}

trap 'add_pages -$added; model_said' EXIT

model_start --port eth0=loop
held_at_start=$(holdings)

for program in t_mem t_fork t_race; do
	echo "# $program"
	round $program
	nothing_left $program
	round $program --nobody
	nothing_left "$program --nobody"
	# The kernel's list of mappings as text, as before Linux 6.11.
	CXMODEL_MAPS=text round $program
	nothing_left "$program, maps as text"
done
model_stop
finish
