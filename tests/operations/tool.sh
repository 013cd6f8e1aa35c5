#!/bin/bash
# operations/tool.sh - mlx5fwdctl: exit status, wording, JSON, abbreviations, batches
# timeout: 180
. "$(dirname "$0")/lib.sh"

see_help='see mlx5fwdctl --help'
lists_all='"mlx5fwdctl help" lists all'

# ---- without a daemon ----
refused 3 "$socket: there is no daemon (ENOENT); is mlx5fwd running?" status
refused 3 "$socket: there is no daemon (ENOENT); is mlx5fwd running?" -b /dev/null
try -j status
equal 'no daemon, as JSON' "$rc $(json 'list(j), j["error"]["code"], len(a)')" \
	"3 (['error'], 'ENOENT', 1)"
: >"$socket"
refused 3 "$socket: nobody listens there (ECONNREFUSED); start mlx5fwd" status
rm "$socket"
long=$(printf '/%0107d' 0)
refused 3 "$long: File name too long (ENAMETOOLONG)" -S "$long" status
check 'the environment names the socket' \
	[ "$(MLX5FWD_SOCKET=/nowhere "$tool" status 2>&1)" = \
	'mlx5fwdctl: /nowhere: there is no daemon (ENOENT); is mlx5fwd running?' ]

# One that listens, takes the request, and says nothing; one that does not even accept.
python3 -c '
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + ".new"); s.listen(1)
os.rename(sys.argv[1] + ".new", sys.argv[1]) # it listens once it is seen
c, _ = s.accept(); time.sleep(60)' "$socket" &
mute=$!
wait_for 5 'somebody listens' [ -S "$socket" ]
refused 3 'the daemon does not answer (ETIMEDOUT); -T sets the time-out' -T 1 status
kill $mute
wait $mute 2>/dev/null
rm -f "$socket"
# One that answers what is no answer; one that hangs up.
for answer in 'nonsense' '[]' ''; do
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + ".new"); s.listen(1)
os.rename(sys.argv[1] + ".new", sys.argv[1])
c, _ = s.accept(); c.recv(100)
if sys.argv[2]: c.sendall(sys.argv[2].encode() + b"\n")' "$socket" "$answer" &
	wait_for 5 'somebody listens' [ -S "$socket" ]
	try status
	wait $!
	rm -f "$socket"
	equal "answer '$answer': status" $rc 3
	check "answer '$answer': said so" grep -qE \
		'answer makes no sense: .* \(EPROTO\)|ended the connection \(ECONNRESET\)' \
		"$TMPDIR/said"
done

# ---- help and usage, which need none ----
for words in --help -h help; do
	try $words
	equal "$words: status" $rc 0
	check "$words: on standard output" grep -q '^Usage: mlx5fwdctl' "$TMPDIR/out"
	equal "$words: standard error" "$said" ''
done
try --version
equal 'version of the tool' "$rc ${out%% *}" '0 mlx5fwdctl'
for words in 'help route' 'help r' 'route help' 'route --help' 'r -h'; do
	# shellcheck disable=SC2086 # words
	try $words
	equal "$words: status" $rc 0
	equal "$words: commands" "$(grep -c '^  route ' "$TMPDIR/out")" 10
done
refused 1 "frob: unknown (EINVAL); $lists_all" help frob
refused 1 "frob: unknown (EINVAL); $lists_all" frob
refused 1 ": route or nexthop? (EINVAL); $lists_all" ''
refused 1 "route : show or get? (EINVAL); $lists_all" route ''
refused 1 "route frob: unknown (EINVAL); $lists_all" route frob
refused 1 "route r x: unknown (EINVAL); $lists_all" 'route' 'r x'
refused 1 "usage: mlx5fwdctl route del <prefix> [--missing-ok] (EINVAL); $lists_all" route del
refused 1 "usage: mlx5fwdctl status (EINVAL); $lists_all" status now
refused 1 "usage: mlx5fwdctl worker show (EINVAL); $lists_all" worker show 1
for option in -D -x --jsn -jp -sb --; do
	refused 1 "$option: unknown option (EINVAL); $see_help" $option status
done
refused 1 "-T: its value is missing (EINVAL); $see_help" -T
for value in 0 x -1 86401 '' 5s; do
	refused 1 "--timeout $value: must be 1 to 86400 (seconds) (EINVAL); $see_help" -T "$value" \
		status
done
refused 1 "--dry-run: only with changes of routes (EINVAL); $see_help" --dry-run status
refused 1 "--missing-ok: only with route del (EINVAL); $see_help" --missing-ok status
refused 1 "--force: only with --batch (EINVAL); $see_help" --force status
refused 1 "a batch takes its commands from the file (EINVAL); $see_help" -b /dev/null status
try -j frob
equal 'usage error as JSON' \
	"$rc $(json 'j["error"]["code"], j["error"]["message"], j["error"]["hint"]')" \
	"1 ('EINVAL', 'frob: unknown', '\"mlx5fwdctl help\" lists all')"
