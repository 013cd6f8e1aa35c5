#!/usr/bin/env python3
"""judges/lib/l3fwd_frames.py DIR MAC0 MAC1 COUNT SEED - input and expected output of l3fwd

Writes to DIR: v4.cfg, v6.cfg (routes of mixed length to ports 0 and 1), in0.pcap and
in1.pcap, and for each input what must leave by each port, in order: in0-out0.pcap ...

What l3fwd does with a frame (its guide, and RFC 1812): new MACs, TTL less one and the
header checksum to match, longest prefix decides the port; no route, or not IP: back
by the port it came from. DPDK 22.11's l3fwd leaves the IPv6 hop limit alone.
"""
import ipaddress
import sys

import packets as p

ROUTES4 = ["10.0.0.0/8 0", "10.1.0.0/16 1", "10.1.2.0/24 0", "10.1.2.128/25 1",
           "10.1.2.200/32 0", "172.16.0.0/12 1", "192.168.0.0/16 0", "192.168.77.0/26 1",
           "198.18.0.0/15 1", "198.18.0.4/30 0", "203.0.113.8/31 1"]
ROUTES6 = ["2001:db8::/32 0", "2001:db8:1::/48 1", "2001:db8:1:2::/64 0",
           "2001:db8:1:2::80/121 1", "2001:db8:1:2::f0/128 0", "fd00::/8 1",
           "2001:200::/64 1"]
# dest_eth_addr of l3fwd: locally administered, the port number in the last byte
NEXT_HOP = ["02:00:00:00:00:00", "02:00:00:00:00:01"]
NEIGHBOUR = "02:11:22:33:44:55"


def table(routes):
    rows = [row.split() for row in routes]
    return [(ipaddress.ip_network(net), int(port)) for net, port in rows]


def lookup(rows, address, otherwise):
    """Every route is looked at: too slow and too short to be wrong."""
    best, port = -1, otherwise
    for net, out in rows:
        if address in net and net.prefixlen > best:
            best, port = net.prefixlen, out
    return port


def destination(rng, rows):
    """Near a route: the network, a bit beside it, or anywhere in it."""
    net = rows[rng.randrange(len(rows))][0]
    host = rng.randrange(net.num_addresses)
    address = int(net.network_address) + host
    if rng.randrange(4) == 0:
        flip = rng.randrange(net.max_prefixlen)
        address ^= 1 << flip
    return type(net.network_address)(address)


def size_of(rng):
    if rng.randrange(2):
        return 0
    return rng.randrange(1400)


def frame4(rng, rows, port_mac):
    dst = destination(rng, rows)
    src = p.random_ip(rng, "198.51.100.0/24")
    proto = (p.UDP, p.TCP)[rng.randrange(2)]
    ip = {"ttl": 1 + rng.randrange(255), "ident": rng.randrange(65536)}
    kind = rng.randrange(8)
    if kind == 0:
        ip["options"] = b"\x01" * (4 * (1 + rng.randrange(10)))
    if kind == 1:
        ip["fragment"] = 0x2000 if rng.randrange(2) else 1 + rng.randrange(0x1FFF)
    sport = rng.randrange(65536)
    return p.ip_frame(port_mac, NEIGHBOUR, src, str(dst), proto, sport, 9, rng.randbytes(
        size_of(rng)), **ip), dst


def frame6(rng, rows, port_mac):
    dst = destination(rng, rows)
    src = p.random_ip(rng, "2001:db8:ffff::/64")
    proto = (p.UDP, p.TCP)[rng.randrange(2)]
    hops = 1 + rng.randrange(255)
    return p.ip_frame(port_mac, NEIGHBOUR, src, str(dst), proto, rng.randrange(65536), 9,
                      rng.randbytes(size_of(rng)), hops=hops), dst


def routed(frame, out, macs):
    """The frame as it must leave: everything computed anew, nothing incremental."""
    frame = p.mac(NEXT_HOP[out]) + p.mac(macs[out]) + frame[12:]
    if frame[12:14] != b"\x08\x00":
        return frame
    end = 14 + (frame[14] & 15) * 4
    head = frame[14:22] + bytes([frame[22] - 1, frame[23], 0, 0]) + frame[26:end]
    return frame[:14] + head[:10] + p.checksum(head).to_bytes(2, "big") + head[12:] + \
        frame[end:]


def ambiguous(frame):
    """0x0000 and 0xffff are one number to RFC 1624; which one appears is taste."""
    return frame[12:14] == b"\x08\x00" and frame[24:26] in (b"\0\0", b"\xff\xff")


def one_input(rng, port, macs, count, rows4, rows6):
    frames, expected = [], ([], [])
    while len(frames) < count:
        kind = rng.randrange(20)
        if kind == 0:
            # l3fwd's FIB variant takes for IPv6 what is not IPv4: zeros, so no route.
            data = rng.randbytes(24) + bytes(22)
            frame = p.ethernet(macs[port], NEIGHBOUR, 0x88B5, data)
            out = port
        elif kind < 12:
            frame, dst = frame4(rng, rows4, macs[port])
            out = lookup(rows4, dst, port)
        else:
            frame, dst = frame6(rng, rows6, macs[port])
            out = lookup(rows6, dst, port)
        after = routed(frame, out, macs)
        if ambiguous(frame) or ambiguous(after):
            continue
        frames.append(frame)
        expected[out].append(after)
    return frames, expected


def main():
    folder, macs, count = sys.argv[1], sys.argv[2:4], int(sys.argv[4])
    rng = p.generator(int(sys.argv[5]))
    rows4, rows6 = table(ROUTES4), table(ROUTES6)
    with open(f"{folder}/v4.cfg", "w", encoding="ascii") as out:
        out.writelines(f"R{net} {port}\n" for net, port in rows4)
    with open(f"{folder}/v6.cfg", "w", encoding="ascii") as out:
        out.writelines(f"R{net.network_address.exploded}/{net.prefixlen} {port}\n"
                       for net, port in rows6)
    for port in (0, 1):
        frames, expected = one_input(rng, port, macs, count, rows4, rows6)
        p.write_pcap(f"{folder}/in{port}.pcap", frames)
        for out in (0, 1):
            p.write_pcap(f"{folder}/in{port}-out{out}.pcap", expected[out])
            print(f"in{port}-out{out}: {len(expected[out])} frames")


main()
