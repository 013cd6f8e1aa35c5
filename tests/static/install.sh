#!/bin/bash
# tests/static/install.sh DIR - README.md builds and installs what it says, below DIR
#
# Its own commands are run, without sudo, in DIR instead of build/release; its example of a
# configuration passes --check.
. "$(dirname "$0")/lib.sh"
dir=$1
export DESTDIR=$dir/root
rm -rf "$dir"

chapter() # TITLE: its indented lines
{
	sed -n "/^## $1\$/,/^## /s/^ \{4,\}//p" README.md
}

commands=$(chapter Build | grep -E '^(sudo )?cmake ' | sed "s/^sudo //; s,build/release,$dir,g")
echo "$commands"
[ "$(wc -l <<<"$commands")" = 2 ] || { echo 'README.md: not two commands'; exit 1; }
bash -euxc "$commands" || exit 1

conf=$DESTDIR/etc/mlx5fwd/mlx5fwd.conf
set -ex
"$DESTDIR/usr/sbin/mlx5fwd" --help | grep -q 'default /etc/mlx5fwd/mlx5fwd.conf$'
"$DESTDIR/usr/sbin/mlx5fwd" --check -c "$conf"
"$DESTDIR/usr/bin/mlx5fwdctl" --version
"$DESTDIR/usr/bin/mlx5pkt" --version
chapter 'On a real card' | grep -E '^(\[|[a-z_]+ = )' >"$dir/readme.conf"
"$DESTDIR/usr/sbin/mlx5fwd" --check -c "$dir/readme.conf"

# An edited configuration outlives the next installation.
echo '[port lan]' >"$conf"
cmake --install "$dir"
[ "$(cat "$conf")" = '[port lan]' ]
