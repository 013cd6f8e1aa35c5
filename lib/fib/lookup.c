/* fib/lookup.c - which instructions lookups may use here */

#include "lookup.h"

#include "../base/hot.h"

const char *fib_simd_name(enum fib_simd simd)
{
	static const char *const names[FIB_SIMD_COUNT] = {
		[FIB_SIMD_BEST] = "best",
		[FIB_SIMD_SCALAR] = "scalar",
		[FIB_SIMD_AVX2] = "avx2",
		[FIB_SIMD_AVX512] = "avx512",
	};

	return names[simd];
}

#if defined(__x86_64__)
bool fib_simd_works(enum fib_simd simd)
{
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
		    __builtin_cpu_supports("bmi2");

	switch (simd) {
	case FIB_SIMD_AVX2:
		return avx2;
	case FIB_SIMD_AVX512:
		return avx2 && __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vpopcntdq");
	default:
		return true;
	}
}
#else
bool fib_simd_works(enum fib_simd simd)
{
	return simd <= FIB_SIMD_SCALAR;
}
#endif

enum fib_simd fib_simd_best(void)
{
#ifndef BUILT_FOR_TSAN /* which does not see what vector instructions load */
	if (fib_simd_works(FIB_SIMD_AVX512))
		return FIB_SIMD_AVX512;
	if (fib_simd_works(FIB_SIMD_AVX2))
		return FIB_SIMD_AVX2;
#endif
	return FIB_SIMD_SCALAR;
}
