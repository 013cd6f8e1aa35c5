/* core/steer.c - the tables as objects, and the walk of a frame through them
 *
 * A group finds its entry by a hash over the masked words of the match
 * parameters, so that a rule costs memory and no time; a frame pays for each
 * group it passes.
 */
#include "steer.h"

#include <errno.h>
#include <stdlib.h>

/* ---- tables ---- */

struct cx_ft *cx_ft_new(struct cx_dev *dev, uint16_t uid, const struct cx_ft *conf)
{
	struct cx_ft *ft = calloc(1, sizeof(*ft));

	if (!ft)
		return NULL;
	*ft = *conf;
	ft->miss = NULL;
	if (cx_obj_add(dev, &ft->obj, CX_FT, uid)) {
		free(ft);
		return NULL;
	}
	cx_ft_set_miss(ft, conf->miss);
	return ft;
}

void cx_ft_set_miss(struct cx_ft *ft, struct cx_ft *miss)
{
	if (miss)
		miss->obj.refs++;
	if (ft->miss)
		ft->miss->obj.refs--;
	ft->miss = miss;
}

void cx_ft_free(struct cx_dev *dev, struct cx_ft *ft)
{
	if (dev->steering->root[ft->type] == ft)
		dev->steering->root[ft->type] = NULL;
	cx_ft_set_miss(ft, NULL);
	free(ft->fg);
	cx_obj_del(dev, &ft->obj);
	free(ft);
}

/* Where a group that starts at @start stands, or would stand, in the order. */
static unsigned group_pos(const struct cx_ft *ft, uint32_t start)
{
	unsigned low = 0, high = ft->n_fg;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (ft->fg[mid]->start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct cx_fg *cx_ft_group_at(const struct cx_ft *ft, uint32_t start, uint32_t end)
{
	unsigned pos = group_pos(ft, start);

	if (pos < ft->n_fg && ft->fg[pos]->start <= end)
		return ft->fg[pos];
	if (pos > 0 && ft->fg[pos - 1]->end >= start)
		return ft->fg[pos - 1];
	return NULL;
}

static int insert_group(struct cx_ft *ft, struct cx_fg *fg)
{
	unsigned pos = group_pos(ft, fg->start);

	if (ft->n_fg == ft->cap_fg) {
		unsigned cap = ft->cap_fg ? 2 * ft->cap_fg : 4;
		struct cx_fg **p = reallocarray(ft->fg, cap, sizeof(struct cx_fg *));

		if (!p)
			return -ENOMEM;
		ft->fg = p;
		ft->cap_fg = cap;
	}
	memmove(ft->fg + pos + 1, ft->fg + pos,
		(ft->n_fg - pos) * sizeof(struct cx_fg *));
	ft->fg[pos] = fg;
	ft->n_fg++;
	return 0;
}

static void remove_group(struct cx_ft *ft, const struct cx_fg *fg)
{
	unsigned pos = group_pos(ft, fg->start);

	ft->n_fg--;
	memmove(ft->fg + pos, ft->fg + pos + 1,
		(ft->n_fg - pos) * sizeof(struct cx_fg *));
}

/* ---- groups ---- */

#define FIRST_BUCKETS 16

/* Both hashes in one block: by value, then by index. */
static struct cx_fte **new_buckets(uint32_t n)
{
	return calloc(2 * (size_t)n, sizeof(struct cx_fte *));
}

static void find_words(struct cx_fg *fg)
{
	fg->n_words = 0;
	for (unsigned i = 0; i < CX_MATCH_WORDS; i++)
		if (fg->mask.word[i])
			fg->word[fg->n_words++] = (uint8_t)i;
}

static void drop_group(struct cx_fg *fg)
{
	free(fg->by_value);
	free(fg);
}

struct cx_fg *cx_fg_new(struct cx_dev *dev, uint16_t uid, const struct cx_fg *conf)
{
	struct cx_fg *fg = calloc(1, sizeof(*fg));

	if (!fg)
		return NULL;
	*fg = *conf;
	find_words(fg);
	fg->n_buckets = FIRST_BUCKETS;
	fg->by_value = new_buckets(fg->n_buckets);
	if (!fg->by_value || cx_obj_add(dev, &fg->obj, CX_FG, uid)) {
		drop_group(fg);
		return NULL;
	}
	if (insert_group(fg->ft, fg)) {
		cx_obj_del(dev, &fg->obj);
		drop_group(fg);
		return NULL;
	}
	fg->by_index = fg->by_value + fg->n_buckets;
	fg->ft->obj.refs++;
	return fg;
}

void cx_fg_free(struct cx_dev *dev, struct cx_fg *fg)
{
	remove_group(fg->ft, fg);
	fg->ft->obj.refs--;
	cx_obj_del(dev, &fg->obj);
	drop_group(fg);
}

/* Every bit of the result depends on every bit of the word: a field may lie in the top bits of
 * its word alone, and the low bits choose the bucket. Constants: MurmurHash3's 64-bit finalizer,
 * public domain. */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

static uint32_t value_hash(const struct cx_fg *fg, const struct cx_match *key)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < fg->n_words; i++) {
		unsigned w = fg->word[i];

		h = mix(h ^ (key->word[w] & fg->mask.word[w]));
	}
	return (uint32_t)h;
}

