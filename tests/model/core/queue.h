/* core/queue.h - between the files of the queue engines
 *
 *   sq.c       record, order, completion modes, errors     sq_wqe.c   SEND and multi-packet
 *   rq.c       plain receive, completions, errors          sq_lso.c   segmentation
 *   rq_stride.c  striding receive                          csum.c     sums over frames
 *   cq.c       slots, owner bit, consumer, arm             cqe_comp.c compression
 *
 * Programs own all memory seen here and may change it at any time: a field that
 * is checked is read once and used from the copy.
 */
#pragma once

#include "dev.h"

/* For what a test run wants to know was ever used; free after the first time. */
#define CX_SEEN(kind, what) \
	do { \
		static bool cx_seen_; \
		if (!__atomic_load_n(&cx_seen_, __ATOMIC_RELAXED)) { \
			__atomic_store_n(&cx_seen_, true, __ATOMIC_RELAXED); \
			cx_cover(kind, what); \
		} \
	} while (0)

#define CX_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A doorbell record, in host order. Acquire: entries behind the index are read after it. */
static inline uint32_t cx_record(const volatile uint32_t *dbrec)
{
	uint32_t raw = __atomic_load_n(dbrec, __ATOMIC_ACQUIRE);

	return cx_be32(&raw);
}

/* ---- csum.c ---- */

enum { CX_ETH_MIN = 14, CX_FRAME_MIN = 60, CX_VLAN_BYTES = 4 };
enum { CX_ETH_CVLAN = 0x8100, CX_ETH_SVLAN = 0x88a8 };

/* Ones' complement sum (RFC 1071) of @len bytes, not inverted. */
uint16_t cx_sum(const void *p, size_t len);

/* Where the headers of a frame to be sent are; 0 = none, or broken. */
struct cx_hdrs {
	uint8_t l3, proto; /* 4, 6; only TCP (6) and UDP (17) have l4_off */
	uint32_t l3_off, l4_off;
	uint32_t end; /* of the IP packet */
};
void cx_hdrs_find(struct cx_hdrs *h, const uint8_t *frame, uint32_t len);
/* Writes the sums a program left to the device; headers that are not there are skipped. */
void cx_csum_fill(uint8_t *frame, const struct cx_hdrs *h, bool l3, bool l4);
/* IEEE 802.3 frame check sequence, in the order it has on the wire. */
void cx_fcs(const uint8_t *frame, uint32_t len, uint8_t fcs[4]);

/* ---- cq.c ---- */

enum {
	CX_CQE_REQ = 0,
	CX_CQE_RESP_SEND = 2,
	CX_CQE_REQ_ERR = 13,
	CX_CQE_RESP_ERR = 14,
	CX_CQE_INVALID = 15,
	CX_CQE_COMPRESSED = 3
};
/* Source: rdma-core mlx5dv.h, MLX5_CQE_SYNDROME_* */
enum {
	CX_SYND_LENGTH = 0x01,
	CX_SYND_QP_OP = 0x02,
	CX_SYND_PROT = 0x04,
	CX_SYND_FLUSH = 0x05
};

/* What to tell whom: an error counts as solicited, mode 3 always makes an event. */
enum cx_notice { CX_NOTICE, CX_NOTICE_SOLICITED, CX_NOTICE_ALWAYS };

/* The last two bytes, validity and op_own, are the caller's to give. */
void cx_cq_write(struct cx_cq *cq, uint32_t index, const uint8_t image[64],
		 uint8_t op_own);
/* Bytes of a slot that is no completion (an array of the basic layout); no order, no owner. */
void cx_cq_write_array(struct cx_cq *cq, uint32_t index, const uint8_t image[64]);
void cx_cq_notify(struct cx_dev *dev, struct cx_cq *cq, enum cx_notice notice);
uint8_t cx_vendor_syndrome(const struct cx_dev *dev, uint8_t syndrome);
/* The timestamp of a completion, in the queue's format. */
uint64_t cx_stamp(const struct cx_dev *dev, uint8_t ts_format, uint64_t clock);

