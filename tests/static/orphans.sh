#!/bin/bash
# tests/static/orphans.sh BUILD - nothing is there that nobody uses
#
# C files are compiled, by CMake or a script; headers and tables are included; scripts are run
# by a group or another script. A function of a header is called from another object than its
# own; an inline function and a macro are named where they are not defined.
. "$(dirname "$0")/lib.sh"
build=$1
bad=0

# Names that look unused to us
used='
main          called by the C library
_LGPL_SOURCE  read by the headers of urcu
FIELD_daemon  pasted together: daemon/config.c
FIELD_port
'

orphan()
{
	grep -q "^$1\( \|$\)" <<<"$used" && return
	echo "$1: $2"
	bad=1
}

for file in $(files '*.c'); do
	grep -qF "/$file\"" "$build/compile_commands.json" ||
		scripts | xargs grep -qF "${file##*/}" || orphan "$file" 'not compiled'
done
for file in $(files '*.h' '*.def'); do
	files '*.c' '*.h' | xargs grep -qE "#include \"([^\"]*/)?${file##*/}\"" ||
		orphan "$file" 'not included by anything'
done
for file in $(scripts | grep '^tests/.*/'); do
	name=${file##*/}
	case $name in group.sh) continue ;; esac
	# By name, or by the glob of its folder.
	files tests | grep -vxF "$file" |
		xargs grep -qE "$name|${file%/*}/\*|$(basename "${file%/*}")/\*\.sh" ||
		orphan "$file" 'not run by anything'
done

symbols() # NM-OPTION...: of every object, once each
{
	find "$build" -name '*.o' -print0 | xargs -0 nm "$@" | awk 'NF > 1 { print $NF }' | sort -u
}

words() # on stdin
{
	grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort
}

while read -r name; do
	orphan "$name" 'nothing but its own file uses it: static, or superfluous'
done < <(comm -23 <(symbols --extern-only --defined-only) <(symbols --undefined-only) |
	comm -12 - <(files '*.h' | xargs cat | words | uniq))

while read -r name; do
	orphan "$name" 'nothing uses it'
done < <(files '*.c' '*.h' '*.def' '*.in' |
	xargs awk 'BEGIN { RS = "\\*/" } { sub(/\/\*.*/, ""); print }' | words | uniq -u |
	comm -12 - <(files '*.c' '*.h' | xargs sed -nE 's/^# *define ([A-Za-z0-9_]+).*/\1/p
		s/^(static inline|ALWAYS_INLINE) .*[ *]([A-Za-z0-9_]+)\(.*/\2/p' | sort -u))
exit $bad
