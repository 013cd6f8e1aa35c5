/* wire/drain.c - burst drain: options, states, control (see drain.h)
 *
 *   drain:n=1024,rounds=300,temp=local,mode=fwd,check=routed,dst=FILE
 *
 * Several ports may be drain wires: the first leads and its options count, the
 * others only name their frames. Control: start [pid=N], stat, stop.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain.h"
#include "options.h"

struct drain *drain_port[MODEL_PORTS];

static struct drain *leader(void)
{
	for (unsigned p = 0; p < MODEL_PORTS; p++)
		if (drain_port[p])
			return drain_port[p];
	return NULL;
}

static int choice(uint32_t *to, const char *const *names, unsigned n, const char *key,
		  const char *value, char *why, size_t why_size)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(value, names[i])) {
			*to = i;
			return 0;
		}
	}
	snprintf(why, why_size, "drain: %s=%s: unknown value", key, value);
	return -EINVAL;
}

struct number_option {
	const char *key;
	size_t offset; /* in struct drain_conf */
	uint32_t min, max;
};

#define NUMBER(k, field, lo, hi) \
	{ \
		k, offsetof(struct drain_conf, field), lo, hi \
	}
static const struct number_option numbers[] = {
	NUMBER("n", n, 1, 65536),
	NUMBER("rounds", rounds, 1, 1000000),
	NUMBER("warmup", warmup, 0, 1000000),
	NUMBER("look", look, 1, 99),
	NUMBER("gap", gap_ns, 10, 1000000),
	NUMBER("quiet", quiet_us, 1, 100000),
	NUMBER("settle", settle_us, 1, 1000000),
	NUMBER("slack", slack, 0, 65536),
	NUMBER("burst", burst, 1, 4096),
	NUMBER("core", core, 0, 1023),
	NUMBER("program_core", program_core, 0, 1023),
	NUMBER("fifo", fifo, 0, 98),
	NUMBER("pid", pid, 1, 0x7fffffff),
};

static int number(struct drain_conf *conf, const char *key, const char *value, char *why,
		  size_t why_size)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number_option *o = &numbers[i];
		char *end;
		unsigned long v = strtoul(value, &end, 0);

		if (strcmp(key, o->key))
			continue;
		if (!*value || *end || v < o->min || v > o->max) {
			snprintf(why, why_size,
				 "drain: %s=%s: must be %" PRIu32 " to %" PRIu32, key,
				 value, o->min, o->max);
			return -EINVAL;
		}
		*(uint32_t *)((char *)conf + o->offset) = (uint32_t)v;
		return 0;
	}
	snprintf(why, why_size, "drain: %s: unknown option", key);
	return -EINVAL;
}

struct opening { /* what the options of a wire fill */
	struct drain_conf *conf;
	struct frames_conf frames;
};

static int option(void *arg, const char *key, const char *value, char *why,
		  size_t why_size)
{
	static const char *const modes[] = { "fwd", "rx", "tx" }, *const temps[] = {
		"local", "dram", "remote"
	};
	struct opening *o = arg;
	uint32_t v = 0;
	int r = frames_option(&o->frames, key, value, why, why_size);

	if (r != -ENOENT)
		return r;
	if (!strcmp(key, "mode")) {
		r = choice(&v, modes, 3, key, value, why, why_size);
		o->conf->mode = r ? o->conf->mode : (enum drain_mode)v;
		return r;
	}
	if (!strcmp(key, "temp")) {
		r = choice(&v, temps, 3, key, value, why, why_size);
		o->conf->temp = r ? o->conf->temp : (enum drain_temp)v;
		return r;
	}
	return number(o->conf, key, value, why, why_size);
}

static void drain_close(struct wire *w)
{
	struct drain *d = (struct drain *)w;

	if (!d)
		return;
	if (drain_port[d->wire.port->index] == d)
		drain_port[d->wire.port->index] = NULL;
	drain_puller_stop(d->puller);
	drain_series_free(&d->first);
	drain_series_free(&d->polled);
	drain_series_free(&d->all);
	drain_lines_free(&d->lines);
	frames_free(d->frames);
	free(d->seen);
	free(d);
}

