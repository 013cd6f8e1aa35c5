#!/bin/bash
# operations/routes.sh - mlx5fwdctl: many routes at once, tables, dry runs, completion, manual page
# timeout: 180
. "$(dirname "$0")/lib.sh"

lists_all='"mlx5fwdctl help" lists all'

# ---- without a daemon ----
# Words that may follow, with a | behind each; the last argument is what was begun.
offers() # EXPECTED WORDS...
{
	local expected=$1

	shift
	equal "completion of '$*'" "$("$tool" --complete "$@" | tr '\n' '|')" "$expected"
}

objects='route|nexthop|port|worker|drop|metrics|monitor|top|trace|config|reload|log|'
objects+='status|version|help|'
offers "$objects" ''
offers 'route|reload|' r
offers 'add|append|' route a
offers 'show|get|summary|add|replace|append|del|flush|save|restore|' -j -T 3 route ''
offers 'static|kernel|' route show proto ''
offers 'blackhole|unreachable|prohibit|' route flush root 10/8 type ''
offers 'nexthop|' route add 10/8 n
offers '--missing-ok|' route del 10/8 --mi
offers '--details|--dry-run|' --d
offers 'worker|' help w
offers '' route add 10/8 7c:c2:55:be:f3:c7 dev ''
offers '' status ''
offers '' frob ''
offers '' -b ''

completed() # WORDS...: what bash would insert, with a | behind each
{
	bash -c '. "$1"; shift; PATH=${0%/*}:$PATH; COMP_WORDS=(mlx5fwdctl "$@"); COMP_CWORD=$#
		_mlx5fwdctl; printf "%s|" "${COMPREPLY[@]}"' "$tool" \
		"$top/etc/completion/mlx5fwdctl.bash" "$@"
}
equal 'bash completes' "$(completed route sh)" 'show|'
equal 'bash completes an empty word' "$(completed route show proto '')" 'static|kernel|'

"$tool" --manual >"$TMPDIR/page"
check 'the manual page is one' groff -man -ww -z -b "$TMPDIR/page"
equal 'of which groff complains' "$(groff -man -ww -z "$TMPDIR/page" 2>&1)" ''
groff -man -Tascii -P-c "$TMPDIR/page" | sed 's/.\x08//g' | tr -s ' \n' ' ' >"$TMPDIR/plain"
missing=$(fwdctl help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)\( .*\)\{0,1\}$/\1/p' |
	while read -r command; do
		grep -qF -- " ${command% all} " "$TMPDIR/plain" || echo "$command"
	done)
equal 'commands that the manual page lacks' "$missing" ''
missing=$(fwdctl help | sed -n 's/^.*  *\(--[a-z-]*\) .*/\1/p' |
	while read -r option; do
		grep -qF -- "$option" "$TMPDIR/plain" || echo "$option"
	done)
equal 'options that it lacks' "$missing" ''
at_least 'options in the help' "$(fwdctl help | grep -c '^ .* --[a-z]')" 14

"$FWD_BIN/daemon/mlx5fwd" --manual >"$TMPDIR/page"
equal 'of mlx5fwd.conf(5) groff complains' "$(groff -man -ww -z "$TMPDIR/page" 2>&1)" ''

# ---- with one ----
hosts_up
router_start
offers 'eth1|' -S "$socket" route add 10/8 7c:c2:55:be:f3:c7 dev eth1
export MLX5FWD_SOCKET=$socket
offers 'eth0|eth1|' port show ''
equal 'bash completes the name of a port' "$(completed drop show eth0)" 'eth0|'
kill -STOP "$(pgrep -x mlx5fwd)"
offers '' port show ''
kill -CONT "$(pgrep -x mlx5fwd)"
unset MLX5FWD_SOCKET

# ---- save and restore ----
lines="route add 0.0.0.0/0 blackhole
route add 10.0.0.0/8 $a_mac dev eth0
route add 10.1.0.0/16 $b_mac dev eth1 metric 5
route add 10.2.0.0/16 nexthop $a_mac dev eth0 weight 3 nexthop $b_mac dev eth1 weight 1 metric 2
route add ::/0 unreachable
route add 2001:db8::/32 prohibit metric 4294967295"
prints '' route save
check 'a batch' fwdctl -b - <<<"$lines"
prints "$lines" route save
fwdctl route save >"$TMPDIR/saved"
prints 'added 0 changed 0 deleted 0 unchanged 6' route restore "$TMPDIR/saved"
done_silently route del 10.1/16
done_silently route replace 10/8 $b_mac dev eth0
done_silently route add 11/8 blackhole
done_silently route add 12/8 blackhole
prints 'added 1 changed 1 deleted 2 unchanged 4' --dry-run route restore "$TMPDIR/saved"
prints 'blackhole 11.0.0.0/8 proto static' route show 11/8
fits restore route restore "$TMPDIR/saved"
equal 'which says' "$(json 'j')" "[{'added': 1, 'changed': 1, 'deleted': 2, 'unchanged': 4}]"
prints "$lines" route save
equal 'of nothing' "$(fwdctl route restore - </dev/null)" \
	'added 0 changed 0 deleted 6 unchanged 0'
prints 'inet routes 0 static 0 kernel 0
inet6 routes 0 static 0 kernel 0' route summary
equal 'of standard input' "$(fwdctl route restore - <<<"$lines")" \
	'added 6 changed 0 deleted 0 unchanged 0'
