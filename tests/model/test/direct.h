/* test/direct.h - a device for unit tests
 *
 * Objects are made by commands, as a program would, from memory of this process.
 * What the device says is recorded. Functions that return nothing or an object
 * assert success; d_try_*() and d_cmd() return the status for tests of refusals.
 *
 *   struct direct *d = d_open(NULL);          device, link up, context, PD, TD, UAR
 *   struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
 *   struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 6, .cq = cq });
 *   d_send(sq, frame, 60);                    posts, rings
 *   d_run(d);                                 cx_step() until idle
 *   cqe = d_cq_poll(cq);
 *   assert_int_equal(d->wire.n, 1);           d->wire.at[0].data
 *   d_close(d);
 *
 * To spoil one field of the next command: d_patch(d, 0x10, CX_cqc__log_cq_size, 25).
 * Time is virtual: cx_clock_advance().
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../core/cx.h"
#include "../core/layout.h"

/* Source: kernel include/linux/mlx5/mlx5_ifc.h, MLX5_CMD_OP_* */
enum d_opcode {
	D_QUERY_HCA_CAP = 0x100,
	D_CREATE_MKEY = 0x200,
	D_QUERY_MKEY = 0x201,
	D_DESTROY_MKEY = 0x202,
	D_CREATE_CQ = 0x400,
	D_DESTROY_CQ = 0x401,
	D_QUERY_CQ = 0x402,
	D_MODIFY_CQ = 0x403,
	D_ALLOC_Q_COUNTER = 0x771,
	D_DEALLOC_Q_COUNTER = 0x772,
	D_QUERY_Q_COUNTER = 0x773,
	D_ALLOC_PD = 0x800,
	D_DEALLOC_PD = 0x801,
	D_ALLOC_UAR = 0x802,
	D_DEALLOC_UAR = 0x803,
	D_NOP = 0x80d,
	D_ALLOC_TD = 0x816,
	D_DEALLOC_TD = 0x817,
	D_CREATE_TIR = 0x900,
	D_MODIFY_TIR = 0x901,
	D_DESTROY_TIR = 0x902,
	D_QUERY_TIR = 0x903,
	D_CREATE_SQ = 0x904,
	D_MODIFY_SQ = 0x905,
	D_DESTROY_SQ = 0x906,
	D_QUERY_SQ = 0x907,
	D_CREATE_RQ = 0x908,
	D_MODIFY_RQ = 0x909,
	D_DESTROY_RQ = 0x90a,
	D_QUERY_RQ = 0x90b,
	D_CREATE_RMP = 0x90c,
	D_MODIFY_RMP = 0x90d,
	D_DESTROY_RMP = 0x90e,
	D_QUERY_RMP = 0x90f,
	D_CREATE_TIS = 0x912,
	D_MODIFY_TIS = 0x913,
	D_DESTROY_TIS = 0x914,
	D_QUERY_TIS = 0x915,
	D_CREATE_RQT = 0x916,
	D_MODIFY_RQT = 0x917,
	D_DESTROY_RQT = 0x918,
	D_QUERY_RQT = 0x919,
	D_SET_FLOW_TABLE_ROOT = 0x92f,
	D_CREATE_FLOW_TABLE = 0x930,
	D_DESTROY_FLOW_TABLE = 0x931,
	D_CREATE_FLOW_GROUP = 0x933,
	D_DESTROY_FLOW_GROUP = 0x934,
	D_SET_FTE = 0x936,
	D_DELETE_FTE = 0x938,
	D_ALLOC_FLOW_COUNTER = 0x939,
	D_DEALLOC_FLOW_COUNTER = 0x93a,
	D_QUERY_FLOW_COUNTER = 0x93b,
	D_CREATE_UCTX = 0xa04,
	D_DESTROY_UCTX = 0xa06,
};

/* ---- the device and what it said ---- */

struct d_frames {
	struct d_frame {
		uint8_t *data;
		uint32_t len;
	} * at;
	unsigned n, room;
};
struct d_lines {
	char **at;
	unsigned n, room;
};
struct d_events {
	struct cx_event *at;
	unsigned n, room;
};

