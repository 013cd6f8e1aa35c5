/* core/dev.h - inside of the device: objects and who may call whom
 *
 * Private to core/. One idea a file:
 *
 *   layout.c            bit tables                      caps.c    capability groups
 *   cmd.c               dispatch, checks, status        obj.c     numbers, owners, references
 *   cmd_queue.c ...     one command family a file       mem.c     umem, mkey: number -> bytes
 *   uar.c               doorbell pages                  step.c    one pass over everything
 *   cq.c cqe_comp.c     completions, compression        clock.c   41-bit nanoseconds
 *   sq.c sq_wqe.c sq_lso.c  send engine                 fault.c trace.c cover.c
 *   rq.c rq_stride.c    receive engine                  csum.c    sums over frames
 *   parse.c rss.c steer.c   which queue takes a frame
 *
 * A queue that breaks a rule goes to the error state by sq_fail() / rq_fail()
 * and stays there until a MODIFY command resets it, as the card does.
 */
#pragma once

#include "cx.h"
#include "layout.h"

/* ---- objects ---- */

struct cx_obj {
	enum cx_obj_type type;
	uint32_t num;
	uint16_t uid;	/* owner; 0 = the kernel */
	uint32_t refs;	/* objects that use this one; destroying a used one is refused */
	uint32_t cover; /* scratch for cover.c */
};

/* Numbers come from a free map and are reused lowest-first after a lap. SQ, RQ and RMP share
 * one number space, as QP, RQ and SQ do on the card (mlx5_ib's resource table relies on it). */
#define CX_NUM_MAX 0xffffff

/**
 * cx_obj_add() - give an object a number and an owner
 * @obj: embedded at the start of a calloc()ed object
 * Return: 0 or -ENOSPC (limit of its capability).
 */
int cx_obj_add(struct cx_dev *dev, struct cx_obj *obj, enum cx_obj_type type,
	       uint16_t uid);
/* Out of the table; the caller frees. */
void cx_obj_del(struct cx_dev *dev, struct cx_obj *obj);
/* NULL when there is none, or uid may not see it (uid 0 sees all). */
struct cx_obj *cx_obj_get(const struct cx_dev *dev, enum cx_obj_type type, uint32_t num,
			  uint16_t uid);
/* For each object of a type in ascending number; stops when @fn returns false. */
void cx_obj_each(const struct cx_dev *dev, enum cx_obj_type type,
		 bool (*fn)(void *arg, struct cx_obj *obj), void *arg);

struct cx_umem {
	struct cx_obj obj;
	uint8_t *base;
	uint64_t len;
	uint32_t access;
};

struct cx_mkey {
	struct cx_obj obj; /* num is the index, key = num << 8 | variant */
	uint8_t variant;
	uint32_t pdn, access;
	uint8_t *base; /* address iova is at base[0] */
	uint64_t iova, len;
	struct cx_umem *umem; /* CREATE_MKEY over a umem, else NULL */
};

struct cx_uar {
	struct cx_obj obj;
	volatile uint8_t *page; /* NULL until cx_uar_attach() */
	uint32_t n_sqs, n_cqs;	/* queues bound to it; counted by step.c */
};

/* completion queue; see cq.c */
enum cx_cqe_comp { CX_COMP_NONE, CX_COMP_BASIC, CX_COMP_ENHANCED };
enum cx_mini_format {
	CX_MINI_HASH,
	CX_MINI_CSUM,
	CX_MINI_TAG_STRIDE,
	CX_MINI_CSUM_STRIDE,
	CX_MINI_L34_STRIDE
};

