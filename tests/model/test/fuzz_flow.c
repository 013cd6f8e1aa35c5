/* test/fuzz_flow.c - flow tables, groups and entries in any order, and frames through them
 *
 * Numbers are mostly those of objects that are there, values mostly lie in the group's
 * mask; what is left is changed at random. Walks must end, and whatever is destroyed must
 * leave nothing behind that a walk still reaches.
 */
#include "fuzz.h"

#include <string.h>

#include "../core/steer.h"
#include "flow_rig.h"

enum { MAX_STEPS = 200, MAX_LIST = 10 };

struct mail {
	uint8_t in[CX_BYTES(create_flow_group_in) + 64];
	size_t in_len;
};

struct flow {
	struct direct *d;
	struct fuzz f;
	uint32_t rqn;
};

/* ---- mailboxes ---- */

static const struct cx_obj *an_object(struct flow *w, enum cx_obj_type type)
{
	uint32_t num = fuzz_number(w->d, type, (uint32_t)fuzz_take(&w->f, 1));

	return cx_obj_get(w->d->dev, type, num, 0);
}

static uint32_t a_number(struct flow *w, enum cx_obj_type type)
{
	const struct cx_obj *obj = an_object(w, type);

	return obj ? obj->num : 0;
}

static void start(struct mail *m, uint16_t opcode, size_t bytes)
{
	memset(m, 0, sizeof(*m));
	cx_put_be16(m->in, opcode);
	m->in_len = bytes;
}

/* All mailboxes about tables have type and number in the same place. */
static const struct cx_ft *name_table(struct flow *w, struct mail *m)
{
	const struct cx_ft *ft = (const struct cx_ft *)an_object(w, CX_FT);

	CX_SET(destroy_flow_table_in, m->in, table_type, ft ? (unsigned)ft->type : 0);
	CX_SET(destroy_flow_table_in, m->in, table_id, ft ? ft->obj.num : 0);
	return ft;
}

static enum cx_status send(struct flow *w, struct mail *m, uint8_t out[64])
{
	for (uint32_t n = fuzz_below(&w->f, 16); n > 12; n--)
		m->in[fuzz_below(&w->f, (uint32_t)m->in_len)] ^=
			(uint8_t)(1 << fuzz_below(&w->f, 8));
	if (fuzz_below(&w->f, 32) == 0)
		m->in_len = fuzz_below(&w->f, (uint32_t)m->in_len);
	if (fuzz_below(&w->f, 16) == 0)
		cx_put_be16(m->in + 2, w->d->uid);
	return fuzz_exec(w->d, m->in, m->in_len, fuzz_below(&w->f, 8) ? 2048 : 40, out);
}

/* ---- tables ---- */

static void miss_of(struct flow *w, uint8_t *ctx)
{
	bool forward = fuzz_below(&w->f, 2);

	CX_SET(flow_table_context, ctx, table_miss_action, forward);
	CX_SET(flow_table_context, ctx, table_miss_id, forward ? a_number(w, CX_FT) : 0);
}

static void create_table(struct flow *w)
{
	struct mail m;
	uint8_t *ctx = CX_AT(create_flow_table_in, m.in, flow_table_context);

	start(&m, D_CREATE_FLOW_TABLE, CX_BYTES(create_flow_table_in));
	CX_SET(create_flow_table_in, m.in, table_type, fuzz_below(&w->f, 8) == 0);
	CX_SET(flow_table_context, ctx, level, fuzz_below(&w->f, 8));
	CX_SET(flow_table_context, ctx, log_size, fuzz_below(&w->f, 6));
	miss_of(w, ctx);
	send(w, &m, NULL);
}

static void modify_table(struct flow *w)
{
	struct mail m;

	start(&m, 0x93c, CX_BYTES(modify_flow_table_in));
	name_table(w, &m);
	CX_SET(modify_flow_table_in, m.in, modify_field_select, 1);
	miss_of(w, CX_AT(modify_flow_table_in, m.in, flow_table_context));
	send(w, &m, NULL);
}

static void about_table(struct flow *w)
{
	static const uint16_t op[] = { D_DESTROY_FLOW_TABLE, 0x932, D_DESTROY_FLOW_TABLE,
				       0x932 };
	struct mail m;

	start(&m, op[fuzz_below(&w->f, 4)], CX_BYTES(destroy_flow_table_in));
	name_table(w, &m);
	send(w, &m, NULL);
}

static void set_root(struct flow *w)
{
	struct mail m;
	bool reset = fuzz_below(&w->f, 4) == 0;

	start(&m, D_SET_FLOW_TABLE_ROOT, CX_BYTES(set_flow_table_root_in));
	name_table(w, &m);
	if (reset) {
		CX_SET(set_flow_table_root_in, m.in, op_mod, 1);
		CX_SET(set_flow_table_root_in, m.in, table_id, 0);
	}
	send(w, &m, NULL);
}