struct d_patch {
	uint32_t byte;
	cx_field field;
	uint64_t value;
};

struct direct {
	struct cx_dev *dev;
	uint16_t uid; /* in every command below; 0 makes them the kernel's */
	uint32_t pdn, tdn, eqn, tisn;
	struct d_uar *uar;
	struct d_frames wire, kernel; /* sent by the device; given to the kernel */
	struct d_lines log, trace;
	struct d_events events;
	uint32_t syndrome;	 /* of the last command */
	struct d_patch patch[8]; /* of the next command */
	unsigned n_patches;
	void **owned;
	unsigned n_owned, room_owned;
};

/* @caps: overrides as in cx_conf, or NULL. */
struct direct *d_open(const char *const *caps);
void d_close(struct direct *d);
unsigned d_run(struct direct *d); /* cx_step() until idle; units of work */
/* Shows the log and fails the test when a command that must succeed did not. */
void d_assert_ok(const struct direct *d, enum cx_status st);
/* Fails the test when no line of the log holds all of @text; d_no_log() when one does. */
void d_assert_log(const struct direct *d, const char *text);
void d_assert_no_log(const struct direct *d, const char *text);
void d_forget(struct direct *d); /* frames, lines and events so far */
/* A fault line that must be accepted. */
void d_fault(struct direct *d, const char *line);

/* ---- commands ---- */

/* Sets opcode and, when @d->uid is not 0, uid; applies patches; executes. */
enum cx_status d_cmd(struct direct *d, uint16_t opcode, void *in, size_t in_len,
		     void *out, size_t out_len);
/* In the next command: cx_set(in + byte, field, value). */
void d_patch(struct direct *d, uint32_t byte, cx_field field, uint64_t value);
/* The many commands of 16 bytes with one number at bit 0x48, or none. */
enum cx_status d_simple(struct direct *d, uint16_t opcode, uint32_t num, uint32_t *ret);

uint16_t d_uctx(struct direct *d); /* another owner; does not become d->uid */
uint32_t d_pd(struct direct *d);
uint32_t d_td(struct direct *d);
uint32_t d_tis(struct direct *d);

/* ---- memory ---- */

/* Zeroed, page aligned, freed by d_close(). */
void *d_alloc(struct direct *d, size_t len);

struct d_mem {
	uint8_t *p;
	uint64_t iova, len; /* iova differs from p: the device must translate */
	uint32_t key;
};
struct d_mem d_mem(struct direct *d, uint64_t len); /* with key in d->pdn, local write */

struct d_umem {
	uint8_t *p;
	uint64_t len;
	uint32_t num;
};
struct d_umem d_umem(struct direct *d, uint64_t len);

struct d_uar {
	struct direct *d;
	uint32_t num;
	uint8_t *page;
};
struct d_uar *d_uar(struct direct *d);
/* The eight bytes at @value (device order) into register @reg. */
void d_doorbell(struct d_uar *uar, uint32_t reg, const void *value);

/* ---- completion queues ---- */

struct d_cq_conf {
	uint8_t log_size; /* 0 = 2^0 entries */
	bool cqe128, overrun_ignore;
	struct d_uar *uar; /* NULL = d->uar */
	uint8_t comp;	   /* 0 none, 1 basic, 2 enhanced */
	uint8_t mini;	   /* enum cx_mini_format */
};
struct d_cq {
	struct direct *d;
	struct d_cq_conf conf;
	uint32_t num, ci;
	struct d_umem umem;
	uint8_t *ring;
	volatile uint32_t *dbrec; /* big-endian */
	uint8_t arm_sn;
};
enum cx_status d_try_cq(struct direct *d, const struct d_cq_conf *conf,
			struct d_cq **ret);
struct d_cq *d_cq(struct direct *d, const struct d_cq_conf *conf);
/* The 64 bytes of the completion in slot @i % size, valid or not. */
uint8_t *d_cqe_at(const struct d_cq *cq, uint32_t i);
/* The next completion by the owner rule (no compression), or NULL; consumes it. */
const uint8_t *d_cq_poll(struct d_cq *cq);
void d_cq_consume(struct d_cq *cq, uint32_t n); /* ci += n, and the record */
void d_cq_arm(struct d_cq *cq, bool solicited);

