"""routed.py make DIR SEED          - captures for a router's ports, and what must become of them
   routed.py check DIR [any-order]  - compares DIR/out0.pcap .. out3.pcap with that

Written from RFC 1812 and RFC 8200, and from nothing of the router's:

    in0.pcap .. in3.pcap        what comes in by each port
    expected.pickle             every frame that must leave by each port, and its flow
    counts                      "PORT queued forwarded dropped punted late_queued late_punted"

The ports' own kernel forwards nothing, so what the router hands over is not seen again. late_*: the
same where the card cannot compare the TTL, and packets whose TTL ends come to the router first.
"""
import collections
import pickle
import random
import struct
import sys

PORTS = 4
MTU = (9000, 9000, 9000, 1500)
PORT_MAC = [bytes((2, 0, 0, 0, 0xCC, p)) for p in range(PORTS)]
NEXT_MAC = [bytes((2, 0, 0, 0, 0xDD, p)) for p in range(PORTS)]
FLOWS = 12  # of each port and family
MOST_BYTES = 9014

# What becomes of a frame: by the card, to the kernel; or by the router.
KERNEL, LATE, FORWARD, DROP, PUNT = "kernel", "late", "forward", "drop", "punt"


def lengths():
    """Every small one; edges of headers, inline data, strides of any power of two, and buffers."""
    some = set(range(60, 201))
    some |= {16 * n + d for n in range(13, 40) for d in (-1, 0, 1)}
    some |= {64 * n + d for n in range(1, 34) for d in (-1, 0, 1)}
    some |= {2048 * n + d for n in (1, 2, 3, 4) for d in range(-18, 5)}
    some |= {n + d for n in (1024, 1500, 1514, 1518, 4096, MOST_BYTES) for d in range(-4, 5)}
    some |= set(range(250, MOST_BYTES, 173))
    return sorted(n for n in some if 60 <= n <= MOST_BYTES)


def csum(data):
    total = int.from_bytes(data + b"\0" * (len(data) % 2), "big")
    return 0xFFFF - (total % 0xFFFF or (0xFFFF if total else 0))


def ip4(payload, src, dst, *, ttl=64, proto=17, ident=0, frag=0, tos=0, options=b"", wrong=0):
    size = 20 + len(options)
    head = struct.pack("!BBHHHBBH", 0x40 | size // 4, tos, size + len(payload), ident, frag, ttl,
                       proto, 0) + src + dst + options
    return head[:10] + struct.pack("!H", csum(head) ^ wrong) + head[12:] + payload


def ip6(payload, src, dst, *, ttl=64, proto=17, flow=0):
    return struct.pack("!IHBB", 6 << 28 | flow, len(payload), proto, ttl) + src + dst + payload


def routed(data, out):
    """The frame that leaves by port out: addresses, TTL, checksum, no bytes behind the packet."""
    packet = bytearray(data[14:])
    if packet[0] >> 4 == 4:
        packet = packet[:struct.unpack("!H", packet[2:4])[0]]
        packet[8] -= 1
        packet[10:12] = b"\0\0"
        packet[10:12] = struct.pack("!H", csum(bytes(packet[:20])))
    else:
        packet = packet[:40 + struct.unpack("!H", packet[4:6])[0]]
        packet[7] -= 1
    return (NEXT_MAC[out] + PORT_MAC[out] + data[12:14] + bytes(packet)).ljust(60, b"\0")