static bool value_is(const struct cx_fg *fg, const struct cx_fte *fte,
		     const struct cx_match *key)
{
	for (unsigned i = 0; i < fg->n_words; i++) {
		unsigned w = fg->word[i];

		if ((key->word[w] ^ fte->value.word[w]) & fg->mask.word[w])
			return false;
	}
	return true;
}

struct cx_fte *cx_fg_find(const struct cx_fg *fg, const struct cx_match *key)
{
	struct cx_fte *fte;

	if (!fg->n_fte)
		return NULL;
	fte = fg->by_value[value_hash(fg, key) & (fg->n_buckets - 1)];
	while (fte && !value_is(fg, fte, key))
		fte = fte->next_value;
	return fte;
}

struct cx_fte *cx_fg_at_index(const struct cx_fg *fg, uint32_t index)
{
	struct cx_fte *fte = fg->by_index[index & (fg->n_buckets - 1)];

	while (fte && fte->index != index)
		fte = fte->next_index;
	return fte;
}

static void link_fte(struct cx_fg *fg, struct cx_fte *fte)
{
	struct cx_fte **v =
		&fg->by_value[value_hash(fg, &fte->value) & (fg->n_buckets - 1)];
	struct cx_fte **i = &fg->by_index[fte->index & (fg->n_buckets - 1)];

	fte->next_value = *v;
	*v = fte;
	fte->next_index = *i;
	*i = fte;
}

/* Longer chains are slower, not wrong: without memory the group stays as it is. */
static void grow_buckets(struct cx_fg *fg)
{
	uint32_t old_n = fg->n_buckets;
	struct cx_fte **old = fg->by_value, **p;

	if (fg->n_fte < old_n || old_n >= UINT32_C(1) << 24)
		return;
	p = new_buckets(2 * old_n);
	if (!p)
		return;
	fg->n_buckets = 2 * old_n;
	fg->by_value = p;
	fg->by_index = p + fg->n_buckets;
	for (uint32_t b = 0; b < old_n; b++) {
		for (struct cx_fte *fte = old[b], *next; fte; fte = next) {
			next = fte->next_value;
			link_fte(fg, fte);
		}
	}
	free(old);
}

/* ---- entries ---- */

static void hold(const struct cx_fte_act *act, uint32_t by)
{
	for (unsigned i = 0; i < act->n_dests; i++) {
		struct cx_obj *obj = act->dest[i].ft ? &act->dest[i].ft->obj
						     : &act->dest[i].tir->obj;

		obj->refs += by;
	}
	for (unsigned i = 0; i < act->n_counters; i++)
		act->counter[i].counter->obj.refs += by;
}

