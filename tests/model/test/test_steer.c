/* test/test_steer.c - the walk: groups, misses, levels, actions, tags, counters, copies */
#include "flow_rig.h"

#include <stdio.h>
#include <string.h>

#include "../core/steer.h"

#define DPORT FLOW_OUTER(udp_dport)

static struct frame to_port(uint16_t dport)
{
	return frame_udp4(1000, dport, 10);
}

static enum cx_dest_type fate_of_port(struct direct *d, uint16_t dport)
{
	struct frame f = to_port(dport);

	return flow_steer_one(d, &f);
}

/* Tag of the only destination. */
static uint32_t tag_of_port(struct direct *d, uint16_t dport)
{
	struct frame f = to_port(dport);
	struct flow_fate fate = flow_steer(d, &f);

	assert_int_equal(fate.n, 1);
	return fate.dest[0].flow_tag;
}

static void drop_port(struct direct *d, uint32_t table, uint32_t group, uint32_t index,
		      uint16_t dport)
{
	struct d_rule r = flow_rule(D_DROP, DPORT, dport);

	d_rule(d, table, group, index, &r);
}

/* ---- nothing there ---- */

static void test_no_root(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	d_table(d, 0, 4);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	d_close(d);
}

static void test_empty_root(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4);

	(void)state;
	d_root(d, table);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	flow_all_group(d, table, 0, 0);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	d_close(d);
}

/* ---- groups ---- */

static void test_lower_group_wins(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 6), tirn = flow_tir(d);
	/* made in another order than they decide in */
	uint32_t last = flow_all_group(d, table, 40, 47);
	uint32_t first = flow_field_group(d, table, 0, 7, DPORT);
	uint32_t middle = flow_field_group(d, table, 10, 20, FLOW_OUTER(udp_sport));
	struct d_rule r = flow_to_tir(tirn, 3);

	(void)state;
	d_root(d, table);
	d_rule(d, table, last, 40, &r);
	assert_int_equal(tag_of_port(d, 7), 3);
	r = flow_to_tir(tirn, 2);
	cx_set(r.value, FLOW_OUTER(udp_sport), 1000);
	d_rule(d, table, middle, 15, &r);
	assert_int_equal(tag_of_port(d, 7), 2);
	r = flow_to_tir(tirn, 1);
	cx_set(r.value, DPORT, 7);
	d_rule(d, table, first, 7, &r);
	assert_int_equal(tag_of_port(d, 7), 1);
	assert_int_equal(tag_of_port(d, 8), 2);
	assert_int_equal(d_rule_del(d, table, 15), CX_ST_OK);
	assert_int_equal(tag_of_port(d, 8), 3);
	assert_int_equal(flow_try_destroy_group(d, table, middle), CX_ST_OK);
	assert_int_equal(tag_of_port(d, 7), 1);
	assert_int_equal(tag_of_port(d, 8), 3);
	d_close(d);
}

#define MANY 2500

/* Each of many entries is found, also after others came and went. */
static void test_many_entries(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 16);
	uint32_t group = flow_field_group(d, table, 0, 16 * MANY, DPORT);

	(void)state;
	d_root(d, table);
	for (uint32_t i = 0; i < MANY; i++)
		drop_port(d, table, group, 16 * i, (uint16_t)(i * 3));
	for (uint32_t i = 0; i < 3 * MANY; i++)
		assert_int_equal(fate_of_port(d, (uint16_t)i),
				 i % 3 ? CX_DEST_KERNEL : CX_DEST_DROP);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_int_equal(d_rule_del(d, table, 16 * i), CX_ST_OK);
	for (uint32_t i = 0; i < 3 * MANY; i += 3)
		assert_int_equal(fate_of_port(d, (uint16_t)i),
				 i % 6 ? CX_DEST_DROP : CX_DEST_KERNEL);
	assert_int_equal(cx_obj_count(d->dev, CX_FTE), MANY / 2);
	d_close(d);
}