/* ---- groups ---- */

static const cx_field masks[] = {
	FLOW_OUTER(ethertype),
	FLOW_OUTER(ip_protocol),
	FLOW_OUTER(ip_version),
	FLOW_OUTER(udp_dport),
	FLOW_OUTER(tcp_flags),
	FLOW_OUTER(first_vid),
	FLOW_OUTER(cvlan_tag),
	FLOW_OUTER(frag),
	FLOW_OUTER(ttl_hoplimit),
	FLOW_OUTER(dmac_47_16),
	FLOW_OUTER(ip_dscp),
	FLOW_MISC(outer_second_vid),
	FLOW_MISC(outer_ipv6_flow_label),
};
#define N_MASKS (sizeof(masks) / sizeof(masks[0]))

static void create_group(struct flow *w)
{
	struct mail m;
	uint8_t *mask = CX_AT(create_flow_group_in, m.in, match_criteria);
	uint32_t first = fuzz_below(&w->f, 32);

	start(&m, D_CREATE_FLOW_GROUP, CX_BYTES(create_flow_group_in));
	name_table(w, &m);
	CX_SET(create_flow_group_in, m.in, start_flow_index, first);
	CX_SET(create_flow_group_in, m.in, end_flow_index, first + fuzz_below(&w->f, 8));
	CX_SET(create_flow_group_in, m.in, match_criteria_enable, 3);
	for (uint32_t n = fuzz_below(&w->f, 4); n; n--)
		cx_set(mask, masks[fuzz_below(&w->f, N_MASKS)], fuzz_take(&w->f, 4));
	send(w, &m, NULL);
}

static const struct cx_fg *name_group(struct flow *w, struct mail *m)
{
	const struct cx_fg *fg = (const struct cx_fg *)an_object(w, CX_FG);

	if (!fg)
		return NULL;
	CX_SET(destroy_flow_table_in, m->in, table_type, (unsigned)fg->ft->type);
	CX_SET(destroy_flow_table_in, m->in, table_id, fg->ft->obj.num);
	return fg;
}

static void about_group(struct flow *w)
{
	const struct cx_fg *fg;
	struct mail m;

	start(&m, fuzz_below(&w->f, 2) ? D_DESTROY_FLOW_GROUP : 0x935,
	      CX_BYTES(destroy_flow_group_in));
	fg = name_group(w, &m);
	CX_SET(destroy_flow_group_in, m.in, group_id, fg ? fg->obj.num : 0);
	send(w, &m, NULL);
}

/* ---- entries ---- */

static void value_in_mask(struct flow *w, const struct cx_fg *fg, uint8_t *value)
{
	uint8_t mask[CX_BYTES(fte_match_param)] = { 0 };

	cx_match_unpack(&fg->mask, mask);
	for (size_t i = 0; i < sizeof(mask); i++)
		if (mask[i])
			value[i] = mask[i] & (uint8_t)fuzz_take(&w->f, 1);
}

static void lists(struct flow *w, struct mail *m, uint32_t dests, uint32_t counters)
{
	uint8_t *p = m->in + CX_BYTES(set_fte_in);

	for (uint32_t i = 0; i < dests; i++, p += 8) {
		bool tir = fuzz_below(&w->f, 2);

		CX_SET(dest_format_struct, p, destination_type,
		       tir ? D_TO_TIR : D_TO_TABLE);
		CX_SET(dest_format_struct, p, destination_id,
		       a_number(w, tir ? CX_TIR : CX_FT));
	}
	for (uint32_t i = 0; i < counters; i++, p += 8)
		CX_SET(flow_counter_list, p, flow_counter_id,
		       a_number(w, CX_FCOUNTER) + fuzz_below(&w->f, 2));
	m->in_len += 8 * (dests + counters);
}

static void set_entry(struct flow *w)
{
	static const uint16_t ends[] = { D_ALLOW, D_DROP, D_FORWARD, D_FORWARD };
	struct mail m;
	uint8_t *ctx = CX_AT(set_fte_in, m.in, flow_context);
	uint16_t action = ends[fuzz_below(&w->f, 4)];
	uint32_t counters = fuzz_below(&w->f, 3), dests = 0;
	const struct cx_fg *fg;

	start(&m, D_SET_FTE, CX_BYTES(set_fte_in));
	fg = name_group(w, &m);
	if (!fg)
		return;
	if (action == D_FORWARD)
		dests = 1 + fuzz_below(&w->f, MAX_LIST - 3);
	CX_SET(set_fte_in, m.in, flow_index, fg->start + fuzz_below(&w->f, 4));
	CX_SET(flow_context, ctx, group_id, fg->obj.num);
	CX_SET(flow_context, ctx, flow_tag, fuzz_take(&w->f, 1));
	CX_SET(flow_context, ctx, action, action | (counters ? D_COUNT : 0u));
	CX_SET(flow_context, ctx, destination_list_size, dests);
	CX_SET(flow_context, ctx, flow_counter_list_size, counters);
	value_in_mask(w, fg, CX_AT(flow_context, ctx, match_value));
	lists(w, &m, dests, counters);
	if (fuzz_below(&w->f, 3) == 0) {
		CX_SET(set_fte_in, m.in, op_mod, FLOW_MODIFY);
		CX_SET(set_fte_in, m.in, modify_enable_mask, fuzz_below(&w->f, 16));
	}
	send(w, &m, NULL);
}

