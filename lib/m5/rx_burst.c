/* m5/rx_burst.c - completions become packets
 *
 * HOT. No log, allocation, lock or system call; tests/static/hot_symbols.sh.
 *
 * Four kinds of entry may follow each other in any order:
 *
 *   ordinary     one packet
 *   filler       strides that hold none
 *   compressed   a session: many packets, each told by a mini completion of 8 bytes
 *   error        the queue is in error and is not read on
 *
 *   basic     T a . . . . . . b . . . .    n slots of n completions. T: the title, byte_cnt = n.
 *             Minis stand in arrays of eight, in slots 1, 8, 16, ... after T, the first being
 *             T's own. "." is not written: what is there is of another lap, and would be
 *             valid again two laps later, so it must be marked invalid once. rx->stale knows
 *             which slots that is; where all is compressed it is one in eight.
 *   enhanced  T a . . . . a . . .          T: an ordinary completion. a: one to seven minis,
 *             their number less one in place of the opcode. The title is the ordinary
 *             completion before. Validity is a byte of its own, so nothing is marked.
 *
 * The consumer index moves by one a completion in both, also in the middle of a session:
 * minis of an array that is not read to its end are kept in rx->kept.
 *
 * What a mini does not say is the title's: checksum results, VLAN tag. That they hold for
 * the whole session is what other drivers rely on: Linux
 * (en_rx.c, mlx5e_handle_csum: a short frame's CHECKSUM_UNNECESSARY is by the title's bits) and
 * DPDK (mlx5_rxtx_vec_*.h: ol_flags of the title's mbuf).
 *
 * Everything is written once, for constants that say which kind of queue it is.
 * Source: DPDK drivers/net/mlx5/mlx5_rx.c, mlx5_rx_poll_len; Linux en_rx.c, mlx5e_decompress_cqe.
 */

#include <string.h>

#include "rx_hot.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "a packet's second half is one store");

/* ---- oddities ---- */

/* The first error completion of a queue is the cause; those behind it are flushes. */
COLD static void fail(struct m5_rx *rx, const struct prm_cqe *e)
{
	const struct prm_err_cqe *err = (const void *)e;

	rx->errors++;
	rx->failed = true;
	rx->syndrome = err->syndrome;
	rx->vendor_syndrome = err->vendor_syndrome;
}

/* What no queue of ours asks for, or what contradicts our count. */
COLD static void lose_step(struct m5_rx *rx)
{
	rx->out_of_step++;
	rx->failed = true;
}

/* ---- a row of packets in one chunk, or in neighbouring ones of a cyclic queue ---- */

struct row {
	uint8_t *at;	/* where the next packet is */
	uint32_t index; /* what its completion must call that place */
	uint32_t left;	/* strides, or entries, from there on */
	uint64_t rest;	/* second half of a packet, without its length */
	uint32_t ahead, pitch;
	uint8_t log_stride_bytes;
};

ALWAYS_INLINE uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

ALWAYS_INLINE struct row row_begin(const struct m5_rx *rx, bool striding)
{
	uint32_t chunk = rx->fill & rx->mask;
	uint16_t posted = (uint16_t)(rx->post - rx->fill);
	struct row r = { .at = rx->region + (size_t)chunk * rx->pitch,
			 .rest = (uint64_t)rx->marks << 32 | chunk << 16,
			 .ahead = rx->ahead,
			 .pitch = rx->pitch,
			 .log_stride_bytes = rx->log_stride_bytes };

	if (!striding) {
		r.index = rx->fill;
		r.left = min_u32(posted, rx->mask + 1 - chunk);
		return r;
	}
	r.at += rx->stride << rx->log_stride_bytes;
	r.index = rx->stride;
	r.left = posted ? (UINT32_C(1) << rx->log_strides) - rx->stride : 0;
	return r;
}

ALWAYS_INLINE void move_stride(struct m5_rx *rx, uint32_t stride)
{
	rx->stride = stride;
	if (stride >> rx->log_strides) { /* the device is done with this chunk */
		rx->refs[rx->fill & rx->mask]--;
		rx->fill++;
		rx->stride = 0;
	}
}

