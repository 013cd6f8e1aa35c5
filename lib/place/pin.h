/* place/pin.h - which CPU a thread runs on */
#pragma once

/* Pins the calling thread. Return 0, or -EINVAL (no such CPU, or outside this process's cpuset). */
int place_pin_self(int cpu);
