/* place/pin.h - which CPU a thread runs on */
#pragma once

#include <pthread.h>

/**
 * place_thread_start() - a thread that runs on one CPU from its first instruction
 * @cpu: -1 = not pinned: where the caller may run
 *
 * Return: 0, or -errno: -EINVAL (no such CPU, or outside this process's cpuset), -EAGAIN.
 */
int place_thread_start(int cpu, void *(*run)(void *arg), void *arg, pthread_t *ret);
