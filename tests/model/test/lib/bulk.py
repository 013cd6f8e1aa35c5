#!/usr/bin/env python3
"""Streams and datagrams between two namespaces arrive as they were sent.

use: bulk.py NETNS ADDRESS NETNS ADDRESS MEGABYTES

From the first to the second, over TCP; then UDP datagrams of all sizes, one by one.
Stacks leave segmentation and checksums to the interface: what comes out of a wire must
have both. Prints "tcp BYTES udp DATAGRAMS".
"""
import ctypes
import hashlib
import socket
import sys
import threading


def enter(netns):
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/var/run/netns/" + netns, "rb") as f:
        if libc.setns(f.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns " + netns)


def sockets(netns, address, kind):
    enter(netns)
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    s.bind((address, 0))
    s.settimeout(20)
    return s


def take(server, size, result):
    conn, _ = server.accept()
    conn.settimeout(20)
    digest, got = hashlib.sha256(), 0
    while got < size and (part := conn.recv(1 << 20)):
        digest.update(part)
        got += len(part)
    result += [got, digest.hexdigest()]


def stream(src, dst, data):
    server = sockets(*dst, socket.SOCK_STREAM)
    server.listen(1)
    client = sockets(*src, socket.SOCK_STREAM)
    result = []
    thread = threading.Thread(target=take, args=(server, len(data), result))
    thread.start()
    client.connect(server.getsockname())
    client.sendall(data)
    thread.join()
    assert result == [len(data), hashlib.sha256(data).hexdigest()], result
    return len(data)


def datagrams(src, dst):
    server, client = sockets(*dst, socket.SOCK_DGRAM), sockets(*src, socket.SOCK_DGRAM)
    sizes = list(range(0, 1450, 7))
    for n in sizes:
        want = bytes((n + i) & 255 for i in range(n))
        client.sendto(want, server.getsockname())
        got = server.recv(65536)
        assert got == want, (n, len(got))
    return len(sizes)


def main(src_ns, src, dst_ns, dst, megabytes):
    data = bytes(range(251)) * (int(megabytes) * (1 << 20) // 251)
    print("tcp", stream((src_ns, src), (dst_ns, dst), data), end=" ")
    print("udp", datagrams((src_ns, src), (dst_ns, dst)))


main(*sys.argv[1:])
