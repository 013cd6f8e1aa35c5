/* core/cq.c - completion queues: slots, owner bit, consumer, arm
 *
 *   index   0 .. 2^32-1, counted by the device (pi); slot = index mod size
 *   owner   bit log_size of the index: it changes with every lap
 *   record  [0] consumer index, [1] arm; the index a program keeps may be 16, 24 or 32
 *           bits wide (DPDK's is 16 for sending and 32 for receiving), so only its
 *           last log_size + 1 bits tell how many entries are in use
 *
 * The owner byte goes last and with release order: a program that sees it sees the
 * rest. With enhanced compression a lap number stands beside it (byte 0x3e), and the two
 * are one store.
 *
 * What a program did wrong with the ring cannot be answered by a status: the
 * queue stops (CQ error event), as the card's does on overrun. That the card looks at
 * slots before their first use, or at a consumer index ahead of it, is assumed.
 *
 * Source: rdma-core providers/mlx5/cq.c (get_sw_cqe, mlx5_arm_cq), DPDK mlx5_common.h
 * (check_cqe, check_cqe_iteration), kernel include/linux/mlx5/cq.h.
 */
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CI_MASK	    0xffffff
#define NEVER_ARMED UINT32_MAX /* bits 31:30 and 27:25 are zero in every arm */
#define NS_PER_S    UINT64_C(1000000000)

/* The first completion since cx_cqe_withhold(), whose last two bytes wait. */
struct cx_withhold {
	uint8_t *at; /* NULL: none waits */
	uint16_t last;
	enum cx_notice notice;
};

/* ---- slots ---- */

/* Of 128-byte entries the second half counts (kernel wq.h, mlx5_cqwq_get_wqe). */
static uint8_t *slot(const struct cx_cq *cq, uint32_t index)
{
	return cq->ring + (size_t)(index & cx_cq_mask(cq)) * cq->cqe_bytes +
	       cq->cqe_bytes - 64;
}

static uint16_t last_bytes(const struct cx_cq *cq, uint32_t index, uint8_t op_own)
{
	uint32_t lap = index >> cq->log_size;
	uint8_t b[2] = { cq->comp == CX_COMP_ENHANCED ? (uint8_t)lap : 0,
			 (uint8_t)(op_own | (lap & 1)) };
	uint16_t both;

	memcpy(&both, b, 2);
	return both;
}

static bool withhold(struct cx_cq *cq, uint8_t *at, uint16_t last)
{
	struct cx_withhold *w = cq->withhold;

	if (!w || w->at)
		return false;
	w->at = at;
	w->last = last;
	return true;
}

void cx_cq_write(struct cx_cq *cq, uint32_t index, const uint8_t image[64],
		 uint8_t op_own)
{
	uint8_t *at = slot(cq, index);
	uint16_t last = last_bytes(cq, index, op_own);

	memcpy(at, image, 62);
	if (CX_UNLIKELY(cq->withhold) && withhold(cq, at + 62, last))
		return;
	__atomic_store_n((uint16_t *)(void *)(at + 62), last, __ATOMIC_RELEASE);
}

void cx_cq_write_array(struct cx_cq *cq, uint32_t index, const uint8_t image[64])
{
	memcpy(slot(cq, index), image, 64);
}

/* ---- the completion as bytes ---- */

static void image_of(const struct cx_cqe *c, uint8_t image[64])
{
	memset(image, 0, 64);
	cx_put_be16(CX_AT(cqe, image, wqe_id), c->wqe_id);
	cx_put_be32(CX_AT(cqe, image, rx_hash_result), c->hash);
	*CX_AT(cqe, image, rx_hash_type) = c->hash_type;
	cx_put_be16(CX_AT(cqe, image, checksum), c->checksum);
	image[0x1c] = c->csum_ok;
	image[0x1d] = c->hdr_type;
	cx_put_be16(CX_AT(cqe, image, vlan_info), c->vlan);
	cx_put_be32(CX_AT(cqe, image, lro_num_seg), c->user_index);
	cx_put_be32(CX_AT(cqe, image, flow_table_metadata), c->metadata);
	cx_put_be32(CX_AT(cqe, image, byte_cnt), c->byte_cnt);
	cx_put_be64(CX_AT(cqe, image, timestamp), c->timestamp);
	cx_put_be32(CX_AT(cqe, image, wqe_opcode), c->tag_or_qpn);
	cx_put_be16(CX_AT(cqe, image, wqe_counter), c->wqe_counter);
	image[0x3f] = (uint8_t)(c->opcode << 4);
}

static bool is_error(const struct cx_cqe *c)
{
	return c->opcode >= CX_CQE_REQ_ERR;
}

