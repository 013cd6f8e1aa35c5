#!/bin/bash
# operations/service.sh - the unit files, judged by systemd's own tools and run by systemd itself
#
# systemd is process 1 of namespaces of its own, below those of this test; /etc and /usr/local are
# copies. What the modelled card needs is added to the unit: two variables, as cxrun sets them.
# plain
# timeout: 150
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")
units=/usr/local/lib/systemd/system

# ---- install ----
mkdir "$TMPDIR/etc"
cp -a /etc/. "$TMPDIR/etc"
mount --bind "$TMPDIR/etc" /etc
mount -t tmpfs tmpfs /usr/local
cmake --install "$FWD_BIN" --prefix /usr/local >/dev/null
check 'users' systemd-sysusers /usr/local/lib/sysusers.d/mlx5fwd.conf
check 'there is a user' id mlx5fwd

# ---- systemd's own tools ----
check 'the units are sound' systemd-analyze verify --man=no $units/mlx5fwd*
score=$(systemd-analyze security --offline=true --no-pager $units/mlx5fwd.service |
	sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
report "systemd-analyze security: $score"
check "its exposure is $score" systemd-analyze security --offline=true --threshold=20 --no-pager \
	$units/mlx5fwd.service >/dev/null
while read -r key _; do
	check "sysctl $key" [ -e "/proc/sys/${key//.//}" ]
done < <(grep -v '^#' "$top/systemd/mlx5fwd.sysctl" | grep '=')

# ---- run by systemd ----
#
# It must do nothing to this machine: it sees a root that cannot be written to, with a /tmp and /var
# of its own, and knows no units but these (tmpfiles.d alone would empty /tmp). Checked below.
hosts_up
own=$TMPDIR/units
mkdir -p "$own" /etc/systemd/journald.conf.d
cp /usr/lib/systemd/system/systemd-journald{.service,.socket,-dev-log.socket} $units/mlx5fwd* "$own"
for target in sysinit basic sockets shutdown network network-pre rdma-hw local-fs; do
	printf '[Unit]\nDefaultDependencies=no\n' >"$own/$target.target"
done
printf '%s\n' '[Unit]' DefaultDependencies=no Wants=systemd-journald.service >"$own/test.target"
printf '%s\n' '[Journal]' ReadKMsg=no Storage=volatile >/etc/systemd/journald.conf.d/test.conf
printf '%s\n' '[daemon]' 'log_level = info' 'keep_routes = yes' 'keep_counters = yes' \
	'[port eth0]' 'rx_packets = 256' '[port eth1]' \
	'rx_packets = 256' >/usr/local/etc/mlx5fwd/mlx5fwd.conf
mkdir "$own/mlx5fwd.service.d"
# The build may lie where systemd sees a folder of its own.
cp "$MODEL_BIN/libcxshim.so" /usr/local/lib
printf '%s\n' '[Service]' "Environment=LD_PRELOAD=/usr/local/lib/libcxshim.so CXMODEL=$cx_dir" \
	>"$own/mlx5fwd.service.d/model.conf"
chmod -R a+rwX "$cx_dir"

cat >"$TMPDIR/boot" <<'EOT'
set -e
for folder in /tmp /var /etc/systemd/system /usr/local/lib/systemd \
	/usr/lib/systemd/system-generators; do
	mount -t tmpfs tmpfs $folder
done
mount --bind "$1" /usr/lib/systemd/system
mount -t cgroup2 none /sys/fs/cgroup
mount -o remount,bind,ro /
exec env container=test /usr/lib/systemd/systemd --system --unit=test.target --show-status=0
EOT
# Its root of control groups is one below ours, which goes with it.
mkdir "$TMPDIR/cgroup"
mount -t cgroup2 none "$TMPDIR/cgroup"
group=$TMPDIR/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/mlx5fwd-test-$BASHPID
mkdir "$group"
bash -c 'echo $$ >"$1/cgroup.procs"
	exec ip netns exec r unshare --pid --mount --cgroup --fork --kill-child \
		--propagation private --mount-proc bash "${@:2}"' - "$group" "$TMPDIR/boot" "$own" \
	>"$TMPDIR/systemd.log" 2>&1 &
no_groups() { find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -e "$group" ]; }
end_systemd()
{
	pkill -KILL -x systemd
	for _ in $(seq 100); do
		if no_groups; then break; fi
		sleep 0.05
	done
}
trap 'end_systemd; router_said' EXIT
inner() { nsenter -t "$(pgrep -x systemd)" --pid --mount --cgroup --net "$@"; }
unit() { inner systemctl --no-pager "$@"; }
booted() { unit is-active test.target >/dev/null 2>&1; }
wait_for 20 'systemd is up' booted
wait_for 20 'the journal is there' [ -S /run/systemd/journal/socket ]
equal 'what else it knows, that could do something' "$(unit list-units --all --plain --no-legend \
	--type=service,socket,timer,path,automount | awk '$2 == "loaded" { print $1 }' |
	grep -v '^systemd-journald\|^mlx5fwd')" ''

