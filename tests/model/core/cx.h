/* core/cx.h - a ConnectX function in software: the public face of the model
 *
 * One struct cx_dev is one PCI function with one Ethernet port. Front ends (the
 * preload server in uverbs/, later a PCI function), wires and unit tests use
 * only this header. Nothing here knows verbs, processes, sockets or files.
 *
 *     commands ---> cx_cmd()        mailbox in, mailbox out, status and syndrome
 *     doorbells --> pages given by cx_uar_attach(), looked at by cx_step()
 *     memory -----> ranges given by cx_umem_reg() and cx_mkey_reg()
 *     wire -------> cx_rx()         a frame arrives at the port
 *                   ops.wire_tx     a frame leaves the port
 *     kernel -----> ops.kernel_rx   a frame that no rule took
 *     events -----> ops.event
 *
 * Threads: none inside and no lock. The caller serialises every call on one
 * device, and on all devices joined by wires.
 *
 * Return values: 0 or -errno, unless said otherwise. Refusals of the device are
 * not errors of the caller: they are a status in the output mailbox, an error
 * completion or an ignored doorbell, and always one line through ops.log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cx_dev;

/* ---- life ---- */

/* EQE types; source: kernel include/linux/mlx5/device.h */
enum cx_event_type {
	CX_EVENT_COMPLETION = 0x00,
	CX_EVENT_CQ_ERROR = 0x04,
	CX_EVENT_WQ_CATASTROPHIC = 0x05,
	CX_EVENT_INTERNAL_ERROR = 0x08,
	CX_EVENT_PORT_CHANGE = 0x09,
};

struct cx_event {
	uint8_t type;	 /* enum cx_event_type */
	uint8_t subtype; /* PORT_CHANGE: 1 down, 4 active. CQ_ERROR: syndrome, 1 = overrun */
	uint8_t obj_type; /* enum cx_obj_type of the object it is about */
	uint32_t obj_num; /* its number */
	uint16_t uid;	  /* its owner */
};

struct cx_ops {
	void *arg;
	void (*wire_tx)(void *arg, const void *frame, uint32_t len);
	void (*kernel_rx)(void *arg, const void *frame, uint32_t len);
	void (*event)(void *arg, const struct cx_event *ev);
	void (*log)(void *arg, const char *line);   /* refusals; no new line at the end */
	void (*trace)(void *arg, const char *line); /* only while a trace is on */
	uint64_t (*now_ns)(void *arg); /* NULL: a virtual clock, see cx_clock_advance() */
};

struct cx_conf {
	const char *name; /* "mlx5_0", for log lines; copied */
	uint8_t mac[6];
	uint16_t mtu; /* payload, 1500; larger frames than mtu + 22 are dropped, counted */
	uint16_t device_id; /* 0x101d = ConnectX-6 Dx */
	/* What the port's context says where eth.wqe_inline_mode is 1; devlink's inline-mode. */
	uint8_t min_inline_mode;
	uint64_t system_image_guid; /* of the card, in QUERY_NIC_VPORT_CONTEXT; 0 = from the MAC */
	/* Overrides of caps.def: "hca.cqe_compression=0", NULL at the end. */
	const char *const *caps;
};

int cx_dev_new(const struct cx_conf *conf, const struct cx_ops *ops, struct cx_dev **ret);
void cx_dev_free(struct cx_dev *dev);

/* ---- commands ---- */

/* Status in the first byte of every output mailbox; source: device.h of the kernel. */
enum cx_status {
	CX_ST_OK = 0x00,
	CX_ST_INTERNAL = 0x01,
	CX_ST_BAD_OP = 0x02,
	CX_ST_BAD_PARAM = 0x03,
	CX_ST_BAD_SYS_STATE = 0x04,
	CX_ST_BAD_RES = 0x05,
	CX_ST_RES_BUSY = 0x06,
	CX_ST_LIMIT = 0x08,
	CX_ST_BAD_RES_STATE = 0x09,
	CX_ST_BAD_INDEX = 0x0a,
	CX_ST_NO_RES = 0x0f,
	CX_ST_BAD_QP_STATE = 0x10,
	CX_ST_BAD_IN_LEN = 0x50,
	CX_ST_BAD_OUT_LEN = 0x51,
};

/* The owner of what the kernel makes for all programs to use, as its counter sets. Source: kernel
 * mlx5_ifc.h, MLX5_SHARED_RESOURCE_UID. */
#define CX_UID_SHARED 0xffff

/**
 * cx_cmd() - execute one command
 *
 * The uid in the input header says who asks: 0 is the kernel, CX_UID_SHARED the kernel
 * on behalf of all, any other value must come from CREATE_UCTX. The output is always
 * filled (status, syndrome).
 * Return: the status, also found in the first byte of @out.
 */
