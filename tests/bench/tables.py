#!/usr/bin/env python3
"""tests/bench/tables.py DIR [--v4 FILE] [--v6 FILE] [--share PERCENT] - routing tables for benchmarks

FILE: one route a line, "prefix next-hop-index", plain or .xz. Without one a table of
the same size and shape is made: prefix lengths as published for the IPv4 table (1.05 M)
and the IPv6 table (250 k) of 2026, with a fixed seed; --share makes a smaller one. Which
one it was is printed.

Writes into DIR, unless they are there already:

  full4.txt full6.txt       "prefix next-hop-index", as FILE has it
  full4.l3fwd full6.l3fwd   rules of DPDK's l3fwd, everything to port 0
  16v4.l3fwd 16v6.l3fwd     sixteen routes
  full4.dst full6.dst       16,000 addresses, by prefix: a random route, a random host
  full4.to full6.to         the same, each with the MAC address of its next hop
  full4.batch full6.batch   commands for mlx5fwdctl: the routes by these MAC addresses
  16v4.* 16v6.*             the same for the sixteen
"""
import argparse
import ipaddress
import lzma
import os
import random
import zlib

SIZE = {4: 1050000, 6: 250000}
WIDTH = {4: 32, 6: 128}
ADDRESS = {4: ipaddress.IPv4Address, 6: ipaddress.IPv6Address}
# Share of each prefix length, in thousandths.
SHAPE = {
    4: {24: 556, 23: 127, 22: 130, 21: 56, 20: 47, 19: 28, 18: 16, 17: 9, 16: 15, 15: 2,
        14: 1, 13: 1, 12: 1, 11: 1, 25: 2, 26: 2, 27: 2, 28: 2, 29: 2},
    6: {48: 385, 47: 40, 46: 60, 45: 20, 44: 82, 42: 50, 40: 74, 38: 20, 36: 37, 35: 10,
        34: 15, 33: 20, 32: 135, 31: 5, 30: 8, 29: 27, 28: 6, 24: 2, 56: 2, 64: 2},
}
# Where unicast addresses are: values of the first 8 (IPv4) or 16 bits.
SPACE = {4: [n for n in range(1, 224) if n != 127], 6: range(0x2001, 0x3000)}
SPACE_BITS = {4: 8, 6: 16}
DESTINATIONS = 16000
FORMAT = 4   # of the files; another number makes them anew
# Next hops: a network's origin takes one, some prefixes are moved by hand.
NEXT_HOPS = 200
MOVED = 0.05
# Neighbours of one origin: all below this length, where no shorter route says otherwise.
ORIGIN_LENGTH = {4: 15, 6: 32}


def read_table(path):
    opener = lzma.open if path.endswith('.xz') else open
    with opener(path, 'rt', encoding='ascii') as file:
        for line in file:
            prefix, *rest = line.split()
            net = ipaddress.ip_network(prefix)
            yield int(net.network_address), net.prefixlen, int(rest[0]) if rest else 1


def make_table(family, size, rng):
    bits = SPACE_BITS[family]
    width = WIDTH[family]
    lengths = list(SHAPE[family])
    weights = list(SHAPE[family].values())
    routes = set()
    parents = []
    while len(routes) < size:
        length = rng.choices(lengths, weights)[0]
        parent = rng.choice(parents) if parents and rng.random() < 0.5 else None
        if parent and parent[1] < length:   # nested, as half of a real table is
            addr = parent[0] | rng.getrandbits(length - parent[1]) << (width - length)
        else:
            addr = rng.choice(SPACE[family]) << (width - bits)
            addr |= rng.getrandbits(length - bits) << (width - length) if length > bits else 0
        route = (addr >> (width - length) << (width - length), length)
        routes.add(route)
        if length <= (20 if family == 4 else 40):
            parents.append(route)
    return [(a, n, next_hop(family, a, rng)) for a, n in sorted(routes)]


def next_hop(family, addr, rng):
    if rng.random() < MOVED:
        return rng.randint(1, NEXT_HOPS)
    origin = addr >> (WIDTH[family] - ORIGIN_LENGTH[family])
    return 1 + zlib.crc32(str(origin).encode()) % NEXT_HOPS


def sixteen(family):
    base = int(ipaddress.ip_address('198.18.0.0' if family == 4 else '2001:200::'))
    length = 24 if family == 4 else 64
    return [(base + (i << (WIDTH[family] - length)), length, i + 1) for i in range(16)]


def address(family, value):
    return ADDRESS[family](value).exploded   # l3fwd reads only the long form


def write(path, lines):
    with open(path + '.part', 'w', encoding='ascii') as file:
        file.writelines(lines)
    os.rename(path + '.part', path)


def emit(directory, name, family, routes, rng):
    write(os.path.join(directory, name + '.txt'),
          (f'{ADDRESS[family](a)}/{n} {nh}\n' for a, n, nh in routes))
    write(os.path.join(directory, name + '.l3fwd'),
          (f'R{address(family, a)}/{n} 0\n' for a, n, _ in routes))
    write(os.path.join(directory, name + '.batch'),
          (f'route add {ADDRESS[family](a)}/{n} {mac(nh)}\n' for a, n, nh in routes))
    picks = [rng.choice(routes) for _ in range(DESTINATIONS)]
    dst = [a | rng.getrandbits(WIDTH[family] - n) if n < WIDTH[family] else a
           for a, n, _ in picks]
    write(os.path.join(directory, name + '.dst'), (address(family, a) + '\n' for a in dst))
    write(os.path.join(directory, name + '.to'),
          (f'{address(family, a)} {mac(nh)}\n' for a, nh in zip(dst, longest(family, routes, dst))))


def mac(nexthop):
    return f'02:00:00:01:{nexthop >> 8:02x}:{nexthop & 255:02x}'


def longest(family, routes, dst):
    table = {(a, n): nh for a, n, nh in routes}
    lengths = sorted({n for _, n, _ in routes}, reverse=True)
    for a in dst:
        keys = ((a >> WIDTH[family] - n << WIDTH[family] - n, n) for n in lengths)
        yield next(table[key] for key in keys if key in table)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('directory')
    parser.add_argument('--v4')
    parser.add_argument('--v6')
    parser.add_argument('--share', type=int, default=100)
    args = parser.parse_args()
    os.makedirs(args.directory, exist_ok=True)
    for family, path in ((4, args.v4), (6, args.v6)):
        stamp = os.path.join(args.directory, f'source{family}')
        size = SIZE[family] * args.share // 100
        source = f'{FORMAT} {path or size}'
        if os.path.exists(stamp):
            with open(stamp, encoding='utf-8') as file:
                if file.read() == source:
                    print(f'IPv{family} table: {"real" if path else "made"}, kept')
                    continue
        rng = random.Random(20260 + family)
        routes = list(read_table(path)) if path else make_table(family, size, rng)
        emit(args.directory, f'full{family}', family, routes, rng)
        emit(args.directory, f'16v{family}', family, sixteen(family), rng)
        write(stamp, [source])
        print(f'IPv{family} table: {"real" if path else "made"}, {len(routes)} routes')


if __name__ == '__main__':
    main()