check 'and as a sentence' grep -q 'mlx5fwdctl: frob: unknown (EINVAL)' "$TMPDIR/said"

# ---- with one ----
hosts_up
router_start
try
equal 'no arguments: status' "$rc $(value_of state <"$TMPDIR/out")" '0 forwarding'
try version
equal 'version' "$rc $(value_of client_version <"$TMPDIR/out")" \
	"0 $(value_of version <"$TMPDIR/out")"
equal 'version says nothing else' "$said" ''

done_silently route add 10/8 7C-C2-55-BE-F3-C7 dev eth0
done_silently ro a 10.1.0.0/16 $b_mac dev eth1 metric 5
done_silently route add default blackhole
done_silently route add ::/0 unreachable
done_silently route add 2001:db8::/32 $b_mac dev eth1
refused 2 'route add 10/8: exists already (EEXIST); use "route replace"' \
	route add 10/8 $b_mac dev eth1
done_silently route replace 10.0.0.0/8 7c:c2:55:be:f3:c7 dev eth0
prints 'blackhole 0.0.0.0/0 proto static
10.0.0.0/8 lladdr 7c:c2:55:be:f3:c7 dev eth0 proto static
10.1.0.0/16 lladdr 02:00:00:00:0b:02 dev eth1 proto static metric 5
unreachable ::/0 proto static
2001:db8::/32 lladdr 02:00:00:00:0b:02 dev eth1 proto static' route show
prints "$(shown)" r
prints "$(shown)" route s
prints '10.0.0.0/8 lladdr 7c:c2:55:be:f3:c7 dev eth0 proto static' route show 10/8
prints '' route show 10/9
prints "$(shown | sed -n 2,3p)" route show root 10/8
prints "$(shown | sed -n 1,3p)" route show match 10.1.1.1
refused 2 "route show: inside: must be all, exact, root, match, proto, dev, lladdr, type,\
 family or a prefix (EINVAL)" route show inside 10/8
prints '10.2.2.2 lladdr 7c:c2:55:be:f3:c7 dev eth0 by 10.0.0.0/8 proto static verdict forward
	queue 0 worker 0' route get 10.2.2.2
prints 'unreachable 2001:db9::1 by ::/0 proto static verdict punt reason unreachable
	queue 0 worker 0' route get 2001:db9::1
prints '10.0.2.1 verdict punt reason local' route get 10.0.2.1

done_silently route add 172.16/12 metric 3 nexthop $b_mac dev eth1 nexthop $a_mac dev eth0 weight 2
legs="	nexthop lladdr $a_mac dev eth0 weight 2
	nexthop lladdr $b_mac dev eth1 weight 1"
prints "172.16.0.0/12 proto static metric 3
$legs" route show 172.16/12
prints "172.16.1.1 by 172.16.0.0/12 proto static verdict forward
	queue 0 worker 0
$legs" route get 172.16.1.1
try -j route show 172.16/12
equal 'legs as JSON' "$(json '[(n["dev"], n["weight"], n["flags"]) for n in j[0]["nexthops"]]')" \
	"[('eth0', 2, []), ('eth1', 1, [])]"
done_silently route del 172.16/12

not_added 'dev: which port? There are: eth0, eth1 (EINVAL)' 11/8 $b_mac
not_added 'dev eth9: not a port of this router; there are: eth0, eth1 (ENODEV)' 11/8 $b_mac dev eth9
not_added '10.0.0.1/8: bits are set past the prefix length, did you mean 10.0.0.0/8? (EINVAL)' \
	10.0.0.1/8 $b_mac dev eth0
not_added '10/33: prefix length must be 0 to 32 (EINVAL)' 10/33 blackhole
not_added '::/129: prefix length must be 0 to 128 (EINVAL)' ::/129 blackhole
not_added '10/-1: prefix length must be 0 to 32 (EINVAL)' 10/-1 blackhole
not_added '10/08x: prefix length must be 0 to 32 (EINVAL)' 10/08x blackhole
not_added '01:00:5e:00:00:01: a multicast address is no gateway (EINVAL)' \
	11/8 01:00:5e:00:00:01 dev eth0
not_added '00:00:00:00:00:00: no gateway has this address (EINVAL)' 11/8 00:00:00:00:00:00 dev eth0
not_added "$eth0_mac: is port eth0's own address (EINVAL)" 11/8 $eth0_mac dev eth0
not_added '7c:c2:55:be:f3: not a MAC address, nor blackhole, unreachable or prohibit (EINVAL)' \
	11/8 7c:c2:55:be:f3 dev eth0
