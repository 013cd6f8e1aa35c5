/* test/client/mem.h - what the memory programs (t_mem, t_fork, t_race) have in common
 *
 *   PROGRAM [--nobody] [--hugepages] [--device N]
 *
 * --nobody gives up root after the queues exist: then the preload library has no
 * privilege either, which changes how it works (userfaultfd, /proc/self/map_files).
 */
#pragma once

#define _GNU_SOURCE 1
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "check.h"
#include "rig.h"

#define PAGE 4096
#define MIB  (1024 * 1024)

/* A sanitizer's allocator keeps what free() was given for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

extern struct rig rig;
extern bool privileged, want_huge;

bool mem_start(int argc, char **argv); /* false: nothing can be tried */
int mem_end(void);		       /* closes, exit status */

struct ibv_mr *reg(void *p, size_t len);
char *pages(size_t n); /* private, anonymous */
/* 64 bytes at @p, from program to device and back. */
bool same(const struct ibv_mr *mr, void *p);
/* Descriptors that the library keeps, how much memory is behind them, the lowest of them. */
unsigned kept(uint64_t *bytes, int *lowest);
/* Exit status, 1000 + signal, or -1. */
int status_of(pid_t pid);
