#!/bin/bash
# datapath/modes_all.sh - modes.sh with every four settings: some hundred modes
# timeout: 1800
# alone
# long
exec bash "$(dirname "$0")/modes.sh" -4
