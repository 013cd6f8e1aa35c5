#!/bin/bash
# judges/kill100.sh - a client killed 100 times, at any moment, leaves nothing in the device
# timeout: 300
. "$(dirname "$0")/lib/model.sh"
finish
