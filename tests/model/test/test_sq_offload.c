/* test/test_sq_offload.c - checksums and segmentation on sending
 *
 * Sums are checked by adding up bytes as RFC 1071 says, not by the model's code.
 */
#include "queue_rig.h"

#include <string.h>

#include "frame.h"

enum { L3 = 0x40, L4 = 0x80, LSO = 0x0e };
enum { FIN = 0x01, SYN = 0x02, PSH = 0x08, ACK = 0x10, CWR = 0x80 };

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
	struct d_mem mem;
};

static struct rig open_rig(const char *const *caps)
{
	struct rig r = { .d = d_open(caps) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 6 });
	r.sq = d_sq(r.d, &(struct d_sq_conf){ .log_size = 6, .cq = r.cq });
	r.mem = d_mem(r.d, 1 << 17);
	q_frame(r.mem.p, 1 << 17, 1);
	return r;
}

static void post(struct rig *r, struct d_wqe *w)
{
	d_sq_put(r->sq, w);
	d_sq_ring(r->sq);
	d_run(r->d);
}

static void assert_clean(struct rig *r)
{
	for (unsigned i = 0; i < r->d->log.n; i++)
		print_error("%s\n", r->d->log.at[i]);
	assert_int_equal(r->d->log.n, 0);
	d_close(r->d);
}

/* ---- checking sums ---- */

