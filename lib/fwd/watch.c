/* fwd/watch.c - waiting until a word of memory changes */

#include "watch.h"

#include "../base/hot.h"
#include "../base/time.h"

ALWAYS_INLINE bool is_still(const uint64_t *word, uint64_t seen)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED) == seen;
}

static void watch_pause(const uint64_t *word, uint64_t seen, uint64_t ticks)
{
	uint64_t start = time_ticks();

	while (is_still(word, seen) && time_ticks() - start < ticks)
		time_relax();
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <x86intrin.h>

/* UMWAIT: 1 = C0.1, which is left sooner than C0.2. Linux bounds a rest at 100,000 ticks
 * (/sys/devices/system/cpu/umwait_control/max_time).
 * MWAITX: the hint keeps the core out of deeper states; the timer counts ticks. */
enum {
	UMWAIT_C01 = 1,
	MWAITX_STAY_IN_C0 = 0xf0,
	MWAITX_TIMER = 2,
};

/* What was written between the look at the word and the watch would not end the rest: hence one
 * more look between watch and rest, in both. */
__attribute__((target("waitpkg"))) static void watch_umwait(const uint64_t *word,
							    uint64_t seen, uint64_t ticks)
{
	_umonitor((void *)(uintptr_t)word);
	if (is_still(word, seen))
		_umwait(UMWAIT_C01, time_ticks() + ticks);
}

__attribute__((target("mwaitx"))) static void watch_mwaitx(const uint64_t *word,
							   uint64_t seen, uint64_t ticks)
{
	_mm_monitorx((void *)(uintptr_t)word, 0, 0);
	if (is_still(word, seen))
		_mm_mwaitx(MWAITX_TIMER, MWAITX_STAY_IN_C0,
			   ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
}

/* Source: Intel SDM vol. 2, CPUID 07H.0:ECX[5]; AMD APM vol. 3, Fn8000_0001_ECX[29]. */
bool fwd_watch_works(enum fwd_watch way)
{
	unsigned a, b, c, d;

	switch (way) {
	case FWD_WATCH_UMWAIT:
		return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c >> 5 & 1;
	case FWD_WATCH_MWAITX:
		return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 29 & 1;
	default:
		return true;
	}
}

#else

bool fwd_watch_works(enum fwd_watch way)
{
	return way == FWD_WATCH_PAUSE;
}

#endif

fwd_watch_fn *const fwd_watch_by[FWD_WATCH_COUNT] = {
	[FWD_WATCH_PAUSE] = watch_pause,
#if defined(__x86_64__)
	[FWD_WATCH_UMWAIT] = watch_umwait,
	[FWD_WATCH_MWAITX] = watch_mwaitx,
#endif
};

enum fwd_watch fwd_watch_best(void)
{
	if (fwd_watch_works(FWD_WATCH_UMWAIT))
		return FWD_WATCH_UMWAIT;
	return fwd_watch_works(FWD_WATCH_MWAITX) ? FWD_WATCH_MWAITX : FWD_WATCH_PAUSE;
}

const char *fwd_watch_name(enum fwd_watch way)
{
	static const char *const names[FWD_WATCH_COUNT] = {
		[FWD_WATCH_PAUSE] = "pause",
		[FWD_WATCH_UMWAIT] = "umwait",
		[FWD_WATCH_MWAITX] = "mwaitx",
	};

	return names[way];
}
