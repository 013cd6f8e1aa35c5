#!/bin/bash
# datapath/modes_all.sh - modes.sh with every combination of settings: a thousand modes
# timeout: 7200
# long
exec bash "$(dirname "$0")/modes.sh" --all