static uint32_t add_bytes(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += (uint32_t)p[i] << (i & 1 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void assert_ip4_sum(const uint8_t *ip)
{
	assert_int_equal(add_bytes(0, ip, (ip[0] & 15) * 4u), 0xffff);
}

/* @bytes of layer 4 behind an IP header at @ip. */
static void assert_l4_sum(const uint8_t *ip, const uint8_t *l4, uint8_t proto,
			  uint32_t bytes)
{
	uint32_t sum = ip[0] >> 4 == 4 ? add_bytes(0, ip + 12, 8)
				       : add_bytes(0, ip + 8, 32);

	sum = add_bytes(sum + proto + bytes, l4, bytes);
	assert_int_equal(sum, 0xffff);
}

/* ---- one frame ---- */

struct shape {
	uint8_t ip, proto;
	unsigned tags, options, ext;
};

static void build(struct frame *f, const struct shape *s, uint32_t payload)
{
	frame_start(f);
	for (unsigned i = 0; i < s->tags; i++)
		frame_vlan(f, i ? 0x8100 : 0x88a8, 5);
	if (s->ip == 4)
		frame_ip4(f, FRAME_SRC4, FRAME_DST4, s->options);
	else
		frame_ip6(f, frame_src6, frame_dst6);
	if (s->ext)
		frame_ext(f, 0, s->ext);
	if (s->proto == 6)
		frame_tcp(f, 1000, 2000, ACK | PSH, payload);
	else
		frame_udp(f, 1000, 2000, payload);
	frame_finish(f);
}

static uint32_t sum_at(const struct frame *f)
{
	return f->l4 + (f->proto == 6 ? 16 : 6);
}

/* Sends @f with garbage in its checksums and the flags, by SEND or by multi-packet. */
static const uint8_t *sent(struct rig *r, const struct frame *f, uint8_t flags,
			   uint8_t opcode)
{
	struct d_wqe w = d_wqe(r->sq, opcode, D_CE_ERROR);

	d_forget(r->d);
	memcpy(r->mem.p, f->b, f->len);
	if (f->ip == 4)
		cx_put_be16(r->mem.p + f->l3 + 10, 0x1234);
	cx_put_be16(r->mem.p + sum_at(f), 0x5678);
	d_wqe_eth(&w, NULL, 0);
	w.b[16 + 4] = flags;
	d_wqe_ptr(&w, r->mem.key, r->mem.iova, f->len);
	post(r, &w);
	assert_int_equal(r->d->wire.n, 1);
	return r->d->wire.at[0].data;
}

static void assert_sums(const struct frame *f, const uint8_t *got, uint8_t flags)
{
	bool l3 = flags & L3, l4 = flags & L4;

	if (f->ip == 4 && l3)
		assert_ip4_sum(got + f->l3);
	else if (f->ip == 4)
		assert_int_equal(cx_be16(got + f->l3 + 10), 0x1234);
	assert_int_equal(cx_be16(got + sum_at(f)) != 0x5678, l4);
	if (l4)
		assert_l4_sum(got + f->l3, got + f->l4, f->proto, f->len - f->l4);
}

static void test_every_shape(void **state)
{
	static const struct shape shapes[] = {
		{ 4, 17, 0, 0, 0 }, { 4, 6, 0, 0, 0 },	{ 6, 17, 0, 0, 0 },
		{ 6, 6, 0, 0, 0 },  { 4, 17, 1, 0, 0 }, { 6, 6, 2, 0, 0 },
		{ 4, 6, 0, 12, 0 }, { 6, 17, 0, 0, 8 }, { 6, 6, 1, 0, 24 },
	};
	static const uint8_t opcodes[] = { D_SEND, D_MPSW };
	struct rig r = open_rig(NULL);

	(void)state;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
		for (unsigned flags = 0; flags < 256; flags += L3) {
			for (uint32_t payload = 0; payload < 70;
			     payload += 1 + (payload > 20) * 13) {
				for (int o = 0; o < 2; o++) {
					struct frame f;

					build(&f, &shapes[s], payload);
					assert_sums(&f,
						    sent(&r, &f, (uint8_t)flags,
							 opcodes[o]),
						    (uint8_t)flags);
				}
			}
		}
	}
	assert_clean(&r);
}

/* A UDP sum of 0 means "none", so it is sent as ffff: RFC 768. Adding the checksum to the data
 * makes the next one 0. */
static void test_udp_sum_is_never_zero(void **state)
{
	struct rig r = open_rig(NULL);
	struct frame f = frame_udp4(1000, 2000, 20);
	uint8_t *word = f.b + f.l4 + 8, *check = f.b + f.l4 + 6;
	uint32_t sum = (uint32_t)cx_be16(word) + cx_be16(check);

	(void)state;
	cx_put_be16(word, (uint16_t)((sum & 0xffff) + (sum >> 16)));
	assert_int_equal(cx_be16(sent(&r, &f, L4, D_SEND) + f.l4 + 6), 0xffff);
	assert_clean(&r);
}

/* Padding, and what follows the IP packet, is not summed. */
static void test_padding_does_not_count(void **state)
{
	struct rig r = open_rig(NULL);
	struct frame f = frame_udp4(1, 2, 3);
	uint32_t end = f.len;
	const uint8_t *got;

	(void)state;
	memset(f.b + end, 0xff, 20);
	f.len += 20;
	got = sent(&r, &f, L3 | L4, D_SEND);
	assert_l4_sum(got + f.l3, got + f.l4, 17, end - f.l4);
	assert_clean(&r);
}

/* What has no such header, or a broken one, is sent as it is. */
static void test_left_alone(void **state)
{
	struct rig r = open_rig(NULL);
	struct frame f[6];
	unsigned n = 0;

	(void)state;
	frame_start(&f[n]);
	frame_type(&f[n], 0x88b5, 60);
	frame_finish(&f[n++]);
	frame_start(&f[n]);
	frame_ip4(&f[n], 1, 2, 0);
	frame_ip4_frag(&f[n], 0x2000);
	frame_udp(&f[n], 1, 2, 24);
	frame_finish(&f[n++]);
	frame_start(&f[n]);
	frame_ip6(&f[n], frame_src6, frame_dst6);
	frame_ip6_frag(&f[n], 0x0001);
	frame_udp(&f[n], 1, 2, 24);
	frame_finish(&f[n++]);
	f[n] = frame_udp4(1, 2, 30), f[n++].b[14] = 0x44; /* header of 16 bytes */
	f[n] = frame_udp4(1, 2, 30), f[n++].b[16] = 0xff; /* longer than the frame */
	frame_start(&f[n]);
	frame_ip4(&f[n], 1, 2, 0);
	frame_proto(&f[n], 1, 40);
	frame_finish(&f[n++]);
	for (unsigned i = 0; i < n; i++) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ERROR);

		memcpy(r.mem.p, f[i].b, f[i].len);
		d_wqe_eth(&w, NULL, 0);
		w.b[16 + 4] = L3 | L4;
		d_wqe_ptr(&w, r.mem.key, r.mem.iova, f[i].len);
		post(&r, &w);
		assert_memory_equal(r.d->wire.at[i].data, f[i].b, f[i].len);
	}
	assert_clean(&r);
}

