/* uverbs/fs_rule.c - entries of flow tables, and the rules that share them
 *
 * Source: Linux 6.1 mlx5/core/fs_core.c (_mlx5_add_flow_rules(), add_rule_fg(),
 * check_conflicting_ftes(), mlx5_del_flow_rules()), fs_cmd.c (mlx5_cmd_set_fte()).
 */
#include "fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

struct uv_rule {
	struct fs_fte *fte;
	unsigned n_dests;
	struct fs_dest dest[4]; /* names of destinations in the entry; refs unused */
};

enum { CHANGE_ACTION = 1, CHANGE_TAG = 2, CHANGE_DESTS = 4, CHANGE_COUNTERS = 8 };

/* ---- commands on entries ---- */

static uint8_t *put_dest(uint8_t *p, const struct fs_dest *d)
{
	if (d->type == UV_DEST_COUNTER) {
		CX_SET(flow_counter_list, p, flow_counter_id, d->id);
	} else {
		CX_SET(dest_format_struct, p, destination_type, d->type);
		CX_SET(dest_format_struct, p, destination_id, d->id);
	}
	return p + CX_BYTES(dest_format_struct);
}

/* Where frames go first, counters after. Return: how many counters. */
static unsigned put_dests(uint8_t *p, const struct fs_fte *f)
{
	unsigned counters = 0;

	for (unsigned i = 0; i < f->n_dests; i++)
		if (f->dest[i].type != UV_DEST_COUNTER)
			p = put_dest(p, &f->dest[i]);
		else
			counters++;
	for (unsigned i = 0; i < f->n_dests; i++)
		if (f->dest[i].type == UV_DEST_COUNTER)
			p = put_dest(p, &f->dest[i]);
	return counters;
}

static void fill_set(const struct fs_fte *f, uint32_t change, uint8_t *in)
{
	uint8_t *ctx = CX_AT(set_fte_in, in, flow_context);
	unsigned counters = put_dests(in + CX_BYTES(set_fte_in), f);

	CX_SET(set_fte_in, in, opcode, CX_OP_SET_FLOW_TABLE_ENTRY);
	CX_SET(set_fte_in, in, op_mod, !!change);
	CX_SET(set_fte_in, in, modify_enable_mask, change);
	CX_SET(set_fte_in, in, table_id, f->group->table->id);
	CX_SET(set_fte_in, in, flow_index, f->index);
	CX_SET(flow_context, ctx, group_id, f->group->id);
	CX_SET(flow_context, ctx, flow_tag, f->tag);
	CX_SET(flow_context, ctx, action, f->action & 0xffff);
	CX_SET(flow_context, ctx, destination_list_size, f->n_dests - counters);
	CX_SET(flow_context, ctx, flow_counter_list_size, counters);
	memcpy(CX_AT(flow_context, ctx, match_value), f->value, sizeof(f->value));
}

/* @change 0: a new entry. */
static int set_fte(struct uv_fs *fs, const struct fs_fte *f, uint32_t change)
{
	size_t len = CX_BYTES(set_fte_in) + f->n_dests * CX_BYTES(dest_format_struct);
	uint8_t *in = calloc(1, len), out[16];
	int rc;

	if (!in)
		return -ENOMEM;
	fill_set(f, change, in);
	rc = uv_exec(fs->port, 0, in, len, out, sizeof(out));
	free(in);
	return rc;
}

static int delete_fte(struct uv_fs *fs, const struct fs_fte *f)
{
	uint8_t in[CX_BYTES(delete_fte_in)] = { 0 }, out[16];

	CX_SET(delete_fte_in, in, opcode, CX_OP_DELETE_FLOW_TABLE_ENTRY);
	CX_SET(delete_fte_in, in, table_id, f->group->table->id);
	CX_SET(delete_fte_in, in, flow_index, f->index);
	return uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
}

/* ---- destinations of an entry ---- */