/* 1024 neighbouring values of any one field must not share a few chains of the hash. */
static void test_hash_spreads(void **state)
{
	static const cx_field fields[] = {
		FLOW_OUTER(smac_47_16), FLOW_OUTER(smac_15_0), FLOW_OUTER(dmac_47_16),
		FLOW_OUTER(dmac_15_0),	FLOW_OUTER(ethertype), FLOW_OUTER(first_vid),
		FLOW_OUTER(tcp_sport),	FLOW_OUTER(tcp_dport), FLOW_OUTER(udp_sport),
		FLOW_OUTER(udp_dport),	CX_PACK(0x100, 32),    CX_PACK(0x160, 32),
		CX_PACK(0x1a0, 32),	CX_PACK(0x1e0, 32),
	};
	struct direct *d = d_open(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint32_t table = d_table(d, 0, 10);
		uint32_t group = flow_field_group(d, table, 0, 1023, fields[i]),
			 filled = 0;
		const struct cx_fg *fg =
			(const void *)cx_obj_get(d->dev, CX_FG, group, 0);

		for (uint32_t k = 0; k < 1024; k++) {
			struct d_rule r = flow_rule(D_DROP, fields[i], k);

			d_rule(d, table, group, k, &r);
		}
		for (uint32_t b = 0; b < fg->n_buckets; b++)
			filled += fg->by_value[b] != NULL;
		assert_int_equal(fg->n_buckets, 1024);
		assert_true(filled > 550); /* random: 647 */
	}
	d_close(d);
}

static void test_many_groups(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 8), group[16];

	(void)state;
	d_root(d, table);
	for (unsigned bit = 16; bit-- > 0;) { /* highest index first */
		uint8_t mask[512] = { 0 };
		struct d_rule r = flow_rule(D_DROP, DPORT, 1u << bit);

		cx_set(mask, DPORT, 0xffff >> (15 - bit));
		group[bit] = d_group(d, table, bit * 10, bit * 10 + 9, 1, mask);
		d_rule(d, table, group[bit], bit * 10 + 3, &r);
	}
	for (uint32_t port = 1; port < 65536; port = port * 9 / 8 + 1)
		assert_int_equal(fate_of_port(d, (uint16_t)port), CX_DEST_DROP);
	assert_int_equal(fate_of_port(d, 0), CX_DEST_KERNEL);
	d_close(d);
}

/* ---- misses ---- */

static void test_miss_chain(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t last = d_table(d, 9, 4);
	uint32_t mid = flow_table(
		d, &(struct flow_table){ .level = 5, .log_size = 4, .miss = last });
	uint32_t top = flow_table(
		d, &(struct flow_table){ .level = 1, .log_size = 4, .miss = mid });
	uint32_t tirn = flow_tir(d), table[3] = { top, mid, last };

	(void)state;
	d_root(d, top);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t group = flow_field_group(d, table[i], 0, 3, DPORT);
		struct d_rule r = flow_to_tir(tirn, 10 + i);

		cx_set(r.value, DPORT, i);
		d_rule(d, table[i], group, 0, &r);
		cx_set(r.value, DPORT, 50); /* in all three: the first decides */
		d_rule(d, table[i], group, 1, &r);
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(tag_of_port(d, (uint16_t)i), 10 + i);
	assert_int_equal(tag_of_port(d, 50), 10);
	assert_int_equal(fate_of_port(d, 3), CX_DEST_KERNEL);
	assert_int_equal(flow_try_miss(d, top, last), CX_ST_OK);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	assert_int_equal(tag_of_port(d, 2), 12);
	assert_int_equal(flow_try_miss(d, top, 0), CX_ST_OK);
	assert_int_equal(fate_of_port(d, 2), CX_DEST_KERNEL);
	assert_int_equal(tag_of_port(d, 0), 10);
	d_close(d);
}