static void test_with_vlan_insert(void **state)
{
	struct rig r = open_rig(NULL);
	struct frame f = frame_udp4(1, 2, 30);
	struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ERROR);
	const uint8_t *got;

	(void)state;
	memcpy(r.mem.p, f.b, f.len);
	r.mem.p[f.l3 + 10] ^= 1;
	r.mem.p[f.l4 + 6] ^= 1;
	d_wqe_eth(&w, NULL, 0);
	w.b[16 + 4] = L3 | L4;
	cx_put_be32(w.b + 16 + 12, 0x80000007);
	d_wqe_ptr(&w, r.mem.key, r.mem.iova, f.len);
	post(&r, &w);
	got = r.d->wire.at[0].data;
	assert_memory_equal(got + 16, f.b + 12, f.len - 12);
	assert_clean(&r);
}

/* ---- segmentation ---- */

/* A message of @bytes behind a header of the shape; the IP lengths in the header are 0. */
static struct frame header(const struct shape *s, uint16_t flags)
{
	struct frame f;

	build(&f, s, 0);
	if (s->proto == 6)
		f.b[f.l4 + 13] = (uint8_t)flags;
	cx_put_be16(f.b + f.l3 + (s->ip == 4 ? 2 : 4), 0);
	cx_put_be16(f.b + sum_at(&f), 0xdead);
	if (s->ip == 4)
		cx_put_be16(f.b + f.l3 + 4, 0xfffe); /* identification: wraps */
	if (s->proto == 6)
		cx_put_be32(f.b + f.l4 + 4, 0xffffff00); /* sequence number: wraps */
	return f;
}

static void post_lso(struct rig *r, const struct frame *h, uint16_t mss, uint32_t bytes)
{
	struct d_wqe w = d_wqe(r->sq, LSO, D_CE_ALWAYS);

	d_wqe_eth(&w, h->b, h->len);
	w.b[16 + 4] = L3 | L4;
	cx_put_be16(w.b + 16 + 6, mss);
	for (uint32_t at = 0; at < bytes; at += 30000)
		d_wqe_ptr(&w, r->mem.key, r->mem.iova + at,
			  bytes - at < 30000 ? bytes - at : 30000);
	post(r, &w);
}

static void assert_lengths(const struct frame *h, const uint8_t *got, uint32_t len)
{
	const uint8_t *ip = got + h->l3;

	if (h->ip == 4)
		assert_int_equal(cx_be16(ip + 2), len - h->l3);
	else
		assert_int_equal(cx_be16(ip + 4), len - h->l3 - 40);
	if (h->proto == 17)
		assert_int_equal(cx_be16(got + h->l4 + 4), len - h->l4);
}

static void assert_numbers(const struct frame *h, const uint8_t *got, unsigned piece,
			   uint32_t at, bool last)
{
	uint8_t flags = h->b[h->l4 + 13];

	if (h->ip == 4)
		assert_int_equal(cx_be16(got + h->l3 + 4), (0xfffe + piece) & 0xffff);
	if (h->proto != 6)
		return;
	assert_int_equal(cx_be32(got + h->l4 + 4), (uint32_t)(0xffffff00 + at));
	if (!last)
		flags &= (uint8_t) ~(FIN | PSH);
	if (piece)
		flags &= (uint8_t)~CWR;
	assert_int_equal(got[h->l4 + 13], flags);
}

