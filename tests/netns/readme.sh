#!/bin/bash
# netns/readme.sh - the demo: what README.md has of it, and a key that ends it
#
# The recording is compared but for what differs from run to run: milliseconds of ping.
# timeout: 120
. "$top/tests/lib.sh"

same_every_time()
{
	sed -E 's/time [0-9]+ms/time Nms/; s/[[:space:]]+$//'
}

# On a terminal of its own; a key is pressed once the counters were shown twice.
press_a_key()
{
	python3 - "$1" <<'PY'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp('bash', ['bash', '-c', 'isolated "$1"', '-', sys.argv[1]])
shown, pressed = b'', False
while True:
    try:
        got = os.read(terminal, 65536)
    except OSError:  # so ends a terminal that nobody has open
        break
    shown += got
    live = shown.partition(b'Live, until a key is pressed')[2]
    if live.count(b'eth1: ') == 2 and not pressed:
        pressed = True
        os.write(terminal, b'q')
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pressed else 'no live counters')
PY
}

demo=$top/tests/netns/demo
isolated "$demo" --check >"$TMPDIR/printed"
equal 'exit status of the demo' $? 0
sed -n '/<!-- demo-output -->/,/<!-- \/demo-output -->/p' "$top/README.md" | sed '1,2d' |
	head -n -2 | same_every_time >"$TMPDIR/recorded"
same_every_time <"$TMPDIR/printed" | sed -n '/^Routes/,$p' >"$TMPDIR/now"
check 'README.md has what it prints' diff "$TMPDIR/recorded" "$TMPDIR/now"
check 'live counters, and a key ends it' press_a_key "$demo"
finish
