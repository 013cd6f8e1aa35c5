/* datapath/test_dp_vlan.c - a VLAN tag is in the frame, or beside it in the packet
 *
 * The library's own rules leave tagged frames to the kernel. So the test has rules of its own, for
 * tagged frames, to the same queue; untagged ones come by the library's.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/m5/inside.h"
#include "../../lib/m5/rss.h"
#include "../../lib/prm/flow.h"
#include "../test.h"
#include "rig.h"

enum { MOST = 256 };

static struct frame sent[MOST], plain[MOST];
static struct m5_pkt pkts[MOST];

#define KIND(name, ...) static const struct rig_conf name = { __VA_ARGS__ }
KIND(off, .compression = M5_COMPRESSION_OFF);
KIND(basic, .compression = M5_COMPRESSION_BASIC);
KIND(enhanced, .compression = M5_COMPRESSION_ENHANCED);
KIND(type, .compression = M5_COMPRESSION_ENHANCED, .mini = M5_MINI_TYPE_STRIDE);
KIND(cyclic, .cyclic = true, .compression = M5_COMPRESSION_BASIC);

/* ---- rules for tagged frames ---- */

struct match {
	size_t bytes;
	uint32_t word[PRM_MATCH_BYTES / 4];
};

struct tagged {
	struct m5_rss rss;
	struct mlx5dv_flow_matcher *matcher;
	struct ibv_flow *flow[2];
};

static struct mlx5dv_flow_match_parameters *params(struct match *m)
{
	m->bytes = sizeof(m->word);
	return (struct mlx5dv_flow_match_parameters *)(void *)m;
}

static void open_rules(struct tagged *t, struct rig *r)
{
	struct match mask = { 0 };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = PRM_MATCH_CRITERIA_OUTER,
		.match_mask = params(&mask),
	};
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_DEST_DEVX };

	rig_ok(m5_rss_open(&t->rss, r->dev, r->rxq, 1, &r->err), &r->err);
	prm_set(mask.word, PRM_MATCH_IP_VERSION, 0xf);
	prm_set(mask.word, PRM_MATCH_CVLAN, 1);
	t->matcher = mlx5dv_create_flow_matcher(r->dev->ctx, &attr);
	assert_non_null(t->matcher);
	for (unsigned i = 0; i < 2; i++) {
		struct match value = { 0 };

		prm_set(value.word, PRM_MATCH_IP_VERSION, i ? 6 : 4);
		prm_set(value.word, PRM_MATCH_CVLAN, 1);
		action.obj = t->rss.tir[i ? M5_IP6 : M5_IP4];
		t->flow[i] = mlx5dv_create_flow(t->matcher, params(&value), 1, &action);
		assert_non_null(t->flow[i]);
	}
}

static void close_rules(struct tagged *t)
{
	for (unsigned i = 0; i < 2; i++)
		ibv_destroy_flow(t->flow[i]);
	mlx5dv_destroy_flow_matcher(t->matcher);
	m5_rss_close(&t->rss);
}

/* ---- frames ---- */

static void insert_tag(struct frame *f, uint16_t tci)
{
	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	memcpy(f->bytes + 12, (const uint8_t[]){ 0x81, 0, tci >> 8, tci & 0xff }, 4);
	f->len += 4;
}

enum { UNTAGGED = 0x10000 };

/* Runs of one tag, or none, so that there are sessions of each. */
static void make_frames(const struct rig *r, uint32_t tci[], uint32_t n)
{
	static const uint32_t tcis[] = { 0, 1, 0x0fff, 0x6005, 0xe123, 0xffff, UNTAGGED };
	uint32_t now = tcis[test_below(7)];

	for (uint32_t i = 0; i < n; i++) {
		if (test_below(12) == 0)
			now = tcis[test_below(7)];
		tci[i] = now;
		frame_make(&plain[i], test_below(20) ? 4 : 6, 70 + test_below(1440), i,
			   r->mac);
		sent[i] = plain[i];
		if (now != UNTAGGED)
			insert_tag(&sent[i], (uint16_t)now);
	}
}

/* ---- tests ---- */

static void check_stripped(uint32_t i, uint32_t tci)
{
	frame_equal(&plain[i], pkts[i].data, pkts[i].len);
	assert_int_equal(!!(pkts[i].flags & M5_PKT_VLAN), tci != UNTAGGED);
	if (tci != UNTAGGED)
		assert_int_equal(pkts[i].vlan, tci);
}

static void check_kept(uint32_t i)
{
	frame_equal(&sent[i], pkts[i].data, pkts[i].len);
	assert_false(pkts[i].flags & M5_PKT_VLAN);
}

/* Also sent back as it came: the tag that was taken out is put in again. */
static void check_sent_back(struct rig *r, int wire, uint32_t n)
{
	struct frame is;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(pkts[i].data, "\x02\x99\x99\x99\x99\x99", 6);
		memcpy(sent[i].bytes, pkts[i].data, 6);
		pkts[i].flags = pkts[i].flags & M5_PKT_VLAN ? M5_PKT_INSERT_VLAN : 0;
		assert_true(m5_tx_queue(r->tx, r->rx, &pkts[i]));
	}
	m5_tx_ring(r->tx);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(wire_receive(wire, &is, 2000));
		frame_equal(&sent[i], is.bytes, is.len);
	}
	rig_sent(r->tx);
}

static void tags(const struct rig_conf *how, bool strip)
{
	struct rig_conf conf = *how;
	static uint32_t tci[MOST];
	int wire = wire_open("eth1");
	struct tagged t;
	struct peer p;
	struct rig r;

	conf.strip_vlan = strip;
	rig_open(&r, &conf);
	open_rules(&t, &r);
	peer_open(&p, "eth1");
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t n = 1 + test_below(100);

		make_frames(&r, tci, n);
		peer_send(&p, sent, n);
		rig_receive_all(r.rx, pkts, n);
		for (uint32_t i = 0; i < n; i++)
			strip ? check_stripped(i, tci[i]) : check_kept(i);
		check_sent_back(&r, wire, n);
	}
	assert_int_equal(r.rx->errors + r.rx->out_of_step, 0);
	peer_close(&p);
	close_rules(&t);
	rig_close(&r);
	close(wire);
}

static void beside_the_frame(void **state)
{
	tags(*state, true);
}

static void in_the_frame(void **state)
{
	tags(*state, false);
}

#define ONE(kind, test) \
	{ \
#test ", " #kind, test, NULL, NULL, (void *)(uintptr_t)&kind \
	}
#define EACH(test) \
	ONE(off, test), ONE(basic, test), ONE(enhanced, test), ONE(type, test), \
		ONE(cyclic, test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(beside_the_frame),
		EACH(in_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
