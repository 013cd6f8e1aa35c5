/* m5/clock.h - stamps of the card as nanoseconds
 *
 * A stamp is what a completion says (m5_rx_stamp.raw, m5_tx_sampled): a count of a free-running
 * clock, or the time of day as seconds and nanoseconds, as caps.rq_ts_format and sq_ts_format
 * tell. A free-running clock wraps: 41 bits of nanoseconds are 36 minutes 39 seconds
 * (ConnectX-6 Dx). How many wraps have passed is known from the host's clock, so a stamp
 * may follow the one before after any time.
 *
 * Nanoseconds of a free-running clock count from an arbitrary moment, and two devices have two
 * clocks; those of a real-time clock are the card's idea of the time since 1970.
 */
#pragma once

#include <stdint.h>

#include "../prm/ctx.h"
#include "dev.h"

struct m5_clock {
	uint64_t mask;	  /* bits that count; 0: real time, seconds and nanoseconds */
	uint32_t khz;	  /* counts a millisecond */
	uint64_t ticks;	  /* the stamp before, with its wraps */
	uint64_t host_ns; /* when that was; 0 = there was none */
};

/* @ts_format: caps.rq_ts_format or sq_ts_format. Context: control thread. */
void m5_clock_open(struct m5_clock *c, const struct m5_dev *dev, unsigned ts_format);
/* The same from numbers. */
void m5_clock_init(struct m5_clock *c, unsigned ts_format, uint32_t khz, unsigned bits);

/**
 * m5_clock_ns() - a stamp, with the wraps added back
 * @host_ns: CLOCK_MONOTONIC, at most a quarter of a wrap (9 minutes) from when the card made it
 *
 * Stamps may come in any order. Right as long as host and card do not drift by a quarter of a
 * wrap from one call to the next: months, at 100 ppm.
 *
 * Context: owner of @c; does not sleep.
 */
uint64_t m5_clock_ns(struct m5_clock *c, uint64_t raw, uint64_t host_ns);

/* From one stamp to another of the same clock, less than half a wrap apart; negative: @to is the
 * earlier one. */
int64_t m5_clock_between_ns(const struct m5_clock *c, uint64_t from, uint64_t to);