enum cx_status cx_cmd(struct cx_dev *dev, const void *in, size_t in_len, void *out,
		      size_t out_len);

/* Event queues exist from the start, one for each completion vector; CREATE_CQ names one. */
#define CX_COMP_VECTORS 8
/* Its number, 0 = no such vector. */
uint32_t cx_eqn(const struct cx_dev *dev, unsigned vector);

/* ---- memory and doorbell pages, which a front end provides ---- */

/**
 * cx_umem_reg() - make a range usable as queue memory (CREATE_UMEM with its pages resolved)
 * @base:    first byte, in this process
 * @page_offset: offset of the range's start in its first 4 KiB page
 * @access:  bit 0 local write
 * @num:     the umem number for use in mailboxes
 * Return: 0, -EINVAL, -ENOSPC.
 */
int cx_umem_reg(struct cx_dev *dev, uint16_t uid, void *base, uint64_t len,
		uint32_t access, uint32_t *num);
/* -EBUSY (and a log line) while an object uses it. */
int cx_umem_dereg(struct cx_dev *dev, uint16_t uid, uint32_t num);

/* What REG_MR makes: addresses iova .. iova + len are base .. base + len. */
int cx_mkey_reg(struct cx_dev *dev, uint16_t uid, uint32_t pdn, void *base, uint64_t iova,
		uint64_t len, uint32_t access, uint32_t *key);
int cx_mkey_dereg(struct cx_dev *dev, uint16_t uid, uint32_t key);
/* The device's own view through a key; NULL when it may not. For tests and tools. */
void *cx_mkey_peek(struct cx_dev *dev, uint32_t key, uint64_t addr, uint32_t len);

/* Backs doorbell page @uar (a number from ALLOC_UAR) with 4096 bytes at @page. */
int cx_uar_attach(struct cx_dev *dev, uint32_t uar, void *page);

/* ---- running ---- */

/* One pass over all doorbells and ready queues. Return: units of work done, 0 = idle. */
unsigned cx_step(struct cx_dev *dev);
/* Is there anything that could ring? An idle process may sleep long if not. */
bool cx_may_ring(const struct cx_dev *dev);

enum cx_rx_verdict {
	CX_RX_DOWN,	 /* link down: frame lost */
	CX_RX_KERNEL,	 /* no rule, or default miss: given to ops.kernel_rx */
	CX_RX_RULE_DROP, /* a drop rule */
	CX_RX_QUEUED,	 /* written to at least one receive queue */
	CX_RX_NO_BUFFER, /* its queue had none: out_of_buffer counted */
	CX_RX_DEAD,	 /* its queue is not ready, or the frame does not fit */
	CX_RX_OVERSIZE,	 /* longer than the port's MTU allows */
	CX_RX_LOST,	 /* by the fault script, or shorter than an Ethernet header */
	CX_RX_VERDICT_COUNT
};

/* A frame arrives from the wire, without FCS; padded to 60 bytes by the caller or not. */
enum cx_rx_verdict cx_rx(struct cx_dev *dev, const void *frame, uint32_t len);
/* A frame from the kernel side leaves by the wire (ops.wire_tx) if the link is up. */
void cx_kernel_tx(struct cx_dev *dev, const void *frame, uint32_t len);

/* Completions of a compressed queue may wait for company; cx_step() flushes them. */
void cx_flush(struct cx_dev *dev);
/* How many completions a compression session holds: fewer than @min are written one by one,
 * @max (at most 64) end it. The enhanced layout never has more than 7. 0 = the default. */
void cx_comp_limits(struct cx_dev *dev, unsigned min, unsigned max);

void cx_clock_advance(struct cx_dev *dev, uint64_t ns);
uint64_t cx_clock_ns(const struct cx_dev *dev); /* the 41-bit counter */

/* ---- port and faults ---- */

void cx_link_set(struct cx_dev *dev, bool up); /* raises PORT_CHANGE */
bool cx_link_up(const struct cx_dev *dev);
void cx_mtu_set(struct cx_dev *dev, uint16_t mtu);
void cx_mac_get(const struct cx_dev *dev, uint8_t mac[6]);
/* The netdev's address was changed. */
void cx_mac_set(struct cx_dev *dev, const uint8_t mac[6]);

/**
 * cx_fault() - one line of a fault script
 *
 *   cmd [op=0x904] [nth=3] status=8 [syndrome=0x123456] [times=1]
 *   cqe type=sq|rq num=N syndrome=0x04 [vendor=0x51]     error completion, queue to error;
 *                                                        a receive queue needs an entry posted
 *   link up|down
 *   fatal                                                internal error event; commands then fail
 *   hold cq=N | release cq=N                             stop completing, go on
 *   delay us=N                                           between a doorbell and its work
 *   drop rx|tx nth=N [times=1]                           lose frames
 *   overrun cq=N                                         next completion finds the queue full
 *   clear                                                forget everything not yet fired
 *
 * Return: 0, or -EINVAL with the reason in @why ("delay: us=x is not a number").
 */
