"""operations/freeze.py PID PREFIX - stops the busiest thread of a process but its first, by ptrace

Then watches the first. PREFIX.frozen is written once the thread stands still; when the first
thread is about to die of SIGABRT it is held, PREFIX.aborting is written, and PREFIX.go waited for.
"""
import ctypes
import os
import signal
import sys
import time

SEIZE, INTERRUPT, CONT = 0x4206, 0x4207, 7      # linux/ptrace.h
WALL = 0x40000000                               # __WALL: threads, too
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
pid, prefix = int(sys.argv[1]), sys.argv[2]


def ptrace(what, thread, data=0):
    if libc.ptrace(what, thread, None, data):
        sys.exit('ptrace: %s' % os.strerror(ctypes.get_errno()))


def ticks(thread):
    with open('/proc/%d/task/%d/stat' % (pid, thread), encoding='utf-8') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def tell(what):
    with open(prefix + what, 'w', encoding='utf-8'):
        pass


threads = [t for t in map(int, os.listdir('/proc/%d/task' % pid)) if t != pid]
worker = max(threads, key=ticks)
ptrace(SEIZE, pid)
ptrace(SEIZE, worker)
ptrace(INTERRUPT, worker)
os.waitpid(worker, WALL)
tell('.frozen')
while True:
    _, status = os.waitpid(pid, WALL)
    if not os.WIFSTOPPED(status):
        sys.exit('ended without SIGABRT: %#x' % status)
    number = os.WSTOPSIG(status)
    if number == signal.SIGABRT:
        break
    ptrace(CONT, pid, number)
tell('.aborting')
while not os.path.exists(prefix + '.go'):
    time.sleep(0.02)
ptrace(CONT, pid, signal.SIGABRT)
