/* daemon/watchdog.c - a worker that no longer turns must not keep its packets */

#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>

#include "notify.h"
#include "router.h"

enum {
	LATE_MS =
		2000, /* systemd hears nothing more; twice an idle worker's longest sleep */
	FEED_MS = 1000,
	SLICE_MS =
		100, /* of a wait: after a halt of the whole process one has passed, no more */
};

/* Milliseconds without a turn. */
static unsigned look_at(struct router *r, unsigned w, unsigned ms)
{
	struct worker_watch *watch = &r->watch[w];
	uint64_t turns = fwd_read(&fwd_worker_count(r->worker[w])->turns);

	watch->still_ms = turns == watch->turns ? watch->still_ms + ms : 0;
	watch->turns = turns;
	return watch->still_ms;
}

static _Noreturn void fence(struct router *r, unsigned w)
{
	log_error(
		"worker %u: no turn for %u ms; the kernel gets all ports, and this process "
		"ends",
		w, r->watch[w].still_ms);
	notify_status("a worker is stuck");
	ports_release(r);
	log_notice("the kernel has all ports");
	abort();
}

void watchdog_pause(struct router *r, unsigned w)
{
	while (fwd_worker_pause(r->worker[w], SLICE_MS) < 0)
		if (look_at(r, w, SLICE_MS) >= WATCHDOG_STUCK_MS)
			fence(r, w);
}

void watchdog_tick(struct router *r, unsigned ms)
{
	unsigned longest = 0;

	for (unsigned w = 0; w < r->n_workers; w++) {
		unsigned still = look_at(r, w, ms);

		if (still >= WATCHDOG_STUCK_MS)
			fence(r, w);
		if (still > longest)
			longest = still;
	}
	r->unfed_ms += ms;
	if (longest >= LATE_MS || r->unfed_ms < FEED_MS)
		return;
	notify_alive();
	r->unfed_ms = 0;
}