/* ---- send queues ---- */

struct d_sq_conf {
	uint8_t log_size; /* 64-byte blocks */
	struct d_cq *cq;
	struct d_uar *uar;  /* NULL = d->uar */
	uint32_t tisn, pdn; /* 0 = d->tisn, d->pdn */
	uint32_t user_index;
	uint8_t min_inline, ts_format;
	bool no_multi_pkt;
	bool stay_reset; /* do not go to RDY */
};
struct d_sq {
	struct direct *d;
	struct d_sq_conf conf;
	uint32_t num;
	uint16_t pi;   /* next block to fill */
	uint16_t last; /* first block of the last WQE put */
	struct d_umem umem;
	uint8_t *ring;
	volatile uint32_t *dbrec; /* [1] send */
	struct d_mem mem;	  /* of d_send(): one frame per block */
	uint32_t reg;		  /* 0x800 or 0x900: the halves take turns */
};
enum cx_status d_try_sq(struct direct *d, const struct d_sq_conf *conf,
			struct d_sq **ret);
struct d_sq *d_sq(struct direct *d, const struct d_sq_conf *conf);
/* 0 RST, 1 RDY, 3 ERR */
enum cx_status d_sq_state(struct d_sq *sq, uint8_t from, uint8_t to);

/* A WQE under construction. After d_wqe() change fields with CX_SET(wqe_ctrl, w.b, ...). */
struct d_wqe {
	uint8_t b[1024];
	unsigned ds;
};
enum { D_NOP_WQE = 0x00, D_SEND = 0x0a, D_MPSW = 0x29 };
enum { D_CE_ERROR = 0, D_CE_FIRST_ERROR = 1, D_CE_ALWAYS = 2, D_CE_SOLICITED = 3 };
/* The control segment. */
struct d_wqe d_wqe(const struct d_sq *sq, uint8_t opcode, uint8_t ce);
/* Ethernet segment; @hdr_len inline header bytes inside it, as SEND allows. */
void d_wqe_eth(struct d_wqe *w, const void *hdr, unsigned hdr_len);
void d_wqe_ptr(struct d_wqe *w, uint32_t key, uint64_t addr, uint32_t len);
void d_wqe_inline(struct d_wqe *w, const void *p, uint32_t len);
/* Sets ds, copies into the ring, advances. */
void d_sq_put(struct d_sq *sq, struct d_wqe *w);
void d_sq_record(struct d_sq *sq); /* doorbell record only */
void d_sq_ring(struct d_sq *sq);   /* record and doorbell */
/* SEND with a pointer and a completion: put and ring. */
void d_send(struct d_sq *sq, const void *frame, uint32_t len);

/* ---- receive queues ---- */

struct d_rq_conf {
	uint8_t log_size;
	struct d_cq *cq;
	uint32_t pdn; /* 0 = d->pdn */
	uint32_t user_index;
	uint8_t segs;	    /* data segments per WQE of a plain queue; 0 = 1 */
	uint32_t buf_bytes; /* per segment of a plain queue; 0 = 2048 */
	bool striding;
	uint8_t log_strides, log_stride_bytes; /* striding; 0 = 6, 8 */
	bool strip_vlan, two_byte_shift;
	uint8_t counter; /* queue counter, 0 = none */
	uint32_t rmpn;	 /* shared memory: ring fields unused */
	uint8_t ts_format;
	bool stay_reset;
};
struct d_rq {
	struct direct *d;
	struct d_rq_conf conf;
	uint32_t num, log_stride;
	uint16_t pi;
	struct d_umem umem;
	uint8_t *ring;
	volatile uint32_t *dbrec; /* [0] receive */
	struct d_mem mem;	  /* WQE i has wqe_bytes from i * wqe_bytes */
	uint32_t wqe_bytes;
};
enum cx_status d_try_rq(struct direct *d, const struct d_rq_conf *conf,
			struct d_rq **ret);