/* "Default miss" of a program: forward to a later, empty table, past all rules between. */
static void test_default_miss_rule(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t out = d_table(d, 9, 0), low = d_table(d, 5, 4);
	uint32_t top = flow_table(
		d, &(struct flow_table){ .level = 1, .log_size = 4, .miss = low });
	struct d_rule r = flow_to_table(out, 0), all = { .action = D_DROP };

	(void)state;
	d_root(d, top);
	cx_set(r.value, DPORT, 22);
	d_rule(d, top, flow_field_group(d, top, 0, 7, DPORT), 0, &r);
	d_rule(d, low, flow_all_group(d, low, 0, 0), 0, &all);
	assert_int_equal(fate_of_port(d, 22), CX_DEST_KERNEL);
	assert_int_equal(fate_of_port(d, 23), CX_DEST_DROP);
	d_close(d);
}

/* ---- tables as destinations, tags ---- */

static void test_tags_along_a_path(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t top = d_table(d, 0, 4), low = d_table(d, 1, 4), tirn = flow_tir(d);
	uint32_t top_group = flow_field_group(d, top, 0, 7, DPORT);
	uint32_t low_group = flow_field_group(d, low, 0, 7, DPORT);
	static const uint32_t tags[4][3] = {
		/* first, second, expected */
		{ 0, 0, 0 },
		{ 5, 0, 5 },
		{ 0, 0xffffff, 0xffffff },
		{ 5, 6, 6 },
	};

	(void)state;
	d_root(d, top);
	for (uint32_t i = 0; i < 4; i++) {
		struct d_rule up = flow_to_table(low, tags[i][0]),
			      down = flow_to_tir(tirn, tags[i][1]);

		cx_set(up.value, DPORT, i);
		cx_set(down.value, DPORT, i);
		d_rule(d, top, top_group, i, &up);
		d_rule(d, low, low_group, i, &down);
		assert_int_equal(tag_of_port(d, (uint16_t)i), tags[i][2]);
	}
	d_close(d);
}

static void test_the_right_tir(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4), tirn[3];
	uint32_t group = flow_field_group(d, table, 0, 7, DPORT);

	(void)state;
	d_root(d, table);
	for (uint32_t i = 0; i < 3; i++) {
		struct d_rule r;

		tirn[i] = flow_tir(d);
		r = flow_to_tir(tirn[i], 0);
		cx_set(r.value, DPORT, i);
		d_rule(d, table, group, i, &r);
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct frame f = to_port((uint16_t)i);
		struct flow_fate fate = flow_steer(d, &f);

		assert_int_equal(fate.dest[0].type, CX_DEST_TIR);
		assert_int_equal(fate.dest[0].tir->obj.num, tirn[i]);
	}
	d_close(d);
}

static void test_allow(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 1, 4);
	uint32_t top = flow_table(d, &(struct flow_table){ .log_size = 4, .miss = low });
	struct d_rule all = { .action = D_DROP }, r = flow_rule(D_ALLOW, DPORT, 22);

	(void)state;
	d_root(d, top);
	d_rule(d, top, flow_field_group(d, top, 0, 7, DPORT), 0, &r);
	d_rule(d, low, flow_all_group(d, low, 0, 0), 0, &all);
	assert_int_equal(fate_of_port(d, 22), CX_DEST_KERNEL);
	assert_int_equal(fate_of_port(d, 23), CX_DEST_DROP);
	d_close(d);
}

/* ---- copies ---- */

static bool has(const struct flow_fate *fate, enum cx_dest_type type, uint32_t tirn,
		uint32_t tag)
{
	for (unsigned i = 0; i < fate->n; i++)
		if (fate->dest[i].type == type && fate->dest[i].flow_tag == tag &&
		    (type != CX_DEST_TIR || fate->dest[i].tir->obj.num == tirn))
			return true;
	return false;
}

