/* exc/limit.c - token bucket */

#include "limit.h"

#define TOKEN UINT64_C(1000000000)

void exc_limit_init(struct exc_limit *l, uint32_t rate_pps, uint32_t burst,
		    uint64_t now_ns)
{
	l->rate = rate_pps;
	l->burst = burst ? burst : 1;
	l->level = l->burst * TOKEN;
	l->last_ns = now_ns;
}

bool exc_limit_take(struct exc_limit *l, uint64_t now_ns)
{
	uint64_t full = l->burst * TOKEN, passed = now_ns - l->last_ns;

	if (!l->rate)
		return true;
	l->last_ns = now_ns;
	/* A long pause fills the bucket; comparing first keeps the product in 64 bits. */
	if (passed >= (full - l->level) / l->rate + 1)
		l->level = full;
	else
		l->level += passed * l->rate;
	if (l->level < TOKEN)
		return false;
	l->level -= TOKEN;
	return true;
}
