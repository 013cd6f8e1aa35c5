/* fwd/busy.c - how a worker spends its time
 *
 *   | packets | packets | nothing | wait ..... | packets | nothing | nothing | ...
 *   ^ mark                        ^ read       ^ read              ^ read
 *
 * The clock is read when a turn has found nothing, after a wait, and once in some hundred bursts
 * under load: no packet and no burst costs anything. A turn that finds nothing takes as long as
 * the shortest that came after another one; so much of the time since the mark is idle. All time
 * is one or the other, but for pauses that others asked for.
 */

#include "../base/time.h"
#include "worker_inside.h"

void fwd_time_start(struct fwd_worker *w)
{
	w->mark = time_ticks();
	w->idle_since = 0;
}

void fwd_time_busy(struct fwd_worker *w)
{
	uint64_t now = time_ticks();

	count_add(&w->count.busy_ticks, now - w->mark);
	w->mark = now;
}

void fwd_time_nothing(struct fwd_worker *w, uint64_t now)
{
	uint64_t spent = now - w->mark, idle = spent;

	if (!w->idle_since) {
		idle = w->look_ticks < spent ? w->look_ticks : spent;
		w->idle_since = now;
	} else if (!w->look_ticks || spent < w->look_ticks) {
		w->look_ticks = spent;
	}
	count_add(&w->count.busy_ticks, spent - idle);
	count_add(&w->count.idle_ticks, idle);
	w->mark = now;
}

void fwd_time_waited(struct fwd_worker *w)
{
	uint64_t now = time_ticks();

	count_add(&w->count.idle_ticks, now - w->mark);
	w->mark = now;
}