static void test_several_tirs(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4), tirn[8];
	struct d_rule r = { .action = D_FORWARD, .tag = 9, .n_dests = 8 };
	struct frame f = to_port(1);
	struct flow_fate fate;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		tirn[i] = flow_tir(d);
		r.dest[i] = (struct d_dest){ D_TO_TIR, tirn[i] };
	}
	d_root(d, table);
	d_rule(d, table, flow_all_group(d, table, 0, 0), 0, &r);
	fate = flow_steer(d, &f);
	assert_int_equal(fate.n, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_true(has(&fate, CX_DEST_TIR, tirn[i], 9));
	d_close(d);
}

/* A copy to a TIR, the frame itself on to the next table ("don't trap"); each path its own tag. */
static void test_tir_and_table(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t top = d_table(d, 0, 4), low = d_table(d, 1, 4), a = flow_tir(d),
		 b = flow_tir(d);
	struct d_rule r = { .action = D_FORWARD,
			    .tag = 1,
			    .n_dests = 2,
			    .dest = { { D_TO_TIR, a }, { D_TO_TABLE, low } } };
	struct d_rule down = flow_to_tir(b, 2);
	struct frame f = to_port(7), other = to_port(8);
	struct flow_fate fate;

	(void)state;
	d_root(d, top);
	d_rule(d, top, flow_all_group(d, top, 0, 0), 0, &r);
	cx_set(down.value, DPORT, 7);
	d_rule(d, low, flow_field_group(d, low, 0, 7, DPORT), 0, &down);
	fate = flow_steer(d, &f);
	assert_int_equal(fate.n, 2);
	assert_true(has(&fate, CX_DEST_TIR, a, 1));
	assert_true(has(&fate, CX_DEST_TIR, b, 2));
	fate = flow_steer(d, &other);
	assert_int_equal(fate.n, 2);
	assert_true(has(&fate, CX_DEST_TIR, a, 1));
	assert_true(has(&fate, CX_DEST_KERNEL, 0, 1));
	d_close(d);
}

/* More copies than the array holds: the rest is lost, and said so. */
static void test_too_many_copies(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t top = d_table(d, 0, 4), low = d_table(d, 1, 4), tirn = flow_tir(d);
	struct d_rule r = { .action = D_FORWARD, .n_dests = 6 },
		      down = { .action = D_FORWARD };
	struct frame f = to_port(7);
	struct flow_fate fate;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		r.dest[i] = (struct d_dest){ i ? D_TO_TIR : D_TO_TABLE, i ? tirn : low };
		down.dest[down.n_dests++] = (struct d_dest){ D_TO_TIR, tirn };
	}
	d_root(d, top);
	d_rule(d, top, flow_all_group(d, top, 0, 0), 0, &r);
	d_rule(d, low, flow_all_group(d, low, 0, 0), 0, &down);
	fate = flow_steer(d, &f);
	assert_int_equal(fate.n, CX_DEST_MAX);
	d_assert_log(d, "more than 8 destinations");
	d_close(d);
}

/* ---- counters ---- */

static void assert_counter(struct direct *d, uint32_t id, uint64_t packets,
			   uint64_t bytes)
{
	uint64_t p, b;

	d_flow_counter_read(d, id, &p, &b);
	assert_int_equal(p, packets);
	assert_int_equal(b, bytes);
}