void cx_fte_set_act(struct cx_fte *fte, const struct cx_fte_act *act)
{
	hold(act, 1);
	hold(&fte->act, UINT32_MAX); /* - 1 */
	fte->act = *act;
}

struct cx_fte *cx_fte_new(struct cx_dev *dev, uint16_t uid, struct cx_fg *fg,
			  uint32_t index, const struct cx_match *value,
			  const struct cx_fte_act *act)
{
	struct cx_fte *fte = calloc(1, sizeof(*fte));

	if (!fte)
		return NULL;
	fte->fg = fg;
	fte->index = index;
	fte->value = *value;
	if (cx_obj_add(dev, &fte->obj, CX_FTE, uid)) {
		free(fte);
		return NULL;
	}
	cx_fte_set_act(fte, act);
	grow_buckets(fg);
	link_fte(fg, fte);
	fg->n_fte++;
	fg->obj.refs++;
	return fte;
}

static void unlink_fte(struct cx_fg *fg, struct cx_fte *fte)
{
	struct cx_fte **v =
		&fg->by_value[value_hash(fg, &fte->value) & (fg->n_buckets - 1)];
	struct cx_fte **i = &fg->by_index[fte->index & (fg->n_buckets - 1)];

	while (*v != fte)
		v = &(*v)->next_value;
	*v = fte->next_value;
	while (*i != fte)
		i = &(*i)->next_index;
	*i = fte->next_index;
}

void cx_fte_free(struct cx_dev *dev, struct cx_fte *fte)
{
	static const struct cx_fte_act nothing;

	unlink_fte(fte->fg, fte);
	fte->fg->n_fte--;
	fte->fg->obj.refs--;
	cx_fte_set_act(fte, &nothing);
	cx_obj_del(dev, &fte->obj);
	free(fte);
}

/* ---- life of the part ---- */

int cx_steering_new(struct cx_dev *dev)
{
	dev->steering = calloc(1, sizeof(*dev->steering));
	return dev->steering ? 0 : -ENOMEM;
}

static bool free_fte(void *arg, struct cx_obj *obj)
{
	cx_fte_free(arg, (struct cx_fte *)obj);
	return true;
}

static bool free_fg(void *arg, struct cx_obj *obj)
{
	cx_fg_free(arg, (struct cx_fg *)obj);
	return true;
}

/* A table whose miss was freed before it must not touch it. */
static bool clear_miss(void *arg, struct cx_obj *obj)
{
	(void)arg;
	cx_ft_set_miss((struct cx_ft *)obj, NULL);
	return true;
}

static bool free_ft(void *arg, struct cx_obj *obj)
{
	cx_ft_free(arg, (struct cx_ft *)obj);
	return true;
}

void cx_steering_free(struct cx_dev *dev)
{
	if (!dev->steering)
		return;
	cx_obj_each(dev, CX_FTE, free_fte, dev);
	cx_obj_each(dev, CX_FG, free_fg, dev);
	cx_obj_each(dev, CX_FT, clear_miss, dev);
	cx_obj_each(dev, CX_FT, free_ft, dev);
	free(dev->steering);
	dev->steering = NULL;
}

/* ---- the walk: hot ---- */

struct branch {
	const struct cx_ft *ft;
	uint32_t tag;
};

struct walk {
	struct cx_dev *dev;
	struct cx_match key;
	uint32_t len;
	struct cx_dest *dest;
	unsigned n_dests, n_todo;
	struct branch todo[CX_DEST_MAX];
};

static void __attribute__((noinline, cold)) too_many(struct walk *w)
{
	cx_log(w->dev,
	       "steering: a frame has more than %d destinations; the rest is lost",
	       CX_DEST_MAX);
}

