# shellcheck shell=bash
# tests/lib.sh - what test scripts share; sourced, never run
#
# tests/run starts each script in namespaces of its own (processes, mounts, network,
# with /sys to match), as root, and ends them with it: names need not be unique and
# nothing needs cleaning up. A check that fails is printed and counted, and the
# script goes on; `die` ends it. Exit status: 0, 1 = failed, 77 = skipped.
#
#   check "what" COMMAND...       passes when COMMAND succeeds
#   equal "what" IS EXPECTED      passes when both are the same text
#   at_least "what" IS MINIMUM    passes when IS >= MINIMUM, integers
#   within "what" IS LOW HIGH
#   wait_for SECONDS "what" COMMAND...   polls; dies when it never succeeds
#   report "text"                 a figure, repeated by tests/run at the end
set -u
export LC_ALL=C

failed_checks=0

pass()
{
	printf 'check ok: %s\n' "$1"
}

fail()
{
	printf 'check FAILED: %s\n' "$1"
	failed_checks=$((failed_checks + 1))
}

die()
{
	printf 'check FAILED: %s\n' "$1"
	exit 1
}

# A script goes on after a command that fails, but not silently after one that is not there.
command_not_found_handle()
{
	fail "there is no command $1" >&2
	return 127
}

skip()
{
	printf 'skipped: %s\n' "$1"
	exit 77
}

report()
{
	printf 'report: %s\n' "$1"
}

check()
{
	local what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what ($*)"; fi
}

equal()
{
	if [ "$2" = "$3" ]; then pass "$1: $2"; else fail "$1: is '$2', expected '$3'"; fi
}

at_least()
{
	if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ]; then
		pass "$1: $2, at least $3"
	else
		fail "$1: is '$2', expected at least $3"
	fi
}

within()
{
	if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		pass "$1: $2, within $3..$4"
	else
		fail "$1: is '$2', expected $3..$4"
	fi
}

# Polls every 20 ms: there is no event that all conditions share.
wait_for()
{
	local seconds=$1 what=$2 end
	shift 2
	end=$((${EPOCHREALTIME/./} + seconds * 1000000))
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || die "$what: not within $seconds s ($*)"
		sleep 0.02
	done
}

# Last command of every script.
finish()
{
	[ "$failed_checks" = 0 ] || exit 1
	exit 0
}