struct cx_cq {
	struct cx_obj obj;
	uint8_t log_size;
	uint8_t cqe_bytes; /* 64 or 128 */
	uint8_t *ring;
	volatile uint32_t *dbrec; /* [0] consumer index, [1] arm; big-endian */
	struct cx_umem *ring_umem, *dbrec_umem;
	struct cx_uar *uar;
	uint32_t eqn;
	uint32_t pi; /* next entry to write */
	bool overrun_ignore;
	bool used;  /* every slot once: the first lap is over */
	bool error; /* overrun: nothing more is written */
	bool held;  /* fault: stop completing */
	bool armed;
	uint8_t arm_sn, arm_cmd;
	uint32_t arm_ci;
	uint32_t arm_record;   /* the last that was acted on */
	uint32_t solicited_pi; /* one past the last error or solicited completion */
	enum cx_cqe_comp comp;
	enum cx_mini_format mini;
	struct cx_comp *session;      /* cqe_comp.c; NULL without compression */
	struct cx_withhold *withhold; /* cx_cqe_withhold() */
	uint16_t period, max_count;   /* moderation, stored */
	uint8_t ctx[CX_BYTES(cqc)];   /* as given, for QUERY */
};

enum cx_wq_type {
	CX_WQ_LINKED = 0,
	CX_WQ_CYCLIC = 1,
	CX_WQ_LINKED_STRIDING = 2,
	CX_WQ_CYCLIC_STRIDING = 3
};
enum cx_q_state { CX_Q_RST = 0, CX_Q_RDY = 1, CX_Q_ERR = 3 };

/* What SQ, RQ and RMP have in common: a ring of entries in a umem and a doorbell record. */
struct cx_wq {
	enum cx_wq_type type;
	uint8_t log_size;   /* entries (SQ: 64-byte basic blocks) */
	uint8_t log_stride; /* bytes per entry */
	uint8_t *ring;
	volatile uint32_t *dbrec; /* [0] receive, [1] send; big-endian, 16 bits used */
	struct cx_umem *ring_umem, *dbrec_umem;
	uint32_t pdn;
	uint16_t head; /* next entry the device takes */
	uint16_t laps; /* times head passed 2^16: upper half of a record kept in 32 bits */
	/* striding */
	uint8_t log_strides;	  /* strides per entry */
	uint8_t log_stride_bytes; /* bytes per stride */
	bool two_byte_shift;
	uint16_t stride; /* next free stride of the entry at head */
};

struct cx_sq {
	struct cx_obj obj;
	struct cx_wq wq;
	enum cx_q_state state;
	struct cx_cq *cq;
	struct cx_tis *tis;
	struct cx_uar *uar;
	uint32_t user_index;
	uint8_t min_inline, ts_format;
	bool flush_in_error, allow_multi_pkt;
	bool rung;		/* a doorbell came since the last step */
	uint64_t not_before_ns; /* fault: delay */
	bool error_reported;	/* completion mode 1: only the first error */
	bool named; /* a doorbell named this queue, not only its page; uar.c sets it */
	bool stale; /* the record still holds stale_record, from before the reset */
	uint32_t stale_record;
	uint8_t ctx[CX_BYTES(sqc)]; /* as given, for QUERY; so below */
};

struct cx_rq {
	struct cx_obj obj;
	struct cx_wq wq;
	struct cx_rmp *rmp; /* shared memory instead of wq, or NULL */
	enum cx_q_state state;
	struct cx_cq *cq;
	struct cx_qcounter *counter;
	uint32_t user_index;
	uint8_t ts_format;
	bool vsd; /* 1 = VLAN tag is not stripped */
	bool flush_in_error, delay_drop, scatter_fcs;
	uint8_t ctx[CX_BYTES(rqc)];
};

struct cx_rmp {
	struct cx_obj obj;
	struct cx_wq wq;
	enum cx_q_state state;
	uint8_t ctx[CX_BYTES(rmpc)];
};

struct cx_tis {
	struct cx_obj obj;
	struct cx_td *td;
	uint8_t ctx[CX_BYTES(tisc)];
};
struct cx_td {
	struct cx_obj obj;
};
struct cx_pd {
	struct cx_obj obj;
};
struct cx_uctx {
	struct cx_obj obj;
	uint32_t cap;
};

