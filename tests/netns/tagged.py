#!/usr/bin/env python3
"""netns/tagged.py DEV VLAN COUNT READY - IPv4 frames that come by DEV with this VLAN's tag

Makes the file READY when it listens; prints how many came, once it is COUNT, or after 10 s of
nothing. The kernel takes tags out of frames: packet(7), PACKET_AUXDATA.
"""

import socket
import struct
import sys

SOL_PACKET, PACKET_AUXDATA = 263, 8
STATUS_VLAN_VALID = 1 << 4
ETH_P_ALL = 3


def vlan_of(control):
    for level, kind, data in control:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, tci, tpid = struct.unpack("=I12xHH", data[:20])
            if status & STATUS_VLAN_VALID and tpid in (0, 0x8100):
                return tci & 0xFFF
    return None


def main():
    dev, vlan, count, ready = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    sock.bind((dev, ETH_P_ALL))
    sock.settimeout(10)
    open(ready, "w").close()
    came = 0
    try:
        while came < count:
            frame, control, _, _ = sock.recvmsg(2048, 128)
            came += vlan_of(control) == vlan and frame[12:14] == b"\x08\x00"
    except socket.timeout:
        pass
    print(came)


main()