/* @n packets came. In a cyclic queue the device's reference is now the packet's. */
ALWAYS_INLINE void row_end(struct m5_rx *rx, const struct row *r, uint32_t n,
			   bool striding)
{
	if (striding) {
		rx->refs[rx->fill & rx->mask] += n;
		move_stride(rx, r->index);
	} else {
		rx->fill = (uint16_t)r->index;
	}
}

/* Takes one packet, unless it is not where it should be. A filler never is: its bit makes the
 * number of strides too large. */
ALWAYS_INLINE bool row_add(struct row *r, struct m5_pkt *pkt, uint32_t byte_cnt,
			   uint64_t own, bool striding)
{
	uint32_t strides = striding ? byte_cnt >> PRM_CQE_BC_STRIDES_SHIFT : 1;
	uint64_t rest = r->rest | own | (byte_cnt & PRM_CQE_BC_BYTES);
	uint32_t bytes = striding ? strides << r->log_stride_bytes : r->pitch;

	if (unlikely(strides - 1 >= r->left))
		return false;
	pkt->data = r->at;
	memcpy(&pkt->len, &rest, sizeof(rest));
	if (likely(r->ahead))
		__builtin_prefetch(r->at + (size_t)bytes * (r->ahead - 1));
	r->at += bytes;
	r->index += strides;
	r->left -= strides;
	if (!striding)
		r->rest += 1 << 16; /* the next chunk */
	return true;
}

/* ---- slots of the basic layout that are to be marked ---- */

/* Of @n slots from @slot on, those in one word that the ring does not end before. */
ALWAYS_INLINE uint32_t in_word(const struct m5_rx *rx, uint32_t slot, uint32_t n)
{
	return min_u32(n, min_u32(64 - (slot & 63), rx->cq.mask + 1 - slot));
}

/* 1 to 64 of them. */
ALWAYS_INLINE uint64_t first_bits(uint32_t n)
{
	return (UINT64_C(2) << ((n - 1) & 63)) - 1;
}

ALWAYS_INLINE void stale_set(struct m5_rx *rx, uint32_t ci, uint32_t n)
{
	while (n) {
		uint32_t slot = ci & rx->cq.mask, bit = slot & 63,
			 k = in_word(rx, slot, n);

		rx->stale[slot / 64] |= first_bits(k) << bit;
		ci += k;
		n -= k;
	}
}

/* Entries @ci .. @ci + @n - 1 are read, and some were never written in this lap. */
ALWAYS_INLINE void stale_mark(struct m5_rx *rx, uint32_t ci, uint32_t n)
{
	while (n) {
		uint32_t slot = ci & rx->cq.mask, bit = slot & 63,
			 k = in_word(rx, slot, n);
		uint64_t mask = first_bits(k) << bit;
		uint64_t bits = rx->stale[slot / 64] & mask;

		rx->stale[slot / 64] &= ~mask;
		for (; bits; bits &= bits - 1)
			rx->cq.entry[(slot & ~63u) + (unsigned)__builtin_ctzll(bits)]
				.op_own = PRM_CQE_INIT;
		ci += k;
		n -= k;
	}
}

/* ---- ordinary completions ---- */

/* What is fetched into the cache as packets of one stride are taken: @at, and @step further each
 * time. Nothing: always the same line, which is there. */
struct fetch {
	const uint8_t *at;
	uint32_t step;
};

ALWAYS_INLINE struct fetch fetch_begin(const struct m5_rx *rx, const struct row *r,
				       uint32_t step)
{
	if (unlikely(!r->ahead))
		return (struct fetch){ (const uint8_t *)rx, 0 };
	return (struct fetch){ r->at + (size_t)step * (r->ahead - 1), step };
}

/* @n packets of one stride each are taken. */
ALWAYS_INLINE void row_move(struct row *r, uint32_t n, uint32_t step, bool striding)
{
	r->at += (size_t)n * step;
	r->index += n;
	r->left -= n;
	if (!striding)
		r->rest += (uint64_t)n << 16;
}

