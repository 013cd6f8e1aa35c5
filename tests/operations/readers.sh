#!/bin/bash
# operations/readers.sh - two groups: who may change something, who may look, and who may not come
#
#   fwd-rw   control.sock   everything        fwd-ro   read.sock   looks only
#
# Sockets are where they are by default, so that the tool finds the way by itself.
# timeout: 120
. "$(dirname "$0")/lib.sh"

mkdir "$TMPDIR/etc"
cp -a /etc/. "$TMPDIR/etc"
mount --bind "$TMPDIR/etc" /etc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/mlx5fwd
printf '%s\n' fwd-rw:x:4711: fwd-ro:x:4712: fwd-new:x:4713: >>/etc/group
cp "$FWD_BIN/control/mlx5fwdctl" /run/tool # others may not see the build

# The tool as a user who has that further group, or none.
as() # GROUP ARGS...
{
	local groups=(--clear-groups)

	[ "$1" = none ] || groups=(--groups "$(getent group "$1" | cut -d: -f3)")
	shift
	(cd / && setpriv --reuid 54321 --regid 54321 "${groups[@]}" /run/tool -T 60 "$@") \
		>"$TMPDIR/out" 2>"$TMPDIR/said"
	rc=$?
	out=$(cat "$TMPDIR/out") said=$(cat "$TMPDIR/said")
}
look='you may look but not change (EPERM); be root or in the control group'
look="$look, and use the control socket"
not_permitted='mlx5fwdctl: /run/mlx5fwd/control.sock: not permitted (EACCES); be root'
not_permitted="$not_permitted, in the control group, or, to look only, in the readers' group"
may() # GROUP ARGS...
{
	as "$@"
	equal "$*: status, complaint" "$rc,$said" 0,
}
may_not() # GROUP WHAT ARGS...: that request of it is refused
{
	local group=$1 what=$2

	shift 2
	as "$group" "$@"
	equal "$group $*: status, complaint" "$rc,$said" "2,mlx5fwdctl: $what: $look"
}
comes_not()
{
	as "$@"
	equal "$*: status, complaint" "$rc,$said" "3,$not_permitted"
}

hosts_up
socket=/run/mlx5fwd/control.sock
config 'readers_group = fwd-ro'
sed -i 's/^control_group =.*/control_group = fwd-rw/' "$conf"
router_start
equal 'the sockets' "$(stat -c '%a %U %G' /run/mlx5fwd/*.sock | xargs)" \
	'660 root fwd-rw 660 root fwd-ro'

# ---- who changes ----
may fwd-rw route add 10.9.0.0/16 $b_mac dev eth1
may fwd-rw reload
may fwd-rw log level debug

# ---- who looks: the tool finds the way ----
for what in 'route show' 'route summary' 'route get 10.9.0.1' 'nexthop show' '-s port show' \
	'worker show -d' 'drop show' 'config show' 'config diff' 'config check' 'log level' \
	'trace status' 'metrics show' status version; do
	# shellcheck disable=SC2086 # words
	may fwd-ro $what
done
as fwd-ro route show
equal 'it sees' "$out" "10.9.0.0/16 lladdr $b_mac dev eth1 proto static"
as fwd-ro route save
equal 'and can save it' "$out" "route add 10.9.0.0/16 $b_mac dev eth1"
for what in 'route add 10/8 blackhole' 'route replace 10/8 blackhole' \
	'route append 10/8 blackhole' 'route del 10.9.0.0/16' 'route flush all' \
	'port reset' 'drop reset' 'log level info' 'trace start' 'trace show' 'trace stop' \
	reload; do
	request=$(echo "$what" | cut -d' ' -f 1,2)
	# shellcheck disable=SC2086 # words
	may_not fwd-ro "$request" $what
done
echo 'route add 10/8 blackhole' >/run/lines
as fwd-ro -b /run/lines
equal 'a batch: status, complaint' "$rc,$said" "2,mlx5fwdctl: begin: $look"
as fwd-ro monitor route &
watcher=$!
hears() { grep -q . "$TMPDIR/out"; }
changes() { fwdctl route replace 10.8.0.0/16 blackhole; fwdctl route del 10.8.0.0/16; hears; }
wait_for 20 'a reader hears of changes' changes
pkill -INT -P $watcher -x tool || pkill -INT -x tool
wait $watcher

# ---- who may not come; and no way around ----
comes_not none status
MLX5FWD_SOCKET=$socket comes_not fwd-ro status
comes_not fwd-ro -S $socket status
as none -S /run/mlx5fwd/read.sock status
equal 'nor by the other socket' "$rc" 3
try -S /run/mlx5fwd/read.sock route del 10.9.0.0/16
equal 'root by the readers'"'"' socket: status, complaint' "$rc,$said" \
	"2,mlx5fwdctl: route del: $look"
equal 'all routes are there' "$(fwdctl route show)" \
	"10.9.0.0/16 lladdr $b_mac dev eth1 proto static"
router_stop
equal 'sockets that are left' "$(ls /run/mlx5fwd)" ''

# ---- no such group: nobody but the control group ----
sed -i 's/^readers_group.*/readers_group = fwd-none/' "$conf"
router_start
check 'it says so' grep -q 'there is no group fwd-none: there is no socket for readers' "$fwd_log"
equal 'the sockets' "$(ls /run/mlx5fwd)" control.sock
comes_not fwd-ro status
may fwd-rw status
router_stop
model_stop
finish
