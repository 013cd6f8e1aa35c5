#!/bin/bash
# tests/isolate.sh - first process of a test's own namespaces, see tests/run
#
# Makes the file systems show the new namespaces, then runs the test. Being process 1,
# it has to take SIGTERM (tests/run's timeout) itself; whatever is left dies with it.
set -eu

mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run # names of `ip netns` and what DPDK leaves there are the test's own
mount -t tmpfs tmpfs /mnt
export TMPDIR=/mnt # short, for the paths of Unix sockets, and gone with the test
ip link set lo up

trap 'exit 143' TERM INT
"$@" &
wait $!