refused 2 'route del 11/8: there is no such static route (ESRCH)' route del 11/8
done_silently route del 11/8 --missing-ok
done_silently --missing-ok route del 11/8
done_silently route del 10.1/16
prints '' route show 10.1/16
refused 2 'port show eth9: not a port of this router (ENODEV)' port show eth9
refused 1 'a request is printable ASCII (EINVAL)' route get $'10.0.0.1\nroute del 10/8'
refused 1 'a request is printable ASCII (EINVAL)' route get ä
check 'and it was not sent' [ -n "$(shown 10/8)" ]
refused 1 'a request has at most 4096 bytes (E2BIG)' route get "$(printf '%04096d' 0)"

# ---- as a user of ip has it ----
prints "$(shown)" route list
prints "$(shown)" r lst
prints "$(shown)" r l
refused 1 "route lists: unknown (EINVAL); $lists_all" route lists
refused 1 "log li: unknown (EINVAL); $lists_all" log li
prints "$(fwdctl log level)" log l
prints "$(shown | grep -v ::)" -4 route show
prints "$(shown | grep ::)" route show -6
prints "$(shown | grep ::)" route show family inet6
prints "$(fwdctl route save | grep -v ::)" route save -4
prints '' -6 route show 10/8
refused 1 "-4, -6: only with route show, save and flush (EINVAL); $see_help" -4 port show
refused 2 'route show: family 4: must be inet or inet6 (EINVAL)' route show family 4
done_silently route add blackhole 172.16/12 metric 7
refused 2 'route add 172.16/12: exists already (EEXIST); use "route replace"' \
	route add prohibit 172.16/12
line='blackhole 172.16.0.0/12 proto static metric 7'
prints "$line" route show 172.16/12
done_silently route delete 172.16/12
for line in "$line" "172.16.0.0/12 lladdr $b_mac dev eth1 vlan 7 proto static"; do
	# shellcheck disable=SC2086 # words
	done_silently route replace $line
	prints "$line" route show 172.16/12
	batch 0 "route replace $line" -dry-run
done
done_silently -4 route flush 172.16/12
prints '' route show 172.16/12
not_added 'proto kernel: routes that are added are static (EINVAL)' 11/8 blackhole proto kernel
not_added 'lladdr blackhole: not a MAC address (EINVAL)' 11/8 lladdr blackhole
not_added 'lladdr: its value is missing (EINVAL)' 11/8 lladdr
not_added "$b_mac: unexpected (EINVAL)" 11/8 $a_mac lladdr $b_mac dev eth1
prints "$(fwdctl -j -s -s port show)" -json -stats port show -stats
prints "$(fwdctl -V)" -version
prints "$(fwdctl -br --no-legend route show)" -brief -no-legend route show

# ---- JSON on every command ----
for words in 'route show' 'port show' 'worker show' 'drop show' status version \
	'route get 10.1.1.1'; do
	for option in -j -p; do
		# shellcheck disable=SC2086 # words
		try $option $words
		equal "$option $words: one array of objects" \
			"$rc $(json 'len(a), type(j).__name__, {type(r).__name__ for r in j}')" \
			"0 (1, 'list', {'dict'})"
	done
done
rest="'protocol': 'static', 'metric': 0, 'flags': []}"
try -j route show
equal 'keys of a route' "$(json 'j[1]')" \
	"{'dst': '10.0.0.0/8', 'lladdr': '7c:c2:55:be:f3:c7', 'dev': 'eth0', $rest"
equal 'keys of a blackhole' "$(json 'j[0]')" \
	"{'dst': '0.0.0.0/0', 'type': 'blackhole', $rest"
try -j route show 10/9
equal 'an empty list' "$out" '[]'
try -j port show
equal 'no key of a port changes its type' \
	"$(json 'len({tuple((k, type(v).__name__) for k, v in r.items()) for r in j})')" 1
equal 'ports' "$(json '[r["port"] for r in j]')" "['eth0', 'eth1']"
try -j drop show eth0
check 'every reason is there, zero or not' [ \
	"$(json 'len(j[0]["dropped"]) + len(j[0]["punted"])')" -gt 20 ]
hint="'hint': 'use \"route replace\"'"
try -j route add 10/8 blackhole
equal 'an error as JSON' "$rc $(json 'j')" \
	"2 {'error': {'code': 'EEXIST', 'message': 'route add 10/8: exists already', $hint}}"
equal 'and as a sentence' "$said" \
	'mlx5fwdctl: route add 10/8: exists already (EEXIST); use "route replace"'
try -j route del 10/99
equal 'an error instead of an array' "$rc $(json 'len(a), list(j)')" "2 (1, ['error'])"
try -j route replace 10/8 $b_mac dev eth1
equal 'a change prints nothing' "$rc,$out,$said" 0,,