static void test_counts_are_exact(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 1, 4), c[3], tirn = flow_tir(d);
	uint32_t top = flow_table(d, &(struct flow_table){ .log_size = 4, .miss = low });
	struct d_rule drop = flow_rule(D_DROP | D_COUNT, DPORT, 1);
	struct d_rule fwd = flow_to_tir(tirn, 0), on = flow_to_table(low, 0);
	uint64_t bytes[3] = { 0, 0, 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		c[i] = d_flow_counter(d);
	d_root(d, top);
	drop.counter = c[0];
	fwd.action |= D_COUNT;
	fwd.counter = c[1];
	on.action |= D_COUNT;
	on.counter = c[2];
	cx_set(on.value, DPORT, 2);
	d_rule(d, top, flow_field_group(d, top, 0, 7, DPORT), 0, &drop);
	d_rule(d, top, flow_field_group(d, top, 8, 15, DPORT), 8, &on);
	d_rule(d, low, flow_all_group(d, low, 0, 0), 0, &fwd);
	for (uint32_t i = 0; i < 300; i++) {
		struct frame f = frame_udp4(1, (uint16_t)(i % 3 + 1), i);

		flow_steer(d, &f);
		bytes[0] += i % 3 == 0 ? f.len : 0;
		bytes[1] += i % 3 != 0 ? f.len : 0;
		bytes[2] += i % 3 == 1 ? f.len : 0;
	}
	assert_counter(d, c[0], 100, bytes[0]);
	assert_counter(d, c[1], 200, bytes[1]);
	assert_counter(d, c[2], 100, bytes[2]);
	d_close(d);
}

/* ---- changes ---- */

static void test_modify_in_place(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4),
		 group = flow_field_group(d, table, 0, 7, DPORT);
	uint32_t a = flow_tir(d), b = flow_tir(d);
	struct d_rule r = flow_to_tir(a, 1), r2 = flow_to_tir(b, 2),
		      drop = flow_rule(D_DROP, DPORT, 5);
	struct frame f = to_port(5);
	struct flow_fate fate;

	(void)state;
	d_root(d, table);
	cx_set(r.value, DPORT, 5);
	cx_set(r2.value, DPORT, 5);
	d_rule(d, table, group, 0, &r);
	assert_int_equal(flow_try_modify(d, table, group, 0, FLOW_MOD_TAG, &r2),
			 CX_ST_OK);
	fate = flow_steer(d, &f);
	assert_true(has(&fate, CX_DEST_TIR, a, 2));
	assert_int_equal(flow_try_modify(d, table, group, 0, FLOW_MOD_DESTS, &r2),
			 CX_ST_OK);
	fate = flow_steer(d, &f);
	assert_true(has(&fate, CX_DEST_TIR, b, 2));
	assert_int_equal(flow_try_modify(d, table, group, 0,
					 FLOW_MOD_ACTION | FLOW_MOD_DESTS, &drop),
			 CX_ST_OK);
	assert_int_equal(fate_of_port(d, 5), CX_DEST_DROP);
	assert_int_equal(cx_obj_count(d->dev, CX_FTE), 1);
	d_close(d);
}

static void test_root_moves(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t a = d_table(d, 0, 4), b = d_table(d, 0, 4);
	struct d_rule all = { .action = D_DROP };

	(void)state;
	d_rule(d, b, flow_all_group(d, b, 0, 0), 0, &all);
	d_root(d, a);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	d_root(d, b);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_DROP);
	assert_int_equal(flow_try_root_reset(d, FLOW_RX), CX_ST_OK);
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	d_root(d, a);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, a), CX_ST_OK); /* as root */
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL);
	d_close(d);
}

/* ---- what cx_dump() says ---- */

struct text {
	char all[4096];
	size_t n;
};

static void keep_line(void *arg, const char *line)
{
	struct text *t = arg;

	t->n += (size_t)snprintf(t->all + t->n, sizeof(t->all) - t->n, "%s\n", line);
	assert_true(t->n < sizeof(t->all));
}

static void assert_said(const struct text *t, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!strstr(t->all, line))
		fail_msg("no \"%s\" in:\n%s", line, t->all);
}