static void error_image_of(const struct cx_cqe *c, uint8_t image[64])
{
	memset(image, 0, 64);
	cx_put_be16(CX_AT(err_cqe, image, wqe_id), c->wqe_id);
	cx_put_be32(image + 0x20, c->user_index);
	cx_put_be32(CX_AT(err_cqe, image, byte_cnt), c->byte_cnt);
	*CX_AT(err_cqe, image, vendor_syndrome) = c->vendor_syndrome;
	*CX_AT(err_cqe, image, syndrome) = c->syndrome;
	cx_put_be32(CX_AT(err_cqe, image, wqe_opcode), c->tag_or_qpn);
	cx_put_be16(CX_AT(err_cqe, image, wqe_counter), c->wqe_counter);
	image[0x3f] = (uint8_t)(c->opcode << 4);
}

uint64_t cx_stamp(const struct cx_dev *dev, uint8_t ts_format, uint64_t clock)
{
	uint64_t ns;

	if (ts_format != 2) /* rqc, sqc: 0 free running, 1 default, 2 real time */
		return clock;
	ns = cx_now_ns(dev);
	return ns / NS_PER_S << 32 | ns % NS_PER_S;
}

/* Seen beside these syndromes in public logs of mlx5 cards; programs only print them. */
uint8_t cx_vendor_syndrome(const struct cx_dev *dev, uint8_t syndrome)
{
	static const uint8_t vendor[] = { [CX_SYND_LENGTH] = 0x8e,
					  [CX_SYND_QP_OP] = 0x68,
					  [CX_SYND_PROT] = 0x52,
					  [CX_SYND_FLUSH] = 0xf9 };

	if (dev->fault_vendor)
		return dev->fault_vendor;
	return syndrome < sizeof(vendor) ? vendor[syndrome] : 0;
}

/* ---- trouble ---- */

static void stop(struct cx_dev *dev, struct cx_cq *cq, const char *field, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5), cold));
static void stop(struct cx_dev *dev, struct cx_cq *cq, const char *field, const char *fmt,
		 ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	cx_log(dev, "CQ 0x%x: %s: %s", cq->obj.num, field, what);
	cx_cover("refuse", field);
	cq->error = true;
	/* EQE of a CQ error: syndrome 1 = overrun (kernel eq.c, cq_err_event_notifier). */
	cx_event(dev, CX_EVENT_CQ_ERROR, 1, &cq->obj);
}

static void overrun(struct cx_dev *dev, struct cx_cq *cq, const char *why)
{
	dev->stats.overruns++;
	stop(dev, cq, "cqe", "overrun at entry %u: %s", cq->pi, why);
}

/* The index a program of any width would hold now, or not. */
static bool is_index(uint32_t raw, uint32_t index)
{
	return raw == index || raw == (index & CI_MASK) || raw == (index & 0xffff);
}

static void bad_consumer(struct cx_dev *dev, struct cx_cq *cq, uint32_t raw,
			 uint32_t used)
{
	uint32_t swapped = __builtin_bswap32(raw);

	if (is_index(swapped, cq->pi - ((cq->pi - swapped) & (cx_cq_mask(cq) << 1 | 1))))
		stop(dev, cq, "cq_dbrec.ci", "0x%08x is in the wrong byte order", raw);
	else if (used > 1u << cq->log_size)
		stop(dev, cq, "cq_dbrec.ci",
		     "%u is ahead of the device at %u (owner bit read the wrong way round?)",
		     raw, cq->pi);
	else
		stop(dev, cq, "cq_dbrec.ci", "0x%08x has bits that no index near %u has",
		     raw, cq->pi);
}

/* Is there a slot? */
static bool room(struct cx_dev *dev, struct cx_cq *cq)
{
	uint32_t size = 1u << cq->log_size, raw = cx_record(&cq->dbrec[0]);
	uint32_t used = (cq->pi - raw) & (2 * size - 1);

	if (cq->overrun_ignore) /* such a program need not keep the record */
		return true;
	if (CX_UNLIKELY(used > size || !is_index(raw, cq->pi - used)))
		bad_consumer(dev, cq, raw, used);
	else if (CX_UNLIKELY(used == size))
		overrun(dev, cq, "the program consumed nothing");
	return !cq->error;
}

/* The device cannot tell a slot never used from one of lap 0, unless it says "invalid". */
static bool initialised(struct cx_dev *dev, struct cx_cq *cq)
{
	uint8_t op_own;

	if (cq->pi > cx_cq_mask(cq))
		cq->used = true;
	if (cq->used)
		return true;
	op_own = slot(cq, cq->pi)[63];
	if (op_own >> 4 == CX_CQE_INVALID)
		return true;
	stop(dev, cq, "cqe.opcode",
	     "entry %u was not initialised to invalid: op_own is 0x%02x", cq->pi, op_own);
	return false;
}

