#!/bin/bash
# tests/static/aarch64.sh - what is installed compiles for 64-bit Arm too: scalar lookups, fences
#
# Debian's cross headers of libc come first; those of other libraries are the same on both.
. "$(dirname "$0")/lib.sh"
bad=0

arm=/usr/aarch64-linux-gnu/include
flags=(--target=aarch64-linux-gnu -c -O1 -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror
	-nostdlibinc -Ilib -isystem "$arm" -idirafter /usr/include
	-idirafter /usr/include/x86_64-linux-gnu)
object=$(mktemp)
trap 'rm -f "$object"' EXIT

[ -d "$arm" ] || { echo "$arm: not there (libc6-dev-arm64-cross)"; exit 1; }
while read -r file; do
	clang "${flags[@]}" -o "$object" "$file" || bad=1
done < <(files 'lib/*.c')
exit $bad
