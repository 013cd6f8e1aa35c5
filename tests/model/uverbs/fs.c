/* uverbs/fs.c - flow tables of a port, one for each priority
 *
 *   root -> prio 0 -> prio 1 -> .. -> multicast -> kernel -> leftovers -> (TAP)
 *             |                                       |
 *             +- a rule "default miss" ---------------+
 *
 * A table exists while it has rules. What it does not match goes on to the next one
 * that exists, and after the last to the port's netdev. The kernel's own table stands
 * for all that mlx5e has: with no rules in it frames pass to the netdev, as they do
 * to a real one that is promiscuous. Only when a program wants the leftovers must it
 * take what the netdev's address filter would.
 *
 * Source: Linux 6.1 mlx5/core/fs_core.c (connect_flow_table(), alloc_auto_flow_group()),
 * fs_cmd.c; hw/mlx5/fs.c (get_flow_table(), create_leftovers_rule()).
 */
#include "fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define MAX_ENTRIES	65536 /* MLX5_FS_MAX_ENTRIES */
#define MAX_GROUPS	6     /* MLX5_FS_MAX_TYPES */
#define KERNEL_ENTRIES	8
#define LEVEL_KERNEL	54
#define LEVEL_LEFTOVERS 61
#define LEVEL_END	62
#define MISS_FORWARD	1

/* ---- commands on tables ---- */

static void set_miss(uint8_t *ctx, const struct fs_table *miss)
{
	if (!miss)
		return;
	CX_SET(flow_table_context, ctx, table_miss_action, MISS_FORWARD);
	CX_SET(flow_table_context, ctx, table_miss_id, miss->id);
}

static int create_table(struct uv_fs *fs, struct fs_table *t, const struct fs_table *miss)
{
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 },
		out[CX_BYTES(create_flow_table_out)];
	uint8_t *ctx = CX_AT(create_flow_table_in, in, flow_table_context);
	int rc;

	CX_SET(create_flow_table_in, in, opcode, CX_OP_CREATE_FLOW_TABLE);
	CX_SET(flow_table_context, ctx, level, t->level);
	CX_SET(flow_table_context, ctx, log_size, (unsigned)__builtin_ctz(t->entries));
	set_miss(ctx, miss);
	rc = uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
	if (rc)
		return rc;
	t->id = (uint32_t)CX_GET(create_flow_table_out, out, table_id);
	t->miss = miss;
	t->there = true;
	return 0;
}

static int destroy_table(struct uv_fs *fs, struct fs_table *t)
{
	uint8_t in[CX_BYTES(destroy_flow_table_in)] = { 0 }, out[16];
	int rc;

	CX_SET(destroy_flow_table_in, in, opcode, CX_OP_DESTROY_FLOW_TABLE);
	CX_SET(destroy_flow_table_in, in, table_id, t->id);
	rc = uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
	if (!rc)
		t->there = false;
	return rc;
}

static int modify_miss(struct uv_fs *fs, struct fs_table *t, const struct fs_table *miss)
{
	uint8_t in[CX_BYTES(modify_flow_table_in)] = { 0 }, out[16];
	int rc;

	CX_SET(modify_flow_table_in, in, opcode, CX_OP_MODIFY_FLOW_TABLE);
	CX_SET(modify_flow_table_in, in, modify_field_select, 1); /* the miss table */
	CX_SET(modify_flow_table_in, in, table_id, t->id);
	set_miss(CX_AT(modify_flow_table_in, in, flow_table_context), miss);
	rc = uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
	if (!rc)
		t->miss = miss;
	return rc;
}

static int set_root(struct uv_fs *fs, const struct fs_table *t)
{
	uint8_t in[CX_BYTES(set_flow_table_root_in)] = { 0 }, out[16];
	int rc;

	CX_SET(set_flow_table_root_in, in, opcode, CX_OP_SET_FLOW_TABLE_ROOT);
	CX_SET(set_flow_table_root_in, in, table_id, t->id);
	rc = uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
	if (!rc)
		fs->root = t;
	return rc;
}

/* ---- the chain ---- */

/* The end is only forwarded to, never missed into. */
const struct fs_table *fs_next(const struct uv_fs *fs, const struct fs_table *t)
{
	for (t++; t < &fs->table[UV_PRIO_END]; t++)
		if (t->there)
			return t;
	return NULL;
}

static struct fs_table *previous(struct uv_fs *fs, struct fs_table *t)
{
	while (t > fs->table)
		if ((--t)->there)
			return t;
	return NULL;
}

/* What comes before @t goes on to @next from now on: misses, and rules that say so. */
static int connect_previous(struct uv_fs *fs, struct fs_table *t,
			    const struct fs_table *next)
{
	struct fs_table *prev = previous(fs, t);
	int rc;

	if (!prev)
		return next ? set_root(fs, next) : 0;
	rc = modify_miss(fs, prev, next);
	return rc ? rc : fs_follow_chain(fs, prev);
}

static uint8_t level_of(unsigned prio)
{
	switch (prio) {
	case UV_PRIO_KERNEL:
		return LEVEL_KERNEL;
	case UV_PRIO_LEFTOVERS:
		return LEVEL_LEFTOVERS;
	case UV_PRIO_END:
		return LEVEL_END;
	default:
		return (uint8_t)prio;
	}
}

