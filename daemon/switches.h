/* daemon/switches.h - how often the kernel gave a thread's CPU to somebody else; source: proc(5) */
#pragma once

#include <stdint.h>

/* @tid: of this process. Since the thread began. */
int switches_of_thread(int tid, uint64_t *ret);