/* Of a tunnel the card may have checked the inner header only. */
ALWAYS_INLINE uint32_t marks_of(const struct prm_cqe *e)
{
	uint32_t header = from_be32(e->header);
	uint32_t ok = header >> 9 & (M5_PKT_L3_OK | M5_PKT_L4_OK) << 16;

	if (unlikely(e->tunnel & PRM_CQE_TUNNELED))
		ok = 0;
	return ok | (header << 2 & M5_PKT_VLAN << 16) | (header & PRM_CQE_HDR_VLAN);
}

ALWAYS_INLINE void keep_title(struct m5_rx *rx, const struct prm_cqe *e)
{
	bool tunnel = e->tunnel & PRM_CQE_TUNNELED;

	rx->marks = marks_of(e);
	rx->header = tunnel ? ~e->header.raw
			    : e->header.raw; /* of a tunnel: look again */
}

/* wqe_counter << 16 | validity << 8 | op_own, which the device writes together. */
ALWAYS_INLINE uint32_t last_word(const struct prm_cqe *e)
{
	typedef uint32_t __attribute__((may_alias)) word_t;

	return be32toh(*(const volatile word_t *)(const void *)&e->wqe_counter);
}

/* Which of its bits say that it is an ordinary completion of this lap. */
ALWAYS_INLINE uint32_t last_mask(enum m5_cq_layout layout)
{
	uint32_t validity = layout == M5_CQ_ENHANCED ? 0xff00 : PRM_CQE_OWNER;

	return 0xffff0000 | validity | (0xfe & ~PRM_CQE_SOLICITED);
}

ALWAYS_INLINE uint32_t ordinary(const struct m5_cq_hot *cq, uint32_t index,
				enum m5_cq_layout layout)
{
	uint32_t validity = layout == M5_CQ_ENHANCED
				    ? (cq->ci >> cq->log_size & 0xff) << 8
				    : m5_cq_owner(cq);

	return index << 16 | validity | PRM_CQE_RECEIVED << 4;
}

ALWAYS_INLINE void look_at_header(struct m5_rx *rx, struct row *r,
				  const struct prm_cqe *e)
{
	if (unlikely(e->header.raw != rx->header || e->tunnel & PRM_CQE_TUNNELED)) {
		keep_title(rx, e);
		r->rest = (uint64_t)rx->marks << 32 | (uint32_t)r->rest;
	}
}

/* The usual: packets of one stride each, alike. What follows is added, not computed. */
ALWAYS_INLINE uint32_t take_alike(struct m5_rx *rx, struct row *r,
				  const struct prm_cqe *e, struct m5_pkt pkt[],
				  uint32_t max, bool striding, enum m5_cq_layout layout)
{
	uint32_t step = striding ? UINT32_C(1) << r->log_stride_bytes : r->pitch, n;
	uint32_t last = ordinary(&rx->cq, r->index, layout), header = rx->header;
	struct fetch fetch = fetch_begin(rx, r, step);
	uint64_t rest = r->rest;
	uint8_t *at = r->at;

	for (n = 0; n < max; n++, e++) {
		uint64_t half;
		uint32_t len;

		if ((last_word(e) & last_mask(layout)) != last)
			break;
		m5_rmb_completion();
		len = from_be32(e->byte_cnt) -
		      (striding ? 1 << PRM_CQE_BC_STRIDES_SHIFT : 0);
		if (unlikely(len > PRM_CQE_BC_BYTES || e->header.raw != header ||
			     e->tunnel & PRM_CQE_TUNNELED))
			break;
		half = rest | len;
		pkt[n].data = at;
		memcpy(&pkt[n].len, &half, sizeof(half));
		__builtin_prefetch(fetch.at);
		fetch.at += fetch.step;
		at += step;
		last += 1 << 16;
		if (!striding)
			rest += 1 << 16; /* the next chunk */
	}
	row_move(r, n, step, striding);
	return n;
}

