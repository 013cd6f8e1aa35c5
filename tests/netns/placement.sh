#!/bin/bash
# netns/placement.sh - which CPU a worker has, why, and what is bad about it
#
# On this machine as it is, then on one made up of files, which the daemon sees in the place of
# this machine's: a core with two hyper-threads, one of them isolated.
# timeout: 120
. "$(dirname "$0")/lib.sh"

daemon=$FWD_BIN/daemon/mlx5fwd
made_up=$TMPDIR/cpu

worker() # N PYTHON-EXPRESSION over its row w
{
	fwdctl -j worker show | python3 -c '
import json, sys
w = json.load(sys.stdin)[int(sys.argv[1])]
p = w["placement"]
print(eval(sys.argv[2]))' "$@"
}

# How many threads may run on that CPU and no other, as the kernel has it.
pinned_threads() # CPU
{
	grep -h Cpus_allowed_list "/proc/$(pgrep -x mlx5fwd)"/task/*/status | cut -f2 | sort |
		grep -cx "$1"
}

start_under() # COMMAND...
{
	: >"$fwd_log"
	device_remember
	"$MODEL_BIN/cxrun" -d "$cx_dir" ${asan:+--preload "$asan"} --netns r -- \
		"$@" "$daemon" -c "$conf" >>"$fwd_log" 2>&1 &
	fwd_pid=$!
	wait_for 30 "under $1: forwards" router_answers
}

# In the daemon's own view of /sys, which it has for its network namespace.
# shellcheck disable=SC2016 # expanded there
on_made_up=(bash -c 'mount --bind "$0" /sys/devices/system/cpu && exec "$@"' "$made_up")

stop()
{
	kill -TERM "$fwd_pid"
	wait "$fwd_pid"
	equal 'exit status' $? 0
}

says() # WHAT REGEX: once in the log
{
	equal "$1: in the log, once" "$(grep -cE "$2" "$fwd_log")" 1
}

refused() # WHAT REGEX
{
	"$MODEL_BIN/cxrun" -d "$cx_dir" ${asan:+--preload "$asan"} --netns r -- \
		"${on_made_up[@]}" "$daemon" -c "$conf" >"$TMPDIR/said" 2>&1
	equal "$1: status" $? 1
	check "$1: the reason" grep -qE "error: cpus: $2" "$TMPDIR/said"
}

hosts_up
online=$(nproc --all)

# ---- this machine: auto, with a worker more than there are CPUs ----
config "workers = $((online + 1))"
router_start
equal 'a row has always the same keys, of the same types' "$(fwdctl -j worker show | python3 -c '
import json, sys
types = lambda r: tuple((k, types(v) if isinstance(v, dict) else type(v).__name__)
	for k, v in r.items())
print(len({types(r) for r in json.load(sys.stdin)}))')" 1
equal 'the first worker is not on CPU 0, if there is another' "$(worker 0 'w["cpu"] != 0')" \
	"$([ "$online" -gt 1 ] && echo True || echo False)"
equal 'the last one before the odd one is' "$(worker $((online - 1)) 'w["cpu"]')" 0
equal 'the odd one has none' "$(worker "$online" 'w["cpu"], p["node"], p["isolated"]')" \
	'(-1, -1, False)'
equal 'why' "$(worker "$online" 'p["why"]')" "$online CPUs for $((online + 1)) workers"
for ((i = 0; i < online; i++)); do
	cpu=$(worker $i 'w["cpu"]')
	at_least "threads on CPU $cpu alone" "$(pinned_threads "$cpu")" 1
	check "worker $i: its cache has its CPU" [ "$(worker $i 'p["complex"] != ""')" = True ]
done
says 'the odd one' "warning: worker $online: not pinned: $online CPUs for $((online + 1)) workers"
check 'worker show -d: placement' grep -qE \
	'^    placement: node -?[0-9]+ complex [0-9,-]+ siblings' <(fwdctl worker show -d)
check 'worker show -d: warning' grep -qE '^    warning: not pinned: ' <(fwdctl worker show -d)
equal 'without -d not a word of it' "$(fwdctl worker show | grep -cE 'placement|warning')" 0
node=$(worker 0 'p["node"]')
[ "$node" -lt 0 ] || equal 'packet memory is on the node of the worker' \
	"$(worker 0 'p["memory_node"]')" "$node"
stop

# ---- a start affinity narrows auto, and not a wish ----
if [ "$online" -gt 1 ]; then
	config 'workers = 2'
	start_under taskset -c 0
	equal 'taskset: CPUs' "$(worker 0 'w["cpu"]') $(worker 1 'w["cpu"]')" '0 -1'
	stop
	config 'cpus = 1'
	start_under taskset -c 0
	equal 'taskset and a wish' "$(worker 0 'w["cpu"], p["why"]')" "(1, 'named by cpus =')"
	at_least 'threads on CPU 1 alone' "$(pinned_threads 1)" 1
	stop
fi

# ---- a machine made up ----
for cpu in 0 1; do
	mkdir -p "$made_up/cpu$cpu"/{topology,cpufreq,cache/index3}
	echo 0-1 >"$made_up/cpu$cpu/topology/thread_siblings_list"
	echo 0-1 >"$made_up/cpu$cpu/cache/index3/shared_cpu_list"
	echo 3 >"$made_up/cpu$cpu/cache/index3/level"
	echo powersave >"$made_up/cpu$cpu/cpufreq/scaling_governor"
done
echo 0-1 >"$made_up/online"
echo 0-2 >"$made_up/present"
echo 1 >"$made_up/isolated"
if [ "$online" -gt 1 ]; then
	config 'workers = 1'
	start_under "${on_made_up[@]}"
	equal 'an isolated CPU' "$(worker 0 'w["cpu"], p["isolated"], p["siblings"]')" \
		"(1, True, '0')"
	equal 'why' "$(worker 0 'p["why"]')" 'isolated, the first in its cache'
	equal 'what is bad about it' "$(worker 0 'len(w["warnings"])')" 2
	says 'the sibling' 'worker 0: isolated, but its hyper-thread sibling CPU 0 is not$'
	says 'the governor' 'worker 0: governor powersave: .*; set performance$'
	echo performance >"$made_up/cpu1/cpufreq/scaling_governor"
	equal 'a governor that was set since' "$(worker 0 'p["governor"], len(w["warnings"])')" \
		"('performance', 1)"
	stop
	config $'workers = 2\ncpus = 0-1'
	start_under "${on_made_up[@]}"
	says 'the governor of one' 'worker 0: governor powersave'
	says 'the core' 'worker 0: shares its core with worker 1$'
	says 'CPU 0' 'worker 0: on CPU 0, where the kernel has work that it cannot move$'
	stop
	echo powersave >"$made_up/cpu1/cpufreq/scaling_governor"
	start_under "${on_made_up[@]}"
	says 'of both workers in one line' 'worker 0-1: governor powersave'
	stop
	config 'cpus = 0'
	start_under "${on_made_up[@]}"
	says 'an isolated CPU without a worker' \
		'worker 0: not isolated, while isolated CPUs are free: 1$'
	stop
fi
config 'cpus = 2'
refused 'offline' 'CPU 2 is offline$'
config 'cpus = 3'
refused 'not there' 'there is no CPU 3, but 0-2$'
echo 0-2 >"$made_up/online"
config 'cpus = 2'
[ "$online" -gt 2 ] || refused 'not ours' \
	"CPU 2 is outside the cpuset of this process, [0-9,-]* \(AllowedCPUs= of its unit, or "
# Nothing at all in there: every CPU a core, and no harm.
rm -r "$made_up"
mkdir "$made_up"
config
start_under "${on_made_up[@]}"
equal 'without files' "$(worker 0 'p["siblings"], p["governor"]')" "('', '')"
stop
model_stop
finish
