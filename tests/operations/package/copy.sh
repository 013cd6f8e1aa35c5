# shellcheck shell=bash
# operations/package/copy.sh - a copy of this machine, to install packages in; sourced first
#
# The script that sources it starts itself again in an overlay of /: what is written goes to
# memory ($TMPDIR/written) and is gone with the test, so dpkg really runs, and the machine that
# runs the tests does not know. No manager runs there: systemctl works on files.
#
#   deb NAME               the file of a package that was built
#   left                   what was written and is still there, one path a line
#   install DEB...         dpkg -i, unattended
: "${PACKAGE_DIR:?the folder of the packages; tests/run sets it}"
: "${top:?}" "${MODEL_BIN:?}" "${TMPDIR:?}"
written=$TMPDIR/written

bind() # PATH...: also what is a file system of its own
{
	local path

	for path; do
		mkdir -p "$copy$path"
		mount --bind "$path" "$copy$path"
	done
}

if [ -z "${IN_COPY:-}" ]; then
	copy=$TMPDIR/copy
	mkdir "$copy" "$written" "$TMPDIR/work"
	mount -t overlay -o "lowerdir=/,upperdir=$written,workdir=$TMPDIR/work" overlay "$copy"
	for path in /proc /sys /dev /run; do mount --rbind "$path" "$copy$path"; done
	bind "$TMPDIR" "$top" "$MODEL_BIN" "$PACKAGE_DIR"
	export IN_COPY=1 DEBIAN_FRONTEND=noninteractive
	exec chroot "$copy" bash "$(realpath "$0")" "$@"
fi

deb()
{
	echo "$PACKAGE_DIR/$1"_*_"$(dpkg --print-architecture).deb"
}

# Files only; those of dpkg itself, its logs, and what its triggers write are not the package's.
left()
{
	(cd "$written" && find . ! -type d) | cut -c2- | grep -vE -e '^/var/(lib/dpkg|log|cache)/' \
		-e '^/etc/(ld.so.cache|.pwd.lock|(passwd|group|g?shadow)-?)$' | sort
}

install()
{
	dpkg --force-confdef --force-confold -i "$@" >"$TMPDIR/dpkg.log" 2>&1 </dev/null
}
