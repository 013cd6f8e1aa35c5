/* core/steer.h - flow tables, groups, entries
 *
 * Private to core/: match.c, steer.c, cmd_flow.c, cmd_fte.c.
 *
 *   root -> FT level 0 --miss--> FT level 3 --miss--> ... default: the kernel side
 *            | FG 0: mask A       | FG 0
 *            |   FTE value -> action, tag, destinations, counters
 *            | FG 1: mask B
 *
 * In one table the group with the lower start index decides first; in one group
 * at most one entry can match, because all have the same mask. Levels rise along
 * every path, so a walk ends.
 */
#pragma once

#include "dev.h"

enum cx_ft_type { CX_FT_NIC_RX = 0, CX_FT_NIC_TX = 1, CX_FT_TYPE_COUNT };

enum cx_flow_action { /* kernel include/linux/mlx5/mlx5_ifc.h, MLX5_FLOW_CONTEXT_ACTION_* */
		      CX_ACTION_ALLOW = 0x1,
		      CX_ACTION_DROP = 0x2,
		      CX_ACTION_FORWARD = 0x4,
		      CX_ACTION_COUNT = 0x8,
};

/* ---- match parameters: match.c ---- */

/* The two sets that this device compares, as they lie in fte_match_param: outer_headers, and
 * the first half of misc_parameters. The rest of the parameters is never set. */
#define CX_MATCH_OUTER_BYTES 64
#define CX_MATCH_MISC_BYTES  32
#define CX_MATCH_WORDS	     ((CX_MATCH_OUTER_BYTES + CX_MATCH_MISC_BYTES) / 8)

struct cx_match {
	uint64_t word[CX_MATCH_WORDS]; /* device memory, not host integers */
};

/* Source: MLX5_CAP_FLOW_TABLE, kernel include/linux/mlx5/device.h */
#define CX_FLOW_TABLE_GROUP 7
/* flow_table_prop_layout of a table type, in the capabilities */
const uint8_t *cx_flow_props(const struct cx_dev *dev, enum cx_ft_type type);

void cx_match_pack(struct cx_match *m, const uint8_t *param);
void cx_match_unpack(const struct cx_match *m, uint8_t *param); /* @param zeroed */
/* What a frame has in each field; a field of a header that is not there is zero (assumed). */
void cx_match_frame(struct cx_match *m, const struct cx_pkt *pkt);

/* @enable: match_criteria_enable. Refuses a field that this device, by its capabilities, does
 * not compare, and a set that is used without its bit. */
enum cx_status cx_match_check_mask(struct cx_call *call, enum cx_ft_type type,
				   const uint8_t *mask, uint8_t enable);
/* Refuses bits of @value outside the mask. */
enum cx_status cx_match_check_value(struct cx_call *call, const struct cx_match *mask,
				    const uint8_t *value);

/* ---- objects ---- */

struct cx_ft {
	struct cx_obj obj;
	enum cx_ft_type type;
	uint8_t level, log_size;
	struct cx_ft *miss; /* NULL = default miss */
	struct cx_fg **fg;  /* by start index */
	unsigned n_fg, cap_fg;
};

struct cx_fg {
	struct cx_obj obj;
	struct cx_ft *ft;
	uint32_t start, end; /* first and last index */
	uint8_t enable;
	struct cx_match mask;
	uint8_t word[CX_MATCH_WORDS]; /* which words of the mask are not zero */
	unsigned n_words;
	/* chained hashes of the entries, both of n_buckets, a power of two */
	struct cx_fte **by_value, **by_index;
	uint32_t n_fte, n_buckets;
};

struct cx_fte_dest {
	struct cx_tir *tir;
	struct cx_ft *ft; /* NULL: a TIR */
};
struct cx_fte_counter {
	struct cx_fcounter *counter;
	uint32_t slot; /* of a bulk */
};

#define CX_FTE_COUNTERS 4 /* in one entry; the capability says how many are allowed */
struct cx_fte_act {
	uint16_t action;
	uint32_t tag; /* 0 = leaves the tag alone */
	unsigned n_dests, n_counters;
	struct cx_fte_dest dest[CX_DEST_MAX];
	struct cx_fte_counter counter[CX_FTE_COUNTERS];
};

struct cx_fte {
	struct cx_obj obj;
	struct cx_fg *fg;
	uint32_t index; /* in the table */
	struct cx_match value;
	struct cx_fte_act act;
	struct cx_fte *next_value, *next_index;
};

struct cx_steering {
	/* NULL: all to the kernel side, or to the wire */
	struct cx_ft *root[CX_FT_TYPE_COUNT];
};

/* ---- steer.c: nothing here checks a rule; the commands did ---- */

struct cx_ft *cx_ft_new(struct cx_dev *dev, uint16_t uid, const struct cx_ft *conf);
void cx_ft_free(struct cx_dev *dev, struct cx_ft *ft); /* empty and unused */
void cx_ft_set_miss(struct cx_ft *ft, struct cx_ft *miss);

struct cx_fg *cx_fg_new(struct cx_dev *dev, uint16_t uid, const struct cx_fg *conf);
void cx_fg_free(struct cx_dev *dev, struct cx_fg *fg); /* empty */
/* A group that has an index of start .. end, NULL = none. */
struct cx_fg *cx_ft_group_at(const struct cx_ft *ft, uint32_t start, uint32_t end);

struct cx_fte *cx_fte_new(struct cx_dev *dev, uint16_t uid, struct cx_fg *fg,
			  uint32_t index, const struct cx_match *value,
			  const struct cx_fte_act *act);
void cx_fte_free(struct cx_dev *dev, struct cx_fte *fte);
/* Moves references. */
void cx_fte_set_act(struct cx_fte *fte, const struct cx_fte_act *act);
struct cx_fte *cx_fg_at_index(const struct cx_fg *fg, uint32_t index);
/* The entry of the group that takes @key (a frame, or a value: equal under the mask). */
struct cx_fte *cx_fg_find(const struct cx_fg *fg, const struct cx_match *key);

/* cmd_fte.c; rows of the table in cmd_flow.c */
enum cx_status cx_set_fte(struct cx_call *call);
enum cx_status cx_query_fte(struct cx_call *call);
enum cx_status cx_delete_fte(struct cx_call *call);

/* ---- for both command files ---- */

/* A limit that a capability gives as a logarithm. */
static inline uint32_t cx_pow2(uint32_t log)
{
	return log < 32 ? UINT32_C(1) << log : UINT32_MAX;
}

/* The table a mailbox names: of the type it names, and on no other function. All mailboxes of
 * tables have these fields in the same place. */
struct cx_ft *cx_call_ft(struct cx_call *call, enum cx_status *st);
