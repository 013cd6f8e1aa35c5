#!/usr/bin/env python3
"""Frames put on one interface come out of another, whole and in order.

use: wirecheck.py NETNS IF NETNS IF COUNT [vlan]

Sends COUNT numbered frames of all sizes on the first interface and reads them from
the second; prints "same N" or the first difference, and ends with 1 then.
"""
import ctypes
import socket
import struct
import sys

ETH_P_ALL, TYPE = 3, 0x88B5  # local experimental, IEEE 802
SOL_PACKET, AUXDATA, OUTGOING = 263, 8, 4
BURST = 64


def packet_socket(netns, name):
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/var/run/netns/" + netns, "rb") as f:
        if libc.setns(f.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns " + netns)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    s.setsockopt(SOL_PACKET, AUXDATA, 1)
    s.bind((name, ETH_P_ALL))
    s.settimeout(10)
    return s


def frame(n, vlan):
    size = 60 + n * 37 % 1455
    tag = struct.pack("!HH", 0x8100, n % 4095 + 1) if vlan and n % 2 else b""
    head = b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01" + tag + struct.pack("!HI", TYPE, n)
    return head + bytes((n * 7 + i) & 255 for i in range(size - len(head)))


def receive(s):
    """The next frame of ours, with its tag back in place."""
    while True:
        data, anc, _, addr = s.recvmsg(65536, 256)
        if addr[2] == OUTGOING:
            continue
        for level, kind, value in anc:
            status, tci = struct.unpack_from("=I", value)[0], struct.unpack_from("=H", value, 16)[0]
            if (level, kind) == (SOL_PACKET, AUXDATA) and status & 0x10:  # VLAN_VALID
                data = data[:12] + struct.pack("!HH", 0x8100, tci) + data[12:]
        at = 16 if data[12:14] == b"\x81\0" else 12
        if struct.unpack_from("!H", data, at)[0] == TYPE:
            return data


def main(netns_in, if_in, netns_out, if_out, count, vlan):
    out = packet_socket(netns_out, if_out)
    put = packet_socket(netns_in, if_in)
    for first in range(0, count, BURST):
        burst = [frame(n, vlan) for n in range(first, min(first + BURST, count))]
        for f in burst:
            put.send(f)
        for n, want in enumerate(burst, first):
            got = receive(out)
            if got != want:
                print(f"frame {n}: {got[:24].hex()} ({len(got)}), not {want[:24].hex()} ({len(want)})")
                return 1
    print("same", count)
    return 0


if __name__ == "__main__":
    a = sys.argv
    sys.exit(main(a[1], a[2], a[3], a[4], int(a[5]), len(a) > 6))
