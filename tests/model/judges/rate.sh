#!/bin/bash
# judges/rate.sh - how fast testpmd forwards through the model; reported, not judged
# timeout: 300
#
# One port whose wire is a loop; the packets of `start tx_first` go round for ever. That
# is the least that a packet can cost: one send and one receive.
. "$(dirname "$0")/lib/model.sh"
. "$(dirname "$0")/lib/testpmd.sh"

model_start --port eth0=loop
testpmd_start -l 0,1 --no-huge -m 512 -a "$(pci eth0)" \
	-- -i --total-num-mbufs=8192 --rxd=1024 --txd=1024 --burst=64 --no-mlockall
tp 'start tx_first 8'

rates=()
first=$(count_of eth0 tx_frames)
for _ in 1 2 3 4 5 6 7; do
	from=$(count_of eth0 tx_frames)
	start=${EPOCHREALTIME/./}
	sleep 0.5 # the length of a measurement
	frames=$(($(count_of eth0 tx_frames) - from))
	rates+=($((frames * 1000 / (${EPOCHREALTIME/./} - start))))
done
mapfile -t rates < <(printf '%d\n' "${rates[@]}" | sort -n)
at_least 'frames in all' $(($(count_of eth0 tx_frames) - first)) 1000
report "$(printf 'testpmd forwards %d.%02d Mpps through the model (%d.%02d..%d.%02d)' \
	$((rates[3] / 1000)) $((rates[3] % 1000 / 10)) $((rates[0] / 1000)) \
	$((rates[0] % 1000 / 10)) $((rates[6] / 1000)) $((rates[6] % 1000 / 10)))"
tp 'stop'
equal 'frames without a buffer' "$(count_of eth0 rx_no_buffer)" 0
testpmd_quit
model_stop
finish