struct cx_rqt {
	struct cx_obj obj;
	uint32_t max, n;   /* room and entries, powers of two */
	struct cx_rq **rq; /* n entries */
};

enum cx_rx_hash_fn { CX_HASH_NONE = 0, CX_HASH_XOR8 = 1, CX_HASH_TOEPLITZ = 2 };
struct cx_tir {
	struct cx_obj obj;
	struct cx_rq *rq;   /* direct */
	struct cx_rqt *rqt; /* indirect */
	struct cx_td *td;   /* NULL: domain 0 */
	enum cx_rx_hash_fn fn;
	bool symmetric;
	uint8_t key[40];
	uint32_t outer_select; /* rx_hash_field_select, as in the context */
	uint32_t inner_select;
	uint8_t self_lb_block;
	uint32_t (*toeplitz)[256]; /* rss.c: table made from key, 36 x 256, or NULL */
	uint8_t ctx[CX_BYTES(tirc)];
};

struct cx_qcounter {
	struct cx_obj obj;
	uint32_t out_of_buffer;
};
struct cx_fcounter {
	struct cx_obj obj;
	uint32_t bulk; /* this number and the bulk - 1 that follow */
	uint64_t *packets, *bytes;
};

/* ---- a frame on its way in ---- */

struct cx_pkt {
	const uint8_t *data;
	uint32_t len;
	/* parse.c; offsets from the frame's start, 0 = absent */
	uint16_t eth_type; /* after VLAN tags */
	uint8_t n_vlan;	   /* 0, 1, 2 */
	uint16_t vlan_tci, vlan2_tci, vlan_tpid, vlan2_tpid;
	uint8_t l3;	  /* 0, 4, 6 */
	uint8_t ip_proto; /* after IPv6 extension headers */
	uint8_t tos, ttl;
	bool frag;	 /* any fragment: offset != 0 or more fragments */
	bool first_frag; /* fragment with offset 0: L4 header present */
	bool ip_options; /* IPv4 options or IPv6 extension headers */
	uint16_t l3_off, l4_off, payload_off;
	uint16_t sport, dport, tcp_flags;
	bool l2_ok, l3_ok, l4_ok; /* what the completion's checksum bits say */
	/* rss.c */
	uint32_t hash;
	uint8_t hash_type; /* as in the completion at 0x10 */
	/* steer.c */
	uint32_t flow_tag;
	uint32_t metadata; /* reg_b / set-meta */
	uint64_t clock;	   /* the port's stamp */
};

void cx_parse(struct cx_pkt *pkt, const uint8_t *frame,
	      uint32_t len); /* zeroes, then fills */
/* Sets pkt->hash and hash_type as @tir says and returns the receive queue, NULL = none. */
struct cx_rq *cx_rss_pick(struct cx_tir *tir, struct cx_pkt *pkt);
void cx_rss_prepare(struct cx_tir *tir); /* after create or modify */
void cx_rss_release(struct cx_tir *tir);

enum cx_dest_type { CX_DEST_KERNEL, CX_DEST_DROP, CX_DEST_TIR };
struct cx_dest {
	enum cx_dest_type type;
	uint32_t flow_tag; /* of the path that led here */
	struct cx_tir *tir;
};
#define CX_DEST_MAX 8
/* Walks the receive tables from the root. Sets tag and metadata, counts. Return: number of
 * destinations, at least 1. */
unsigned cx_steer(struct cx_dev *dev, struct cx_pkt *pkt,
		  struct cx_dest dest[CX_DEST_MAX]);
/* For cx_dump(): the rest of the line of a CX_FT, CX_FG or CX_FTE. */
void cx_flow_text(char *s, size_t size, const struct cx_obj *obj);
/* Walks the transmit tables. Return: may the frame leave? True without such tables. */
bool cx_steer_tx(struct cx_dev *dev, const uint8_t *frame, uint32_t len);

/* ---- engines ---- */

