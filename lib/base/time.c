/* base/time.c - rate of the tick counter */

#include "time.h"

uint64_t time_ticks_per_s(void)
{
	static uint64_t rate;
	uint64_t ns = time_ns(), ticks = time_ticks(), elapsed;

	if (rate)
		return rate;
	do
		elapsed = time_ns() - ns;
	while (elapsed < 5 * NS_PER_MS);
	rate = (time_ticks() - ticks) * NS_PER_S / elapsed;
	return rate;
}

uint64_t time_ticks_per_us(void)
{
	return time_ticks_per_s() * NS_PER_US / NS_PER_S;
}