static uint32_t entries_of(const struct uv_fs *fs, unsigned prio)
{
	uint32_t most = 1u << uv_cap(fs->port, "ft.rx_log_max_ft_size");

	return UV_MIN(most, prio == UV_PRIO_KERNEL || prio == UV_PRIO_END ? KERNEL_ENTRIES
									  : MAX_ENTRIES);
}

static int new_table(struct uv_fs *fs, unsigned prio)
{
	struct fs_table *t = &fs->table[prio];
	const struct fs_table *next = prio == UV_PRIO_END ? NULL : fs_next(fs, t);
	int rc;

	*t = (struct fs_table){ .level = level_of(prio),
				.entries = entries_of(fs, prio) };
	t->group_size = t->entries / (MAX_GROUPS + 1);
	if (!t->group_size)
		t->group_size = 1;
	rc = create_table(fs, t, next);
	if (rc || prio == UV_PRIO_END)
		return rc;
	rc = connect_previous(fs, t, t);
	if (rc) {
		connect_previous(fs, t, next);
		destroy_table(fs, t);
	}
	return rc;
}

/* A device in the fatal state only destroys; without a root frames go where the kernel's own
 * table would send them. What cannot be destroyed stays, empty; the next rule finds it there. */
static void free_table(struct uv_fs *fs, struct fs_table *t)
{
	bool cut = !connect_previous(fs, t, fs_next(fs, t));

	if (destroy_table(fs, t) && cut)
		connect_previous(fs, t, t);
}

/* ---- leftovers: what no rule and no netdev wants ---- */

/* Destination addresses that the netdev takes: its own, the broadcast address, and the groups
 * that every IPv4 and IPv6 host is in. As of now: the netdev may get others later. */
static unsigned kernel_addresses(const struct uv_fs *fs, uint8_t mac[5][6])
{
	static const uint8_t fixed[3][6] = {
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0x01, 0x00, 0x5e, 0x00, 0x00, 0x01 },
		{ 0x33, 0x33, 0x00, 0x00, 0x00, 0x01 },
	};
	uint8_t solicited[6] = { 0x33, 0x33, 0xff };

	memcpy(mac, fixed, sizeof(fixed));
	cx_mac_get(fs->port->dev, mac[3]);
	memcpy(solicited + 3, mac[3] + 3, 3);
	memcpy(mac[4], solicited, sizeof(solicited));
	return 5;
}

static int add_to_kernel(struct uv_fs *fs, const uint8_t mac[6])
{
	struct uv_flow_spec *spec = calloc(1, sizeof(*spec));
	size_t at = cx_field_offset(CX_fte_match_set_lyr_2_4__dmac_47_16) / 8;
	int rc;

	if (!spec)
		return -ENOMEM;
	spec->criteria = 1; /* outer headers */
	memset(spec->mask + at, 0xff, 6);
	memcpy(spec->value + at, mac, 6);
	spec->action = UV_ACT_FWD;
	spec->n_dests = 1;
	spec->dest[0].type = UV_DEST_TABLE;
	spec->dest[0].id = fs->table[UV_PRIO_END].id;
	rc = fs_rule_add(fs, &fs->table[UV_PRIO_KERNEL], spec,
			 &fs->to_kernel[fs->n_to_kernel]);
	if (!rc)
		fs->n_to_kernel++;
	free(spec);
	return rc;
}

static void leftovers_end(struct uv_fs *fs)
{
	while (fs->n_to_kernel) {
		if (uv_rule_del(fs->port, fs->to_kernel[fs->n_to_kernel - 1]))
			return;
		fs->n_to_kernel--;
	}
	if (fs->table[UV_PRIO_END].there)
		destroy_table(fs, &fs->table[UV_PRIO_END]);
}

static int leftovers_begin(struct uv_fs *fs)
{
	uint8_t mac[5][6];
	unsigned n = kernel_addresses(fs, mac);
	int rc = fs->table[UV_PRIO_END].there ? 0 : new_table(fs, UV_PRIO_END);

	for (unsigned i = fs->n_to_kernel; i < n && !rc; i++)
		rc = add_to_kernel(fs, mac[i]);
	if (!rc)
		rc = new_table(fs, UV_PRIO_LEFTOVERS);
	if (rc)
		leftovers_end(fs);
	return rc;
}

/* ---- a priority's table ---- */

int fs_table_get(struct uv_fs *fs, unsigned prio, struct fs_table **ret)
{
	*ret = &fs->table[prio];
	if ((*ret)->there)
		return 0;
	return prio == UV_PRIO_LEFTOVERS ? leftovers_begin(fs) : new_table(fs, prio);
}

void fs_table_put(struct uv_fs *fs, struct fs_table *t)
{
	if (t->group || t == &fs->table[UV_PRIO_KERNEL])
		return;
	free_table(fs, t);
	if (t == &fs->table[UV_PRIO_LEFTOVERS] && !t->there)
		leftovers_end(fs);
}

/* ---- groups ---- */

