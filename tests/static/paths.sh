#!/bin/bash
# tests/static/paths.sh - no path or host of somebody's machine in a file
. "$(dirname "$0")/lib.sh"

# Written so that this file does not find itself.
paths='(^|[^A-Za-z0-9_.-])/(work|farm|home|root|tmp/(ref|b-))/'
hosts='(deb|security|snapshot)[.]debian[.]org|registry[.]npmjs[.]org|pypi[.]org'
! files | grep -v '^LICENSE$' | xargs grep -nIE "$paths|$hosts"
