# shellcheck shell=bash
# test/client/client.sh - client programs of this folder, their checks counted; sourced
#
#   client NAME ARGS...     runs $MODEL_BIN/NAME on the device; each of its lines is a check
#   checks NAME FILE        counts the lines of an earlier run
#   as_nobody COMMAND...    a command of a user without privilege, on the device
#   nothing_left            the device holds what it held at the start
# shellcheck disable=SC2154 # top and MODEL_BIN come from tests/run
. "$top/tests/model/judges/lib/model.sh"

# The programs are instrumented, the library preloaded into them is not: its place in the
# link order does not matter, and leaks of libibverbs are not ours.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0:detect_leaks=0"

checks() # NAME FILE
{
	sed -nE -e "s/^ok   (.*)/check ok: $1: \1/p" -e "s/^FAIL (.*)/check FAILED: $1: \1/p" "$2"
	failed_checks=$((failed_checks + $(grep -c '^FAIL ' "$2")))
	check "$1 comes to its end" grep -q '^ALL OK: \|^SOME FAILED: ' "$2"
}

# Where any user can read them: the build folder may be closed to others.
export CXSHIM=$TMPDIR/libcxshim.so
cp "$MODEL_BIN/libcxshim.so" "$CXSHIM"

client()
{
	local name=$1 out=$TMPDIR/client.$BASHPID rc

	shift
	[ -e "$TMPDIR/$name" ] || cp "$MODEL_BIN/$name" "$TMPDIR/$name"
	on "$TMPDIR/$name" "$@" >"$out" 2>"$out.err"
	rc=$?
	checks "$name${*:+ $*}" "$out"
	equal "exit status of $name${*:+ $*}" $rc 0
	[ $rc = 0 ] || cat "$out.err"
}

as_nobody()
{
	on setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

holdings()
{
	ctl stat | awk '$1 ~ /^(objects|clients|handles|mappings|event_fds|mapped_bytes)$/ {
		printf "%s %s, ", $1, $2 }'
}

as_at_start()
{
	[ "$(holdings)" = "$held_at_start" ]
}

nothing_left() # WHAT
{
	wait_for 60 "$1: the device holds what it held at the start" as_at_start
	pass "$1: the device holds what it held at the start"
}
