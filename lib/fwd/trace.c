/* fwd/trace.c - what becomes of some packets, told by the worker that did it */

#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "../base/time.h"
#include "../m5/rx_hot.h"
#include "trace_inside.h"

/* A packet of the burst that is on its way. */
struct followed {
	const uint8_t *frame;
	bool decided;
	struct fwd_traced *record;
};

struct fwd_trace {
	struct fwd_trace_conf conf;
	struct fwd_trace_count count;
	struct ring ring;
	/* the worker's own */
	uint64_t stamp[FWD_PORTS_MAX]; /* the last one */
	bool has_stamp[FWD_PORTS_MAX];
	uint32_t n, at;		  /* followed; where the search for one begins */
	struct followed *current; /* the packet that odd.c has; NULL = it is not followed */
	uint8_t *records;	  /* conf.ring of them */
	struct followed followed[];
};

/* ---- life ---- */

static uint32_t record_bytes(const struct fwd_trace_conf *conf)
{
	return (uint32_t)align_up(sizeof(struct fwd_traced) + conf->bytes, CACHE_LINE);
}

uint64_t fwd_trace_bytes(const struct fwd_trace_conf *conf)
{
	return sizeof(struct fwd_trace) +
	       conf->ring * (2 * (uint64_t)record_bytes(conf) + sizeof(struct followed));
}

int fwd_trace_new(const struct fwd_trace_conf *conf, struct fwd_trace **ret)
{
	struct fwd_trace *t;
	size_t bytes;
	int r;

	if (!conf->count || !is_pow2(conf->ring))
		return -EINVAL;
	bytes = align_up(sizeof(*t) + conf->ring * sizeof(t->followed[0]), CACHE_LINE);
	t = aligned_alloc(CACHE_LINE, bytes);
	if (!t)
		return -ENOMEM;
	memset(t, 0, bytes);
	t->conf = *conf;
	t->records = aligned_alloc(CACHE_LINE, (size_t)conf->ring * record_bytes(conf));
	r = t->records ? ring_init(&t->ring, conf->ring, record_bytes(conf)) : -ENOMEM;
	if (r < 0) {
		fwd_trace_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void fwd_trace_free(struct fwd_trace *t)
{
	if (!t)
		return;
	ring_fini(&t->ring);
	free(t->records);
	free(t);
}

struct ring *fwd_trace_ring(struct fwd_trace *t)
{
	return &t->ring;
}

const struct fwd_trace_count *fwd_trace_count(const struct fwd_trace *t)
{
	return &t->count;
}

/* ---- a burst comes ---- */

/* Which moment the card names for the packet that was just taken. */
static enum fwd_stamp take_stamp(struct fwd_trace *t, unsigned in,
				 const struct m5_rx_stamp *s)
{
	if (s->at == 0) {
		t->stamp[in] = s->raw;
		t->has_stamp[in] = true;
		return FWD_STAMP_OWN;
	}
	return t->has_stamp[in] ? FWD_STAMP_SESSION : FWD_STAMP_NONE;
}

static void follow(struct fwd_trace *t, unsigned in, const struct m5_pkt *pkt,
		   enum fwd_stamp kind, uint64_t now)
{
	struct followed *f = &t->followed[t->n];

	f->frame = pkt->data;
	f->decided = false;
	f->record = (void *)(t->records + (size_t)t->n * record_bytes(&t->conf));
	*f->record = (struct fwd_traced){
		.stamp = t->stamp[in],
		.taken_ns = now,
		.bytes = pkt->len,
		.captured = pkt->len < t->conf.bytes ? pkt->len : (uint16_t)t->conf.bytes,
		.port = (uint8_t)in,
		.stamp_kind = (uint8_t)kind,
		.checked = pkt->flags & M5_PKT_L3_OK,
	};
	memcpy(f->record->data, pkt->data, f->record->captured);
	t->n++;
}

static void lose(struct fwd_trace *t)
{
	count_add(&t->count.lost, 1);
}

static void look_at(struct fwd_trace *t, unsigned in, const struct m5_pkt *pkt,
		    enum fwd_stamp kind, uint64_t now)
{
	struct fwd_seen seen;

	count_add(&t->count.seen, 1);
	fwd_see(pkt->data, pkt->len, &seen);
	if (!fwd_match_frame(&t->conf.match, &seen))
		return;
	if (t->n < t->conf.ring)
		follow(t, in, pkt, kind, now);
	else
		lose(t);
}

uint32_t fwd_trace_burst(struct fwd_worker *w, unsigned in, struct m5_pkt pkt[],
			 struct m5_rx_stamp *ret)
{
	struct fwd_trace *t = w->trace;
	struct m5_rx *rx = w->port[in].rx;
	struct m5_rx_stamp stamp;
	uint64_t now;
	uint32_t n = 0;

	if (t->count.recorded >= t->conf.count || !(t->conf.ports >> in & 1))
		return m5_rx_burst_stamped(rx, pkt, w->conf.burst, ret);
	now = time_ns();
	*ret = (struct m5_rx_stamp){ .at = UINT32_MAX };
	while (n < w->conf.burst && m5_rx_burst_stamped(rx, &pkt[n], 1, &stamp)) {
		if (stamp.at == 0 && ret->at == UINT32_MAX)
			*ret = (struct m5_rx_stamp){ stamp.raw, n };
		look_at(t, in, &pkt[n], take_stamp(t, in, &stamp), now);
		n++;
	}
	if (ret->at > n)
		ret->at = n;
	return n;
}

/* ---- and goes ---- */

/* Packets mostly come in the order in which they are followed. NULL: it is not. */
static struct followed *find(struct fwd_trace *t, const uint8_t *frame)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t k = t->at + i < t->n ? t->at + i : t->at + i - t->n;

		if (t->followed[k].frame == frame) {
			t->at = k + 1 < t->n ? k + 1 : 0;
			return &t->followed[k];
		}
	}
	return NULL;
}

