/* uverbs/fs.h - flow steering of a port: what fs.c and fs_rule.c share
 *
 *   table (one a priority) -> groups (one a mask) -> entries (one a value) -> rules
 *
 * An entry belongs to every rule with its mask and value: destinations are put
 * together, so that two programs that ask for the same frames both get them.
 */
#pragma once

#include "uverbs.h"

struct fs_dest {
	uint32_t type; /* UV_DEST_* */
	uint32_t id;
	uint32_t refs;	/* rules that want it */
	bool next_prio; /* id follows the chain of tables */
};

struct fs_fte {
	struct fs_fte *next; /* of its bucket */
	struct fs_group *group;
	uint32_t index;
	uint8_t value[512];
	bool has_tag;
	uint32_t tag, action;
	struct fs_dest *dest;
	unsigned n_dests, cap_dests;
	unsigned refs; /* rules */
};

#define FS_BUCKETS 1024

struct fs_group {
	struct fs_group *next; /* by start */
	struct fs_table *table;
	uint32_t id, start, size;
	bool full_size; /* one of the few large ones */
	uint8_t criteria;
	uint8_t mask[512];
	struct fs_fte *bucket[FS_BUCKETS]; /* by value */
	uint64_t *taken;		   /* indices, a bit each */
	uint32_t n_ftes;
};

struct fs_table {
	bool there;
	uint8_t level;
	uint32_t id, entries;
	uint32_t group_size, n_full;
	const struct fs_table *miss;
	struct fs_group *group;
};

struct uv_fs {
	struct uv_port *port;
	struct fs_table table[UV_PRIO_COUNT];
	const struct fs_table *root;
	struct uv_rule *to_kernel[5]; /* in the kernel's table while there are leftovers */
	unsigned n_to_kernel;
};

/* fs.c: makes a priority's table where there is none; takes it away when it is empty. */
int fs_table_get(struct uv_fs *fs, unsigned prio, struct fs_table **ret);
void fs_table_put(struct uv_fs *fs, struct fs_table *t);
const struct fs_table *fs_next(const struct uv_fs *fs, const struct fs_table *t);
/* A group for this mask with a free place. -ENOSPC */
int fs_group_get(struct uv_fs *fs, struct fs_table *t, const struct uv_flow_spec *spec,
		 struct fs_group **ret);
void fs_group_put(struct uv_fs *fs, struct fs_group *g);
bool fs_group_matches(const struct fs_group *g, const struct uv_flow_spec *spec);

/* fs_rule.c */
int fs_rule_add(struct uv_fs *fs, struct fs_table *t, const struct uv_flow_spec *spec,
		struct uv_rule **ret);
void fs_group_forget(struct fs_group *g); /* without a word to the device */
/* The table after @t is another now: rules that forward there follow. */
int fs_follow_chain(struct uv_fs *fs, struct fs_table *t);
