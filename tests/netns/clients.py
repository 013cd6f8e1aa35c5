#!/usr/bin/env python3
"""tests/netns/clients.py SOCKET KIND - clients of the control socket that nobody wants

    silent     1000 of them connect, and say nothing until standard input ends
    half       half a line each
    rubbish    bytes of any kind
    flood      a million requests; nothing is read
    die        `route show`, a first row, and gone; 50 times
    batch      a batch left open, and gone
    hold       a batch left open until standard input ends
    oversize   a line without an end

Prints "ready" when it has done what it can. Exit status 0 when the daemon did as it should.
"""
import random
import select
import socket
import sys


def dial():
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(sys.argv[1])
    sock.settimeout(20)
    return sock


def wait():
    print('ready', flush=True)
    sys.stdin.read()


def silent():
    keep = [dial() for _ in range(1000)]
    wait()
    return keep


def half():
    for _ in range(100):
        dial().sendall(b'route ad')


def rubbish():
    seed = random.randrange(1 << 32)
    print('seed', seed)
    rand = random.Random(seed)
    for _ in range(300):
        sock = dial()
        try:
            sock.sendall(rand.randbytes(rand.randrange(9000)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # a line of more than 4096 bytes ends it


def flood():
    sock = dial()
    sock.setblocking(False)
    line = b'route show\nport show\n'
    sent = 0
    while sent < 1000000:
        if not select.select([], [sock], [], 2)[1]:
            print('it stopped reading after', sent, 'requests')
            wait()
            return
        try:
            sent += 2 * (sock.send(line * 50) // len(line))
        except BlockingIOError:
            pass
    sys.exit('it read a million requests and let the replies pile up')


def die():
    for _ in range(50):
        sock = dial()
        sock.sendall(b'route show\n')
        sock.recv(100)


def batch():
    sock = dial()
    sock.sendall(b'begin\nroute add 203.0.113.0/24 blackhole\n')
    assert sock.recv(1000).startswith(b'{"status":"ok"}')


def hold():
    sock = dial()
    sock.sendall(b'begin\nroute add 203.0.113.0/24 blackhole\n')
    assert sock.recv(1000).startswith(b'{"status":"ok"}')
    wait()
    sock.sendall(b'commit\n')
    if b'ok' not in sock.recv(1000):
        sys.exit('the batch could not be committed')


def oversize():
    sock = dial()
    sock.sendall(b'x' * 4096)
    got = sock.recv(1000)
    assert b'E2BIG' in got, got
    try:
        assert sock.recv(1000) == b''
    except ConnectionResetError:
        pass


globals()[sys.argv[2]]()
