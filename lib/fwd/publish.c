/* fwd/publish.c - a worker's counters, for others to read
 *
 * While packets flow the worker counts in memory of its own: a line that somebody reads again
 * and again costs its writer dearly, once a burst and worker.
 */

#include "worker_inside.h"

static void copy(struct fwd_port_count *to, const struct fwd_port_count *from)
{
	uint64_t *t = (uint64_t *)(void *)to;
	const uint64_t *f = (const uint64_t *)(const void *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		__atomic_store_n(&t[i], f[i], __ATOMIC_RELAXED);
}

void fwd_publish(struct fwd_worker *w)
{
	for (unsigned p = 0; p < w->n_ports; p++)
		copy(&w->port_count[p], &w->own[p]);
	w->unpublished = 0;
}