/* Entries of one lap and one chunk, as long as they are ordinary and fit. */
ALWAYS_INLINE uint32_t take_row(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
				bool striding, enum m5_cq_layout layout)
{
	const struct m5_cq_hot *cq = &rx->cq;
	const struct prm_cqe *e = m5_cq_at(cq, cq->ci);
	struct row r = row_begin(rx, striding);
	uint32_t n;

	max = min_u32(max, cq->mask + 1 - (cq->ci & cq->mask));
	n = take_alike(rx, &r, e, pkt, min_u32(max, r.left), striding, layout);
	for (; n < max && r.left; n++) {
		uint32_t last = last_word(&e[n]) & last_mask(layout);

		if (last != ordinary(cq, r.index, layout))
			break;
		m5_rmb_completion();
		look_at_header(rx, &r, &e[n]);
		if (!row_add(&r, &pkt[n], from_be32(e[n].byte_cnt), 0, striding))
			break;
	}
	row_end(rx, &r, n, striding);
	if (layout == M5_CQ_BASIC)
		stale_set(rx, cq->ci, n);
	rx->cq.ci += n;
	return n;
}

/* ---- sessions ---- */

ALWAYS_INLINE bool is_compressed(const struct prm_cqe *e)
{
	return (e->op_own & PRM_CQE_FORMAT_MASK) == PRM_CQE_COMPRESSED;
}

/* Return: false when @e says nonsense. */
ALWAYS_INLINE bool session_begin(struct m5_rx *rx, const struct prm_cqe *e,
				 enum m5_cq_layout layout)
{
	uint32_t n = layout == M5_CQ_BASIC ? from_be32(e->byte_cnt)
					   : (e->op_own >> 4) + 1u;
	uint32_t most = layout == M5_CQ_BASIC ? rx->cq.mask + 1 : PRM_MINIS_ENHANCED;

	if (unlikely(n - 1 >= most))
		return false;
	rx->minis = n;
	rx->in_array = min_u32(n, PRM_MINIS);
	rx->mini = (const void *)e;
	if (layout == M5_CQ_BASIC) {
		keep_title(rx, e);
		rx->mini = (const void *)m5_cq_at(&rx->cq, rx->cq.ci + 1);
		stale_set(rx, rx->cq.ci, 2);
	}
	return true;
}

/* Of the basic layout: all before are read, so it is in the slot of the next one. */
ALWAYS_INLINE void next_array(struct m5_rx *rx)
{
	rx->mini = (const void *)m5_cq_at(&rx->cq, rx->cq.ci);
	rx->in_array = min_u32(rx->minis, PRM_MINIS);
	stale_set(rx, rx->cq.ci, 1);
}

/* Of the enhanced layout: another slot of minis, of the same title. */
ALWAYS_INLINE bool next_slot(struct m5_rx *rx, enum m5_cq_layout layout)
{
	const struct prm_cqe *e;

	if (layout != M5_CQ_ENHANCED)
		return false;
	e = m5_cq_peek_as(&rx->cq, layout);
	return e && is_compressed(e) && session_begin(rx, e, layout);
}

/* The burst is full, and the slot will be given back. */
ALWAYS_INLINE void keep_minis(struct m5_rx *rx)
{
	memmove(rx->kept, rx->mini, rx->in_array * sizeof(rx->kept[0]));
	rx->mini = rx->kept;
}

ALWAYS_INLINE uint64_t mini_at(const struct prm_mini *mini)
{
	uint64_t v;

	memcpy(&v, mini, sizeof(v));
	return be64toh(v); /* own << 48 | index << 32 | byte_cnt */
}

/* As take_alike(); what of a mini says where it is, and how long, is one word. */
ALWAYS_INLINE uint32_t take_alike_minis(const struct m5_rx *rx, struct row *r,
					const struct prm_mini *mini, struct m5_pkt pkt[],
					uint32_t max, bool striding)
{
	uint32_t step = striding ? UINT32_C(1) << r->log_stride_bytes : r->pitch, n;
	uint32_t place = r->index << 16 | 1; /* index, and one stride */
	struct fetch fetch = fetch_begin(rx, r, step);
	uint64_t rest = r->rest;
	uint8_t *at = r->at;

	for (n = 0; n < max; n++) {
		uint64_t v = mini_at(&mini[n]), half = rest | (v & PRM_CQE_BC_BYTES);

		if (striding && unlikely((uint32_t)(v >> 16) != place))
			break;
		pkt[n].data = at;
		memcpy(&pkt[n].len, &half, sizeof(half));
		__builtin_prefetch(fetch.at);
		fetch.at += fetch.step;
		at += step;
		place += 1 << 16;
		if (!striding)
			rest += 1 << 16;
	}
	row_move(r, n, step, striding);
	return n;
}

