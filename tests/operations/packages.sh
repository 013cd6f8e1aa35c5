#!/bin/bash
# operations/packages.sh - mlx5fwd as a package: installed, used, upgraded, removed, purged
# timeout: 240
# plain
. "$(dirname "$0")/package/copy.sh"
export FWD_BIN=$TMPDIR/installed # the programs where tests/netns expects them
mkdir -p "$FWD_BIN"/{daemon,control}
ln -s /usr/sbin/mlx5fwd "$FWD_BIN/daemon/"
ln -s /usr/bin/mlx5fwdctl "$FWD_BIN/control/"
. "$top/tests/netns/lib.sh"

package=$(deb mlx5fwd)
etc=/etc/mlx5fwd/mlx5fwd.conf
units='mlx5fwd.service mlx5fwd-control.socket mlx5fwd-metrics.socket mlx5fwd-read.socket'

state() { dpkg-query -W -f '${db:Status-Abbrev}' mlx5fwd 2>/dev/null | tr -d ' '; }
version() { dpkg-query -W -f '${Version}' mlx5fwd; }
enabled() { for unit in $units; do systemctl is-enabled "$unit" 2>&1; done | sort -u; }

answered() { grep -c icmp_seq "$ping_log"; }
more_answered() { [ "$(answered)" -gt $((at_end + 20)) ]; }

# The same package, a version on, with another default in its configuration file.
next_version()
{
	local tree=$TMPDIR/next

	dpkg-deb -R "$package" "$tree"
	sed -i "s/^Version: .*/&+next/" "$tree/DEBIAN/control"
	echo '; a key of the next version' >>"$tree$etc"
	(cd "$tree" && md5sum "${etc#/}" | sed -i "\\,  ${etc#/}\$,{
		r /dev/stdin
		d
	}" DEBIAN/md5sums)
	dpkg-deb --root-owner-group -b "$tree" "$TMPDIR/next.deb" >"$TMPDIR/dpkg.log"
}

# ---- a machine that never had it ----

left >"$TMPDIR/before"
check 'it installs' install "$package" || cat "$TMPDIR/dpkg.log"
equal 'state of the package' "$(state)" ii
equal 'files that differ from the package' "$(dpkg -V mlx5fwd)" ''
equal 'units, before anybody asks for them' "$(enabled)" disabled
check 'the user it runs as' getent passwd mlx5fwd
equal 'who cannot log in' "$(getent passwd mlx5fwd | cut -d: -f7)" /usr/sbin/nologin
check 'the group that may use the tool' getent group mlx5fwd
for page in $(dpkg -L mlx5fwd | sed -n 's,.*/man/man./\(.*\)\.gz,\1,p'); do
	check "man ${page%.*}" man -w "${page##*.}" "${page%.*}"
done
for program in mlx5fwd mlx5fwdctl mlx5pkt; do
	equal "$program --version" "$($program --version)" "$program $(version)"
done
for program in mlx5fwd mlx5pkt; do
	equal "options that $program(8) does not have" "$($program --help |
		grep -oE -- '--[a-z]+' | sort -u |
		comm -23 - <(zcat /usr/share/man/man8/$program.8.gz | sed 's/\\-/-/g' |
			grep -oE -- '--[a-z]+' | sort -u) | xargs)" ''
done
check 'its configuration is valid' mlx5fwd --check
fresh=$(sha256sum <$etc)

# An untouched file follows the package; nothing was enabled, so nothing is.
next_version
check 'upgrade' install "$TMPDIR/next.deb"
check 'a configuration nobody touched is that of the new version' \
	grep -q 'next version' $etc
equal 'units after an upgrade' "$(enabled)" disabled
check 'and back' install "$package"
equal 'its configuration too' "$(sha256sum <$etc)" "$fresh"

# ---- an operator's ----

printf '[port eth0]\n[port eth1]\n' >>$etc
check 'the units can be enabled' systemctl enable -q mlx5fwd.service
equal 'and its sockets with it' "$(enabled)" enabled

hosts_up
socket=/run/mlx5fwd/control.sock # as shipped; the units make the folder
conf=$etc
mkdir -p /run/mlx5fwd
router_start
routes_add
check 'a reaches b through the installed router' answers a 20 10.0.2.2
check 'by the default socket' mlx5fwdctl status

# Every family of a scrape is in the page.
families() { sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' | sort; }
in_r python3 -c 'import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen("http://127.0.0.1:15350/metrics").read())' \
	>"$TMPDIR/scrape"
at_least 'families of a scrape' "$(families <"$TMPDIR/scrape" | wc -l)" 40
equal 'those that mlx5fwd-metrics(7) does not have' "$(families <"$TMPDIR/scrape" |
	comm -23 - <(zcat /usr/share/man/man7/mlx5fwd-metrics.7.gz |
		sed -n 's/^\.B \([a-z0-9_]*\).*/\1/p' | sort) | xargs)" ''

ping_log=$TMPDIR/ping.log
ip netns exec a ping -i 0.01 -w 100 10.0.2.2 >"$ping_log" &
ping_pid=$!
check 'upgrade while it runs' install "$TMPDIR/next.deb"
at_end=$(answered)
wait_for 20 'answers come after the upgrade too' more_answered
kill -INT $ping_pid
wait $ping_pid
# Those under way when it was told to stop do not count.
equal 'pings without an answer' "$(grep -o 'icmp_seq=[0-9]*' "$ping_log" |
	awk -F= '{ if ($2 > max) max = $2 } END { print max - NR }')" 0
equal 'version' "$(version)" "$(dpkg-deb -f "$package" Version)+next"
check 'the configuration of an operator stays' grep -q '^\[port eth1\]' $etc
check 'and the new one is beside it' grep -q 'next version' $etc.dpkg-dist
equal 'units that were enabled' "$(enabled)" enabled
router_stop
router_start
check 'the new version starts with the old configuration' answers a 20 10.0.1.1
router_stop

# ---- the end ----

check 'it can be removed' dpkg -r mlx5fwd
equal 'state' "$(state)" rc
check 'the configuration stays' grep -q '^\[port eth1\]' $etc
equal 'programs and units that stay' \
	"$(left | grep -E '/s?bin/mlx5|systemd/system/mlx5fwd[^/]*$|/share/')" ''
check 'it comes back' install "$package"
equal 'units that were enabled' "$(enabled)" enabled
check 'with the configuration' grep -q '^\[port eth1\]' $etc
echo '# mine' >/etc/mlx5fwd/routes
check 'purge' dpkg -P mlx5fwd
check 'a file of the operator' grep -q mine /etc/mlx5fwd/routes
rm /etc/mlx5fwd/routes
check 'again' install "$package"
check 'purge with nothing of an operator' dpkg -P mlx5fwd
equal 'state' "$(state)" ''
equal 'what is left of it' "$(left | comm -23 - <(sort "$TMPDIR/before") | xargs)" ''
check 'its folder is gone' test ! -e /etc/mlx5fwd
check 'the user stays: files may be theirs' getent passwd mlx5fwd
finish
