/* core/call.h - what the command files share
 *
 *   cmd_misc.c  capabilities, port, registers, contexts, pages, domains
 *   cmd_mkey.c  memory keys
 *   cmd_cq.c    completion queues
 *   cmd_wq.c    ring and states of work queues; cmd_sq.c, cmd_rq.c, cmd_rmp.c
 *   cmd_tir.c   TIS, TIR; cmd_rqt.c
 *   cmd_counter.c
 *
 * A create command checks everything before it changes anything. What it was given
 * is kept as a context for QUERY. Every object that it names is counted as used, and
 * cannot be destroyed before.
 */
#pragma once

#include "dev.h"

/* Only op_mod 0 exists. */
enum cx_status cx_call_plain(struct cx_call *call);
/* Only the kernel (uid 0) may; assumed from the allow-lists of kernel hw/mlx5/devx.c. */
enum cx_status cx_call_kernel(struct cx_call *call);

/* ---- fields ---- */

/* Fields that must be zero, and why. Ended by a row with name NULL. */
struct cx_forbidden {
	cx_field field;
	const char *name, *why;
};
/* clang-format off */
#define CX_FORBIDDEN(s, f, why) { (cx_field)CX_##s##__##f, #s "." #f, why }
/* clang-format on */
enum cx_status cx_call_forbid(struct cx_call *call, const uint8_t *p,
			      const struct cx_forbidden *rows);

/* A flag that needs a capability. */
struct cx_needed {
	cx_field field;
	const char *name, *cap;
};
/* clang-format off */
#define CX_NEEDED(s, f, cap) { (cx_field)CX_##s##__##f, #s "." #f, cap }
/* clang-format on */
enum cx_status cx_call_need(struct cx_call *call, const uint8_t *p,
			    const struct cx_needed *rows);

/* A modify command: only @fields (ended by 0) of @p may be set, the mask selects no others.
 * That the card looks at the rest is assumed. */
enum cx_status cx_call_only(struct cx_call *call, const struct cx_layout *l,
			    const uint8_t *p, const cx_field *fields);

/* No bit may be set in @p, called @field, past the @used bytes that mean something. */
enum cx_status cx_call_empty(struct cx_call *call, const uint8_t *p, size_t len,
			     const char *field);

/* ---- objects ---- */

/* The object that a modify, query or destroy command is about; only op_mod 0 exists. NULL: refused,
 * with @st to be returned. CX_ABOUT(call, CX_SQ, destroy_sq_in, sqn, &st). */
struct cx_obj *cx_call_about(struct cx_call *call, enum cx_obj_type type, cx_field num,
			     const char *field, enum cx_status *st);
#define CX_ABOUT(call, type, s, f, st) \
	cx_call_about((call), (type), CX_##s##__##f, #s "." #f, (st))
enum cx_status cx_call_unused(struct cx_call *call, const struct cx_obj *obj,
			      const char *field);
/* Gives @obj its number. On failure frees it and refuses. */
enum cx_status cx_call_add(struct cx_call *call, struct cx_obj *obj,
			   enum cx_obj_type type, const char *field);
enum cx_status cx_call_no_memory(struct cx_call *call);

static inline void cx_use(struct cx_obj *obj)
{
	if (obj)
		obj->refs++;
}

static inline void cx_unuse(struct cx_obj *obj)
{
	if (obj)
		obj->refs--;
}

/* ---- bytes of a umem ---- */

struct cx_range {
	uint64_t umem, offset, bytes;
	uint32_t align;	 /* bytes, of the address */
	uint32_t access; /* CX_ACCESS_* that the umem must have been registered with */
	const char *umem_field, *offset_field;
};
enum cx_status cx_call_range(struct cx_call *call, const struct cx_range *r,
			     struct cx_umem **umem, uint8_t **bytes);

/* ---- work queues: cmd_wq.c ---- */

/* 0 free running, 1 the device's default, 2 real time; @cap as sq_ts_format.
 * Source: kernel mlx5_ifc.h, MLX5_TIMESTAMP_FORMAT_*. */
enum cx_status cx_call_ts_format(struct cx_call *call, uint64_t format, const char *cap,
				 const char *field);
/* Reads and checks a wq context for an SQ, RQ or RMP; fills @wq, takes no references. */
enum cx_status cx_call_wq(struct cx_call *call, const uint8_t *ctx, enum cx_obj_type type,
			  struct cx_wq *wq);
void cx_wq_use(struct cx_dev *dev, const struct cx_wq *wq);
void cx_wq_unuse(struct cx_dev *dev, const struct cx_wq *wq);
/* Counters of a QUERY; @sw: the word of the doorbell record. */
void cx_wq_answer(uint8_t *ctx, const struct cx_wq *wq, unsigned sw);
/* @from must be the queue's state; @to one it can go to. */
enum cx_status cx_call_state(struct cx_call *call, enum cx_q_state state, uint64_t from,
			     uint64_t to, const char *from_field, const char *to_field);

enum cx_status cx_create_sq(struct cx_call *call);
enum cx_status cx_modify_sq(struct cx_call *call);
enum cx_status cx_query_sq(struct cx_call *call);
enum cx_status cx_destroy_sq(struct cx_call *call);
enum cx_status cx_create_rq(struct cx_call *call);
enum cx_status cx_modify_rq(struct cx_call *call);
enum cx_status cx_query_rq(struct cx_call *call);
enum cx_status cx_destroy_rq(struct cx_call *call);
enum cx_status cx_create_rmp(struct cx_call *call);
enum cx_status cx_modify_rmp(struct cx_call *call);
enum cx_status cx_query_rmp(struct cx_call *call);
enum cx_status cx_destroy_rmp(struct cx_call *call);

/* ---- rows of the tables in cmd_misc.c and cmd_tir.c ---- */

enum cx_status cx_create_mkey(struct cx_call *call);
enum cx_status cx_query_mkey(struct cx_call *call);
enum cx_status cx_destroy_mkey(struct cx_call *call);
enum cx_status cx_create_rqt(struct cx_call *call);
enum cx_status cx_modify_rqt(struct cx_call *call);
enum cx_status cx_query_rqt(struct cx_call *call);
enum cx_status cx_destroy_rqt(struct cx_call *call);