static inline uint32_t cx_cq_mask(const struct cx_cq *cq)
{
	return (1u << cq->log_size) - 1;
}

/* ---- cqe_comp.c ---- */

struct cx_comp *cx_comp_new(enum cx_mini_format mini); /* NULL: no memory */
/* Takes the next completion, and tells when it is written. */
void cx_comp_take(struct cx_dev *dev, struct cx_cq *cq, const uint8_t image[64],
		  bool compressible, enum cx_notice notice);
uint32_t cx_comp_pending(const struct cx_cq *cq); /* completions not yet written */

/* ---- sq.c, sq_wqe.c, sq_lso.c ---- */

/* A WQE at work: its control segment is read and checked. */
struct cx_wqe {
	const uint8_t *ring;
	uint32_t mask; /* bytes of the ring less one */
	uint32_t at;   /* first byte in the ring */
	uint16_t index;
	uint8_t opcode, ds, ce;
};

static inline const uint8_t *cx_wqe_seg(const struct cx_wqe *w, unsigned i)
{
	return w->ring + ((w->at + i * 16) & w->mask);
}

/* The Ethernet segment, checked. */
struct cx_eth {
	bool l3_csum, l4_csum, insert_vlan;
	uint16_t mss, inline_bytes;
	uint8_t vlan[CX_VLAN_BYTES];
};

/* Each returns false after cx_sq_fail(). */
bool cx_wqe_eth(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		struct cx_eth *eth);
bool cx_wqe_send(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w);
bool cx_wqe_multi(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w);
bool cx_wqe_lso(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w);
/* Inline header and all data segments of a WQE that is one message, into dev->tx_frame from
 * @room bytes on. */
bool cx_wqe_gather(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		   const struct cx_eth *eth, uint32_t room, uint32_t *len);
/* To the wire: padded, dropped when too long, counted. */
void cx_transmit(struct cx_dev *dev, const uint8_t *frame, uint32_t len);

#define CX_MESSAGE_MAX 65536 /* bytes of one message, headers included */

/* ---- rq.c, rq_stride.c ---- */

/* A frame as it goes to memory: without a stripped tag, with its FCS when asked for. */
struct cx_rx_job {
	struct cx_dev *dev;
	struct cx_rq *rq;
	struct cx_wq *wq;
	const struct cx_pkt *pkt;
	uint16_t posted; /* entries from wq->head on */
	bool stripped;
	uint8_t fcs[4];
	uint32_t len;
	unsigned n_parts;
	struct {
		const uint8_t *p;
		uint32_t len;
	} part[3];
};

enum { CX_LKEY_END = 0x100 }; /* rdma-core mlx5dv.h, MLX5_INVALID_LKEY */

enum cx_rx_verdict cx_rq_stride(struct cx_rx_job *job);
/* @byte_cnt, @wqe_counter and @wqe_id as they go into the completion. */
bool cx_rq_complete(const struct cx_rx_job *job, uint32_t byte_cnt, uint16_t wqe_counter,
		    uint16_t wqe_id);
enum cx_rx_verdict cx_rq_die_with_cq(struct cx_dev *dev, struct cx_rq *rq);
enum cx_rx_verdict cx_rq_no_buffer(const struct cx_rx_job *job);
/* The frame is longer than a WQE: an error completion, and the queue goes on. */
enum cx_rx_verdict cx_rq_too_long(struct cx_rx_job *job, uint32_t room);
void cx_wq_next(struct cx_wq *wq); /* the entry at head is used up */

static inline uint8_t *cx_wq_entry(const struct cx_wq *wq, uint16_t index)
{
	return wq->ring +
	       ((size_t)(index & ((1u << wq->log_size) - 1)) << wq->log_stride);
}
