/* test/flow_rig.h - what tests of flow tables need beyond direct.h
 *
 * Every command here is the kernel's (uid 0).
 */
#pragma once

#include "../core/dev.h"
#include "direct.h"
#include "frame.h"

enum { FLOW_RX = 0, FLOW_TX = 1 };
enum { FLOW_MODIFY = 1 }; /* op_mod of SET_FLOW_TABLE_ENTRY, and of a root: reset */
enum { FLOW_MOD_ACTION = 1, FLOW_MOD_TAG = 2, FLOW_MOD_DESTS = 4, FLOW_MOD_COUNTERS = 8 };

/* Bits of match parameters are numbered from the start of fte_match_param. */
#define FLOW_OUTER(f) ((cx_field)CX_fte_match_set_lyr_2_4__##f)
#define FLOW_MISC(f) \
	((cx_field)((CX_fte_match_param__misc_parameters & ~0xffff) + \
		    CX_fte_match_set_misc__##f))
enum { FLOW_ENABLE_OUTER = 1, FLOW_ENABLE_MISC = 2 };

enum cx_status flow_cmd(struct direct *d, uint16_t opcode, void *in, size_t in_len,
			void *out, size_t out_len);

struct flow_table {
	uint8_t type, level, log_size;
	uint32_t miss; /* 0 = default */
};
enum cx_status flow_try_table(struct direct *d, const struct flow_table *conf,
			      uint32_t *table);
uint32_t flow_table(struct direct *d, const struct flow_table *conf);
enum cx_status flow_try_destroy_table(struct direct *d, uint8_t type, uint32_t table);
enum cx_status flow_try_miss(struct direct *d, uint32_t table,
			     uint32_t miss); /* MODIFY */
enum cx_status flow_try_root(struct direct *d, uint8_t type, uint32_t table);
enum cx_status flow_try_root_reset(struct direct *d, uint8_t type);
enum cx_status flow_try_destroy_group(struct direct *d, uint32_t table, uint32_t group);
uint32_t flow_all_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last);
/* A group of one field of the outer headers. */
uint32_t flow_field_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last,
			  cx_field field);

/* Of one field, in host terms; up to 32 bits. */
struct d_rule flow_rule(uint16_t action, cx_field field, uint32_t value);
struct d_rule flow_to_tir(uint32_t tirn, uint32_t tag);
struct d_rule flow_to_table(uint32_t table, uint32_t tag);
/* Changes an entry that is there. */
enum cx_status flow_try_modify(struct direct *d, uint32_t table, uint32_t group,
			       uint32_t index, uint8_t mask, const struct d_rule *rule);

/* ---- the walk ---- */

struct flow_fate {
	unsigned n;
	struct cx_dest dest[CX_DEST_MAX];
};
struct flow_fate flow_steer(struct direct *d, const struct frame *f);
enum cx_dest_type flow_steer_one(struct direct *d,
				 const struct frame *f); /* n must be 1 */

/* A direct TIR on a queue of its own. */
uint32_t flow_tir(struct direct *d);
