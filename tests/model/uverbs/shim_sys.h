/* uverbs/shim_sys.h - system calls without libc
 *
 * The preload library works inside a stranger's program, also while pages of that
 * program are write-protected or being replaced. So its own calls
 *   - are no cancellation points and cannot meet another interposed function;
 *   - never store to errno, whose page may be the protected one;
 *   - need no lazy binding.
 * Calls of the *program* that pass through go to libc instead, see SHIM_REAL().
 *
 * Return: what the kernel returns, a value from -4095 to -1 being -errno.
 */
#pragma once

#include <stdbool.h>
#include <sys/syscall.h>

static inline long shim_sys6(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "shim_sys.h knows x86-64 and arm64 only"
#endif
}

/* SYS(SYS_close, fd): up to six arguments of any integer or pointer type. */
#define SYS(...) SHIM_SYS_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SHIM_SYS_PICK(nr, a, b, c, d, e, f, ...) \
	shim_sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline bool shim_sys_failed(long ret)
{
	return (unsigned long)ret > (unsigned long)-4096;
}
