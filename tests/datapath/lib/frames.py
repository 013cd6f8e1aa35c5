"""frames.py FILE COUNT LONGEST MAC SEED - a capture file of random frames to a MAC

IPv4 and IPv6, UDP, TCP and others, of random lengths, contents and addresses, that a router would
forward: no fragments, no TTL of 0 or 1, untagged.
"""
import random
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip4(rng, payload):
    head = struct.pack("!BBHHHBBH", 0x45, rng.randrange(256), 20 + len(payload), rng.randrange(65536),
                       rng.choice((0, 0x4000)), rng.randrange(2, 256), rng.choice((6, 17, 1, 47)), 0)
    head += rng.randbytes(4) + bytes((203, 0, 113, rng.randrange(256)))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ip6(rng, payload):
    head = struct.pack("!IHBB", 6 << 28 | rng.randrange(1 << 28), len(payload), rng.choice((6, 17, 58)),
                       rng.randrange(2, 256))
    return head + rng.randbytes(16) + bytes((0x20, 1)) + rng.randbytes(14) + payload


def frame(rng, mac, longest):
    six = rng.random() < 0.5
    least = 14 + (40 if six else 20) + 20
    payload = rng.randbytes(rng.randrange(max(least, 60), longest + 1) - least + 20)
    head = mac + rng.randbytes(6) + (b"\x86\xdd" if six else b"\x08\x00")
    return head + (ip6 if six else ip4)(rng, payload)


def main():
    path, count, longest, mac, seed = sys.argv[1:]
    rng = random.Random(int(seed, 0))
    mac = bytes.fromhex(mac.replace(":", ""))
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(int(count)):
            data = frame(rng, mac, int(longest))
            out.write(struct.pack("<IIII", i, 0, len(data), len(data)) + data)


main()