/* A completion in host terms; cq.c knows the bytes. */
struct cx_cqe {
	uint8_t opcode;	     /* 0 requester, 2 responder send, 13/14 error */
	uint32_t user_index; /* 0x20 */
	uint32_t byte_cnt;   /* 0x2c as it is on the wire, striding fields included */
	uint32_t tag_or_qpn; /* 0x38 */
	uint16_t wqe_counter, wqe_id;
	uint16_t checksum;	   /* 0x14 */
	uint8_t csum_ok, hdr_type; /* 0x1c, 0x1d */
	uint16_t vlan;
	uint32_t hash, metadata;
	uint8_t hash_type;
	uint64_t timestamp;
	uint8_t syndrome, vendor_syndrome; /* errors */
	bool solicited;			   /* completion mode 3 */
	bool compressible;
};
/* Return: false when the queue is in error (overrun) or held. */
bool cx_cq_push(struct cx_dev *dev, struct cx_cq *cq, const struct cx_cqe *cqe);
void cx_cq_flush(struct cx_dev *dev, struct cx_cq *cq); /* end a compression session */
/* The value read at 0x20, in host order: sn, command and index in the upper half, number below. */
void cx_cq_arm(struct cx_dev *dev, struct cx_uar *uar, uint64_t doorbell);
void cx_cq_opened(struct cx_cq *cq); /* after CREATE_CQ filled the context part */
void cx_cq_closed(struct cx_cq *cq); /* frees session and withhold */

/* Runs an SQ up to its doorbell record, at most @budget WQEs; rings it again when work is left.
 * Return: WQEs done. */
unsigned cx_sq_run(struct cx_dev *dev, struct cx_sq *sq, unsigned budget);
void cx_sq_reset(struct cx_sq *sq); /* RST: head 0, nothing pending */
/* After MODIFY to ERR: flush errors for what is posted. */
void cx_sq_flush(struct cx_dev *dev, struct cx_sq *sq);
void cx_rq_flush(struct cx_dev *dev, struct cx_rq *rq);
enum cx_rx_verdict cx_rq_deliver(struct cx_dev *dev, struct cx_rq *rq,
				 const struct cx_pkt *pkt);
void cx_rq_reset(struct cx_rq *rq);

/* A rule of the queue was broken: one log line "SQ 0x41: <field>: <what>", an error completion
 * with @syndrome, the queue to error, an event; then flush errors for what was posted. */
