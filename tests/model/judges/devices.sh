#!/bin/bash
# judges/devices.sh - the tools of rdma-core and iproute2 see the devices as on a host
# timeout: 300
. "$(dirname "$0")/lib/model.sh"

# The value of a field in ibv_devinfo's output, spaces squeezed.
field() # NAME
{
	sed -nE "s/^[[:space:]]*$1:[[:space:]]+(.*)$/\1/p" "$TMPDIR/devinfo" |
		tr -s '[:space:]' ' ' | head -n 1 | sed 's/ $//'
}

field_is() # NAME EXPECTED
{
	equal "ibv_devinfo -v $1" "$(field "$1")" "$2"
}

model_start --port eth0=pair:eth1 --port eth1=pair:eth0

on ibv_devices >"$TMPDIR/devices"
check 'ibv_devices ends with 0' [ $? = 0 ]
equal 'ibv_devices lists' "$(awk '/mlx5_/ { printf "%s ", $1 }' "$TMPDIR/devices")" 'mlx5_0 mlx5_1 '
guid=$(awk '$1 == "mlx5_0" { print $2 }' "$TMPDIR/devices")

on ibv_devinfo -v -d mlx5_0 >"$TMPDIR/devinfo"
check 'ibv_devinfo -v ends with 0' [ $? = 0 ]
cat "$TMPDIR/devinfo"
field_is hca_id mlx5_0
field_is transport 'InfiniBand (0)'
field_is node_guid "$(sed 's/..../&:/g; s/:$//' <<<"$guid")"
field_is vendor_id 0x02c9 # the OUI, as mlx5_ib reports, not the PCI number
field_is vendor_part_id 4125
field_is phys_port_cnt 1
field_is state 'PORT_ACTIVE (4)'
field_is link_layer Ethernet
field_is active_mtu '1024 (3)'
field_is phys_state 'LINK_UP (5)'
field_is max_cqe 4194303
field_is hca_core_clock 1000000kHZ
check 'raw packets: IP checksums are offloaded' grep -q 'IP csum offload' "$TMPDIR/devinfo"
equal 'board_id' "$(field board_id)" MT_0000000359
within 'RSS by Toeplitz' "$(($(field rx_hash_function)))" 1 1

# As iproute2 prints them: the port, its state, and the netdev by its number.
link_of() # RDMA-NAME
{
	on rdma -d link show "$1/1" | tr -s ' ' | sed 's/ $//'
}

for n in 0 1; do
	equal "rdma link mlx5_$n" "$(link_of mlx5_$n)" \
		"link mlx5_$n/1 state ACTIVE physical_state LINK_UP netdev eth$n netdev_index $(
		cat /sys/class/net/eth$n/ifindex)"
	guid=$(on ibv_devices | awk -v n=mlx5_$n '$1 == n { print $2 }')
	equal "rdma dev mlx5_$n" "$(on rdma dev show mlx5_$n | grep -o 'node_guid [0-9a-f:]*')" \
		"node_guid $(sed 's/..../&:/g; s/:$//' <<<"$guid")"
done

# A cable pulled at one end is down at both; set down by ip, the port is down as well.
state() # RDMA-NAME STATE PHYSICAL-STATE
{
	[[ $(link_of "$1") == *" state $2 physical_state $3 "* ]]
}

is_on() # RDMA-NAME NETDEV
{
	[[ $(link_of "$1") == *" netdev $2 "* ]]
}

ctl link eth0 down
wait_for 60 'mlx5_0 is down' state mlx5_0 DOWN DISABLED
on ibv_devinfo -d mlx5_0 >"$TMPDIR/devinfo"
field_is state 'PORT_DOWN (1)'
ctl link eth0 up
wait_for 60 'mlx5_0 is up' state mlx5_0 ACTIVE LINK_UP
ip link set eth0 name wan0
wait_for 60 'mlx5_0 shows the new name of its netdev' is_on mlx5_0 wan0
model_stop
finish
