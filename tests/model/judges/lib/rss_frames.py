#!/usr/bin/env python3
"""judges/lib/rss_frames.py - frames for RSS, and which queue each must reach

  make 4|6 OUT.pcap MAC COUNT SEED      UDP and TCP, random addresses and ports
  expect IN.pcap KEY ip|udp|l4 QUEUES   one line: frames of queue 0, 1, ...

ip hashes the addresses; l4 also the ports of UDP and TCP; udp those of UDP, and sends
what is not UDP to queue 0 unhashed. KEY is the 40-byte Toeplitz key in hex, as `show port N rss-hash key` prints it. The
queue is the hash modulo QUEUES: an indirection table of a power of two, filled in turn.
"""
import sys

import packets as p

NET = {"4": ("198.18.0.0/15", "203.0.113.0/24"), "6": ("2001:db8:1::/48", "fd00::/8")}


def make(family, path, mac, count, seed):
    rng = p.generator(int(seed))
    frames = []
    for _ in range(int(count)):
        src = p.random_ip(rng, NET[family][0])
        dst = p.random_ip(rng, NET[family][1])
        proto = (p.UDP, p.TCP)[rng.randrange(2)]
        sport = rng.randrange(65536)
        dport = rng.randrange(65536)
        size = rng.randrange(200)
        frames.append(p.ip_frame(mac, "02:11:22:33:44:55", src, dst, proto, sport, dport,
                                 rng.randbytes(size)))
    p.write_pcap(path, frames)


def tuple_of(frame, kind):
    if frame[12:14] == b"\x08\x00":
        addresses, ports, proto = frame[26:34], frame[34:38], frame[23]
    else:
        addresses, ports, proto = frame[22:54], frame[54:58], frame[20]
    if kind == "udp" and proto != p.UDP:
        return b""
    return addresses if kind == "ip" else addresses + ports


def expect(path, key, kind, queues):
    counts = [0] * int(queues)
    for frame in p.read_pcap(path):
        counts[p.toeplitz(bytes.fromhex(key), tuple_of(frame, kind)) % len(counts)] += 1
    print(*counts)


{"make": make, "expect": expect}[sys.argv[1]](*sys.argv[2:])
