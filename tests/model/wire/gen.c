/* wire/gen.c - generator and checking sink
 *
 *   gen:count=1000000,window=512,family=46,len=60,flows=64,check=same
 *
 * Every gen wire is a source of its own set of frames (frames.h) and a sink for
 * the frames of all gen wires: a frame that the device sends is traced to the
 * generator that made it and compared with what must have become of it. So two
 * ports with a forwarding program between them check each other.
 *
 *   count   frames to send, 0 = no end
 *   window  frames under way at most; 0 = do not wait for any to come back. With a
 *           window below the receive ring nothing is lost for want of a buffer
 *   rate    frames a second, 0 = as fast as window and poller allow
 *   start   auto = when a receive queue of the port is ready; ctl = by `wire PORT start`
 *   others  frames_option() of frames.h
 *
 * Control: start, stop, stat, reset.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cxmodel/model.h"
#include "frames.h"
#include "options.h"
#include "wire.h"

struct gen {
	struct wire wire;
	struct frames *frames;
	uint32_t count, window, rate;
	bool autostart, running;
	uint64_t start_ns; /* of the rate */
	uint64_t *seen;	   /* one bit per frame sent, by number */
	uint64_t sent, returned, bad,
		duplicate; /* of our own set, wherever they came out */
	uint64_t foreign,
		other_set; /* at this sink: not ours to judge; of another generator */
	uint64_t verdict[CX_RX_VERDICT_COUNT];
	uint8_t frame[FRAMES_LEN_MAX];
};

enum { SEEN_FRAMES = 1 << 24 }; /* numbers are judged modulo this for duplicates */

/* All generators of the process by set number, which is the port's index. */
static struct gen *gens[MODEL_PORTS];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set_start(struct gen *g, bool on)
{
	g->running = on;
	g->start_ns = now_ns() - (g->rate ? g->sent * 1000000000u / g->rate : 0);
}

static int number(uint32_t *to, const char *key, const char *value, char *why,
		  size_t why_size)
{
	char *end;
	unsigned long v = strtoul(value, &end, 0);

	if (!*value || *end || v > UINT32_MAX) {
		snprintf(why, why_size, "gen: %s=%s: not a number of 32 bits", key,
			 value);
		return -EINVAL;
	}
	*to = (uint32_t)v;
	return 0;
}

struct opening { /* what the options of a wire fill */
	struct gen *gen;
	struct frames_conf conf;
};

static int option(void *arg, const char *key, const char *value, char *why,
		  size_t why_size)
{
	struct opening *o = arg;
	struct gen *g = o->gen;
	int r = frames_option(&o->conf, key, value, why, why_size);

	if (r != -ENOENT)
		return r;
	if (!strcmp(key, "count"))
		return number(&g->count, key, value, why, why_size);
	if (!strcmp(key, "window"))
		return number(&g->window, key, value, why, why_size);
	if (!strcmp(key, "rate"))
		return number(&g->rate, key, value, why, why_size);
	if (!strcmp(key, "start") && (!strcmp(value, "auto") || !strcmp(value, "ctl"))) {
		g->autostart = value[0] == 'a';
		return 0;
	}
	snprintf(why, why_size, "gen: %s=%s: unknown option or value", key, value);
	return -EINVAL;
}

static void gen_close(struct wire *w)
{
	struct gen *g = (struct gen *)w;

	if (!g)
		return;
	if (g->wire.port && gens[g->wire.port->index] == g)
		gens[g->wire.port->index] = NULL;
	frames_free(g->frames);
	free(g->seen);
	free(g);
}

static int gen_open(struct model_port *port, const char *args, char *why, size_t why_size,
		    struct wire **ret)
{
	struct gen *g = calloc(1, sizeof(*g));
	struct opening o = { g, frames_defaults((uint8_t)port->index, port->mac) };
	int r;

	if (!g)
		return -ENOMEM;
	g->wire.class = &wire_gen;
	g->wire.port = port;
	g->wire.carrier = true;
	g->window = 512;
	r = wire_options("gen", args, option, &o, why, why_size);
	if (!r)
		r = frames_new(&o.conf, why, why_size, &g->frames);
	if (!r && !(g->seen = calloc(SEEN_FRAMES / 64, sizeof(*g->seen))))
		r = -ENOMEM;
	if (r < 0) {
		gen_close(&g->wire);
		return r;
	}
	gens[port->index] = g;
	*ret = &g->wire;
	return 0;
}

static bool mark(struct gen *g, uint32_t n)
{
	uint64_t bit = UINT64_C(1) << (n & 63), *word = &g->seen[n % SEEN_FRAMES / 64];
	bool first = !(*word & bit);

	*word |= bit;
	return first;
}

static void gen_tx(struct wire *w, const void *data, uint32_t len)
{
	struct gen *sink = (struct gen *)w, *g;
	int set = frames_set(data, len);
	uint32_t n, at;

	sink->wire.tx_frames++;
	g = set >= 0 && set < MODEL_PORTS ? gens[set] : NULL;
	if (!g) {
		sink->foreign++;
		return;
	}
	sink->other_set += g != sink;
	if (frames_verify(g->frames, data, len, &n, &at) == FRAMES_BAD) {
		if (!g->bad++)
			model_log(w->port->model,
				  "gen %s: frame %" PRIu32
				  " came back wrong, first at byte %" PRIu32
				  " of %" PRIu32,
				  g->wire.port->netdev, n, at, len);
		return;
	}
	if (n >= g->sent || !mark(g, n))
		g->duplicate++;
	else
		g->returned++;
}

