/* daemon/keep_counters.c - counters outlive the daemon
 *
 * They must never seem to go back: Prometheus takes a counter that does for one that began at 0,
 * and counts all of it anew. So the file has every number before anybody is told it. It is in the
 * kernel's memory then, which a killed daemon does not take with it, but a machine without power
 * does. So a file that no orderly stop closed counts only while the machine has not been started
 * since, and a file that cannot be written is removed. What counted meanwhile begins at 0, as
 * counters do.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/base/time.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "counters.h"
#include "keep_inside.h"
#include "switches.h"

#define EVERY_NS (10 * NS_PER_S) /* if nobody asks */

static const struct state_kind kind = { "counters", 1 };

struct keep_counters {
	struct counters *now; /* room for it */
	char boot[COUNTERS_BOOT_TEXT];
	uint64_t written_ns;
	bool shown;  /* since then */
	bool failed; /* was said */
};

/* ---- of this run, earlier ones in them ---- */

void keep_fib_sizes(const struct router *r, struct fib_sizes *ret)
{
	const struct fib_sizes *k = &r->kept_sizes;

	fib_sizes(r->fib, ret);
	ret->commits += k->commits;
	for (unsigned f = 0; f < 2; f++) {
		for (unsigned i = 0; i < FIB_OPERATION_COUNT; i++)
			ret->updates[f][i] += k->updates[f][i];
		for (unsigned i = 0; i < FIB_REFUSAL_COUNT; i++)
			ret->refused[f][i] += k->refused[f][i];
	}
}

uint64_t keep_overruns(const struct router *r)
{
	return r->kept_overruns + mirror_overruns(r->mirror);
}

int keep_out_of_buffer(const struct port *p, uint64_t *ret)
{
	struct kept *k = &p->router->kept[p->index];
	uint64_t v, sum = k->out_of_buffer;
	int r = p->lost ? -ENODATA : 0;

	for (unsigned w = 0; w < p->router->n_workers && !r; w++) {
		r = m5_rxq_out_of_buffer(p->rxq[w], &v);
		sum += r ? 0 : v;
	}
	if (r < 0)
		return r;
	*ret = k->out_of_buffer_told = sum;
	return 0;
}

int keep_switches(struct router *r, unsigned worker, uint64_t *ret)
{
	struct kept_worker *k = &r->kept_worker[worker];
	int tid = fwd_worker_tid(r->worker[worker]);
	uint64_t n = 0;
	int err = tid ? switches_of_thread(tid, &n) : 0;

	if (err < 0)
		return err;
	*ret = k->switches_told = k->switches + n;
	return 0;
}

/* ---- from the router ---- */

static void copy(void *to, const void *from, size_t bytes)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i] = fwd_read(&f[i]);
}

static void collect_queue(const struct router *r, unsigned port, unsigned w,
			  struct counters_queue *to)
{
	const struct port *p = &r->port[port];
	const struct m5_rx *rx = p->rxq[w] ? m5_rxq_hot(p->rxq[w]) : NULL;
	const struct m5_tx *tx = p->txq[w] ? m5_txq_hot(p->txq[w]) : NULL;

	copy(&to->count, fwd_worker_port_count(r->worker[w], port), sizeof(to->count));
	copy(&to->latency, fwd_worker_latency(r->worker[w], port), sizeof(to->latency));
	to->receive_errors = rx ? fwd_read(&rx->errors) + fwd_read(&rx->out_of_step) : 0;
	to->transmit_errors = tx ? fwd_read(&tx->errors) : 0;
}