static void test_dump(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 9, 4), tirn = flow_tir(d), counter = d_flow_counter(d);
	uint32_t top = flow_table(
		d, &(struct flow_table){ .level = 1, .log_size = 5, .miss = low });
	uint32_t group = flow_field_group(d, top, 3, 17, DPORT);
	struct d_rule r = flow_to_tir(tirn, 0x77);
	struct text t = { .n = 0 };

	(void)state;
	r.action |= D_COUNT;
	r.counter = counter;
	r.n_dests = 2;
	r.dest[1] = (struct d_dest){ D_TO_TABLE, low };
	d_rule(d, top, group, 11, &r);
	cx_dump(d->dev, keep_line, &t);
	assert_said(&t, "FT 0x%x uid 0 refs 1 rx level 1 size 2^5 groups 1 miss 0x%x\n",
		    top, low);
	assert_said(&t, "FG 0x%x uid 0 refs 1 table 0x%x index 3 to 17 entries 1\n",
		    group, top);
	assert_said(
		&t,
		" table 0x%x group 0x%x index 11 action 0xc tag 0x77 to-tir 0x%x to-table "
		"0x%x counter 0x%x\n",
		top, group, tirn, low, counter);
	d_close(d);
}

/* ---- sending ---- */

static bool may_leave(struct direct *d, uint16_t dport)
{
	struct frame f = to_port(dport);

	return cx_steer_tx(d->dev, f.b, f.len);
}

static void tx_rule(struct direct *d, uint32_t table, uint32_t group, uint32_t index,
		    const struct d_rule *rule)
{
	d_patch(d, 0, (cx_field)CX_set_fte_in__table_type, FLOW_TX);
	d_rule(d, table, group, index, rule);
}

static uint32_t tx_group(struct direct *d, uint32_t table)
{
	d_patch(d, 0, (cx_field)CX_create_flow_group_in__table_type, FLOW_TX);
	return flow_field_group(d, table, 0, 7, DPORT);
}

static void test_transmit_tables(void **state)
{
	struct direct *d = d_open(NULL);
	struct flow_table conf = { .type = FLOW_TX, .level = 1, .log_size = 4 };
	uint32_t low = flow_table(d, &conf), top, counter = d_flow_counter(d), group;
	struct d_rule drop = flow_rule(D_DROP | D_COUNT, DPORT, 1);
	struct d_rule allow = flow_rule(D_ALLOW, DPORT, 2), on = flow_to_table(low, 0);

	(void)state;
	conf.level = 0;
	top = flow_table(d, &conf);
	assert_true(may_leave(d, 1));
	assert_int_equal(flow_try_root(d, FLOW_TX, top), CX_ST_OK);
	group = tx_group(d, top);
	drop.counter = counter;
	tx_rule(d, top, group, 0, &drop);
	tx_rule(d, top, group, 1, &allow);
	cx_set(on.value, DPORT, 3);
	tx_rule(d, top, group, 2, &on);
	cx_set(drop.value, DPORT, 3);
	tx_rule(d, low, tx_group(d, low), 0, &drop);
	assert_false(may_leave(d, 1));
	assert_true(may_leave(d, 2));
	assert_false(may_leave(d, 3));
	assert_true(may_leave(d, 4));
	assert_int_equal(fate_of_port(d, 1), CX_DEST_KERNEL); /* receive is not touched */
	assert_counter(d, counter, 2, 2 * 52);
	assert_int_equal(flow_try_root_reset(d, FLOW_TX), CX_ST_OK);
	assert_true(may_leave(d, 1));
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_root),
		cmocka_unit_test(test_empty_root),
		cmocka_unit_test(test_lower_group_wins),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_hash_spreads),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_miss_chain),
		cmocka_unit_test(test_default_miss_rule),
		cmocka_unit_test(test_tags_along_a_path),
		cmocka_unit_test(test_the_right_tir),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_several_tirs),
		cmocka_unit_test(test_tir_and_table),
		cmocka_unit_test(test_too_many_copies),
		cmocka_unit_test(test_counts_are_exact),
		cmocka_unit_test(test_modify_in_place),
		cmocka_unit_test(test_root_moves),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_transmit_tables),
	};

	return cmocka_run_group_tests_name("steer", tests, NULL, NULL);
}
