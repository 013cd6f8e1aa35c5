#!/usr/bin/env python3
"""judges/lib/same_frames.py IS EXPECTED... - a pcap file holds the frames of the others, in order"""
import sys

import packets as p


def main():
    is_ = p.read_pcap(sys.argv[1])
    expected = [frame for path in sys.argv[2:] for frame in p.read_pcap(path)]
    for n, (one, other) in enumerate(zip(is_, expected)):
        if one != other:
            at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b),
                      min(len(one), len(other)))
            print(f"frame {n} differs, first at byte {at}; lengths {len(one)}, {len(other)}")
            print(f"is       {one.hex()}\nexpected {other.hex()}")
            return 1
    if len(is_) != len(expected):
        print(f"{len(is_)} frames, expected {len(expected)}")
        return 1
    print(f"{len(is_)} frames, all the same")
    return 0


sys.exit(main())