static void collect_port(const struct router *r, unsigned port, struct counters_port *to)
{
	const struct port *p = &r->port[port];
	const struct kept *k = &r->kept[port];

	snprintf(to->name, sizeof(to->name), "%s", p->conf->name);
	to->carrier_changes = p->carrier_changes;
	memcpy(to->recoveries, p->recoveries, sizeof(to->recoveries));
	memcpy(to->failures, p->failures, sizeof(to->failures));
	to->out_of_buffer = k->out_of_buffer_told;
	to->doorbells = k->doorbells;
	to->compressed = k->compressed;
	to->full = k->full;
	for (unsigned w = 0; w < r->n_workers; w++) {
		if (p->rxq[w])
			to->compressed += fwd_read(&m5_rxq_hot(p->rxq[w])->compressed);
		if (p->txq[w]) {
			to->doorbells += fwd_read(&m5_txq_hot(p->txq[w])->doorbells);
			to->full += fwd_read(&m5_txq_hot(p->txq[w])->full);
		}
	}
	if (r->exc)
		copy(&to->punts, exc_port_count(r->exc, port), sizeof(to->punts));
	to->gone = (struct counters_queue){ .count = k->count,
					    .latency = k->latency,
					    .receive_errors = k->receive_errors,
					    .transmit_errors = k->transmit_errors };
}

/* Whole seconds by themselves, so that no product grows too large. */
static uint64_t ticks_to_ns(uint64_t ticks)
{
	uint64_t per_s = time_ticks_per_s();

	return ticks / per_s * NS_PER_S + ticks % per_s * NS_PER_S / per_s;
}

/* A microsecond more, so that no rounding makes it less than what was told. */
static uint64_t ns_to_ticks(uint64_t ns)
{
	uint64_t per_s = time_ticks_per_s(), more = ns % NS_PER_S + NS_PER_US;

	return ns ? ns / NS_PER_S * per_s + more * per_s / NS_PER_S : 0;
}

static void collect_worker(const struct router *r, unsigned worker,
			   struct counters_worker *to)
{
	struct fwd_count c;

	copy(&c, fwd_worker_count(r->worker[worker]), sizeof(c));
	*to = (struct counters_worker){ .turns = c.turns,
					.empty_turns = c.empty_turns,
					.sleeps = c.sleeps,
					.busy_ns = ticks_to_ns(c.busy_ticks),
					.idle_ns = ticks_to_ns(c.idle_ticks),
					.switches =
						r->kept_worker[worker].switches_told };
	memcpy(to->bursts, c.bursts, sizeof(to->bursts));
}

static void collect_router(const struct router *r, struct counters_router *to)
{
	const struct requested *q = &r->requested;
	struct fib_sizes s;

	keep_fib_sizes(r, &s);
	to->commits = s.commits;
	memcpy(to->updates, s.updates, sizeof(to->updates));
	memcpy(to->refused, s.refused, sizeof(to->refused));
	to->overruns = keep_overruns(r);
	memcpy(to->requests, q->count, sizeof(to->requests));
	memcpy(to->commit_times, q->commits, sizeof(to->commit_times));
	to->commit_ns = q->commits_ns;
}

static void collect(const struct router *r, struct counters *c)
{
	collect_router(r, &c->router);
	c->n_ports = r->n_ports;
	for (unsigned i = 0; i < r->n_ports; i++) {
		collect_port(r, i, &c->port[i]);
		for (unsigned w = 0; w < r->n_workers; w++)
			collect_queue(r, i, w, &c->queue[i][w]);
	}
	for (unsigned w = 0; w < r->n_workers; w++)
		collect_worker(r, w, &c->worker[w]);
}

/* ---- to the router ---- */

static void apply_worker(struct router *r, unsigned worker,
			 const struct counters_worker *from)
{
	struct fwd_count c = { .turns = from->turns,
			       .empty_turns = from->empty_turns,
			       .sleeps = from->sleeps,
			       .busy_ticks = ns_to_ticks(from->busy_ns),
			       .idle_ticks = ns_to_ticks(from->idle_ns) };

	memcpy(c.bursts, from->bursts, sizeof(c.bursts));
	fwd_worker_set_counts(r->worker[worker], &c);
	r->kept_worker[worker] = (struct kept_worker){ from->switches, from->switches };
}