fits route route save
refused 1 '/nowhere: No such file or directory (ENOENT)' route restore /nowhere
restore_fails() # STATUS LINES COMPLAINT
{
	printf '%s\n' "$2" >"$TMPDIR/lines"
	refused "$1" "$3" route restore "$TMPDIR/lines"
	equal 'and nothing has changed' "$(fwdctl route save)" "$lines"
}
restore_fails 2 "route add 13/8 blackhole
route del 10/8" "$TMPDIR/lines:2: route del 10/8: a restore takes route add and route replace only\
 (EINVAL)"
restore_fails 2 "route add 13/8 blackhole
route replace 13.0.0.0/8 prohibit" \
	"commit: 13.0.0.0/8 is there twice; nothing was changed (EEXIST)"
restore_fails 1 'route frob' "$TMPDIR/lines:1: route frob: unknown (EINVAL)"
restore_fails 1 'route save' "$TMPDIR/lines:1: a batch holds changes only (EINVAL)"

done_silently route add 14/8 $b_mac dev eth1 vlan 7
fwdctl route save >"$TMPDIR/saved"
check 'a tag is saved' grep -qx "route add 14.0.0.0/8 $b_mac dev eth1 vlan 7" "$TMPDIR/saved"
prints 'added 0 changed 0 deleted 0 unchanged 7' route restore "$TMPDIR/saved"
fits route route show
summary="inet routes 5 static 5 kernel 0
    /0 1 /8 2 /16 2
inet6 routes 2 static 2 kernel 0
    /0 1 /32 1"
prints "$summary" route summary
prints "$summary" r s summary
fits summary route show summary
equal 'of IPv6 as JSON' "$(json 'j[1]')" "{'family': 'inet6', 'routes': 2, 'static': 2,\
 'kernel': 0, 'lengths': {'0': 1, '32': 1}}"
prints "$(fwdctl route show 14/8)" r l 14/8
fits nexthop nexthop show
line=$(fwdctl nexthop show | grep -m 1 ' forward ')
read -r _ id _ <<<"$line"
prints "$line" nexthop get "$id"
fits nexthop nexthop get "$id"
refused 2 'nexthop get 99: there is no such next hop (ENOENT)' nexthop get 99
refused 2 'nexthop get 0: there is no such next hop (ENOENT)' nexthop get 0
refused 2 'nexthop get one: not a number (EINVAL)' nexthop get one
done_silently route del 14/8

# ---- dry runs ----
done_silently --dry-run route add 13/8 blackhole
prints '' route show 13/8
refused 2 'route add 10/8: exists already (EEXIST); use "route replace"' \
	--dry-run route add 10/8 blackhole
done_silently --dry-run route flush all
prints "$lines" route save
batch 0 'route del 10/8' --dry-run
batch 2 'route del 13/8' --dry-run
batch 0 'route del 13/8' --dry-run --missing-ok
prints "$lines" route save

# ---- append, flush, select ----
done_silently route append 10/8 $b_mac dev eth1
prints "10.0.0.0/8 proto static
	nexthop lladdr $a_mac dev eth0 weight 1
	nexthop lladdr $b_mac dev eth1 weight 1" route show 10/8
refused 2 'route append 10/8: has this next hop already (EALREADY)' \
	route append 10/8 $b_mac dev eth1
prints 'unreachable ::/0 proto static
prohibit 2001:db8::/32 proto static metric 4294967295' route show root ::/0
prints "$(fwdctl route show | sed '/^\(black\|un\|prohib\)/d')" route show dev eth1
done_silently route flush root 10/8 dev eth1
prints 'blackhole 0.0.0.0/0 proto static
unreachable ::/0 proto static
prohibit 2001:db8::/32 proto static metric 4294967295' route show
usage='[exact|root|match] <prefix> [proto static|kernel] [dev <port>] [lladdr <mac>]'
usage="$usage [type blackhole|unreachable|prohibit] [family inet|inet6]"
refused 1 "usage: mlx5fwdctl route flush all | $usage (EINVAL); $lists_all" route flush

# ---- tables: fixed columns, no blank in a field ----
check 'routes again' fwdctl route restore - <<<"$lines"
prints 'PREFIX             TO                         PROTO   METRIC  FLAGS
0.0.0.0/0          blackhole                  static  0       -
10.0.0.0/8         02:00:00:00:0a:02@eth0     static  0       -
10.1.0.0/16        02:00:00:00:0b:02@eth1     static  5       -
10.2.0.0/16        02:00:00:00:0a:02@eth0*3,02:00:00:00:0b:02@eth1*1 static  2       -
::/0               unreachable                static  0       -
2001:db8::/32      prohibit                   static  4294967295 -' -br route show
for words in 'route show' 'route get 10.1.1.1' 'nexthop show' 'port show' 'worker show'; do
	# shellcheck disable=SC2086 # words
	try -br $words
	equal "-br $words: fields of each line" \
		"$(awk '{ print NF }' "$TMPDIR/out" | sort -u | wc -l)" 1
	# shellcheck disable=SC2086 # words
	equal "-br --no-legend $words" "$(fwdctl -br --no-legend $words | wc -l)" \
		$(($(wc -l <"$TMPDIR/out") - 1))
done

# ---- JSON of every command ----
for words in 'route show' 'nexthop show' 'port show' 'worker show' 'drop show' 'log level' \
	status version; do
	# shellcheck disable=SC2086 # words
	fits "${words%% *}" $words
done

router_stop
model_stop
finish