void fwd_trace_route(struct fwd_worker *w, const struct m5_pkt pkt[], const uint32_t nh[],
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct followed *f = find(w->trace, pkt[i].data);

		if (f)
			f->record->route = nh[i];
	}
}

static void set_hop(struct followed *f, const struct fib_nh *nh)
{
	f->record->routed = true;
	f->record->nh = *nh;
}

void fwd_trace_leg(struct fwd_worker *w, const struct fib_tables *t,
		   const struct m5_pkt pkt[], const uint32_t nh[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct followed *f = find(w->trace, pkt[i].data);

		if (f)
			set_hop(f, &t->nh[nh[i]]);
	}
}

void fwd_trace_alone(struct fwd_worker *w, const struct m5_pkt *pkt)
{
	w->trace->current = find(w->trace, pkt->data);
	if (!w->trace->current)
		return;
	w->trace->current->record->alone = true;
	w->trace->current->record->routed = false;
}

void fwd_trace_hop(struct fwd_worker *w, uint32_t route, const struct fib_nh *nh)
{
	struct followed *f = w->trace->current;

	if (!f)
		return;
	f->record->route = route;
	set_hop(f, nh);
}

static void decide(struct followed *f, unsigned verdict, unsigned reason,
		   uint32_t sent_bytes)
{
	f->record->verdict = (uint8_t)verdict;
	f->record->reason = (uint8_t)reason;
	f->record->sent_bytes = (uint16_t)sent_bytes;
	f->decided = true;
}

void fwd_trace_verdict(struct fwd_worker *w, unsigned verdict, unsigned reason,
		       uint32_t sent_bytes)
{
	if (w->trace->current)
		decide(w->trace->current, verdict, reason, sent_bytes);
}

void fwd_trace_sent(struct fwd_worker *w, const struct m5_pkt pkt[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct followed *f = find(w->trace, pkt[i].data);

		if (f)
			decide(f, PKT_FORWARD, 0, pkt[i].len);
	}
}

void fwd_trace_dropped(struct fwd_worker *w, const struct m5_pkt pkt[], uint32_t n,
		       unsigned reason)
{
	for (uint32_t i = 0; i < n; i++) {
		struct followed *f = find(w->trace, pkt[i].data);

		if (f)
			decide(f, PKT_DROP, reason, 0);
	}
}

static void push(struct fwd_trace *t, const struct fwd_traced *record)
{
	struct fwd_traced *to = ring_slot(&t->ring);

	if (!to) {
		lose(t);
		return;
	}
	memcpy(to, record, sizeof(*record) + record->captured);
	to->lost = t->count.lost;
	ring_push(&t->ring);
	count_add(&t->count.recorded, 1);
}

/* In the order in which they came. */
void fwd_trace_end(struct fwd_worker *w)
{
	struct fwd_trace *t = w->trace;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct fwd_traced *record = t->followed[i].record;

		assert(t->followed[i].decided); /* each packet has exactly one exit */
		if (fwd_match_verdict(&t->conf.match, record->verdict, record->reason) &&
		    t->count.recorded < t->conf.count)
			push(t, record);
	}
	t->n = t->at = 0;
}
