"""judges/lib/packets.py - frames, pcap files and Toeplitz, for the judges' expectations

Written from the RFCs and the Toeplitz definition alone: nothing here is shared with
the model, so that both must be right to agree.
"""
import ipaddress
import random
import struct

TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58


def checksum(data):
    """RFC 1071"""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def ethernet(dst, src, kind, payload):
    return mac(dst) + mac(src) + struct.pack("!H", kind) + payload


def ipv4_header(src, dst, proto, payload_len, ttl=64, ident=0, fragment=0, options=b""):
    ihl = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | ihl, 0, ihl * 4 + payload_len, ident,
                       fragment, ttl, proto, 0, ipaddress.IPv4Address(src).packed,
                       ipaddress.IPv4Address(dst).packed) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:]


def ipv6_header(src, dst, proto, payload_len, hops=64):
    return struct.pack("!IHBB", 6 << 28, payload_len, proto, hops) + \
        ipaddress.IPv6Address(src).packed + ipaddress.IPv6Address(dst).packed


def pseudo(src, dst, proto, length):
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    if src.version == 4:
        return src.packed + dst.packed + struct.pack("!BBH", 0, proto, length)
    return src.packed + dst.packed + struct.pack("!IHBB", length, 0, 0, proto)


def l4(src, dst, proto, sport, dport, data):
    if proto == UDP:
        length = 8 + len(data)
        head, at = struct.pack("!HHHH", sport, dport, length, 0), 6
    else:
        length = 20 + len(data)
        head, at = struct.pack("!HHIIBBHHH", sport, dport, 1, 1, 0x50, 0x10, 1024, 0, 0), 16
    value = checksum(pseudo(src, dst, proto, length) + head + data)
    if proto == UDP and value == 0:
        value = 0xFFFF
    return head[:at] + struct.pack("!H", value) + head[at + 2:] + data


def ip_frame(dst_mac, src_mac, src, dst, proto, sport, dport, data, **ip):
    """A whole frame, padded to 60 bytes; proto TCP or UDP."""
    segment = l4(src, dst, proto, sport, dport, data)
    if ipaddress.ip_address(src).version == 4:
        packet, kind = ipv4_header(src, dst, proto, len(segment), **ip) + segment, 0x0800
    else:
        packet, kind = ipv6_header(src, dst, proto, len(segment), **ip) + segment, 0x86DD
    return ethernet(dst_mac, src_mac, kind, packet).ljust(60, b"\0")


def random_ip(rng, network):
    network = ipaddress.ip_network(network)
    return str(network[rng.randrange(network.num_addresses)])


def generator(seed):
    """One random number a statement; the seed is in the log when something fails."""
    print(f"seed {seed}")
    return random.Random(seed)


def write_pcap(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(frames):
            out.write(struct.pack("<IIII", i // 1000000, i % 1000000, len(frame),
                                  len(frame)))
            out.write(frame)


def read_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    order = {0xA1B2C3D4: "<", 0xA1B23C4D: "<", 0xD4C3B2A1: ">", 0x4D3CB2A1: ">"}[
        struct.unpack("<I", data[:4])[0]]
    frames, at = [], 24
    while at < len(data):
        got, size = struct.unpack(order + "II", data[at + 8:at + 16])
        if got != size:
            raise ValueError(f"{path}: frame {len(frames)} is cut from {size} to {got}")
        frames.append(data[at + 16:at + 16 + got])
        at += 16 + got
    return frames


def toeplitz(key, data):
    """The hash of Microsoft's RSS definition: one key window for each set input bit."""
    window = int.from_bytes(key, "big")
    bits = len(key) * 8
    result = 0
    for i in range(len(data) * 8):
        if data[i // 8] >> (7 - i % 8) & 1:
            result ^= window >> (bits - 32 - i) & 0xFFFFFFFF
    return result
