#!/usr/bin/env python3
"""operations/traffic.py STOP-FILE FLOWS... - UDP traffic that comes and goes in waves

FLOWS is ADDRESS,NUMBER,PPS,SECONDS,BYTES: so many flows (source ports) to an address, together
PPS packets a second on average, a fifth to nearly twice as many and back within SECONDS. What others send
to port 5000 is taken and thrown away. Until STOP-FILE is there.
"""
import math
import os
import socket
import sys
import time

TICK = 0.01  # seconds


def udp(address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def wave(turns):
    return 1 - 0.8 * math.cos(2 * math.pi * turns)


class Wave:
    def __init__(self, text):
        self.address, number, pps, seconds, size = text.split(',')
        self.pps, self.seconds = float(pps), float(seconds)
        self.sockets = [udp(self.address) for _ in range(int(number))]
        self.payload = bytes(int(size))
        self.owed, self.sent = 0.0, 0

    def send(self, now):
        self.owed += TICK * self.pps * wave(now / self.seconds)
        while self.owed >= 1:
            sock = self.sockets[self.sent % len(self.sockets)]
            try:
                sock.sendto(self.payload, (self.address, 5000))
            except OSError:  # an ICMP error came back
                pass
            self.owed -= 1
            self.sent += 1


def main():
    stop, waves = sys.argv[1], [Wave(text) for text in sys.argv[2:]]
    sinks = [udp('::')]
    sinks[0].bind(('::', 5000))  # never read: what is too much is dropped there
    start = time.monotonic()
    ticks = 0
    while not os.path.exists(stop):
        ticks += 1
        for wave in waves:
            wave.send(ticks * TICK)
        late = time.monotonic() - start - ticks * TICK
        if late < 0:
            time.sleep(-late)
        else:
            start += late  # held up: go on from here, not in a burst


main()