static void leave(struct walk *w, enum cx_dest_type type, struct cx_tir *tir,
		  uint32_t tag)
{
	if (w->n_dests == CX_DEST_MAX) {
		too_many(w);
		return;
	}
	w->dest[w->n_dests++] =
		(struct cx_dest){ .type = type, .tir = tir, .flow_tag = tag };
}

static void later(struct walk *w, const struct cx_ft *ft, uint32_t tag)
{
	if (w->n_todo == CX_DEST_MAX)
		too_many(w);
	else
		w->todo[w->n_todo++] = (struct branch){ ft, tag };
}

/* Bytes of a frame without FCS; assumed. */
static void count(const struct cx_fte_act *act, uint32_t len)
{
	for (unsigned i = 0; i < act->n_counters; i++) {
		const struct cx_fte_counter *c = &act->counter[i];

		c->counter->packets[c->slot]++;
		c->counter->bytes[c->slot] += len;
	}
}

static const struct cx_fte *find(const struct cx_ft *ft, const struct cx_match *key)
{
	for (unsigned i = 0; i < ft->n_fg; i++) {
		const struct cx_fte *fte = cx_fg_find(ft->fg[i], key);

		if (fte)
			return fte;
	}
	return NULL;
}

static void take(struct walk *w, const struct cx_fte_act *act, uint32_t tag)
{
	/* Assumed: a rule without a tag leaves that of an earlier table. */
	if (act->tag)
		tag = act->tag;
	count(act, w->len);
	if (act->action & CX_ACTION_DROP)
		leave(w, CX_DEST_DROP, NULL, tag);
	else if (!(act->action & CX_ACTION_FORWARD))
		leave(w, CX_DEST_KERNEL, NULL,
		      tag); /* allow: as if nothing had matched */
	else
		for (unsigned i = 0; i < act->n_dests; i++) {
			if (act->dest[i].ft)
				later(w, act->dest[i].ft, tag);
			else
				leave(w, CX_DEST_TIR, act->dest[i].tir, tag);
		}
}

static void run(struct walk *w, struct branch b)
{
	for (; b.ft; b.ft = b.ft->miss) {
		const struct cx_fte *fte = find(b.ft, &w->key);

		if (fte) {
			take(w, &fte->act, b.tag);
			return;
		}
	}
	leave(w, CX_DEST_KERNEL, NULL, b.tag);
}

static unsigned walk_tables(struct cx_dev *dev, enum cx_ft_type type,
			    const struct cx_pkt *pkt, struct cx_dest dest[CX_DEST_MAX])
{
	struct walk w;

	w.dev = dev;
	w.len = pkt->len;
	w.dest = dest;
	w.n_dests = w.n_todo = 0;
	cx_match_frame(&w.key, pkt);
	later(&w, dev->steering->root[type], 0);
	while (w.n_todo)
		run(&w, w.todo[--w.n_todo]);
	return w.n_dests;
}

unsigned cx_steer(struct cx_dev *dev, struct cx_pkt *pkt,
		  struct cx_dest dest[CX_DEST_MAX])
{
	unsigned n;

	if (!dev->steering->root[CX_FT_NIC_RX]) {
		dest[0] = (struct cx_dest){ .type = CX_DEST_KERNEL };
		return 1;
	}
	n = walk_tables(dev, CX_FT_NIC_RX, pkt, dest);
	pkt->flow_tag = dest[0].flow_tag;
	return n;
}

/* Sent frames are not copied (cmd_fte.c): there is one destination. */
bool cx_steer_tx(struct cx_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct cx_dest dest[CX_DEST_MAX];
	struct cx_pkt pkt;

	if (!dev->steering->root[CX_FT_NIC_TX])
		return true;
	cx_parse(&pkt, frame, len);
	walk_tables(dev, CX_FT_NIC_TX, &pkt, dest);
	return dest[0].type != CX_DEST_DROP;
}
