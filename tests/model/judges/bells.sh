#!/bin/bash
# judges/bells.sh - doorbells counted by the processor: testpmd rings one for each burst
# timeout: 300
#
# The device's own count is less: it sees the last of several between two looks.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

burst=32
model_start --port eth0=loop
testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)" -- -i --total-num-mbufs=8192 \
	--txd=1024 --burst=$burst --forward-mode=txonly --no-mlockall
mkfifo "$TMPDIR/bells.in"
"$MODEL_BIN/t_bells" "$(pgrep -x dpdk-testpmd)" <"$TMPDIR/bells.in" >"$TMPDIR/bells" &
bells=$!
exec 8>"$TMPDIR/bells.in"
watching() { grep -q watching "$TMPDIR/bells" || ! kill -0 "$bells" 2>/dev/null; }
wait_for 60 'watchpoints are set' watching
if ! kill -0 "$bells" 2>/dev/null; then
	wait "$bells"
	[ $? != 77 ] || skip 'this machine has no watchpoints'
	die 't_bells ended'
fi
tp start
sent() { [ "$(count_of eth0 tx_frames)" -ge 20000 ]; }
wait_for 60 '20000 frames are sent' sent
tp stop
stopped()
{
	local n

	n=$(count_of eth0 tx_frames)
	sleep 0.1
	[ "$n" = "$(count_of eth0 tx_frames)" ]
}
wait_for 60 'all frames are out' stopped
echo >&8
wait "$bells"
read -r _ rung _ <<<"$(tail -n 1 "$TMPDIR/bells")"
frames=$(count_of eth0 tx_frames)
echo "$frames frames, $rung doorbells, of which the device saw $(count_of eth0 doorbells)"
# A burst that finds the ring nearly full is taken in part.
bursts=$((frames / burst))
within 'doorbells' "$rung" $bursts $((bursts * 2))
check 'the device saw no more' [ "$(count_of eth0 doorbells)" -le "$rung" ]
testpmd_quit
model_stop
finish
