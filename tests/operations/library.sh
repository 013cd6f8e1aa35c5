#!/bin/bash
# operations/library.sh - m5io as others get it: headers, both libraries, m5io.pc, the example
# timeout: 240
# plain
. "$(dirname "$0")/package/copy.sh"
. "$top/tests/model/judges/lib/model.sh"

work=$TMPDIR/library
mac=02:00:00:00:cc:00
soname=libm5io.so.$(sed -nE 's/^project\(.* VERSION ([0-9]+\.[0-9]+).*/\1/p' "$top/CMakeLists.txt")
mkdir "$work"
cd "$work" || exit

flags() { pkg-config "$@" m5io; }
is_written() { [ -s "$1" ]; }
all_back() { [ "$(wire_stat eth0 returned)" -ge 2000 ]; }

# ---- packages ----

check 'they install' install "$(deb libm5io0.1)" "$(deb libm5io-dev)" || cat "$TMPDIR/dpkg.log"
equal 'files that differ' "$(dpkg -V libm5io0.1 libm5io-dev)" ''
lib=$(pkg-config --variable=libdir m5io)
equal 'version' "$(pkg-config --modversion m5io)" "$(dpkg-query -W -f '${Version}' libm5io-dev)"
equal 'soname' "$(objdump -p "$lib/libm5io.so" | awk '/SONAME/ { print $2 }')" "$soname"
check 'the loader knows it' grep -q "$soname" <(ldconfig -p)

# ---- names: what m5io.symbols has, and no other ----

names=$top/lib/m5io.symbols
equal 'the shared library exports' "$(nm -D --defined-only "$lib/libm5io.so" |
	awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort | diff - "$names")" ''
equal 'and the static one' "$(nm --extern-only --defined-only "$lib/libm5io.a" |
	awk 'NF == 3 { print $3 }' | sort | diff - "$names")" ''

# -aux-info lists functions that are declared, with where.
include=$(pkg-config --variable=includedir m5io)
(cd "$include" && find . -name '*.h' -printf '#include <%P>\n') | sort >all.c
# shellcheck disable=SC2046 # words
check 'all headers together' gcc -std=c11 $(flags --cflags) -aux-info all.x -c all.c -o all.o
equal 'the headers declare' "$(grep -F "$include/" all.x | grep -v ' static ' |
	sed 's/ (.*//; s/.*[ *]//' | sort -u | diff - "$names")" ''

# ---- headers ----

# Each alone, by compilers that forgive nothing; no other flags than those of m5io.pc.
while read -r line; do
	for cc in 'gcc -std=c11' 'gcc -std=c17' 'clang -std=c11'; do
		# shellcheck disable=SC2046,SC2086 # words
		check "$cc: $line" $cc -Wall -Wextra -Wpedantic -Werror $(flags --cflags) \
			-fsyntax-only -x c - <<<"$line"$'\nextern int some;'
	done
done <all.c
equal 'headers that include what is not installed' \
	"$(grep -rlE '#include <(infiniband|numa)' "$include")" ''

# ---- the example, with each library, on a device whose generator checks what comes back ----

example=/usr/share/doc/libm5io-dev/examples/reflect.c
# shellcheck disable=SC2046 # words
{
	check 'as its first lines say' gcc -O2 -Wall -Wextra -Werror $example -o shared \
		$(flags --cflags --libs)
	check 'with the static library' gcc -O2 $example -o static $(flags --cflags) \
		"$lib/libm5io.a" $(flags --static --libs | sed 's/-lm5io//')
}
check 'it needs the shared one' grep -q "NEEDED *$soname" <(objdump -p shared)
check 'the other does not' grep -vq "NEEDED *libm5io" <(objdump -p static | grep NEEDED)

for kind in shared static; do
	model_start --port \
		"eth0=gen:start=ctl,window=24,count=2000,check=macswap,family=46,mac=$mac"
	before=$(alive objects)
	start_on "$work/$kind" eth0 >said 2>&1
	wait_for 30 "$kind: it is ready" is_written said
	equal "$kind: says" "$(cat said)" ready
	ctl wire eth0 start
	wait_for 60 "$kind: all come back" all_back
	kill -TERM "$on_pid"
	wait "$on_pid"
	equal "$kind: exit status" $? 0
	equal "$kind: says" "$(tail -n 1 said)" 'sent 2000'
	equal "$kind: changed, twice, without a buffer" \
		"$(for n in bad duplicate rx_no_buffer; do wire_stat eth0 $n; done | xargs)" '0 0 0'
	equal "$kind: objects of the device afterwards" "$(alive objects)" "$before"
	model_stop
	rm said
done
./shared >said 2>&1
equal 'without an argument' $?,"$(cat said)" '1,reflect: name one port'
./shared lo >said 2>&1
equal 'a port that is no card' $? 1
at_least 'and it says so, in letters' "$(wc -c <said)" 30

check 'they can be removed' dpkg -P libm5io-dev libm5io0.1
equal 'what is left of them' "$(left | grep m5io | xargs)" ''
finish
