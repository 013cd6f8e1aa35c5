/* m5/clock.c - stamps of the card as nanoseconds */

#include "clock.h"

#include "../base/time.h"
#include "inside.h"

enum { BITS = 41, BITS_MAX = 63 };

/* Real time: seconds in the upper half, nanoseconds in the lower. Source: DPDK mlx5_rx.h,
 * mlx5_txpp_convert_rx_ts; rdma-core mlx5dv.h has the same for WAIT on time. */
static uint64_t real_ns(uint64_t raw)
{
	return (raw >> 32) * NS_PER_S + (uint32_t)raw;
}

/* The difference of two counts, the nearer way round. */
static int64_t nearest(const struct m5_clock *c, uint64_t from, uint64_t to)
{
	uint64_t ahead = (to - from) & c->mask;

	return ahead > c->mask / 2 ? (int64_t)(ahead - c->mask - 1) : (int64_t)ahead;
}

/* v * a / b without an intermediate result of more than 64 bits, if a and b have 32. */
static uint64_t scale(uint64_t v, uint32_t a, uint32_t b)
{
	return v / b * a + v % b * a / b;
}

static uint64_t ticks_to_ns(const struct m5_clock *c, uint64_t ticks)
{
	return scale(ticks, NS_PER_MS, c->khz);
}

void m5_clock_init(struct m5_clock *c, unsigned ts_format, uint32_t khz, unsigned bits)
{
	*c = (struct m5_clock){ .khz = khz ? khz : NS_PER_MS };
	if (ts_format != PRM_TS_REAL_TIME)
		c->mask = (UINT64_C(2) << ((bits < BITS_MAX ? bits : BITS_MAX) - 1)) - 1;
}

/* The kernel knows how many bits count; where it does not say, the fewest that are known of. */
void m5_clock_open(struct m5_clock *c, const struct m5_dev *dev, unsigned ts_format)
{
	struct mlx5dv_clock_info info;
	unsigned bits = BITS;

	if (mlx5dv_get_clock_info(dev->ctx, &info) == 0 && info.mask)
		bits = 64 - (unsigned)__builtin_clzll(info.mask);
	m5_clock_init(c, ts_format, dev->caps.clock_khz, bits);
}

/* Whole counts and not their nanoseconds are added up, so nothing is lost by rounding. */
uint64_t m5_clock_ns(struct m5_clock *c, uint64_t raw, uint64_t host_ns)
{
	uint64_t guess = c->ticks;

	if (!c->mask)
		return real_ns(raw);
	if (!c->host_ns)
		guess = raw & c->mask;
	else if (host_ns > c->host_ns)
		guess += scale(host_ns - c->host_ns, c->khz, NS_PER_MS);
	c->ticks = guess + (uint64_t)nearest(c, guess, raw);
	c->host_ns = host_ns;
	return ticks_to_ns(c, c->ticks);
}

int64_t m5_clock_between_ns(const struct m5_clock *c, uint64_t from, uint64_t to)
{
	int64_t ticks;

	if (!c->mask)
		return (int64_t)(real_ns(to) - real_ns(from));
	ticks = nearest(c, from, to);
	return ticks < 0 ? -(int64_t)ticks_to_ns(c, (uint64_t)-ticks)
			 : (int64_t)ticks_to_ns(c, (uint64_t)ticks);
}