# ---- counters ----
equal 'port show: lines' "$(fwdctl port show | wc -l)" 2
equal 'port show -s: lines' "$(fwdctl -s port show | wc -l)" 6
equal 'port show -s -s: lines' "$(fwdctl -s -s port show | wc -l)" 8
equal 'drop show: lines of eth0, none has happened' "$(fwdctl drop show eth0)" 'eth0:'
check 'drop show -s: zeroes too' [ "$(fwdctl -s drop show eth0 | wc -l)" -gt 20 ]
equal 'worker show -s: lines' "$(fwdctl -s worker show | wc -l)" 2
equal 'flags may follow the words' "$(fwdctl port show -s eth0 --stats)" \
	"$(fwdctl -s -s port show eth0)"
equal 'and are no words there' "$(fwdctl -j port show -d | wc -l)" 1

# ---- batches ----
exists='route add 20.0.0.0/8: exists already (EEXIST); use "route replace"'
batch 0 "# a comment, in any language: ä

route add 20.0.0.0/8 $a_mac dev eth0
  # another
r a '20.1.0.0/16' \"$b_mac\" dev eth1
route del 10/8"
equal 'all of it was done' "$(shown | grep -c '^20[.]')$(shown 10/8)" 2
batch 2 "route add 30.0.0.0/8 blackhole
route add 20.0.0.0/8 blackhole
route add 20.1.0.0/16 blackhole"
equal 'the first error, with its line' "$said" \
	"mlx5fwdctl: $TMPDIR/lines:2: $exists"
equal 'nothing of it was done' "$(shown 30/8)" ''
batch 1 "route add 30.0.0.0/8 blackhole
route frob"
equal 'a line that is no command' "$said" \
	"mlx5fwdctl: $TMPDIR/lines:2: route frob: unknown (EINVAL)"
batch 1 'route show'
equal 'a line that changes nothing' "$said" \
	"mlx5fwdctl: $TMPDIR/lines:1: a batch holds changes only (EINVAL)"
batch 1 "route add 'open"
equal 'a line that is none' "$said" \
	"mlx5fwdctl: $TMPDIR/lines:1: an open quote, or a byte that is not printable ASCII (EINVAL)"
equal 'nothing of them was done' "$(shown 30/8)" ''
batch 4 "route add 30.0.0.0/8 blackhole
route add 20.0.0.0/8 blackhole
frob
route del 99/8
route add 31.0.0.0/8 blackhole" --force
equal 'every error, in order' "$said" \
	"mlx5fwdctl: $TMPDIR/lines:2: $exists
mlx5fwdctl: $TMPDIR/lines:3: frob: unknown (EINVAL)
mlx5fwdctl: $TMPDIR/lines:4: route del 99/8: there is no such static route (ESRCH)"
equal 'the rest of it was done' "$(shown | grep -cE '^blackhole 3[01]\.')" 2
batch 0 'route del 30/8' --force
batch 2 'route add 20/8 blackhole' -j
equal 'an error of a batch as JSON' "$(json 'j["error"]["code"], j["error"]["line"]')" \
	"('EEXIST', 1)"
refused 1 '/nowhere: No such file or directory (ENOENT)' -b /nowhere
refused 1 "$TMPDIR: Is a directory (EISDIR)" -b "$TMPDIR"
check 'from standard input' fwdctl -b - <<<'route add 40/8 blackhole'
equal 'it was done' "$(shown 40/8)" 'blackhole 40.0.0.0/8 proto static'
printf 'route add 41/8 blackhole\0 hidden\n' >"$TMPDIR/lines"
try -b "$TMPDIR/lines"
equal 'a zero byte in a line' "$rc $(shown 41/8)" '1 '

# ---- who may ----
cp "$tool" "$TMPDIR/tool"
setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$TMPDIR/tool" -S "$socket" status 2>"$TMPDIR/said"
equal 'nobody may not even look' "$? $(cat "$TMPDIR/said")" \
	"3 mlx5fwdctl: $socket: not permitted (EACCES); be root,\
 in the control group, or, to look only, in the readers' group"

# ---- output that cannot be written ----
fwdctl route show >/dev/full 2>"$TMPDIR/said"
equal 'standard output is full' "$? $(cat "$TMPDIR/said")" \
	'1 mlx5fwdctl: standard output: No space left on device (ENOSPC)'

router_stop
refused 3 "$socket: there is no daemon (ENOENT); is mlx5fwd running?" route show

# ---- one port: no dev needed, the user's own line ----
printf '[daemon]\ncontrol_socket = %s\ncontrol_group =\n[port eth0]\n' "$socket" >"$conf"
router_start
done_silently route add 10.0.0.0/8 7c:c2:55:be:f3:c7
prints '10.0.0.0/8 lladdr 7c:c2:55:be:f3:c7 dev eth0 proto static' route show
router_stop
model_stop
finish