bool fs_group_matches(const struct fs_group *g, const struct uv_flow_spec *spec)
{
	return g->criteria == spec->criteria &&
	       !memcmp(g->mask, spec->mask, sizeof(g->mask));
}

static int create_group(struct uv_fs *fs, struct fs_group *g)
{
	uint8_t *in = calloc(1, CX_BYTES(create_flow_group_in));
	uint8_t out[CX_BYTES(create_flow_group_out)];
	int rc;

	if (!in)
		return -ENOMEM;
	CX_SET(create_flow_group_in, in, opcode, CX_OP_CREATE_FLOW_GROUP);
	CX_SET(create_flow_group_in, in, table_id, g->table->id);
	CX_SET(create_flow_group_in, in, start_flow_index, g->start);
	CX_SET(create_flow_group_in, in, end_flow_index, g->start + g->size - 1);
	CX_SET(create_flow_group_in, in, match_criteria_enable, g->criteria);
	memcpy(CX_AT(create_flow_group_in, in, match_criteria), g->mask, sizeof(g->mask));
	rc = uv_exec(fs->port, 0, in, CX_BYTES(create_flow_group_in), out, sizeof(out));
	free(in);
	if (!rc)
		g->id = (uint32_t)CX_GET(create_flow_group_out, out, group_id);
	return rc;
}

static int destroy_group(struct uv_fs *fs, const struct fs_group *g)
{
	uint8_t in[CX_BYTES(destroy_flow_group_in)] = { 0 }, out[16];

	CX_SET(destroy_flow_group_in, in, opcode, CX_OP_DESTROY_FLOW_GROUP);
	CX_SET(destroy_flow_group_in, in, table_id, g->table->id);
	CX_SET(destroy_flow_group_in, in, group_id, g->id);
	return uv_exec(fs->port, 0, in, sizeof(in), out, sizeof(out));
}

/* The first gap that is large enough; groups are in order. */
static int find_room(struct fs_table *t, struct fs_group *g, struct fs_group ***at)
{
	struct fs_group **p = &t->group;
	uint32_t start = 0;

	for (; *p && start + g->size > (*p)->start; p = &(*p)->next)
		start = (*p)->start + (*p)->size;
	if (start + g->size > t->entries)
		return -ENOSPC;
	g->start = start;
	*at = p;
	return 0;
}

static struct fs_group *alloc_group(struct fs_table *t, const struct uv_flow_spec *spec)
{
	struct fs_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->table = t;
	g->full_size = t->n_full < MAX_GROUPS;
	g->size = g->full_size ? t->group_size : 1;
	g->criteria = spec->criteria;
	memcpy(g->mask, spec->mask, sizeof(g->mask));
	g->taken = calloc(g->size / 64 + 1, sizeof(*g->taken));
	if (g->taken)
		return g;
	free(g);
	return NULL;
}

static int new_group(struct uv_fs *fs, struct fs_table *t,
		     const struct uv_flow_spec *spec, struct fs_group **ret)
{
	struct fs_group *g = alloc_group(t, spec), **at;
	int rc;

	if (!g)
		return -ENOMEM;
	rc = find_room(t, g, &at);
	if (!rc)
		rc = create_group(fs, g);
	if (rc) {
		fs_group_forget(g);
		return rc;
	}
	t->n_full += g->full_size;
	g->next = *at;
	*at = g;
	*ret = g;
	return 0;
}

int fs_group_get(struct uv_fs *fs, struct fs_table *t, const struct uv_flow_spec *spec,
		 struct fs_group **ret)
{
	for (struct fs_group *g = t->group; g; g = g->next)
		if (g->n_ftes < g->size && fs_group_matches(g, spec)) {
			*ret = g;
			return 0;
		}
	return new_group(fs, t, spec, ret);
}

void fs_group_put(struct uv_fs *fs, struct fs_group *g)
{
	struct fs_group **p = &g->table->group;

	if (g->n_ftes || destroy_group(fs, g))
		return;
	while (*p != g)
		p = &(*p)->next;
	*p = g->next;
	g->table->n_full -= g->full_size;
	fs_group_forget(g);
}

/* ---- all of a port ---- */

int uv_fs_new(struct uv_port *port)
{
	struct uv_fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return -ENOMEM;
	fs->port = port;
	port->fs = fs;
	return new_table(fs, UV_PRIO_KERNEL);
}

/* Groups and entries that are left belong to the device, which is about to go. */
static void forget_table(struct uv_fs *fs, struct fs_table *t)
{
	struct fs_group *next;

	for (struct fs_group *g = t->group; g; g = next) {
		next = g->next;
		fs_group_forget(g);
	}
	t->group = NULL;
	if (t->there)
		destroy_table(fs, t);
}

void uv_fs_free(struct uv_port *port)
{
	struct uv_fs *fs = port->fs;

	if (!fs)
		return;
	for (unsigned i = 0; i < fs->n_to_kernel; i++)
		free(fs->to_kernel[i]);
	for (unsigned i = 0; i < UV_PRIO_COUNT; i++)
		forget_table(fs, &fs->table[i]);
	free(fs);
	port->fs = NULL;
}