struct d_rq *d_rq(struct direct *d, const struct d_rq_conf *conf);
enum cx_status d_rq_state(struct d_rq *rq, uint8_t from, uint8_t to);
uint8_t *d_rq_wqe(const struct d_rq *rq, uint16_t i); /* in the ring; i % size */
uint8_t *d_rq_buf(const struct d_rq *rq, uint16_t i); /* its memory */
void d_rq_post(struct d_rq *rq, unsigned n); /* fills n WQEs and writes the record */

/* ---- spreading ---- */

struct d_tir_conf {
	uint32_t rqn;	 /* direct, or */
	uint32_t rqtn;	 /* indirect */
	uint8_t hash_fn; /* 0 none, 1 XOR8, 2 Toeplitz */
	bool symmetric;
	const uint8_t *key; /* 40 bytes; NULL = the well-known one of RSS documents */
	bool ipv6, udp;	    /* l3_prot_type, l4_prot_type */
	uint32_t fields;    /* selected_fields: 1 sip 2 dip 4 sport 8 dport */
};
extern const uint8_t d_rss_key[40];
enum cx_status d_try_tir(struct direct *d, const struct d_tir_conf *conf, uint32_t *tirn);
uint32_t d_tir(struct direct *d, uint32_t rqn); /* direct, no hash */
uint32_t d_tir_rss(struct direct *d, const struct d_tir_conf *conf);
enum cx_status d_try_rqt(struct direct *d, const uint32_t *rqn, uint32_t n, uint32_t max,
			 uint32_t *rqtn);
uint32_t d_rqt(struct direct *d, const uint32_t *rqn, uint32_t n);

uint8_t d_q_counter(struct direct *d);
uint32_t d_out_of_buffer(struct direct *d, uint8_t counter);
uint32_t d_flow_counter(struct direct *d);
void d_flow_counter_read(struct direct *d, uint32_t id, uint64_t *packets,
			 uint64_t *bytes);

/* ---- steering; made by the kernel (uid 0) ---- */

/* Source: kernel mlx5_ifc.h; destination_type 1 table, 2 TIR; action bits of flow_context. */
enum { D_ALLOW = 0x1, D_DROP = 0x2, D_FORWARD = 0x4, D_COUNT = 0x8 };
enum { D_TO_TABLE = 1, D_TO_TIR = 2 };
struct d_dest {
	uint8_t type;
	uint32_t id;
};
struct d_rule {
	uint16_t action;
	uint32_t tag; /* flow_tag, 0 = none */
	struct d_dest dest[8];
	unsigned n_dests;
	uint32_t counter;   /* with D_COUNT */
	uint8_t value[512]; /* fte_match_param */
};
uint32_t d_table(struct direct *d, uint8_t level, uint8_t log_size);
void d_root(struct direct *d, uint32_t table);
/* @enable: match_criteria_enable, 1 outer, 2 misc ...; @mask: 512 bytes or NULL for all zero. */
enum cx_status d_try_group(struct direct *d, uint32_t table, uint32_t first,
			   uint32_t last, uint8_t enable, const uint8_t *mask,
			   uint32_t *group);
uint32_t d_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last,
		 uint8_t enable, const uint8_t *mask);
enum cx_status d_try_rule(struct direct *d, uint32_t table, uint32_t group,
			  uint32_t index, const struct d_rule *rule);
void d_rule(struct direct *d, uint32_t table, uint32_t group, uint32_t index,
	    const struct d_rule *rule);
enum cx_status d_rule_del(struct direct *d, uint32_t table, uint32_t index);
/* One root table with one rule: every frame to this TIR. Return: the table. */
uint32_t d_all_to(struct direct *d, uint32_t tirn);

/* ---- frames ---- */

/* UDP over IPv4 or IPv6 with right checksums, @len bytes in all (at least 42 or 62), payload
 * bytes counting up from @seed. */
void d_udp4(uint8_t *frame, uint32_t len, uint32_t src, uint32_t dst, uint16_t sport,
	    uint16_t dport, uint8_t seed);
void d_udp6(uint8_t *frame, uint32_t len, const uint8_t src[16], const uint8_t dst[16],
	    uint16_t sport, uint16_t dport, uint8_t seed);
