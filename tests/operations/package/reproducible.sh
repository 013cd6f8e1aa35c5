#!/bin/bash
# operations/package/reproducible.sh BUILD AGAIN - the same sources give the same packages
#
# BUILD has packages already. They are made once more in AGAIN: from a copy of the sources with
# other times, in another folder, at another time, in another time zone, home and locale. No byte
# of the packages, and no name of a folder in them, tells the difference. What would is refused.
. "$(dirname "$0")/../../static/lib.sh"
set -e
build=$1
again=$2/in/another/folder
rm -rf "$2"
mkdir -p "$again"
files | tar -c -T - | tar -xm -C "$again"
(
	export TZ=Asia/Kathmandu HOME=/nowhere LC_ALL=C.UTF-8 USER=somebody
	cd "$again"
	cmake -B b -G Ninja -DPACKAGE=ON -DTESTS=OFF
	ninja -C b
	cd b
	if (umask 077 && cpack); then
		echo 'a package that others cannot read'
		exit 1
	fi
	cpack
)
bad=0
packages=("$again"/b/*.deb)
[ ${#packages[@]} = 3 ] || { echo 'no packages'; exit 1; }
for package in "${packages[@]}"; do
	cmp "$build/${package##*/}" "$package" || bad=1
	rm -rf "$2/unpacked"
	dpkg-deb -R "$package" "$2/unpacked"
	! grep -rlaF -e "$again" -e "$2" "$2/unpacked" || bad=1
done
exit $bad