/* ---- events ---- */

/* How far the program can see. */
static uint32_t written(const struct cx_cq *cq)
{
	return cq->pi - cx_comp_pending(cq);
}

static bool wanted(const struct cx_cq *cq, enum cx_notice notice)
{
	return notice == CX_NOTICE_ALWAYS ||
	       (cq->armed && (!cq->arm_cmd || notice == CX_NOTICE_SOLICITED));
}

void cx_cq_notify(struct cx_dev *dev, struct cx_cq *cq, enum cx_notice notice)
{
	if (CX_UNLIKELY(cq->withhold && cq->withhold->at)) {
		if (notice > cq->withhold->notice)
			cq->withhold->notice = notice;
		return;
	}
	if (!wanted(cq, notice))
		return;
	cq->armed = false;
	cx_event(dev, CX_EVENT_COMPLETION, 0, &cq->obj);
}

/* Completions the program had not consumed when it armed. */
static uint32_t beyond(const struct cx_cq *cq)
{
	return (written(cq) - cq->arm_ci) & (cx_cq_mask(cq) << 1 | 1);
}

/* One line and nothing else: the card ignores doorbells it cannot use. */
static struct cx_cq *armed_cq(struct cx_dev *dev, const struct cx_uar *uar,
			      uint64_t doorbell)
{
	uint32_t num = (uint32_t)doorbell & 0xffffff;
	struct cx_cq *cq = (struct cx_cq *)cx_obj_get(dev, CX_CQ, num, 0);
	uint32_t hi = (uint32_t)(doorbell >> 32);

	if ((hi & 0xce000000) || ((uint32_t)doorbell >> 24))
		cx_log(dev, "UAR 0x%x: cq_doorbell: reserved bits in %016llx: ignored",
		       uar->obj.num, (unsigned long long)doorbell);
	else if (!cq)
		cx_log(dev, "UAR 0x%x: cq_doorbell.cqn: there is no CQ 0x%x: ignored",
		       uar->obj.num, num);
	else if (cq->uar != uar)
		cx_log(dev,
		       "CQ 0x%x: cq_doorbell.page: armed on UAR 0x%x, its own is 0x%x: ignored",
		       num, uar->obj.num, cq->uar ? cq->uar->obj.num : 0);
	else if ((cx_record(&cq->dbrec[1]) ^ hi) >> 28)
		cx_log(dev,
		       "CQ 0x%x: cq_dbrec.arm_sn: record 0x%08x, doorbell 0x%08x: ignored",
		       num, cx_record(&cq->dbrec[1]), hi);
	else
		return cq;
	cx_cover("refuse", "cq_doorbell");
	dev->stats.bad_doorbells++;
	return NULL;
}

/* A number that already made its event is a repetition: the program has not seen that event
 * yet, and will (it counts its events; kernel eq.c, ++cq->arm_sn). */
static void arm(struct cx_dev *dev, struct cx_cq *cq, uint32_t hi)
{
	uint8_t sn = hi >> 28 & 3;

	cq->arm_record = hi;
	if (!cq->armed && cq->arm_sn == sn)
		return;
	cq->armed = true;
	cq->arm_sn = sn;
	cq->arm_cmd = hi >> 24 & 1;
	cq->arm_ci = hi & CI_MASK;
	if (beyond(cq) > (cq->arm_cmd ? written(cq) - cq->solicited_pi : 0))
		cx_cq_notify(dev, cq, CX_NOTICE_SOLICITED);
}

struct neighbours {
	struct cx_dev *dev;
	const struct cx_uar *uar;
	const struct cx_cq *rung;
};

static bool arm_neighbour(void *arg, struct cx_obj *obj)
{
	const struct neighbours *n = arg;
	struct cx_cq *cq = (struct cx_cq *)obj;
	uint32_t record;

	if (cq->uar != n->uar || cq == n->rung)
		return true;
	record = cx_record(&cq->dbrec[1]);
	if (record != cq->arm_record)
		arm(n->dev, cq, record);
	return true;
}

/* The page is memory and not a register: of two queues that share it (libmlx5 hands one page out
 * twice) the second arm may have overwritten the first before anybody looked. So a doorbell is
 * also a hint to look at the arm records of the others, which their program wrote before it. */
void cx_cq_arm(struct cx_dev *dev, struct cx_uar *uar, uint64_t doorbell)
{
	struct cx_cq *cq = armed_cq(dev, uar, doorbell);
	struct neighbours n = { dev, uar, cq };

	if (cq)
		arm(dev, cq, (uint32_t)(doorbell >> 32));
	if (uar->n_cqs > 1)
		cx_obj_each(dev, CX_CQ, arm_neighbour, &n);
}