/* Minis of one array and one chunk, as long as they are packets and fit. */
ALWAYS_INLINE uint32_t take_array(const struct m5_rx *rx, struct row *r,
				  const struct prm_mini *mini, struct m5_pkt pkt[],
				  uint32_t max, bool striding)
{
	uint32_t n = 0;

	if (likely(!rx->own))
		n = take_alike_minis(rx, r, mini, pkt, min_u32(max, r->left), striding);
	for (; n < max && r->left; n++) {
		uint64_t v = mini_at(&mini[n]);

		if ((striding && (uint16_t)(v >> 32) != r->index) ||
		    !row_add(r, &pkt[n], (uint32_t)v, v >> 6 & rx->own, striding))
			break;
	}
	return n;
}

ALWAYS_INLINE void minis_done(struct m5_rx *rx, uint32_t n)
{
	rx->mini += n;
	rx->in_array -= n;
	rx->minis -= n;
	rx->cq.ci += n;
}

/* Minis of one chunk. */
ALWAYS_INLINE uint32_t take_minis(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
				  bool striding, enum m5_cq_layout layout)
{
	struct row r = row_begin(rx, striding);
	uint32_t n = 0, want, k;

	r.rest &= ~rx->own;
	do {
		if (layout == M5_CQ_BASIC && !rx->in_array)
			next_array(rx);
		want = min_u32(max - n, rx->in_array);
		k = take_array(rx, &r, rx->mini, pkt + n, want, striding);
		minis_done(rx, k);
		n += k;
	} while (k == want && n < max && (rx->minis || next_slot(rx, layout)));
	row_end(rx, &r, n, striding);
	return n;
}

/* ---- the odd ones ---- */

/* Strides that hold no packet. */
static bool skip(struct m5_rx *rx, uint32_t byte_cnt, uint16_t index)
{
	uint32_t strides = (byte_cnt & PRM_CQE_BC_STRIDES) >> PRM_CQE_BC_STRIDES_SHIFT;
	uint32_t left = (UINT32_C(1) << rx->log_strides) - rx->stride;

	if (!rx->striding || !(byte_cnt & PRM_CQE_BC_FILLER) || index != rx->stride ||
	    strides - 1 >= left || rx->fill == rx->post)
		return false;
	rx->fillers++;
	move_stride(rx, rx->stride + strides);
	return true;
}

/* The next mini is no packet. Return: whether to go on. */
COLD static bool odd_mini(struct m5_rx *rx)
{
	const struct prm_mini *m = rx->mini;

	if (!skip(rx, from_be32(m->byte_cnt), from_be16(m->index))) {
		lose_step(rx);
		return false;
	}
	minis_done(rx, 1);
	return true;
}

/* The next entry is no packet. */
COLD static void odd_entry(struct m5_rx *rx, const struct prm_cqe *e)
{
	if (e->op_own >> 4 != PRM_CQE_RECEIVED) {
		fail(rx, e);
	} else if (e->op_own & PRM_CQE_FORMAT_MASK ||
		   !skip(rx, from_be32(e->byte_cnt), from_be16(e->wqe_counter))) {
		lose_step(rx);
		return; /* not read on: recovery starts from here */
	}
	keep_title(rx, e);
	if (rx->layout == M5_CQ_BASIC)
		stale_set(rx, rx->cq.ci, 1);
	rx->cq.ci++;
}

/* ---- a burst ---- */

