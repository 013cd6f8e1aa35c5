/* exc/limit.h - token bucket
 *
 * Holds up to `burst` tokens, gains `rate` a second; a packet takes one. One owner,
 * no lock. Time is the caller's, so that a test needs no waiting.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct exc_limit {
	uint32_t rate; /* tokens a second; 0 = no limit */
	uint32_t burst;
	uint64_t level; /* in billionths of a token, so that no fraction is lost */
	uint64_t last_ns;
};

void exc_limit_init(struct exc_limit *l, uint32_t rate_pps, uint32_t burst,
		    uint64_t now_ns);
bool exc_limit_take(struct exc_limit *l, uint64_t now_ns);