/* ---- in and out ---- */

static enum cx_notice notice_of(const struct cx_cqe *c)
{
	if (c->solicited)
		return CX_NOTICE_ALWAYS;
	return is_error(c) ? CX_NOTICE_SOLICITED : CX_NOTICE;
}

static void trace(struct cx_dev *dev, const struct cx_cq *cq, const struct cx_cqe *c,
		  const uint8_t image[64])
{
	char title[48];

	snprintf(title, sizeof(title), "CQ 0x%x entry %u", cq->obj.num, cq->pi);
	cx_trace_layout(dev, CX_TRACE_CQE, title,
			is_error(c) ? &cx_layout_err_cqe : &cx_layout_cqe, image, 64);
}

bool cx_cq_push(struct cx_dev *dev, struct cx_cq *cq, const struct cx_cqe *cqe)
{
	enum cx_notice notice;
	uint8_t image[64];

	if (CX_UNLIKELY(cq->error || cq->held))
		return false;
	if (CX_UNLIKELY(dev->faults) && cx_fault_overrun(dev, cq->obj.num)) {
		overrun(dev, cq, "asked for by the fault script");
		return false;
	}
	if (!room(dev, cq) || !initialised(dev, cq))
		return false;
	if (CX_UNLIKELY(is_error(cqe)))
		error_image_of(cqe, image);
	else
		image_of(cqe, image);
	if (CX_UNLIKELY(dev->trace & CX_TRACE_CQE))
		trace(dev, cq, cqe, image);
	dev->stats.cqes++;
	notice = notice_of(cqe);
	if (notice != CX_NOTICE)
		cq->solicited_pi = cq->pi + 1;
	if (cq->session) {
		cx_comp_take(dev, cq, image, cqe->compressible, notice);
		return true;
	}
	cx_cq_write(cq, cq->pi++, image, image[63]);
	cx_cq_notify(dev, cq, notice);
	return true;
}

/* The first arm is all zeroes, like the record before it: so that they differ, the model, which
 * sees no register but memory, leaves a mark in the record. The card does not write there, and no
 * program reads it. Where it may not write, such an arm is not seen by a neighbour's doorbell. */
static void mark_record(struct cx_cq *cq)
{
	if (cq->dbrec_umem->access & CX_ACCESS_LOCAL_WRITE)
		__atomic_store_n(&cq->dbrec[1], NEVER_ARMED, __ATOMIC_RELEASE);
	cq->arm_record = cx_record(&cq->dbrec[1]);
}

/* Without memory for sessions the queue is simply never compressed. */
void cx_cq_opened(struct cx_cq *cq)
{
	cq->arm_sn = 0xff; /* none yet */
	mark_record(cq);
	if (cq->comp != CX_COMP_NONE)
		cq->session = cx_comp_new(cq->mini);
}

void cx_cq_closed(struct cx_cq *cq)
{
	free(cq->session);
	free(cq->withhold);
	cq->session = NULL;
	cq->withhold = NULL;
}

/* ---- the burst generator's hooks ---- */

static void release(struct cx_dev *dev, struct cx_cq *cq)
{
	struct cx_withhold *w = cq->withhold;
	enum cx_notice notice;

	if (!w || !w->at)
		return;
	__atomic_store_n((uint16_t *)(void *)w->at, w->last, __ATOMIC_RELEASE);
	w->at = NULL;
	notice = w->notice;
	w->notice = CX_NOTICE;
	cx_cq_notify(dev, cq, notice);
}

static bool release_one(void *arg, struct cx_obj *obj)
{
	release(arg, (struct cx_cq *)obj);
	return true;
}

void cx_cqe_release(struct cx_dev *dev)
{
	cx_flush(dev);
	cx_obj_each(dev, CX_CQ, release_one, dev);
}

/* Out of memory: this queue is not withheld, which the generator's own checks find. */
static bool withhold_one(void *arg, struct cx_obj *obj)
{
	struct cx_cq *cq = (struct cx_cq *)obj;

	(void)arg;
	if (!cq->withhold)
		cq->withhold = calloc(1, sizeof(*cq->withhold));
	return true;
}

static bool forget_one(void *arg, struct cx_obj *obj)
{
	struct cx_cq *cq = (struct cx_cq *)obj;

	(void)arg;
	free(cq->withhold);
	cq->withhold = NULL;
	return true;
}

void cx_cqe_withhold(struct cx_dev *dev, bool on)
{
	cx_cqe_release(dev);
	dev->withholding = on;
	cx_obj_each(dev, CX_CQ, on ? withhold_one : forget_one, dev);
}