static void apply_queue(struct router *r, unsigned port, unsigned w,
			const struct counters_queue *q)
{
	const struct port *p = &r->port[port];

	fwd_worker_set_port_counts(r->worker[w], port, &q->count, &q->latency);
	if (p->rxq[w])
		m5_rxq_hot(p->rxq[w])->errors = q->receive_errors;
	if (p->txq[w])
		m5_txq_hot(p->txq[w])->errors = q->transmit_errors;
}

static void apply_port(struct router *r, unsigned port, const struct counters_port *c,
		       const struct counters_queue queue[ROUTER_WORKERS_MAX])
{
	struct counters_queue gone = c->gone;
	struct kept *k = &r->kept[port];

	r->port[port].carrier_changes = c->carrier_changes;
	memcpy(r->port[port].recoveries, c->recoveries, sizeof(c->recoveries));
	memcpy(r->port[port].failures, c->failures, sizeof(c->failures));
	if (r->exc)
		exc_set_port_count(r->exc, port, &c->punts);
	for (unsigned w = 0; w < ROUTER_WORKERS_MAX; w++) {
		if (w < r->n_workers)
			apply_queue(r, port, w, &queue[w]);
		else
			counters_add(&gone, &queue[w]);
	}
	*k = (struct kept){ .count = gone.count,
			    .latency = gone.latency,
			    .receive_errors = gone.receive_errors,
			    .transmit_errors = gone.transmit_errors,
			    .doorbells = c->doorbells,
			    .compressed = c->compressed,
			    .full = c->full,
			    .out_of_buffer = c->out_of_buffer,
			    .out_of_buffer_told = c->out_of_buffer };
}

static void apply_router(struct router *r, const struct counters_router *c)
{
	struct requested *q = &r->requested;

	r->kept_sizes = (struct fib_sizes){ .commits = c->commits };
	memcpy(r->kept_sizes.updates, c->updates, sizeof(c->updates));
	memcpy(r->kept_sizes.refused, c->refused, sizeof(c->refused));
	r->kept_overruns = c->overruns;
	memcpy(q->count, c->requests, sizeof(q->count));
	memcpy(q->commits, c->commit_times, sizeof(q->commits));
	q->commits_ns = c->commit_ns;
}

/* What was counted by ports that are not there now is forgotten. */
static void apply(struct router *r, const struct counters *c)
{
	apply_router(r, &c->router);
	for (unsigned i = 0; i < c->n_ports; i++) {
		const struct port *p = port_by_name(r, c->port[i].name);

		if (p)
			apply_port(r, p->index, &c->port[i], c->queue[i]);
	}
	for (unsigned w = 0; w < r->n_workers; w++)
		apply_worker(r, w, &c->worker[w]);
}

/* ---- writing ---- */

static void put_line(void *arg, const char *line)
{
	state_line(arg, line);
}

static int write_file(const struct keep *k, const struct counters *c, unsigned n_workers,
		      bool lasts)
{
	struct state_writer w;
	int r = state_begin(&w, k->dir, &kind);

	if (r < 0)
		return r;
	counters_print(c, n_workers, put_line, &w);
	return state_publish(&w, lasts);
}

/* What the file has must not be taken for what was told last. */
static void failed(const struct keep *k, int r)
{
	int removed = state_remove(k->dir, &kind);

	if (!k->counters->failed)
		log_error("%s: counters cannot be kept: %s; after a restart they begin "
			  "at 0%s%s",
			  k->folder, strerror(-r),
			  removed < 0 ? ", if the old file can be removed: " : "",
			  removed < 0 ? strerror(-removed) : "");
	k->counters->failed = true;
}

