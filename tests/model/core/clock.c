/* core/clock.c - the port's clock
 *
 * The card stamps completions with a free-running counter. Here it counts
 * nanoseconds in 41 bits and so wraps every 36 minutes 39 s, as packetio found on a
 * ConnectX-6 Dx. Without ops.now_ns time stands still until
 * cx_clock_advance(): unit tests then see the same stamps in every run. With it, that sets the
 * counter ahead: a wrap is not waited for.
 */
#include "dev.h"

#define CLOCK_MASK ((UINT64_C(1) << 41) - 1)

uint64_t cx_now_ns(const struct cx_dev *dev)
{
	return dev->clock_ns + (dev->ops.now_ns ? dev->ops.now_ns(dev->ops.arg) : 0);
}

uint64_t cx_clock_ns(const struct cx_dev *dev)
{
	return cx_now_ns(dev) & CLOCK_MASK;
}

void cx_clock_advance(struct cx_dev *dev, uint64_t ns)
{
	dev->clock_ns += ns;
}