class Port:
    """Makes what comes in by one port."""

    def __init__(self, index, rng):
        self.index, self.rng = index, rng
        self.number = index << 24
        self.frames = []  # (bytes, fate, egress, flow)

    def address(self, family, out, host):
        if family == 4:
            return bytes((10, 10 + out, host >> 8, host & 255))
        return bytes.fromhex("20010db8") + struct.pack("!HHII", 0x10 + out, 0, 0, host)

    def packet(self, family, bytes_, out, *, proto=17, flow=None, **how):
        """An IP packet of so many bytes; its number makes it unlike all others."""
        flow = self.rng.randrange(FLOWS) if flow is None else flow
        source = (bytes((172, 16, self.index, flow)) if family == 4 else
                  bytes.fromhex("20010db800ff0000000000000000") + bytes((self.index, flow)))
        dst = how.pop("dst", None) or self.address(family, out, 1000 + flow)
        self.number += 1
        room = bytes_ - (20 if family == 4 else 40) - len(how.get("options", b""))
        mark = struct.pack("!I", self.number)
        if room >= 12 and proto == 17:
            head = struct.pack("!HHHH", 5000 + flow, 7000 + flow, room, self.rng.randrange(65536))
            payload = head + mark + self.rng.randbytes(room - 12)
        else:
            proto = proto if proto != 17 else (253 if family == 4 else 59)
            payload = (mark + self.rng.randbytes(room))[:room]
        if family == 4:
            how.setdefault("ident", self.number & 0xFFFF)
        make = ip4 if family == 4 else lambda *a, **k: ip6(*a, flow=self.number & 0xFFFFF, **k)
        packet = make(payload, source, dst, proto=proto, **how)
        ports = payload[:4] if proto in (6, 17) else b""
        return packet, (self.index, family, source, dst, proto, ports)

    def add(self, family, length, out, fate=FORWARD, *, pad=0, mac=None, tag=b"", **how):
        packet, flow = self.packet(family, length - 14 - pad - len(tag), out, **how)
        kind = b"\x08\x00" if family == 4 else b"\x86\xdd"
        macs = (mac or PORT_MAC[self.index]) + bytes((2, 0x50, self.index, 0, 0, family))
        data = macs + tag + kind + packet + b"\xee" * pad
        self.frames.append((data, fate, out, flow))

    def way_out(self, length):
        return self.rng.choice([p for p in range(PORTS) if length - 14 <= MTU[p]])

    # ---- the lists ----

    def usual(self):
        """Runs of one family: completions that can be compressed, and bursts of one kind."""
        rng = self.rng
        todo = [(f, n) for f in (4, 6) for n in lengths() if n - 14 <= MTU[self.index]]
        todo += [(rng.choice((4, 6)), rng.choice((60, 64, 66, 70, 128, 1514))) for _ in range(300)]
        rng.shuffle(todo)
        queue = {f: [n for family, n in todo if family == f] for f in (4, 6)}
        while queue[4] or queue[6]:
            family = rng.choice([f for f in (4, 6) if queue[f]])
            flow = rng.choice((None, rng.randrange(FLOWS)))
            for _ in range(rng.choice((1, 2, 7, 8, 9, 30, 64, 70))):
                if queue[family]:
                    length = queue[family].pop()
                    self.add(family, length, self.way_out(length), flow=flow)

    def unusual(self):
        rng, add = self.rng, self.add
        size = lambda: rng.choice((66, 74, 90, 128, 256, 700, 1514))
        out = lambda: rng.randrange(PORTS)
        far4, far6 = bytes((203, 0, 113, 9)), bytes.fromhex("20010db9") + bytes(12)
        no4, no6 = bytes((198, 51, 100, 9)), bytes.fromhex("20010dba") + bytes(12)
        for _ in range(4):
            for ttl in (0, 1):
                add(4, size(), out(), LATE, ttl=ttl)
                add(6, size(), out(), LATE, ttl=ttl)
            for family in (4, 6):
                add(family, size(), out(), ttl=2)
                add(family, size(), out(), ttl=255)
                add(family, size(), out(), proto=6)
                add(family, size(), out(), proto=rng.choice((1, 47, 50, 253)))
                for pad in (1, 5, 6, 40, 500):
                    add(family, 66 + 20 + pad, out(), pad=pad)
                add(family, 60, out(), pad=60 - 14 - (21 if family == 4 else 41), proto=253)
            add(4, 60, out(), pad=26, proto=253, tos=4 * rng.randrange(64))
            add(4, size(), out(), tos=0xB9, frag=0x4000)
            add(4, size(), out(), DROP, wrong=rng.randrange(1, 0xFFFF))
            add(4, size(), out(), DROP, wrong=0x0100)
            add(4, size(), out(), PUNT, options=b"\x01\x01\x01\x00")
            add(4, size(), out(), KERNEL, frag=0x2000)
            add(4, size(), out(), KERNEL, frag=0x0010)
            for tci in (0x0000, 0x6000, 0x0005):
                add(4, 128, out(), KERNEL, tag=struct.pack("!HH", 0x8100, tci))
                add(6, 128, out(), KERNEL, tag=struct.pack("!HH", 0x8100, tci))
            add(4, size(), out(), PUNT, dst=far4)
            add(6, size(), out(), PUNT, dst=far6)
            add(4, size(), out(), DROP, dst=no4)
            add(6, size(), out(), DROP, dst=no6)
            add(4, size(), out(), KERNEL, mac=bytes((2, 0, 0, 0, 0x77, 7)))
            if MTU[self.index] > MTU[3]:
                add(rng.choice((4, 6)), 15 + MTU[3] + rng.randrange(1400), 3, PUNT)
        self.edges_of_the_checksum()

    def edges_of_the_checksum(self):
        """Fields of 0xfeff and about, whose successor is 0 or carries round (RFC 1624, 3)."""
        for want in (0xFEFF, 0xFEFE, 0xFF00, 0xFFFE, 0x0000, 0x0001, 0x00FF, 0x0100):
            out, flow = self.rng.randrange(PORTS), self.rng.randrange(FLOWS)
            packet, _ = self.packet(4, 80, out, flow=flow, ident=0)
            field = struct.unpack("!H", packet[10:12])[0]
            ident = ((field - want) % 0xFFFF) or 0xFFFF
            self.add(4, 94, out, flow=flow, ident=ident)
            now = struct.unpack("!H", self.frames[-1][0][24:26])[0]
            assert now % 0xFFFF == want % 0xFFFF, (hex(now), hex(want))

    def mixed(self):
        """The unusual ones anywhere among the usual; those of a flow keep their order."""
        self.usual()
        usual, self.frames = self.frames, []
        self.unusual()
        self.rng.shuffle(self.frames)
        for one in self.frames:
            usual.insert(self.rng.randrange(len(usual)), one)
        self.frames = usual
        return usual


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, len(data), len(data)) + data)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    at, frames = 24, []
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def make(folder, seed):
    rng = random.Random(seed)
    leave = [{} for _ in range(PORTS)]  # bytes -> (flow, number within the port)
    with open(f"{folder}/counts", "w", encoding="ascii") as counts:
        for p in range(PORTS):
            frames = Port(p, rng).mixed()
            write_pcap(f"{folder}/in{p}.pcap", [f[0] for f in frames])
            for i, (data, fate, out, flow) in enumerate(frames):
                if fate == FORWARD:
                    want = routed(data, out)
                    assert want not in leave[out]
                    leave[out][want] = (flow, i)
            n = collections.Counter(f[1] for f in frames)
            queued = n[FORWARD] + n[DROP] + n[PUNT]
            print(p, queued, n[FORWARD], n[DROP], n[PUNT], queued + n[LATE], n[PUNT] + n[LATE],
                  file=counts)
    with open(f"{folder}/expected.pickle", "wb") as f:
        pickle.dump(leave, f)