socket=/run/mlx5fwd/control.sock
property() { unit show -P "$1" mlx5fwd.service; }
is_now() { [ "$(property "$1")" = "$2" ]; } # PROPERTY VALUE
process() { awk -v key="$1:" '$1 == key { print $2 }' "/proc/$(pgrep -x mlx5fwd)/status"; }
device_remember
check 'start' unit start mlx5fwd.service
[ $failed_checks = 0 ] || { inner journalctl --no-pager; die 'mlx5fwd.service does not start'; }
equal 'it is' "$(property ActiveState)" active
equal 'it says' "$(property StatusText)" 'forwarding on 2 ports with 1 worker'
equal 'its user' "$(process Uid)" "$(id -u mlx5fwd)"
equal 'its capabilities: CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF' "$(process CapEff)" 0000008000003000
equal 'it can get no others' "$(process CapBnd) $(process NoNewPrivs)" '0000008000003000 1'
equal 'system calls are filtered' "$(process Seccomp)" 2
equal 'control socket' "$(stat -c '%a %U %G' $socket)" '660 root mlx5fwd'
equal 'readers'"'"' socket' "$(stat -c '%a %U %G' /run/mlx5fwd/read.sock)" '660 root mlx5fwd-ro'
try -S /run/mlx5fwd/read.sock log level debug
equal 'is for looking' "$rc" 2
routes_add
check 'a reaches b' answers a 50 10.0.2.2
check 'by IPv6' answers a 50 2001:db8:2::2
conserved
in_a ping -q -c 3 -i 0.02 -t 1 10.0.2.2 >"$TMPDIR/ttl"
equal 'punts that the kernel answers' "$(sed -n 's/.* +\([0-9]*\) errors.*/\1/p' "$TMPDIR/ttl")" 3
scrape() { in_r python3 "$here/exposition.py" get 127.0.0.1:15350 /metrics; }
check 'Prometheus finds it' grep -q '"status": 200' <(scrape)
equal 'what could not be read of it' "$(scrape |
	grep -o 'mlx5fwd_scrape_collector_success{[^}]*} 0')" ''

# ---- reload ----
sed -i 's/^log_level = .*/log_level = debug/' /usr/local/etc/mlx5fwd/mlx5fwd.conf
check 'reload' unit reload mlx5fwd.service
echo nonsense >>/usr/local/etc/mlx5fwd/mlx5fwd.conf
check 'one that is refused' eval '! unit reload mlx5fwd.service 2>/dev/null'
equal 'leaves it' "$(property ActiveState) $(fwdctl log level | xargs)" 'active level debug'
sed -i '$d' /usr/local/etc/mlx5fwd/mlx5fwd.conf

# ---- the journal ----
field() { inner journalctl -o json --no-pager "$@" | python3 -c '
import json, sys
print(*sorted({e.get(sys.argv[1], "-") for e in map(json.loads, sys.stdin)}))' "$field"; }
field=SYSLOG_IDENTIFIER
equal 'who speaks of eth1' "$(field MLX5FWD_PORT=eth1)" mlx5fwd
field=PRIORITY
check 'priorities are kept apart' [ "$(field SYSLOG_IDENTIFIER=mlx5fwd)" != 6 ]
field=MESSAGE
check 'notices only' grep -q 'forwarding on 2 ports' <(field SYSLOG_IDENTIFIER=mlx5fwd -p notice)

# ---- a worker that is stuck ----
was=$(pgrep -x mlx5fwd)
touch "$TMPDIR/freeze.go"
python3 "$here/freeze.py" "$was" "$TMPDIR/freeze" &
wait_for 10 'a worker stands still' [ -e "$TMPDIR/freeze.frozen" ]
wait_for 20 'it has started again' is_now NRestarts 1
wait_for 20 'and forwards' is_now StatusText 'forwarding on 2 ports with 1 worker'
check 'as another process' [ "$(pgrep -x mlx5fwd)" != "$was" ]

equal 'its folder' "$(inner stat -c '%a %U' /var/lib/mlx5fwd)" '750 mlx5fwd'
equal 'routes that are there again' "$(fwdctl route show | wc -l)" 4
at_least 'counters go on' "$(port_count eth0 forwarded)" 100
check 'as it knows which boot this is' \
	inner grep -qx 'boot [0-9a-f]\{32\}' /var/lib/mlx5fwd/counters

# ---- stop, and a question that starts it ----
check 'stop' unit stop mlx5fwd.service
equal 'it is' "$(property ActiveState) $(property Result)" 'inactive success'
check 'the socket stays, and a question starts it' fwdctl status
wait_for 20 'it is active' is_now ActiveState active
check 'stop' unit stop mlx5fwd.service 'mlx5fwd-*.socket'
equal 'and no socket is left' "$(ls /run/mlx5fwd)" ''
[ $failed_checks = 0 ] || inner journalctl --no-pager
end_systemd
check 'nothing of it is left' [ ! -e "$group" ]
finish