void cx_sq_fail(struct cx_dev *dev, struct cx_sq *sq, uint8_t syndrome,
		uint16_t wqe_counter, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
bool cx_rq_is_posted(struct cx_rq *rq); /* is an entry there for it to fail? */
void cx_rq_fail(struct cx_dev *dev, struct cx_rq *rq, uint8_t syndrome,
		uint16_t wqe_counter, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Bytes behind a key: NULL when the key, owner (PD), range or access is wrong. @why says which. */
enum { CX_ACCESS_LOCAL_WRITE = 1 };
uint8_t *cx_dma(struct cx_dev *dev, uint32_t key, uint32_t pdn, uint64_t addr,
		uint32_t len, uint32_t access, const char **why);

/* Doorbell pages: every non-empty register is taken (atomic exchange with 0) and acted on. */
unsigned cx_uar_poll(struct cx_dev *dev);

/* ---- commands ---- */

/* One command being served. */
struct cx_call {
	struct cx_dev *dev;
	const uint8_t *in;
	size_t in_len;
	uint8_t *out; /* zeroed, out_len bytes */
	size_t out_len;
	uint16_t uid, op_mod;
	uint32_t syndrome;
	const char *name; /* "CREATE_CQ" */
};

/* One row per opcode in cmd.c. Before run(): input long enough, reserved bits of @in zero. */
struct cx_cmd {
	uint16_t opcode;
	const char *name;
	const struct cx_layout *in;  /* NULL: header only */
	const struct cx_layout *out; /* NULL: header only (16 bytes with the number) */
	enum cx_status (*run)(struct cx_call *call);
};
/* Each command file has a table; cmd.c joins them. */
extern const struct cx_cmd cx_cmds_misc[], cx_cmds_cq[], cx_cmds_wq[], cx_cmds_tir[],
	cx_cmds_counter[], cx_cmds_flow[]; /* ended by a row with name NULL */

/**
 * cx_refuse() - the one way to refuse a command
 *
 * Logs "mlx5_0: CREATE_CQ uid 3: cqc.log_cq_size: 25 is over the limit of 22", sets the syndrome
 * (a 24-bit hash of @field, except where public sources name the card's own) and counts it.
 * Return: @status, to be returned at once.
 */
enum cx_status cx_refuse(struct cx_call *call, enum cx_status status, const char *field,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Looks an object up for a command; on failure refuses with BAD_RES (0x05) and returns NULL. */
struct cx_obj *cx_call_obj(struct cx_call *call, enum cx_obj_type type, uint32_t num,
			   const char *field, enum cx_status *status);

/* ---- capabilities: caps.def, queried by op_mod group ---- */

uint32_t cx_cap(const struct cx_dev *dev,
		const char *name); /* "hca.log_max_cq_sz"; cold */
/* 4096 bytes, or NULL when the device does not know the group; number: op_mod >> 1. */
const uint8_t *cx_cap_group(const struct cx_dev *dev, unsigned number);
/* The values that engines need often are copied here at start. */
struct cx_limits {
	uint8_t log_max_cq_size, log_max_wq_size, log_max_rqt_size, log_max_rmp;
	uint8_t log_min_stride_bytes, log_max_stride_bytes, log_min_strides,
		log_max_strides;
	uint8_t log_min_stride_wqe;
	uint8_t min_inline_mode;
	uint8_t max_send_segs;
	bool striding_rq, ext_stride_range, cqe_compression, enhanced_compression,
		csum_full, mini_l34, multi_pkt_send, vlan_insert, symmetric_hash,
		ts_real_time, match_ttl;
};

/* ---- the device ---- */

/* QUERY_VPORT_COUNTER: frames and bytes by destination address */
enum cx_cast { CX_UNICAST, CX_MULTICAST, CX_BROADCAST, CX_CAST_COUNT };
struct cx_vport_count {
	uint64_t packets[CX_CAST_COUNT], octets[CX_CAST_COUNT];
};

static inline void cx_vport_count(struct cx_vport_count *c, const uint8_t *frame,
				  uint32_t len)
{
	enum cx_cast cast = !(frame[0] & 1)				   ? CX_UNICAST
			    : memcmp(frame, "\377\377\377\377\377\377", 6) ? CX_MULTICAST
									   : CX_BROADCAST;

	c->packets[cast]++;
	c->octets[cast] += len;
}

struct cx_objs; /* obj.c: per type a number map and a pointer table */
struct cx_faults;
struct cx_steering; /* steer.c: tables, groups, entries */

struct cx_dev {
	char name[32];
	struct cx_ops ops;
	struct cx_limits lim;
	uint8_t (*cap)[4096]; /* groups by number, as QUERY_HCA_CAP gives them */
	struct cx_objs *objs;
	struct cx_faults *faults;
	struct cx_steering *steering;
	struct cx_stats stats;
	struct cx_vport_count vport_rx, vport_tx;
	unsigned trace;
	uint8_t mac[6];
	uint16_t mtu, device_id;
	uint8_t port_inline_mode;
	uint64_t system_image_guid; /* 0 = from the MAC */
	bool up, fatal, held, withholding;
	uint8_t fault_vendor; /* while not 0: vendor syndrome of error completions */
	uint8_t comp_min, comp_max; /* cx_comp_limits(); 0 = the default */
	uint64_t clock_ns;	    /* cx_clock_advance() */
	/* lists that step() walks; arrays of pointers, rebuilt when objects come and go */
	struct cx_uar **uars;
	struct cx_sq **sqs;
	struct cx_cq **comp_cqs; /* with an open session */
	unsigned n_uars, n_sqs, n_comp_cqs, cap_uars, cap_sqs, cap_comp_cqs;
	uint8_t *tx_frame;  /* gather buffer of the send engine, 64 KiB + slack */
	bool lists_stale;   /* objects came or went: rebuild uars and sqs before use */
	bool sq_pending;    /* an SQ is rung, or was left with work */
	unsigned sq_turn;   /* the SQ with which the next pass begins */
	uint64_t sent;	    /* frames that the send engine made, lost ones included */
	unsigned uar_turn;  /* pages without queues are looked at every 64th pass */
	uint32_t keys_made; /* gives each key its low byte */
};

/* Parts with a life of their own; cx_dev_new() calls the first of each pair in this order,
 * cx_dev_free() the others in reverse, also when new never ran or failed. */
int cx_objs_new(struct cx_dev *dev); /* obj.c; after the caps, whose limits it reads */
void cx_objs_free(struct cx_dev *dev);
int cx_caps_new(struct cx_dev *dev,
		const char *const *overrides); /* caps.c: dev->cap, dev->lim */
void cx_caps_free(struct cx_dev *dev);
int cx_eqs_new(struct cx_dev *dev); /* cmd_cq.c; after cx_objs_new() */
int cx_steering_new(
	struct cx_dev *dev); /* steer.c: dev->steering, may add kernel-owned objects */
void cx_steering_free(struct cx_dev *dev);
void cx_faults_free(struct cx_dev *dev);

/* cx_obj_del() and free, with what the object holds (a CQ's session, a TIR's table, an RQT's
 * array, counters). References it has on others are the caller's to drop. */
void cx_obj_free(struct cx_dev *dev, struct cx_obj *obj);
/* As cx_obj_add() for @n numbers in a row; cx_obj_get() finds @obj by each of them. */
int cx_obj_add_range(struct cx_dev *dev, struct cx_obj *obj, enum cx_obj_type type,
		     uint16_t uid, uint32_t n);

/* Keys with a fresh variant byte; @umem may be NULL. Takes references on the PD and umem. */
int cx_mkey_new(struct cx_dev *dev, uint16_t uid, uint32_t pdn, uint8_t *base,
		uint64_t iova, uint64_t len, uint32_t access, struct cx_umem *umem,
		struct cx_mkey **ret);
void cx_mkey_free(struct cx_dev *dev, struct cx_mkey *mkey);
/* @len bytes of a umem from @offset, NULL when they are not all inside. */
uint8_t *cx_umem_at(const struct cx_umem *umem, uint64_t offset, uint64_t len);

uint64_t
cx_now_ns(const struct cx_dev *dev); /* 64 bits, for delays; cx_clock_ns() wraps */

/* step.c keeps the list of CQs with an open compression session: cqe_comp.c says which. */
int cx_comp_add(struct cx_dev *dev, struct cx_cq *cq); /* no-op when listed; -ENOMEM */
void cx_comp_del(struct cx_dev *dev, struct cx_cq *cq);

void cx_log(struct cx_dev *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cx_event(struct cx_dev *dev, uint8_t type, uint8_t subtype,
	      const struct cx_obj *obj);

/* cover.c: remembers each distinct string once. */
void cx_cover(const char *kind, const char *what);

/* trace.c */
void cx_trace_hex(struct cx_dev *dev, unsigned kind, const char *title, const void *p,
		  size_t len);
void cx_trace_layout(struct cx_dev *dev, unsigned kind, const char *title,
		     const struct cx_layout *l, const void *p, size_t len);

/* fault.c: asked at each point; false / 0 without a script, one test of dev->faults */
bool cx_fault_cmd(struct cx_dev *dev, uint16_t opcode, enum cx_status *status,
		  uint32_t *syndrome);
bool cx_fault_drop(struct cx_dev *dev, bool rx);
uint64_t cx_fault_delay_ns(const struct cx_dev *dev);
bool cx_fault_overrun(struct cx_dev *dev, uint32_t cqn);
