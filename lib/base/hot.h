/* base/hot.h - hints for code that runs per packet, and layout helpers */
#pragma once

#include <assert.h>
#include <stddef.h>

#define CACHE_LINE 64

#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define COLD	      __attribute__((noinline, cold))
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define CACHE_ALIGNED __attribute__((aligned(CACHE_LINE)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Volatile access: for memory that the device writes or reads behind our back. */
#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* Built for ThreadSanitizer? gcc says so with a macro of its own, clang when asked. */
#if defined(__SANITIZE_THREAD__)
#define BUILT_FOR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BUILT_FOR_TSAN 1
#endif
#endif