int cx_fault(struct cx_dev *dev, const char *line, char *why, size_t why_size);

enum cx_trace { CX_TRACE_CMD = 1, CX_TRACE_WQE = 2, CX_TRACE_CQE = 4, CX_TRACE_RX = 8 };
void cx_trace_set(struct cx_dev *dev, unsigned mask); /* 0 = off, the default */

/* ---- what is there ---- */

/* clang-format off */
enum cx_obj_type {
	CX_UCTX, CX_UMEM, CX_UAR, CX_PD, CX_TD, CX_MKEY, CX_CQ, CX_SQ, CX_RQ, CX_RMP, CX_TIS,
	CX_TIR, CX_RQT, CX_QCOUNTER, CX_FCOUNTER, CX_FT, CX_FG, CX_FTE, CX_EQ,
	CX_OBJ_TYPE_COUNT
};
/* clang-format on */
const char *cx_obj_type_name(enum cx_obj_type type); /* "CQ" */
uint32_t cx_obj_count(const struct cx_dev *dev, enum cx_obj_type type);
/* Objects of one owner; what a closed context must bring to 0. */
uint32_t cx_obj_count_uid(const struct cx_dev *dev, uint16_t uid);

struct cx_stats {
	uint64_t cmds, cmd_refusals; /* commands served, and refused of them */
	uint64_t wqe_refusals;	     /* error completions by our own checks */
	/* Send doorbells seen, and ignored of them; completion queues armed. Of several stores to
	 * one register between two looks only the last is seen, so these are lower bounds, and
	 * of how often a program rings they say nothing: test/t_bells.c counts that. */
	uint64_t doorbells, bad_doorbells;
	uint64_t arms;
	uint64_t tx_frames, tx_bytes, tx_wqes;
	uint64_t rx_frames, rx_bytes, rx[CX_RX_VERDICT_COUNT];
	uint64_t cqes, mini_cqes, overruns;
	uint64_t kernel_tx_frames;
	uint64_t tx_oversize; /* longer than the MTU allows: not sent */
	uint64_t tx_lost;     /* link down, or a drop fault */
};
const struct cx_stats *cx_stats(const struct cx_dev *dev);

/* Text, one object a line ("CQ 0x41 uid 3 log_size 10 ci 5 pi 9 armed"); for `cxmodel stat`. */
void cx_dump(const struct cx_dev *dev, void (*line)(void *arg, const char *text),
	     void *arg);

/* Every capability: "hca.log_max_cq_sz=22 documented: source", from caps.def and the overrides. */
void cx_caps_dump(const struct cx_dev *dev, void (*line)(void *arg, const char *text),
		  void *arg);

/* Which commands, fields and refusals were ever exercised in this process: "cmd CREATE_CQ",
 * "field cqc.log_cq_size", "refuse cqc.log_cq_size". For the test suite's closing figure. */
void cx_coverage(void (*line)(void *arg, const char *text), void *arg);

/* ---- hooks of the burst generator (wire/drain.c) ---- */

/* While held, cx_step() leaves this device's memory and doorbells alone. */
void cx_hold(struct cx_dev *dev, bool on);

/* What one queue looks like from outside, for a generator that must not disturb it. */
struct cx_queue_view {
	uint32_t num, cqn;
	uint16_t uid;
	uint32_t log_size, log_stride;	   /* WQEs; bytes per WQE */
	uint8_t *ring, *cq_ring;	   /* in this process */
	const volatile uint32_t *dbrec;	   /* big-endian 16-bit index of this queue */
	const volatile uint32_t *cq_dbrec; /* big-endian consumer index */
	uint32_t log_cq_size;
	uint16_t head;	       /* next WQE the device will take */
	uint16_t stride;       /* striding: next free stride of that WQE */
	volatile uint8_t *uar; /* SQ: its doorbell page */
	uint32_t cq_pi;	       /* next completion the device will write */
	bool ready, striding;
	uint32_t log_strides, log_stride_bytes;
};
/* Fills @v with the n-th queue of that type (CX_SQ or CX_RQ); false past the last one. */
bool cx_queue_nth(const struct cx_dev *dev, enum cx_obj_type type, unsigned n,
		  struct cx_queue_view *v);

/* From now on completions are written, but the first owner byte of each CQ stays invalid ... */
void cx_cqe_withhold(struct cx_dev *dev, bool on);
/* ... until this writes them, all in one go. */
void cx_cqe_release(struct cx_dev *dev);
