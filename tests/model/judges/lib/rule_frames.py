#!/usr/bin/env python3
"""judges/lib/rule_frames.py OUT.pcap MAC SEED KIND=COUNT... - frames for steering rules, mixed

KIND is FAMILY:PROTO:PORT, as in 4:udp:1000=300; the port is the destination's.
"""
import sys

import packets as p

NET = {"4": "198.18.0.0/15", "6": "2001:db8:1::/48"}
PROTO = {"udp": p.UDP, "tcp": p.TCP}


def main():
    path, mac = sys.argv[1:3]
    rng = p.generator(int(sys.argv[3]))
    frames = []
    for arg in sys.argv[4:]:
        kind, count = arg.split("=")
        family, proto, port = kind.split(":")
        for _ in range(int(count)):
            src = p.random_ip(rng, NET[family])
            dst = p.random_ip(rng, NET[family])
            sport = rng.randrange(1024, 65536)
            size = rng.randrange(64)
            frames.append(p.ip_frame(mac, "02:11:22:33:44:55", src, dst, PROTO[proto],
                                     sport, int(port), rng.randbytes(size)))
    rng.shuffle(frames)
    p.write_pcap(path, frames)


main()