def nearest(data, missing):
    """The missing frame that has most bytes of this one."""
    alike = [m for m in missing if len(m) == len(data)] or list(missing)[:50]
    return max(alike, key=lambda m: sum(a == b for a, b in zip(m, data)), default=b"")


def say_difference(port, extra, missing):
    print(f"port {port}: {len(missing)} frames are missing, {len(extra)} should not be there")
    for data in extra[:3]:
        want = nearest(data, missing)
        at = next((i for i, (a, b) in enumerate(zip(want, data)) if a != b), len(data))
        print(f"  {len(data)} bytes, like one of {len(want)} up to byte {at}\n"
              f"    is     {data[:at][-8:].hex()} {data[at:at + 24].hex()}\n"
              f"    wanted {want[:at][-8:].hex()} {want[at:at + 24].hex()}")
    for data in list(missing)[:3]:
        print(f"  missing: {len(data)} bytes, {data[:80].hex()}")


def check_port(port, got, want, ordered):
    """Each once, unchanged, and those of a flow in the order in which they came."""
    newest, good = {}, True
    extra, seen = [], collections.Counter(got)
    for data in got:
        if data not in want:
            extra.append(data)
            continue
        flow, i = want[data]
        if ordered and newest.get(flow, -1) > i:
            print(f"port {port}: flow {flow[:2]} to {flow[3].hex()}: {i} came after {newest[flow]}")
            good = False
        newest[flow] = max(i, newest.get(flow, -1))
    missing = [data for data in want if data not in seen]
    twice = [data for data, n in seen.items() if n > 1]
    if extra or missing:
        say_difference(port, extra, missing)
    if twice:
        print(f"port {port}: {len(twice)} frames came twice, such as {twice[0][:80].hex()}")
    return good and not extra and not missing and not twice


def check(folder, ordered):
    with open(f"{folder}/expected.pickle", "rb") as f:
        leave = pickle.load(f)
    results = [check_port(p, read_pcap(f"{folder}/out{p}.pcap"), leave[p], ordered)
               for p in range(PORTS)]
    sys.exit(not all(results))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3], 0))
    else:
        check(sys.argv[2], "any-order" not in sys.argv)
