/* fwd/code.c - which build of the packet loop this processor runs
 *
 * What a loop gains by them: three operands, byte swaps while loading, bit fields in one
 * instruction, and more registers.
 */

#include "../m5/tx_hot.h"
#include "worker_inside.h"

static bool works(enum fwd_set set)
{
#if defined(__x86_64__)
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		    __builtin_cpu_supports("bmi2");

	switch (set) {
	case FWD_SET_AVX2:
		return avx2;
	case FWD_SET_AVX512:
		return avx2 && m5_tx_has_avx512();
	default:
		return true;
	}
#else
	return set == FWD_SET_PLAIN;
#endif
}

const struct fwd_code *fwd_code_of(enum fwd_set set)
{
	static const struct fwd_code *const codes[FWD_SET_COUNT] = {
		[FWD_SET_PLAIN] = &fwd_code_plain,
#if defined(__x86_64__)
		[FWD_SET_AVX2] = &fwd_code_avx2,
		[FWD_SET_AVX512] = &fwd_code_avx512,
#endif
	};

	return works(set) ? codes[set] : NULL;
}

enum fwd_set fwd_set_best(void)
{
	if (works(FWD_SET_AVX512))
		return FWD_SET_AVX512;
	return works(FWD_SET_AVX2) ? FWD_SET_AVX2 : FWD_SET_PLAIN;
}

const char *fwd_set_name(enum fwd_set set)
{
	static const char *const names[FWD_SET_COUNT] = {
		[FWD_SET_PLAIN] = "plain",
		[FWD_SET_AVX2] = "avx2",
		[FWD_SET_AVX512] = "avx512",
	};

	return names[set];
}
