#!/usr/bin/env python3
"""test/lib/hostile.py - clients that speak the protocol of uverbs/proto.h wrongly, or stop

  hostile.py DIR connect N      N connections, each ends in another wrong way
  hostile.py DIR open N         N contexts at once; "open N"; a line on stdin ends it
  hostile.py DIR noise N SEED   N calls of random bytes, of which many look right at first
  hostile.py DIR registrations SEED   every wrong answer to the request for memory
  hostile.py DIR flood          answers a request for memory with pieces without end
  hostile.py DIR pieces         memory in more pieces than the device process may map
  hostile.py DIR stand          "standing" in the middle of a registration; until killed
  hostile.py DIR alive          asks the control socket, opens, registers memory: "alive" if all
                                that took less than a second, not counting the time that
                                both processes waited for a CPU

Each prints what it did and ends with status 0, whatever the device answered; it is for the
caller to see that the device is well.
"""
import array
import contextlib
import ctypes
import glob
import mmap
import os
import random
import select
import socket
import struct
import sys
import time

HELLO, LIST, PORT, CALL, IOCTL, REPLY, NEED_MEM, MEM, NEED_FD, FD, MMAP, MAPPED = range(1, 13)
MESSAGE_MAX = 131072
PAGE = 4096
U64 = 2**64 - 1
# rdma/ib_user_ioctl_cmds.h, ib_user_verbs.h
DEVICE, INVOKE_WRITE, GET_CONTEXT = 0, 0, 3
CORE_IN, CORE_OUT, WRITE_CMD, UHW_IN, UHW_OUT = 0, 1, 2, 0x1000, 0x1001
ALLOC_PD, REG_MR = 3, 9


def send(sock, data, fds=()):
    anc = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], anc)