static void about_entry(struct flow *w)
{
	const struct cx_fte *fte = (const struct cx_fte *)an_object(w, CX_FTE);
	struct mail m;

	if (!fte)
		return;
	start(&m, fuzz_below(&w->f, 2) ? D_DELETE_FTE : 0x937, CX_BYTES(delete_fte_in));
	CX_SET(delete_fte_in, m.in, table_type, (unsigned)fte->fg->ft->type);
	CX_SET(delete_fte_in, m.in, table_id, fte->fg->ft->obj.num);
	CX_SET(delete_fte_in, m.in, flow_index, fte->index);
	send(w, &m, NULL);
}

/* ---- what entries point to ---- */

static void others(struct flow *w)
{
	uint8_t in[16] = { 0 };
	uint32_t num;

	switch (fuzz_below(&w->f, 4)) {
	case 0:
		d_try_tir(w->d, &(struct d_tir_conf){ .rqn = w->rqn }, &num);
		break;
	case 1:
		cx_put_be16(in, D_DESTROY_TIR);
		cx_set(in, CX_PACK(0x48, 24), a_number(w, CX_TIR));
		fuzz_exec(w->d, in, sizeof(in), 16, NULL);
		break;
	case 2:
		d_flow_counter(w->d);
		break;
	case 3:
		cx_put_be16(in, D_DEALLOC_FLOW_COUNTER);
		cx_put_be32(in + 8, a_number(w, CX_FCOUNTER));
		fuzz_exec(w->d, in, sizeof(in), 16, NULL);
		break;
	}
}

/* ---- frames ---- */

static struct frame a_frame(struct fuzz *f)
{
	uint16_t port = (uint16_t)fuzz_take(f, 1);

	switch (fuzz_below(f, 5)) {
	case 0:
		return frame_udp4(port, port, 4);
	case 1:
		return frame_udp6(port, port, 4);
	case 2:
		return frame_tcp4(port, port, 2);
	case 3:
		return frame_tcp6(port, port, 16);
	default:
		return frame_chain(fuzz_below(f, 9));
	}
}

static void frames(struct flow *w)
{
	struct frame f = a_frame(&w->f);
	enum cx_rx_verdict verdict;

	for (uint32_t n = fuzz_below(&w->f, 8); n > 4; n--)
		f.b[fuzz_below(&w->f, f.len)] = (uint8_t)fuzz_take(&w->f, 1);
	verdict = cx_rx(w->d->dev, f.b, f.len);
	FUZZ_MUST(verdict != CX_RX_DOWN && verdict != CX_RX_OVERSIZE);
	if (fuzz_below(&w->f, 2))
		cx_kernel_tx(w->d->dev, f.b, f.len);
	d_forget(w->d);
}

static void no_line(void *arg, const char *text)
{
	(void)arg;
	FUZZ_MUST(strlen(text) < 256);
}

static void step(struct flow *w)
{
	static void (*const steps[])(struct flow *) = {
		create_table, create_table, create_group, create_group,
		create_group, set_entry,    set_entry,	  set_entry,
		set_entry,    modify_table, about_table,  about_group,
		about_entry,  set_root,	    frames,	  others,
	};

	steps[fuzz_below(&w->f, sizeof(steps) / sizeof(steps[0]))](w);
}

/* Some tables on each level, and the root, so that most steps find something. */
static void set_up(struct flow *w)
{
	struct d_cq *cq;

	w->d = d_open(NULL);
	cq = d_cq(w->d, &(struct d_cq_conf){ .log_size = 4 });
	w->rqn = d_rq(w->d, &(struct d_rq_conf){ .log_size = 1, .cq = cq })->num;
	d_tir(w->d, w->rqn);
	d_flow_counter(w->d);
	d_root(w->d, d_table(w->d, 0, 5));
	d_table(w->d, 1, 5);
	d_table(w->d, 2, 5);
}

int fuzz_flow(const uint8_t *data, size_t size)
{
	struct flow w = { .f = { data, size } };

	set_up(&w);
	for (unsigned i = 0; w.f.left && i < MAX_STEPS; i++)
		step(&w);
	cx_dump(w.d->dev, no_line, NULL);
	fuzz_drain(w.d);
	d_close(w.d);
	return 0;
}

FUZZ_TARGET(fuzz_flow)
