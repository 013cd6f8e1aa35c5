#!/bin/bash
# operations/completion.sh - real shells complete mlx5fwdctl: without a daemon, with one, and with
# one that is stopped and says nothing
# timeout: 120
. "$(dirname "$0")/lib.sh"

mkdir "$TMPDIR/here"
cd "$TMPDIR/here" || exit 1
: >here.file
PATH=$FWD_BIN/control:$PATH

# Words that are offered, by the alphabet, and the line after that.
completed() # SHELL LINE
{
	zsh -f "$top/tests/operations/completion.zsh" "$@" >"$TMPDIR/completed" || echo failed
	{
		grep -v '^=' "$TMPDIR/completed" | sort -u
		grep '^=' "$TMPDIR/completed"
	} | paste -sd ' '
}

all='add append del flush get replace restore save show summary'
for shell in zsh bash; do
	equal "$shell: an object" "$(completed $shell 'mlx5fwdctl ro')" \
		'route = mlx5fwdctl route '
	equal "$shell: its verbs" "$(completed $shell 'mlx5fwdctl route ')" \
		"$all = mlx5fwdctl route "
	equal "$shell: behind options" "$(completed $shell 'mlx5fwdctl -j -T 3 route re')" \
		'replace restore = mlx5fwdctl -j -T 3 route re'
	equal "$shell: an option" "$(completed $shell 'mlx5fwdctl --mis')" \
		'--missing-ok = mlx5fwdctl --missing-ok '
	equal "$shell: words of a verb" "$(completed $shell 'mlx5fwdctl route show proto ')" \
		'kernel static = mlx5fwdctl route show proto '
	equal "$shell: a file" \
		"$(completed $shell 'mlx5fwdctl -b he' | sed 's/^here.file //')" \
		'= mlx5fwdctl -b here.file '
	equal "$shell: a port, and there is no daemon" \
		"$(completed $shell 'mlx5fwdctl port show e')" '= mlx5fwdctl port show e'
done

hosts_up
router_start
export MLX5FWD_SOCKET=$socket
for shell in zsh bash; do
	equal "$shell: ports" "$(completed $shell 'mlx5fwdctl port show e')" \
		'eth0 eth1 = mlx5fwdctl port show eth'
	equal "$shell: a port" "$(completed $shell 'mlx5fwdctl route show dev eth1')" \
		'eth1 = mlx5fwdctl route show dev eth1 '
done
kill -STOP "$(pgrep -x mlx5fwd)"
for shell in zsh bash; do
	before=${EPOCHREALTIME/./}
	equal "$shell: a port, and the daemon is stopped" \
		"$(completed $shell 'mlx5fwdctl port show e')" '= mlx5fwdctl port show e'
	within "$shell: ms until the prompt is back" $(((${EPOCHREALTIME/./} - before) / 1000)) 0 \
		5000
	equal "$shell: a word that needs no daemon" "$(completed $shell 'mlx5fwdctl ro')" \
		'route = mlx5fwdctl route '
done
kill -CONT "$(pgrep -x mlx5fwd)"
unset MLX5FWD_SOCKET
router_stop
model_stop
finish