def receive(sock, seconds=20):
    """one message, its descriptors closed; b'' at the end"""
    if not select.select([sock], [], [], seconds)[0]:
        sys.exit("no answer in %d s" % seconds)
    try:
        data, anc, _, _ = sock.recvmsg(MESSAGE_MAX, 4096, socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return b""
    for level, kind, fds in anc:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            for fd in array.array("i", fds[: len(fds) // 4 * 4]):
                os.close(fd)
    return data


def type_of(message):
    return struct.unpack("<I", message[:4])[0] if len(message) >= 4 else 0


def connect(where):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.connect(where + "/uverbs.sock")
    return sock


def hello(sock, version=1, uverbs=0):
    send(sock, struct.pack("<IIIi", HELLO, version, uverbs, 0))
    answer = receive(sock)
    return struct.unpack("<IIIi", answer)[3] if len(answer) == 16 else None


def begin(sock):
    """a call: our end of its pair"""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    send(sock, struct.pack("<I", CALL), (theirs.fileno(),))
    theirs.close()
    return ours


def ioctl(obj, method, attrs):
    """the message; attrs: (id, number or bytes)"""
    content = b""
    table = b""
    for key, value in attrs:
        if isinstance(value, int):
            table += struct.pack("<HHHHQ", key, 8, 0, 0, value)
        elif len(value) <= 8:
            table += struct.pack("<HHHH8s", key, len(value), 0, 0, value)
        else:
            table += struct.pack("<HHHHQ", key, len(value), 0, 0, 0)
            content += value
    head = struct.pack("<HHHHQII", 24 + len(table), obj, method, len(attrs), 0, 1, 0)
    return struct.pack("<IIII", IOCTL, len(attrs), os.getpid(), 0) + head + table + content


def write_command(command, core_in, out_bytes, driver_out=b""):
    attrs = [(WRITE_CMD, command), (CORE_IN, core_in), (CORE_OUT, bytes(out_bytes))]
    if driver_out:
        attrs.append((UHW_OUT, driver_out))
    return ioctl(DEVICE, INVOKE_WRITE, attrs)


def piece(addr, length, offset=0, rc=0, last=0, page=PAGE):
    return struct.pack("<IiIIQQQ", MEM, rc, last, page, addr & U64, length & U64, offset & U64)


LAST = piece(0, 0, last=1)


class Context:
    """an open device with a protection domain"""

    def __init__(self, where):
        self.sock = connect(where)
        if hello(self.sock):
            raise OSError("HELLO was refused")
        request = struct.pack("<IIIIBBHIQ", 16, 4, 1, 0, 1, 0, 0, 0, 3)
        self.call(ioctl(DEVICE, GET_CONTEXT,
                        [(0, bytes(4)), (UHW_IN, request), (UHW_OUT, bytes(112))]))
        reply = self.call(write_command(ALLOC_PD, bytes(8), 4, bytes(4)))
        self.pd = struct.unpack("<I", self.answer(reply, 2))[0]

    @staticmethod
    def answer(reply, i):
        """what the device copied back of attribute i"""
        n = struct.unpack("<I", reply[8:12])[0]
        at = 16 + 24 * n
        for k in range(n):
            length = struct.unpack("<H", reply[16 + 16 * k + 2:16 + 16 * k + 4])[0]
            blob = reply[16 + 16 * n + 8 * k]
            if k == i:
                return reply[at:at + length] if blob else b""
            at += length if blob else 0
        return b""

    def call(self, message):
        pair = begin(self.sock)
        send(pair, message)
        reply = receive(pair)
        pair.close()
        rc = struct.unpack("<i", reply[4:8])[0] if type_of(reply) == REPLY else -1
        if rc:
            raise OSError("a good call was refused: %d" % rc)
        return reply

    def register(self, addr, length):
        """begins REG_MR; the pair, with the device's NEED_MEM taken from it"""
        request = struct.pack("<QQQQII", 0, addr, length, addr, self.pd, 1)
        pair = begin(self.sock)
        send(pair, write_command(REG_MR, request, 12))
        need = receive(pair)
        if type_of(need) != NEED_MEM:
            raise OSError("no NEED_MEM, but %d, %d bytes" % (type_of(need), len(need)))
        return pair

    def result(self, pair):
        """errno of the answer, None when the device hung up"""
        reply = receive(pair)
        pair.close()
        return struct.unpack("<i", reply[4:8])[0] if type_of(reply) == REPLY else None


def memory(length):
    fd = os.memfd_create("hostile")
    os.ftruncate(fd, length)
    return fd


ADDR = 0x7F0000000000

# ---- what can be done ----


def end_connection(where, i):
    sock = connect(where)
    how = i % 10
    try:
        if how == 1:
            hello(sock)
        elif how == 2:
            hello(sock, version=i)
        elif how == 3:
            hello(sock, uverbs=i)
        elif how == 4:
            send(sock, os.urandom(1 + i % 300))
        elif how == 5:
            send(sock, struct.pack("<I", LIST))
        elif how == 6:
            send(sock, struct.pack("<IIIi", HELLO, 1, 0, 0), (0, 1, 2))
        elif how == 7:
            hello(sock)
            send(sock, struct.pack("<I", CALL))
        elif how == 8:
            hello(sock)
            begin(sock).close()
        elif how == 9:
            hello(sock)
            pair = begin(sock)
            send(pair, os.urandom(i % 200 + 1), tuple([0] * (i % 9)))
    except OSError:
        pass
    sock.close()


def do_connect(where, n):
    for i in range(int(n)):
        end_connection(where, i)
    print("connect", n)


def do_open(where, n):
    held = []
    refused = 0
    for _ in range(int(n)):
        try:
            held.append(Context(where))
        except OSError:
            refused += 1
    print("open", len(held), "refused", refused, flush=True)
    sys.stdin.readline()


def random_message(rnd):
    n = rnd.randrange(8)
    attrs = []
    for _ in range(n):
        value = rnd.choice([rnd.getrandbits(64), rnd.randrange(8), rnd.randbytes(rnd.randrange(9)),
                            rnd.randbytes(rnd.choice([16, 40, 64, 512, 4096]))])
        attrs.append((rnd.choice([rnd.randrange(8), 0x1000 + rnd.randrange(8), rnd.getrandbits(16)]),
                      value))
    obj = rnd.choice([rnd.randrange(18), 0x1000 + rnd.randrange(10)])
    method = rnd.choice([rnd.randrange(8), 0x1000 + rnd.randrange(6)])
    message = bytearray(ioctl(obj, method, attrs))
    for _ in range(rnd.choice([0, 0, 1, 4])):
        message[rnd.randrange(len(message))] ^= 1 << rnd.randrange(8)
    if rnd.randrange(8) == 0:
        message = message[: rnd.randrange(len(message)) + 1]
    if rnd.randrange(8) == 0:
        message = bytearray(rnd.randbytes(rnd.randrange(1, 3000)))
    return bytes(message)


def do_noise(where, n, seed):
    rnd = random.Random(int(seed))
    ctx = Context(where)
    good = 0
    for _ in range(int(n)):
        pair = begin(ctx.sock)
        try:
            send(pair, random_message(rnd), (0,) if rnd.randrange(16) == 0 else ())
            while True:
                answer = receive(pair)
                if type_of(answer) not in (NEED_MEM, NEED_FD):
                    break
                send(pair, rnd.randbytes(rnd.randrange(1, 100)), (0, 1) if rnd.randrange(4) else ())
            good += len(answer) >= 8 and not struct.unpack("<i", answer[4:8])[0]
        except OSError:
            pass
        pair.close()
    print("noise", n, "of them understood", good)


def wrong_answers(fd):
    """lists of (message, descriptors)"""
    pipe = os.pipe()
    short = memory(100)
    null = os.open("/dev/zero", os.O_RDWR)
    folder = os.open("/", os.O_RDONLY)
    whole = piece(ADDR, 8 * PAGE)
    for other in (pipe[0], pipe[1], short, null, folder, 0):
        yield [(whole, (other,)), (LAST, ())]
    for page in (0, 1, 4095, 6144, 1 << 21, 1 << 30, 1 << 31):
        yield [(piece(ADDR, 8 * PAGE, page=page), (fd,)), (LAST, ())]
    for offset in (1, 1 << 30, 1 << 62, 1 << 63, -PAGE):
        yield [(piece(ADDR, 8 * PAGE, offset=offset), (fd,)), (LAST, ())]
    for addr in (0, ADDR - PAGE, ADDR + PAGE, ADDR + (1 << 40), -PAGE):
        yield [(piece(addr, 8 * PAGE), (fd,)), (LAST, ())]
    for length in (0, 1, 7 * PAGE, 1 << 62, -PAGE):
        yield [(piece(ADDR, length), (fd,)), (LAST, ())]
    yield [(whole, (fd,)), (whole, (fd,)), (LAST, ())]
    yield [(piece(ADDR + 4 * PAGE, 4 * PAGE), (fd,)), (piece(ADDR, 4 * PAGE), (fd,)), (LAST, ())]
    yield [(whole, ()), (LAST, ())]
    yield [(whole, (fd, fd, fd)), (LAST, (fd,))]
    yield [(LAST, ())]
    yield [(whole, (fd,)), (piece(0, 0, last=1, rc=12), ())]
    yield [(whole, (fd,)), (piece(0, 0, last=1, rc=-(2**31)), ())]
    yield [(whole[:20], (fd,))]
    yield [(whole + bytes(50), (fd,))]
    yield [(struct.pack("<Ii", FD, 0), (fd,))]
    yield [(struct.pack("<I", CALL), (fd,))]
    yield [(whole, (fd,))]  # and then nothing more
    yield []


def do_registrations(where, seed):
    rnd = random.Random(int(seed))
    fd = memory(8 * PAGE)
    answers = list(wrong_answers(fd))
    rnd.shuffle(answers)
    ctx = Context(where)
    right = 0
    for answer in answers:
        pair = ctx.register(ADDR, 8 * PAGE)
        try:
            for message, fds in answer:
                send(pair, message, fds)
        except OSError:
            pass
        if answer and answer[-1][0] is LAST:
            right += ctx.result(pair) == 0
        pair.close()
    pair = ctx.register(ADDR, 8 * PAGE)
    send(pair, piece(ADDR, 8 * PAGE), (fd,))
    send(pair, LAST)
    print("registrations", len(answers), "taken", right, "and a good one", ctx.result(pair))


def do_flood(where):
    fd = memory(8 * PAGE)
    ctx = Context(where)
    pair = ctx.register(ADDR, 8 * PAGE)
    n = 0
    try:
        while n < 4000000:
            send(pair, piece(ADDR, PAGE), (fd,))
            n += 1
    except OSError:
        pass
    print("flood", "ended" if n < 4000000 else "never ended")


def do_pieces(where):
    """neighbours whose file offsets are not: each is a mapping of its own"""
    n = 100000
    fd = memory(4 * PAGE)
    ctx = Context(where)
    pair = ctx.register(ADDR, n * PAGE)
    try:
        for i in range(n):
            send(pair, piece(ADDR + i * PAGE, PAGE, offset=i % 2 * 2 * PAGE), (fd,))
        send(pair, LAST)
        print("pieces", ctx.result(pair))
    except OSError as error:
        print("pieces", error)


def do_stand(where):
    ctx = Context(where)
    pair = ctx.register(ADDR, 8 * PAGE)
    send(pair, piece(ADDR, 4 * PAGE), (memory(8 * PAGE),))
    print("standing", flush=True)
    sys.stdin.readline()


def ask_control(where):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(where + "/ctl.sock")
    sock.sendall(b"stat\n")
    text = b""
    while not text.endswith(b"\nok\n"):
        got = sock.recv(65536)
        if not got:
            raise OSError("the control socket hung up")
        text += got
    sock.close()


def register_page(where):
    page = mmap.mmap(-1, PAGE)
    addr = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctx = Context(where)
    pair = ctx.register(addr, PAGE)
    send(pair, piece(addr, PAGE), (memory(PAGE),))
    send(pair, LAST)
    if ctx.result(pair):
        raise OSError("the registration was refused")


def device_process(where):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(where + "/ctl.sock")
    return struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def waited(process):
    """Seconds that its threads were ready to run and did not (proc(5), schedstat)."""
    ns = 0
    for path in glob.glob("/proc/%s/task/*/schedstat" % process):
        with contextlib.suppress(OSError):  # a thread that ended
            with open(path, encoding="ascii") as file:
                ns += int(file.read().split()[1])
    return ns / 1e9


def do_alive(where):
    both = ("self", device_process(where))
    start = time.monotonic() - sum(map(waited, both))
    ask_control(where)
    register_page(where)
    took = time.monotonic() - sum(map(waited, both)) - start
    print("alive" if took < 1 else "alive, but after %.3f s" % took)


if __name__ == "__main__":
    globals()["do_" + sys.argv[2]](sys.argv[1], *sys.argv[3:])