ALWAYS_INLINE uint32_t take_session(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
				    bool striding, enum m5_cq_layout layout)
{
	uint32_t from = rx->cq.ci, n = 0, k;

	do {
		k = take_minis(rx, pkt + n, max - n, striding, layout);
		n += k;
	} while (n < max && rx->minis && (k || odd_mini(rx)));
	if (unlikely(rx->minis))
		keep_minis(rx);
	/* Others read it at any time. */
	__atomic_store_n(&rx->compressed, rx->compressed + (rx->cq.ci - from),
			 __ATOMIC_RELAXED);
	if (layout == M5_CQ_BASIC)
		stale_mark(rx, from, rx->cq.ci - from);
	return n;
}

ALWAYS_INLINE void stamp(struct m5_rx_stamp *s, const struct prm_cqe *e, uint32_t at)
{
	if (s && s->at == UINT32_MAX)
		*s = (struct m5_rx_stamp){ from_be64(e->timestamp), at };
}

/* Return: packets; fewer than @max when there are no more, or the queue failed. */
ALWAYS_INLINE uint32_t take(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
			    struct m5_rx_stamp *s, bool striding,
			    enum m5_cq_layout layout)
{
	const bool compresses = layout != M5_CQ_PLAIN;
	const struct prm_cqe *e;
	uint32_t n = 0, k;

	while (n < max && !rx->failed) {
		if (compresses && rx->minis) {
			n += take_session(rx, pkt + n, max - n, striding, layout);
			continue;
		}
		e = m5_cq_peek_as(&rx->cq, layout);
		if (!e)
			break;
		if (compresses && is_compressed(e)) {
			if (unlikely(!session_begin(rx, e, layout)))
				lose_step(rx);
			else if (layout == M5_CQ_BASIC)
				stamp(s, e, n);
			continue;
		}
		k = take_row(rx, pkt + n, max - n, striding, layout);
		if (unlikely(!k)) {
			odd_entry(rx, e);
			continue;
		}
		stamp(s, e, n);
		n += k;
	}
	return n;
}

ALWAYS_INLINE uint32_t burst(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
			     struct m5_rx_stamp *s, bool striding,
			     enum m5_cq_layout layout)
{
	uint32_t ci = rx->cq.ci, n;

	m5_rx_refill(rx);
	n = take(rx, pkt, max, s, striding, layout);
	if (rx->cq.ci != ci)
		m5_cq_give_back(&rx->cq);
	return n;
}

/* ---- one function for each kind of queue, with and without stamps ---- */

#define KINDS(KIND) \
	KIND(cyclic_plain, false, M5_CQ_PLAIN) \
	KIND(cyclic_basic, false, M5_CQ_BASIC) \
	KIND(cyclic_enhanced, false, M5_CQ_ENHANCED) \
	KIND(striding_plain, true, M5_CQ_PLAIN) \
	KIND(striding_basic, true, M5_CQ_BASIC) \
	KIND(striding_enhanced, true, M5_CQ_ENHANCED)

#define DEFINE(name, striding, layout) \
	static uint32_t name(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max) \
	{ \
		return burst(rx, pkt, max, NULL, striding, layout); \
	} \
	static uint32_t name##_stamped(struct m5_rx *rx, struct m5_pkt pkt[], \
				       uint32_t max, struct m5_rx_stamp *ret) \
	{ \
		return burst(rx, pkt, max, ret, striding, layout); \
	}
KINDS(DEFINE)

#define PLAIN(name, striding, layout)	[striding][layout] = name,
#define STAMPED(name, striding, layout) [striding][layout] = name##_stamped,

uint32_t m5_rx_burst(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max)
{
	static uint32_t (*const kind[2][M5_CQ_LAYOUT_COUNT])(
		struct m5_rx *, struct m5_pkt[], uint32_t) = { KINDS(PLAIN) };

	return kind[rx->striding][rx->layout](rx, pkt, max);
}

uint32_t m5_rx_burst_stamped(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
			     struct m5_rx_stamp *ret)
{
	static uint32_t (*const kind[2][M5_CQ_LAYOUT_COUNT])(
		struct m5_rx *, struct m5_pkt[], uint32_t,
		struct m5_rx_stamp *) = { KINDS(STAMPED) };
	uint32_t n;

	ret->at = UINT32_MAX;
	n = kind[rx->striding][rx->layout](rx, pkt, max, ret);
	if (ret->at > n)
		ret->at = n;
	return n;
}
