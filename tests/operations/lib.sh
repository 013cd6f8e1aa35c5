# shellcheck shell=bash
# tests/operations/lib.sh - the router of tests/netns, and questions to the tool; sourced first
#
#   try ARGS                 runs mlx5fwdctl; $rc, $out, $said (standard error)
#   refused STATUS WHY ARGS  it fails so, and prints nothing
#   prints TEXT ARGS         it is done, and prints just that
#   done_silently ARGS
#   json EXPRESSION          Python's, over the JSON that the last one printed: j, or all of it: a
#   fits SPEC ARGS           with -j it prints what schema.py knows by that name
. "$top/tests/netns/lib.sh"

tool=$FWD_BIN/control/mlx5fwdctl

# Runs fwdctl; status in $rc, what it printed in $out, what it complained in $said.
try() # ARGS...
{
	fwdctl "$@" >"$TMPDIR/out" 2>"$TMPDIR/said" </dev/null
	rc=$?
	out=$(cat "$TMPDIR/out")
	said=$(cat "$TMPDIR/said")
}

# Status and complaint of a command that fails; nothing on standard output.
refused() # STATUS COMPLAINT ARGS...
{
	local status=$1 complaint=$2

	shift 2
	try "$@"
	equal "$*: status" $rc "$status"
	equal "$*: says" "$said" "mlx5fwdctl: $complaint"
	equal "$*: prints" "$out" ''
}

not_added() # COMPLAINT ARGS...
{
	local complaint=$1

	shift
	refused 2 "route add: $complaint" route add "$@"
}

done_silently() # ARGS...
{
	try "$@"
	equal "$*: status, output, complaint" "$rc,$out,$said" 0,,
}

prints() # TEXT ARGS...
{
	local text=$1

	shift
	try "$@"
	equal "$*: status" $rc 0
	equal "$*: prints" "$out" "$text"
	equal "$*: says" "$said" ''
}

# Value of a Python expression over the JSON that was printed, j; or over all of them, a.
json() # EXPRESSION
{
	python3 -c '
import json, sys
d = json.JSONDecoder()
text = sys.stdin.read()
a = []
while text.strip():
    j, end = d.raw_decode(text.lstrip())
    a.append(j)
    text = text.lstrip()[end:]
print(eval(sys.argv[1]))' "$1" <"$TMPDIR/out" 2>&1
}

batch() # STATUS LINES [OPTIONS...]
{
	local status=$1

	printf '%s\n' "$2" >"$TMPDIR/lines"
	shift 2
	try "$@" -b "$TMPDIR/lines"
	equal "batch: status" $rc "$status"
}

shown() { fwdctl route show "$@"; }


fits() # SPEC ARGS...
{
	local spec=$1

	shift
	try -j "$@"
	equal "-j $*: status" $rc 0
	check "-j $*: fits the schema of $spec" \
		python3 "$top/tests/operations/schema.py" "$spec" "$TMPDIR/out"
}