static int drain_open(struct model_port *port, const char *args, char *why,
		      size_t why_size, struct wire **ret)
{
	struct drain *d = calloc(1, sizeof(*d));
	struct opening o = { d ? &d->conf : NULL,
			     frames_defaults((uint8_t)port->index, port->mac) };
	int r;

	if (!d)
		return -ENOMEM;
	d->wire.class = &wire_drain;
	d->wire.port = port;
	d->wire.carrier = true;
	d->conf = (struct drain_conf){ .n = 1024,
				       .rounds = 300,
				       .warmup = 50,
				       .look = 75,
				       .gap_ns = 300,
				       .quiet_us = 20,
				       .settle_us = 300,
				       .slack = 64,
				       .burst = 64,
				       .core = 0,
				       .program_core = 1,
				       .fifo = 50 };
	r = wire_options("drain", args, option, &o, why, why_size);
	if (!r)
		r = frames_new(&o.frames, why, why_size, &d->frames);
	if (!r && !(d->seen = calloc(d->conf.n, 1)))
		r = -ENOMEM;
	if (r < 0) {
		drain_close(&d->wire);
		return r;
	}
	drain_port[port->index] = d;
	*ret = &d->wire;
	return 0;
}

static void judge(struct drain *d, const uint8_t *data, uint32_t len)
{
	uint32_t n, at;

	switch (frames_verify(d->frames, data, len, &n, &at)) {
	case FRAMES_FOREIGN:
		d->foreign++;
		return;
	case FRAMES_BAD:
		d->probe_back |= n < d->probes; /* wrong, but not lost */
		if (!d->bad++)
			model_log(d->wire.port->model,
				  "drain %s: frame %" PRIu32
				  " wrong, first at byte %" PRIu32,
				  d->wire.port->netdev, n, at);
		return;
	case FRAMES_GOOD:
		break;
	}
	if (n < d->probes) {
		d->probe_back = true;
		return;
	}
	n -= d->round_base;
	if (n >= d->conf.n || d->seen[n]) {
		d->duplicate++;
		return;
	}
	d->seen[n] = 1;
	d->good++;
}

static void drain_tx(struct wire *w, const void *data, uint32_t len)
{
	struct drain *lead = leader();
	int set = frames_set(data, len);

	w->tx_frames++;
	if (lead->conf.mode == DRAIN_TX)
		lead->offered += lead->state == DRAIN_SETTLE;
	else if (set >= 0 && set < MODEL_PORTS && drain_port[set])
		judge(drain_port[set], data, len);
	else
		lead->foreign++;
}

static void fail(struct drain *d, const char *what)
{
	snprintf(d->failure, sizeof(d->failure), "%s", what);
	d->state = DRAIN_FAILED;
}

static uint64_t doorbells(void)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < MODEL_PORTS; p++)
		if (drain_port[p])
			sum += cx_stats(drain_port[p]->wire.port->dev)->doorbells;
	return sum;
}

static const char *prepare(struct drain *d)
{
	drain_pin_self(d->conf.core);
	if (d->conf.temp == DRAIN_LOCAL && drain_puller_start(&d->conf, &d->puller) < 0)
		return "no thread for the program's core";
	if (d->conf.pid && d->conf.fifo && !drain_fifo_program(&d->conf))
		return "no thread of pid is pinned to program_core, or not permitted";
	return NULL;
}

static void begin_rounds(struct drain *d)
{
	const char *what = prepare(d);

	if (what) {
		fail(d, what);
		return;
	}
	d->wait_tsc = drain_tsc();
	drain_probe(d);
	d->state = DRAIN_PROBE;
}

/* The first may come before the program's rules, or while testpmd empties its queues before it
 * forwards: another one every tenth of a second. */
static void await_probe(struct drain *d)
{
	double waited_ns = (double)(drain_tsc() - d->wait_tsc) / drain_tsc_per_ns();

	if (!drain_probe_taken(d)) {
		if (waited_ns > 30e9)
			fail(d, "no frame goes through the program within 30 s");
		else if (waited_ns > 1e8 * d->next)
			drain_probe(d);
		return;
	}
	d->doorbells0 = doorbells();
	d->wait_tsc = drain_tsc();
	d->state = DRAIN_SETTLE;
}

static void settle(struct drain *d)
{
	if (!drain_settled(d)) {
		if (drain_tsc() - d->wait_tsc > (uint64_t)(5e9 * drain_tsc_per_ns()))
			fail(d, "doorbell records do not come to rest within 5 s");
		return;
	}
	drain_run_round(d);
	d->wait_tsc = drain_tsc();
	if (d->round >= d->conf.rounds + d->conf.warmup)
		d->state = DRAIN_DONE;
}