static void write_now(struct router *r, bool closed)
{
	struct keep_counters *kc = r->keep->counters;
	int ret;

	kc->written_ns = time_ns();
	kc->shown = false;
	kc->now->closed = closed;
	memcpy(kc->now->boot, kc->boot, sizeof(kc->boot));
	collect(r, kc->now);
	ret = write_file(r->keep, kc->now, r->n_workers, closed);
	if (ret < 0) {
		failed(r->keep, ret);
		return;
	}
	if (kc->failed)
		log_notice("%s: counters are kept again", r->keep->folder);
	kc->failed = false;
}

void keep_counters_told(struct router *r)
{
	if (r->keep && r->keep->counters)
		write_now(r, false);
}

void keep_counters_shown(struct router *r)
{
	if (r->keep && r->keep->counters)
		r->keep->counters->shown = true;
}

void keep_counters_tick(struct router *r)
{
	const struct keep_counters *kc = r->keep->counters;

	if (kc && (kc->shown || time_ns() - kc->written_ns >= EVERY_NS))
		write_now(r, false);
}

/* ---- start, stop ---- */

/* Which start of the machine this is; "" = not known. The unit's processes do not see the file. */
static void find_boot(char boot[COUNTERS_BOOT_TEXT])
{
	const char *theirs = getenv("MLX5FWD_BOOT_ID");
	FILE *f = theirs ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(boot, COUNTERS_BOOT_TEXT, "%s", theirs ? theirs : "");
	if (f && !fgets(boot, COUNTERS_BOOT_TEXT, f))
		*boot = '\0';
	if (f)
		fclose(f);
	boot[strspn(boot, "0123456789abcdefABCDEF-")] = '\0';
}

static int take_line(void *arg, char *line, struct err *err)
{
	return counters_take(arg, line, err);
}

/* Return: 0, 1 = they begin at 0, with the reason in @err, or what state_read() returns. */
static int load(const struct keep *k, const char *boot, struct counters *c,
		struct err *err)
{
	const struct state_reader reader = { &kind, take_line, c };
	char path[150];
	int r;

	keep_path(k, &kind, path, sizeof(path));
	r = state_read(k->dir, path, &reader, err);
	if (r < 0 || c->closed || (*boot && !strcmp(boot, c->boot)))
		return r;
	err_set(err, 0, "%s: was not closed before the machine was started anew", path);
	return 1;
}

/* From here on a file that was closed is not: on the disk, too, before anything counts. */
static int mark_open(const struct keep *k, struct counters *c, const char *boot)
{
	c->closed = false;
	memcpy(c->boot, boot, sizeof(c->boot));
	return write_file(k, c, ROUTER_WORKERS_MAX, true);
}

static void resume(struct router *r, struct keep *k, struct counters *c)
{
	struct err err = { "" };
	int ret = load(k, k->counters->boot, c, &err), written;

	if (ret > 0)
		log_notice("%s: counters begin at 0", err.text);
	if (ret < 0 && ret != -ENOENT)
		keep_refuse(k, &kind, &err, "counters begin at 0");
	if (ret)
		memset(c, 0, sizeof(*c));
	written = mark_open(k, c, k->counters->boot);
	if (written < 0)
		failed(k, written);
	else if (!ret)
		apply(r, c);
}

int keep_counters_open(struct router *r, struct keep *k)
{
	struct keep_counters *kc = calloc(1, sizeof(*kc));

	if (!kc)
		return -ENOMEM;
	k->counters = kc;
	kc->now = counters_new();
	if (!kc->now)
		return -ENOMEM;
	find_boot(kc->boot);
	resume(r, k, kc->now);
	memset(kc->now, 0, sizeof(*kc->now));
	kc->written_ns = time_ns();
	return 0;
}

void keep_counters_close(struct router *r)
{
	struct keep_counters *kc = r->keep->counters;
	uint64_t v;

	if (!kc)
		return;
	for (unsigned i = 0; i < r->n_ports && kc->now; i++)
		if (r->port[i].rxq[0])
			keep_out_of_buffer(&r->port[i], &v);
	if (kc->now)
		write_now(r, true);
	free(kc->now);
	free(kc);
	r->keep->counters = NULL;
}
