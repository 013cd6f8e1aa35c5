#!/bin/bash
# operations/top.sh - mlx5fwdctl top: rates, in a pipe and on a terminal of any size
# timeout: 120
. "$(dirname "$0")/lib.sh"

hosts_up
router_start
routes_add
in_a ping -q -c 1 -W 2 10.0.2.2 >/dev/null
stream_start s a b 10.0.2.2 500

# ---- in a pipe: one screen, plain text ----
try top
equal 'status' "$rc,$said" 0,
equal 'no control characters' "$(tr -d '[:print:]\n' <"$TMPDIR/out" | wc -c)" 0
check 'what the daemon does' \
	grep -q '^mlx5fwd forwarding, up 0d 00:.*; ports 2 of 2 up' "$TMPDIR/out"
pps=$(awk '$1 == "eth0" && $2 == "up" { print $3; exit }' "$TMPDIR/out")
within 'packets a second from a' "${pps%%.*}" 50 800
equal 'are forwarded to b' "$(awk '$1 == "eth1" && $2 == "up" { print ($5 > 50) }' "$TMPDIR/out")" 1
at_least 'by the worker' "$(awk '$1 == "0" && NF == 6 { print int($4) }' "$TMPDIR/out")" 50
check 'three screens' fwdctl top count 3 interval 1 >"$TMPDIR/three"
equal 'are three' "$(grep -c '^mlx5fwd ' "$TMPDIR/three")" 3
fits top top count 2
equal 'two samples' "$(json '(len(j), *[s["ports"][0]["received"] > 0 for s in j])')" \
	'(2, True, True)'
refused 1 'top frob: must be count or interval, and a number of at least 1 (EINVAL)' top frob 1
refused 1 'top count: must be count or interval, and a number of at least 1 (EINVAL)' top count 0

# ---- on a terminal ----
cat >"$TMPDIR/terminal.py" <<'PY'
import fcntl, os, pty, select, signal, struct, sys, termios, time

how = sys.argv[1]
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b""


def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(pid, signal.SIGWINCH)


def until(what, seconds=20):
    global seen
    end = time.monotonic() + seconds
    while what not in seen and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
    if what not in seen:
        sys.exit(f"never saw {what} in {seen!r}")
    at = seen.index(what) + len(what)
    before, seen = seen[:at], seen[at:]
    return before


size(30, 120)
until(b"\x1b[?1049h")
until(b"PORT            STATE")
until(b"eth0")
until(b"\x1b[J")
size(5, 40)
until(b"\x1b[J")
frame = until(b"\x1b[J").split(b"\x1b[H")[-1].split(b"\n")
lines = [l.replace(b"\x1b[K", b"").strip(b"\r") for l in frame[:-1]]
assert len(lines) == 4 and max(map(len, lines)) <= 40, lines
if how == "q":
    os.write(fd, b"q")
else:
    os.kill(pid, getattr(signal, how))
until(b"\x1b[?25h\x1b[?1049l")
status = os.waitpid(pid, 0)[1]
flags = termios.tcgetattr(fd)[3]
assert status == 0, status
assert flags & termios.ECHO and flags & termios.ICANON, "the terminal is as it was"
PY
for how in q SIGINT SIGTERM; do
	check "a terminal, ended by $how" python3 "$TMPDIR/terminal.py" $how \
		"$tool" -S "$socket" -T 60 top
done

stream_stop s 'beside all that'
router_stop
refused 3 "$socket: there is no daemon (ENOENT); is mlx5fwd running?" top
model_stop
finish
