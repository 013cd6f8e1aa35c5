#!/bin/bash
# tests/static/orphans.sh BUILD - C files are compiled, by CMake or a script; headers and tables
# are included; scripts are run by a group or another script
. "$(dirname "$0")/lib.sh"
build=$1
bad=0

orphan()
{
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
exit $bad