static bool queue_ready(const struct gen *g)
{
	struct cx_queue_view v;

	for (unsigned i = 0; cx_queue_nth(g->wire.port->dev, CX_RQ, i, &v); i++)
		if (v.ready)
			return true;
	return false;
}

/* Frames that a program may still send on: a queue took them and they did not come back. */
static uint64_t under_way(const struct gen *g)
{
	return g->verdict[CX_RX_QUEUED] - g->returned - g->bad;
}

/* Frames that may go now, at most @budget. */
static uint64_t allowance(const struct gen *g, unsigned budget)
{
	uint64_t may = budget, due, out = under_way(g);

	if (g->count && g->count - g->sent < may)
		may = g->count - g->sent;
	if (g->window)
		may = out >= g->window	      ? 0
		      : g->window - out < may ? g->window - out
					      : may;
	if (g->rate) {
		due = (now_ns() - g->start_ns) / 1000 * g->rate / 1000000;
		may = due <= g->sent ? 0 : due - g->sent < may ? due - g->sent : may;
	}
	return may;
}

static void unmark(struct gen *g, uint32_t n)
{
	g->seen[n % SEEN_FRAMES / 64] &= ~(UINT64_C(1) << (n & 63));
}

static unsigned gen_poll(struct wire *w, unsigned budget)
{
	struct gen *g = (struct gen *)w;
	uint64_t may, i;

	if (!g->running && g->autostart && queue_ready(g)) {
		g->autostart = false;
		set_start(g, true);
	}
	if (!g->running)
		return 0;
	may = allowance(g, budget);
	for (i = 0; i < may; i++) {
		uint32_t n = (uint32_t)g->sent++,
			 len = frames_build(g->frames, n, g->frame);

		unmark(g, n);
		g->wire.rx_frames++;
		g->verdict[cx_rx(w->port->dev, g->frame, len)]++;
	}
	if (g->count && g->sent >= g->count)
		g->running = false;
	return (unsigned)i;
}

static int gen_fd(const struct wire *w)
{
	(void)w;
	return -1;
}

static void gen_reset(struct gen *g)
{
	g->sent = g->returned = g->bad = g->duplicate = g->foreign = g->other_set = 0;
	memset(g->verdict, 0, sizeof(g->verdict));
	memset(g->seen, 0, SEEN_FRAMES / 8);
	g->running = false;
}

static int gen_stat(const struct gen *g, char *reply, size_t size)
{
	snprintf(reply, size,
		 "running %d\nsent %" PRIu64 "\nreturned %" PRIu64 "\nbad %" PRIu64
		 "\nduplicate %" PRIu64 "\nunder_way %" PRIu64 "\nsink_frames %" PRIu64
		 "\nsink_foreign %" PRIu64 "\nsink_other %" PRIu64 "\nrx_queued %" PRIu64
		 "\nrx_kernel %" PRIu64 "\nrx_rule_drop %" PRIu64
		 "\nrx_no_buffer %" PRIu64 "\nrx_dead %" PRIu64 "\nrx_oversize %" PRIu64
		 "\nrx_down %" PRIu64 "\nrx_lost %" PRIu64 "\n",
		 g->running, g->sent, g->returned, g->bad, g->duplicate, under_way(g),
		 g->wire.tx_frames, g->foreign, g->other_set, g->verdict[CX_RX_QUEUED],
		 g->verdict[CX_RX_KERNEL], g->verdict[CX_RX_RULE_DROP],
		 g->verdict[CX_RX_NO_BUFFER], g->verdict[CX_RX_DEAD],
		 g->verdict[CX_RX_OVERSIZE], g->verdict[CX_RX_DOWN],
		 g->verdict[CX_RX_LOST]);
	return 0;
}

static int gen_ctl(struct wire *w, const char *line, char *reply, size_t size)
{
	struct gen *g = (struct gen *)w;
	unsigned long count;

	if (!strcmp(line, "stat"))
		return gen_stat(g, reply, size);
	if (!strcmp(line, "stop"))
		set_start(g, false);
	else if (!strcmp(line, "reset"))
		gen_reset(g);
	else if (!strcmp(line, "start"))
		set_start(g, true);
	else if (sscanf(line, "start count=%lu", &count) == 1) {
		gen_reset(g);
		g->count = (uint32_t)count;
		set_start(g, true);
	} else {
		snprintf(reply, size,
			 "gen: \"%s\": must be start [count=N], stop, reset or stat",
			 line);
		return -EINVAL;
	}
	return 0;
}

const struct wire_class wire_gen = {
	.name = "gen",
	.args = "[count=N,window=N,rate=N,start=auto|ctl,family=4|6|46,len=N,flows=N,...]",
	.help = "generator and checking sink",
	.open = gen_open,
	.tx = gen_tx,
	.poll = gen_poll,
	.fd = gen_fd,
	.ctl = gen_ctl,
	.close = gen_close,
};
