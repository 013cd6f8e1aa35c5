#!/usr/bin/env python3
"""netns/hostile.py - sends odd frames from ns a, looks at what comes out in ns b

Each case is a frame and what may come out: nothing, or exactly one frame whose every
byte is known. A frame carries its number in its payload, so nothing is taken for
another. Cases that the kernel must answer are looked for on the sender's side too.

Prints "check ok: ..." and "check FAILED: ..." lines as tests/lib.sh does.
"""
import ctypes
import os
import select
import socket
import struct
import sys
import time

ETH0 = bytes.fromhex('020000000001')
ETH1 = bytes.fromhex('020000000002')
MAC_A = bytes.fromhex('020000000a02')
MAC_B = bytes.fromhex('020000000b02')
A4, B4 = socket.inet_aton('10.0.1.2'), socket.inet_aton('10.0.2.2')
A6 = socket.inet_pton(socket.AF_INET6, '2001:db8:1::2')
B6 = socket.inet_pton(socket.AF_INET6, '2001:db8:2::2')
MARK = b'hostile-'
failures = 0


def in_ns(name, dev):
    """A packet socket on dev in that network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open('/proc/self/ns/net', os.O_RDONLY)
    there = os.open('/run/netns/' + name, os.O_RDONLY)
    if libc.setns(there, 0):
        raise OSError(ctypes.get_errno(), 'setns')
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.bind((dev, 3))
    libc.setns(here, 0)
    os.close(here)
    os.close(there)
    return sock


def csum(data):
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip4(payload, *, src=A4, dst=B4, ttl=64, ihl=None, options=b'', total=None, version=4, frag=0,
        tos=0, proto=17, bad_csum=False, ident=7):
    header_len = 20 + len(options)
    ihl = header_len // 4 if ihl is None else ihl
    total = header_len + len(payload) if total is None else total
    head = struct.pack('!BBHHHBBH4s4s', version << 4 | ihl, tos, total, ident, frag, ttl, proto, 0,
                       src, dst) + options
    value = csum(head) ^ (0x1234 if bad_csum else 0)
    return head[:10] + struct.pack('!H', value) + head[12:] + payload


def ip6(payload, *, src=A6, dst=B6, hops=64, length=None, version=6, nxt=17, flow=0xb912345):
    length = len(payload) if length is None else length
    return struct.pack('!IHBB16s16s', version << 28 | flow, length, nxt, hops, src, dst) + payload


def udp(n):
    mark = MARK + struct.pack('!I', n)
    return struct.pack('!HHHH', 1111, 9, 8 + len(mark), 0) + mark


def frame(packet, *, dst=ETH0, src=MAC_A, proto=0x0800, pad=60):
    data = dst + src + struct.pack('!H', proto) + packet
    return data + b'\xee' * (pad - len(data))


def forwarded4(packet):
    """What leaves: MACs of the next hop, TTL less one, checksum anew, fresh padding."""
    total = struct.unpack('!H', packet[2:4])[0]
    header_len = (packet[0] & 15) * 4
    packet = bytearray(packet[:total])
    packet[8] -= 1
    packet[10:12] = b'\0\0'
    packet[10:12] = struct.pack('!H', csum(bytes(packet[:header_len])))
    return (MAC_B + ETH1 + b'\x08\x00' + bytes(packet)).ljust(60, b'\0')


def forwarded6(packet):
    length = struct.unpack('!H', packet[4:6])[0]
    packet = bytearray(packet[:40 + length])
    packet[7] -= 1
    return (MAC_B + ETH1 + b'\x86\xdd' + bytes(packet)).ljust(60, b'\0')


def cases():
    """(name, number, frame, what comes out or None, ICMP type that comes back or None)

    What the kernel forwards leaves a TAP as it is: a netdev of the card would pad it.
    """
    out = []
    n = 0

    def add4(name, comes_out=False, back=None, mac=None, smac=MAC_A, cut=None, raw=None, **how):
        nonlocal n
        n += 1
        payload = udp(n)
        if raw:
            payload = raw(n)
        packet = ip4(payload, **how)
        data = frame(packet, dst=mac or ETH0, src=smac)
        if cut:
            data = data[:cut]
        out.append((name, n, data, forwarded4(packet) if comes_out else None, back))

    def add6(name, comes_out=False, back=None, raw=None, **how):
        nonlocal n
        n += 1
        packet = ip6(raw(n) if raw else udp(n), **how)
        out.append((name, n, frame(packet, proto=0x86dd), forwarded6(packet) if comes_out else None, back))

    add4('clean', comes_out=True)
    add4('TOS 0xb9 is left alone', comes_out=True, tos=0xb9)
    add4('TTL 2', comes_out=True, ttl=2)
    add4('TTL 1', ttl=1, back=11)
    add4('TTL 0', ttl=0, back=11)
    add4('checksum wrong', bad_csum=True)
    add4('total length past the frame', total=200)
    add4('total length under the header', total=19)
    add4('header length 4', ihl=4)
    add4('header length 15 that is not there', ihl=15)
    add4('version 5', version=5)
    add4('version 6 under 0x0800', version=6)
    add4('cut inside the IP header', cut=30)
    add4('frame padding is not forwarded', comes_out=True, raw=lambda k: udp(k))
    add4('options: NOP', comes_out=True, options=b'\x01\x01\x01\x00')
    add4('options: loose source route', options=b'\x83\x07\x04\x0a\x00\x02\x02\x00')
    add4('first fragment', comes_out=True, frag=0x2000)
    add4('later fragment', comes_out=True, frag=0x2005)
    add4('protocol 253', comes_out=True, proto=253)
    add4('to a multicast group', dst=socket.inet_aton('239.1.2.3'))
    add4('to 255.255.255.255', dst=b'\xff\xff\xff\xff')
    add4('to 127.0.0.1', dst=socket.inet_aton('127.0.0.1'))
    add4('to 0.0.0.0', dst=b'\0\0\0\0')
    add4('directed broadcast of the egress', dst=socket.inet_aton('10.0.2.255'))
    add4('from 127.0.0.1', src=socket.inet_aton('127.0.0.1'))
    add4('from a multicast group', src=socket.inet_aton('224.0.0.5'))
    add4('from 0.0.0.0', src=b'\0\0\0\0')
    add4('to a foreign MAC', mac=bytes.fromhex('020000000077'))
    add4('to a broadcast MAC', mac=b'\xff' * 6)
    add4('to a multicast MAC', mac=bytes.fromhex('01005e010203'))
    add4('from a multicast MAC', smac=bytes.fromhex('030000000a02'))
    add4('no route', dst=socket.inet_aton('203.0.113.9'), back=3)
    add6('IPv6 clean', comes_out=True)
    add6('hop limit 2', comes_out=True, hops=2)
    add6('hop limit 1', hops=1, back=3)
    add6('hop limit 0', hops=0)
    add6('version 7', version=7)
    add6('payload length past the frame', length=200)
    add6('payload length 65535', length=65535)
    add6('to a multicast group', dst=socket.inet_pton(socket.AF_INET6, 'ff0e::1'))
    add6('to a link-local address', dst=socket.inet_pton(socket.AF_INET6, 'fe80::1234'))
    add6('from a multicast group', src=socket.inet_pton(socket.AF_INET6, 'ff02::1'))
    add6('from ::1', src=socket.inet_pton(socket.AF_INET6, '::1'))
    add6('from ::', src=bytes(16))
    add6('hop-by-hop options, padding', comes_out=True, nxt=0,
         raw=lambda k: b'\x11\x00\x01\x04\0\0\0\0' + udp(k))
    add6('hop-by-hop options, unknown, drop', nxt=0, raw=lambda k: b'\x11\x00\x7e\x04\0\0\0\0' + udp(k))
    add6('fragment header', comes_out=True, nxt=44,
         raw=lambda k: b'\x11\x00\x00\x01\0\0\0\x09' + udp(k))
    add6('unknown next header 253', comes_out=True, nxt=253)
    return out


def number_in(data):
    at = data.find(MARK)
    return struct.unpack('!I', data[at + 8:at + 12])[0] if 0 <= at <= len(data) - 12 else None


def outgoing(address):
    return address[2] == 4   # PACKET_OUTGOING: our own sending


def icmp_back(data):
    if data[12:14] == b'\x08\x00' and data[23] == 1:
        return data[34]
    if data[12:14] == b'\x86\xdd' and data[20] == 58:
        return data[54]
    return None


def collect(socks, seconds, done=None):
    """What arrives; once all is there that done() wants, a tenth of a second for more."""
    got = {sock: [] for sock in socks}
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return got
        if done and done(got):
            end, done = time.monotonic() + 0.1, None
        for sock in select.select(socks, [], [], left)[0]:
            data, address = sock.recvfrom(65536)
            if not outgoing(address):
                got[sock].append(data)


def verdict(ok, name, what):
    global failures
    print(f'check {"ok" if ok else "FAILED"}: {name}{"" if ok else ": " + what}')
    failures += not ok


def main():
    side_a, side_b = in_ns('a', 'a0'), in_ns('b', 'b0')
    for name, number, data, expected, back in cases():
        collect([side_a, side_b], 0.01)
        side_a.send(data)
        wanted = (expected is not None) + (back is not None)
        got = collect([side_a, side_b], 5 if wanted else 0.25, done=lambda got: wanted <= sum(
            any(number_in(d) == number for d in got[sock]) for sock in (side_a, side_b)))
        came = [d for d in got[side_b] if number_in(d) == number]
        if expected is None:
            verdict(not came, name, f'came out: {came[0].hex() if came else ""}')
        elif [d.ljust(60, b'\0') for d in came] != [expected]:
            verdict(False, name, f'expected {expected.hex()}, got {[d.hex() for d in came]}')
        else:
            verdict(True, name, '')
        if back is not None:
            kinds = [icmp_back(d) for d in got[side_a] if number_in(d) == number]
            verdict(back in kinds, f'{name}: the sender is told', f'ICMP types {kinds}, expected {back}')
    sys.exit(failures != 0)


main()
