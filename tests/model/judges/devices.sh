#!/bin/bash
# judges/devices.sh - the tools of rdma-core and iproute2 see the devices as on a host
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
check 'raw packets are among the capabilities' grep -q 'raw packet' -i "$TMPDIR/devinfo"
finish