static unsigned drain_poll(struct wire *w, unsigned budget)
{
	struct drain *d = (struct drain *)w;

	(void)budget;
	if (d != leader())
		return 0;
	switch (d->state) {
	case DRAIN_WAIT_QUEUES:
		if (drain_queues_ready(d))
			begin_rounds(d);
		return 1;
	case DRAIN_PROBE:
		await_probe(d);
		return 1;
	case DRAIN_SETTLE:
		settle(d);
		return 1;
	case DRAIN_IDLE:
	case DRAIN_DONE:
	case DRAIN_FAILED:
		break;
	}
	return 0;
}

static int drain_fd(const struct wire *w)
{
	(void)w;
	return -1;
}

static int series(char *to, size_t size, const char *name, struct drain_series *s)
{
	return snprintf(
		to, size,
		"%s_median %.2f\n%s_p10 %.2f\n%s_p90 %.2f\n%s_min %.2f\n%s_n %" PRIu32
		"\n",
		name, drain_series_at(s, 50), name, drain_series_at(s, 10), name,
		drain_series_at(s, 90), name, drain_series_at(s, 0), name, s->n);
}

static int drain_stat(struct drain *d, char *reply, size_t size)
{
	static const char *const state[] = { "idle",	"wait_queues", "probe",
					     "running", "done",	       "failed" };
	uint64_t good = 0, bad = 0, dup = 0, offered = 0, foreign = 0;
	size_t at = 0;

	for (unsigned p = 0; p < MODEL_PORTS; p++) {
		if (!drain_port[p])
			continue;
		good += drain_port[p]->good;
		bad += drain_port[p]->bad;
		dup += drain_port[p]->duplicate;
		offered += drain_port[p]->offered;
		foreign += drain_port[p]->foreign;
	}
	at += (size_t)snprintf(reply, size, "state %s\nfailure %s\nround %" PRIu32 "\n",
			       state[d->state], d->failure[0] ? d->failure : "-",
			       d->round);
	at += (size_t)series(reply + at, size - at, "ns_per_packet", &d->first);
	at += (size_t)series(reply + at, size - at, "polled", &d->polled);
	at += (size_t)series(reply + at, size - at, "all", &d->all);
	snprintf(reply + at, size - at,
		 "offered %" PRIu64 "\ngood %" PRIu64 "\nbad %" PRIu64
		 "\nduplicate %" PRIu64 "\nforeign %" PRIu64 "\nlost %" PRIu64
		 "\nlate %" PRIu64 "\nincomplete_rounds %" PRIu64
		 "\npackets_per_wqe %.2f\npackets_per_doorbell %.2f\n",
		 offered, good, bad, dup, foreign, d->lost, d->late, d->incomplete_rounds,
		 d->wqes ? (double)d->wqe_packets / (double)d->wqes : 0,
		 doorbells() > d->doorbells0
			 ? (double)d->wqe_packets / (double)(doorbells() - d->doorbells0)
			 : 0);
	return 0;
}

static int drain_ctl(struct wire *w, const char *line, char *reply, size_t size)
{
	struct drain *d = leader();
	char why[128] = "";

	(void)w;
	if (!strcmp(line, "stat"))
		return drain_stat(d, reply, size);
	if (!strcmp(line, "stop")) {
		d->state = DRAIN_IDLE;
		return 0;
	}
	if (!strncmp(line, "start pid=", 10) &&
	    number(&d->conf, "pid", line + 10, why, sizeof(why))) {
		snprintf(reply, size, "%s", why);
		return -EINVAL;
	}
	if (strncmp(line, "start", 5)) {
		snprintf(reply, size,
			 "drain: \"%s\": must be start [pid=N], stop or stat", line);
		return -EINVAL;
	}
	if (d->state == DRAIN_IDLE)
		d->state = DRAIN_WAIT_QUEUES;
	return 0;
}

const struct wire_class wire_drain = {
	.name = "drain",
	.args = "[n=N,rounds=N,mode=fwd|rx|tx,temp=local|dram|remote,check=...,dst=FILE,...]",
	.help = "burst drain, for benchmarks",
	.open = drain_open,
	.tx = drain_tx,
	.poll = drain_poll,
	.fd = drain_fd,
	.ctl = drain_ctl,
	.close = drain_close,
};
