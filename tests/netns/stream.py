#!/usr/bin/env python3
"""tests/netns/stream.py - numbered UDP packets, to see whether any is lost

    stream.py send ADDRESS PORT PPS FILE     until FILE.stop is there; writes FILE.sent
    stream.py receive ADDRESS PORT FILE      FILE.ready when it listens; until FILE.sent is
                                             there and all or no more has come: FILE.got

FILE.sent holds a number of packets, FILE.got those that came and how many were different.
"""
import os
import socket
import sys
import time


def open_socket(address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def write(path, text):
    with open(path + '.new', 'w', encoding='ascii') as file:
        file.write(text)
    os.rename(path + '.new', path)


def send(address, port, pps, path):
    sock = open_socket(address)
    start = time.monotonic()
    n = 0
    while not os.path.exists(path + '.stop'):
        sock.sendto(b'%d' % n, (address, int(port)))
        n += 1
        left = start + n / int(pps) - time.monotonic()
        if left > 0:
            time.sleep(left)
        else:  # held up: go on at the rate from here, not in a burst
            start -= left
    write(path + '.sent', str(n))


def receive(address, port, path):
    sock = open_socket(address)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind((address, int(port)))
    sock.settimeout(1)
    write(path + '.ready', '')
    came = 0
    different = set()
    sent = None
    while sent is None or len(different) < sent:
        try:
            number = int(sock.recv(100))
        except socket.timeout:
            if sent is not None:
                break
            number = None
        if number is not None:
            came += 1
            different.add(number)
        if sent is None and os.path.exists(path + '.sent'):
            with open(path + '.sent', encoding='ascii') as file:
                sent = int(file.read())
    write(path + '.got', '%d %d' % (came, len(different)))


{'send': send, 'receive': receive}[sys.argv[1]](*sys.argv[2:])