static struct fs_dest *find_dest(struct fs_fte *f, const struct fs_dest *d)
{
	for (unsigned i = 0; i < f->n_dests; i++)
		if (f->dest[i].type == d->type && f->dest[i].next_prio == d->next_prio &&
		    (d->next_prio || f->dest[i].id == d->id))
			return &f->dest[i];
	return NULL;
}

static int append_dest(struct fs_fte *f, const struct fs_dest *d)
{
	if (f->n_dests == f->cap_dests) {
		unsigned cap = f->cap_dests ? 2 * f->cap_dests : 4;
		struct fs_dest *p = realloc(f->dest, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		f->dest = p;
		f->cap_dests = cap;
	}
	f->dest[f->n_dests] = *d;
	f->dest[f->n_dests++].refs = 1;
	return 0;
}

static uint32_t change_of(const struct fs_dest *d)
{
	return d->type == UV_DEST_COUNTER ? CHANGE_COUNTERS : CHANGE_DESTS;
}

static void drop_dest(struct fs_fte *f, struct fs_dest *d, uint32_t *change)
{
	if (--d->refs)
		return;
	*change |= change_of(d);
	memmove(d, d + 1, (size_t)(&f->dest[--f->n_dests] - d) * sizeof(*d));
}

static int take_dest(struct fs_fte *f, const struct fs_dest *want, uint32_t *change)
{
	struct fs_dest *d = find_dest(f, want);

	if (d) {
		d->refs++;
		return 0;
	}
	*change |= change_of(want);
	return append_dest(f, want);
}

/* All or none. @change: what of the entry is another then. */
static int take_dests(struct fs_fte *f, const struct uv_rule *r, uint32_t *change)
{
	for (unsigned i = 0; i < r->n_dests; i++) {
		if (!take_dest(f, &r->dest[i], change))
			continue;
		while (i--)
			drop_dest(f, find_dest(f, &r->dest[i]), change);
		return -ENOMEM;
	}
	return 0;
}

static bool has_dest(const struct fs_fte *f, bool counter)
{
	for (unsigned i = 0; i < f->n_dests; i++)
		if ((f->dest[i].type == UV_DEST_COUNTER) == counter)
			return true;
	return false;
}

static void drop_dests(struct fs_fte *f, const struct uv_rule *r, uint32_t *change)
{
	uint32_t action = f->action;

	for (unsigned i = 0; i < r->n_dests; i++) {
		struct fs_dest *d = find_dest(f, &r->dest[i]);

		if (d)
			drop_dest(f, d, change);
	}
	if (!has_dest(f, false))
		f->action &= ~(uint32_t)UV_ACT_FWD;
	if (!has_dest(f, true))
		f->action &= ~(uint32_t)UV_ACT_COUNT;
	if (f->action != action)
		*change |= CHANGE_ACTION;
}

/* ---- entries ---- */

static unsigned bucket_of(const uint8_t value[512])
{
	uint64_t h = 0, word;

	for (size_t i = 0; i < 512; i += sizeof(word)) {
		memcpy(&word, value + i, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h % FS_BUCKETS;
}

static struct fs_fte *find_fte(const struct fs_table *t, const struct uv_flow_spec *spec)
{
	unsigned bucket = bucket_of(spec->value);

	for (struct fs_group *g = t->group; g; g = g->next) {
		if (!fs_group_matches(g, spec))
			continue;
		for (struct fs_fte *f = g->bucket[bucket]; f; f = f->next)
			if (!memcmp(f->value, spec->value, sizeof(f->value)))
				return f;
	}
	return NULL;
}

/* The lowest index that is free; there is one. */
static uint32_t take_index(struct fs_group *g)
{
	uint32_t word = 0, bit;

	while (g->taken[word] == UINT64_MAX)
		word++;
	bit = (uint32_t)__builtin_ctzll(~g->taken[word]);
	g->taken[word] |= 1ull << bit;
	return word * 64 + bit;
}

static void link_fte(struct fs_group *g, struct fs_fte *f, const uint8_t value[512])
{
	struct fs_fte **head = &g->bucket[bucket_of(value)];

	memcpy(f->value, value, sizeof(f->value));
	f->group = g;
	f->index = g->start + take_index(g);
	f->next = *head;
	*head = f;
	g->n_ftes++;
}

static void free_fte(struct fs_fte *f)
{
	struct fs_group *g = f->group;
	struct fs_fte **p = &g->bucket[bucket_of(f->value)];
	uint32_t index = f->index - g->start;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	g->taken[index / 64] &= ~(1ull << index % 64);
	g->n_ftes--;
	free(f->dest);
	free(f);
}

void fs_group_forget(struct fs_group *g)
{
	for (unsigned i = 0; i < FS_BUCKETS; i++)
		while (g->bucket[i])
			free_fte(g->bucket[i]);
	free(g->taken);
	free(g);
}

static int fill_new(struct uv_fs *fs, struct fs_fte *f, const struct uv_flow_spec *spec,
		    const struct uv_rule *r)
{
	uint32_t change = 0;
	int rc = take_dests(f, r, &change);

	f->action = spec->action;
	f->has_tag = spec->has_tag;
	f->tag = spec->tag;
	return rc ? rc : set_fte(fs, f, 0);
}

static int new_fte(struct uv_fs *fs, struct fs_table *t, const struct uv_flow_spec *spec,
		   struct uv_rule *r)
{
	struct fs_group *g;
	struct fs_fte *f;
	int rc = fs_group_get(fs, t, spec, &g);

	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	if (!f) {
		fs_group_put(fs, g);
		return -ENOMEM;
	}
	link_fte(g, f, spec->value);
	rc = fill_new(fs, f, spec, r);
	if (rc) {
		free_fte(f);
		fs_group_put(fs, g);
		return rc;
	}
	f->refs = 1;
	r->fte = f;
	return 0;
}

/* ---- sharing ---- */

static bool conflicts(const struct fs_fte *f, const struct uv_flow_spec *spec)
{
	if (spec->has_tag && f->tag != spec->tag)
		return true;
	if (f->action == UV_ACT_COUNT || spec->action == UV_ACT_COUNT)
		return false;
	return (f->action ^ spec->action) & UV_ACT_DROP;
}

static int share_fte(struct uv_fs *fs, struct fs_fte *f, const struct uv_flow_spec *spec,
		     struct uv_rule *r)
{
	uint32_t old_action = f->action, change = 0;
	int rc;

	if (conflicts(f, spec))
		return -EEXIST;
	rc = take_dests(f, r, &change);
	if (rc)
		return rc;
	f->action |= spec->action;
	if (f->action != old_action)
		change |= CHANGE_ACTION;
	rc = change ? set_fte(fs, f, change) : 0;
	if (rc) {
		drop_dests(f, r, &change);
		f->action = old_action;
		return rc;
	}
	f->refs++;
	r->fte = f;
	return 0;
}

/* ---- rules ---- */

static bool value_in_mask(const struct uv_flow_spec *spec)
{
	for (size_t i = 0; i < sizeof(spec->value); i++)
		if (spec->value[i] & ~spec->mask[i])
			return false;
	return true;
}

static int resolve(const struct uv_fs *fs, const struct fs_table *t,
		   struct uv_flow_spec *spec, struct uv_rule *r)
{
	bool next_prio = spec->action & UV_ACT_NEXT_PRIO,
	     next_ns = spec->action & UV_ACT_NEXT_NS;
	const struct fs_table *next = next_ns ? &fs->table[UV_PRIO_KERNEL]
					      : fs_next(fs, t);

	for (unsigned i = 0; i < spec->n_dests; i++)
		r->dest[r->n_dests++] = (struct fs_dest){ .type = spec->dest[i].type,
							  .id = spec->dest[i].id };
	if (!next_prio && !next_ns)
		return 0;
	if (!next || !uv_cap(fs->port, "ft.nic_rx_multi_path_tirs"))
		return -EOPNOTSUPP;
	r->dest[r->n_dests++] = (struct fs_dest){ .type = UV_DEST_TABLE,
						  .id = next->id,
						  .next_prio = !next_ns };
	spec->action &= ~(uint32_t)(UV_ACT_NEXT_PRIO | UV_ACT_NEXT_NS);
	spec->action |= UV_ACT_FWD;
	return 0;
}

static int add(struct uv_fs *fs, struct fs_table *t, struct uv_flow_spec *spec,
	       struct uv_rule *r)
{
	struct fs_fte *f;
	int rc = resolve(fs, t, spec, r);

	if (rc)
		return rc;
	f = find_fte(t, spec);
	return f ? share_fte(fs, f, spec, r) : new_fte(fs, t, spec, r);
}

int fs_rule_add(struct uv_fs *fs, struct fs_table *t, const struct uv_flow_spec *spec,
		struct uv_rule **ret)
{
	struct uv_rule *r = calloc(1, sizeof(*r));
	struct uv_flow_spec *copy = malloc(sizeof(*copy));
	int rc = -ENOMEM;

	if (r && copy) {
		*copy = *spec;
		rc = add(fs, t, copy, r);
	}
	free(copy);
	if (rc)
		free(r);
	else
		*ret = r;
	return rc;
}

int uv_rule_add(struct uv_port *port, unsigned prio, const struct uv_flow_spec *spec,
		const char **why, struct uv_rule **ret)
{
	struct uv_fs *fs = port->fs;
	struct fs_table *t;
	int rc;

	*why = "match value has bits outside of the mask";
	if (!value_in_mask(spec))
		return -EINVAL;
	*why = "no table for the priority";
	rc = fs_table_get(fs, prio, &t);
	if (rc)
		return rc;
	rc = fs_rule_add(fs, t, spec, ret);
	*why = rc == -EEXIST   ? "a rule with the same match does something else"
	       : rc == -ENOSPC ? "no room in the table"
			       : "the device refused the entry";
	if (rc)
		fs_table_put(fs, t);
	return rc;
}

/* The entry keeps what it was when the device does not let go. */
static int leave_fte(struct uv_fs *fs, struct uv_rule *r)
{
	struct fs_fte *f = r->fte;
	uint32_t old_action = f->action, change = 0;
	int rc;

	drop_dests(f, r, &change);
	rc = change ? set_fte(fs, f, change) : 0;
	if (!rc) {
		f->refs--;
		return 0;
	}
	f->action = old_action;
	take_dests(f, r, &change);
	return rc;
}

static int last_rule_of(struct uv_fs *fs, struct fs_fte *f)
{
	struct fs_group *g = f->group;
	struct fs_table *t = g->table;
	int rc = delete_fte(fs, f);

	if (rc)
		return rc;
	free_fte(f);
	fs_group_put(fs, g);
	fs_table_put(fs, t);
	return 0;
}

int uv_rule_del(struct uv_port *port, struct uv_rule *r)
{
	int rc = r->fte->refs > 1 ? leave_fte(port->fs, r)
				  : last_rule_of(port->fs, r->fte);

	if (!rc)
		free(r);
	return rc;
}

/* ---- the chain changed ---- */

static int follow(struct uv_fs *fs, struct fs_fte *f, uint32_t id)
{
	for (unsigned i = 0; i < f->n_dests; i++) {
		struct fs_dest *d = &f->dest[i];
		uint32_t old = d->id;
		int rc;

		if (!d->next_prio || old == id)
			continue;
		d->id = id;
		rc = set_fte(fs, f, CHANGE_DESTS);
		if (rc) {
			d->id = old;
			return rc;
		}
	}
	return 0;
}

int fs_follow_chain(struct uv_fs *fs, struct fs_table *t)
{
	int rc = 0;

	for (struct fs_group *g = t->group; g; g = g->next)
		for (unsigned i = 0; i < FS_BUCKETS; i++)
			for (struct fs_fte *f = g->bucket[i]; f && !rc; f = f->next)
				rc = follow(fs, f, t->miss ? t->miss->id : 0);
	return rc;
}