static void assert_pieces(const struct rig *r, const struct frame *h, uint32_t mss,
			  uint32_t bytes)
{
	unsigned n = 0;

	for (uint32_t at = 0; at < bytes; at += mss, n++) {
		uint32_t here = bytes - at < mss ? bytes - at : mss, len = h->len + here;
		const struct d_frame *f;

		assert_true(n < r->d->wire.n);
		f = &r->d->wire.at[n];
		assert_int_equal(f->len, len < 60 ? 60 : len);
		assert_memory_equal(f->data + h->len, r->mem.p + at, here);
		assert_memory_equal(f->data, h->b, h->l3);
		assert_lengths(h, f->data, len);
		assert_numbers(h, f->data, n, at, at + here == bytes);
		if (h->ip == 4)
			assert_ip4_sum(f->data + h->l3);
		assert_l4_sum(f->data + h->l3, f->data + h->l4, h->proto, len - h->l4);
	}
	assert_int_equal(r->d->wire.n, n);
}

static void test_lso(void **state)
{
	static const struct shape shapes[] = {
		{ 4, 6, 0, 0, 0 },  { 6, 6, 0, 0, 0 }, { 4, 17, 0, 0, 0 },
		{ 6, 17, 1, 0, 0 }, { 4, 6, 2, 8, 0 }, { 6, 6, 0, 0, 16 },
	};
	static const uint32_t sizes[] = { 1, 99, 100, 101, 1000, 1460, 4000, 65000 };
	static const uint16_t mss[] = { 1, 100, 1400 };
	struct rig r = open_rig(NULL);

	(void)state;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
		struct frame h = header(&shapes[s], ACK | PSH | FIN | CWR);

		for (int i = 0; i < 8; i++) {
			for (int m = sizes[i] > 4000 ? 1 : 0; m < 3; m++) {
				post_lso(&r, &h, mss[m], sizes[i]);
				assert_pieces(&r, &h, mss[m], sizes[i]);
				assert_int_equal(d_cq_poll(r.cq)[0x38], LSO);
				assert_null(d_cq_poll(r.cq));
				d_forget(r.d);
			}
		}
	}
	assert_clean(&r);
}

static void refuse_lso(struct rig r, struct frame h, uint16_t mss, uint32_t bytes,
		       const char *log)
{
	post_lso(&r, &h, mss, bytes);
	d_assert_log(r.d, log);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 2, 0x68, r.sq->num, 0 });
	assert_int_equal(r.d->wire.n, 0);
	d_close(r.d);
}

static void test_lso_refused(void **state)
{
	const struct shape tcp4 = { 4, 6, 0, 0, 0 };
	struct frame h = header(&tcp4, ACK), longer = h, shorter = h, other = h;

	(void)state;
	longer.len += 4;
	shorter.len -= 4;
	other.b[12] = 0x99;
	refuse_lso(open_rig((const char *[]){ "eth.max_lso_cap=0", NULL }), h, 100, 1000,
		   "wqe_ctrl.opcode: 14 is LSO: not in the capabilities");
	refuse_lso(open_rig((const char *[]){ "eth.max_lso_cap=12", NULL }), h, 100, 4097,
		   "wqe_data.byte_cnt: 4097 bytes: more than max_lso_cap");
	refuse_lso(open_rig(NULL), longer, 100, 1000,
		   "do not end with the TCP or UDP header");
	refuse_lso(open_rig(NULL), shorter, 100, 1000, "hold no TCP or UDP header");
	refuse_lso(open_rig(NULL), other, 100, 1000, "hold no TCP or UDP header");
	refuse_lso(open_rig(NULL), h, 100, 0, "wqe_data.byte_cnt: 0 bytes to cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shape),
		cmocka_unit_test(test_udp_sum_is_never_zero),
		cmocka_unit_test(test_padding_does_not_count),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_with_vlan_insert),
		cmocka_unit_test(test_lso),
		cmocka_unit_test(test_lso_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
