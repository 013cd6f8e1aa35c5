/* test/client/rig.c - see rig.h
 *
 * Layout of the memory:
 *   0x0000 send ring  0x1000 receive ring  0x2000 completions of sends  0x3000 of receives
 *   0x4000 doorbell records, 64 bytes apart  0x5000 scratch of headers  0x6000 of payloads
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prm.h"

enum {
	SEND_RING = 0x0000,
	RECV_RING = 0x1000,
	TX_CQ = 0x2000,
	RX_CQ = 0x3000,
	DB_TX_CQ = 0x4000,
	DB_RX_CQ = 0x4040,
	DB_SQ = 0x4080,
	DB_RQ = 0x40c0,
	HEADERS = 0x5000,
	PEEK = 0x6000,
	POKE = 0x6800,
	MEM_BYTES = 0x8000,
	LOG_RECV_STRIDE = 5, /* two data segments */
	HEADER = 14,
	MASK = (1 << RIG_LOG_SIZE) - 1,
};

struct ibv_context *rig_open_device(unsigned n)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list;
	struct ibv_context *ctx = NULL;
	int count;

	list = ibv_get_device_list(&count);
	if (!list)
		return NULL;
	errno = ENODEV;
	if (n < (unsigned)count)
		ctx = mlx5dv_open_device(list[n], &attr);
	ibv_free_device_list(list);
	return ctx;
}

/* ---- objects ---- */

static struct mlx5dv_devx_obj *create(struct rig *r, const char *what, void *in,
				      size_t len, uint32_t *number)
{
	struct mlx5dv_devx_obj *obj;

	memset(r->out, 0, sizeof(r->out));
	obj = mlx5dv_devx_obj_create(r->ctx, in, len, r->out, sizeof(r->out));
	if (!obj)
		snprintf(r->why, sizeof(r->why),
			 "create %s: %s, status 0x%x syndrome 0x%x", what,
			 strerror(errno), prm_get(r->out, PRM_STATUS),
			 prm_get(r->out, PRM_SYNDROME));
	else if (number)
		*number = prm_get(r->out, PRM_NUMBER);
	return obj;
}

int rig_modify_state(struct rig *r, struct mlx5dv_devx_obj *obj, uint16_t op,
		     uint32_t number, uint8_t from, uint8_t to)
{
	uint8_t in[PRM_WQ_CMD_BYTES] = { 0 };
	int ret;

	prm_set(in, PRM_OPCODE, op);
	prm_set(in, PRM_NUMBER, number);
	prm_set(in, PRM_MODIFY_STATE, from);
	prm_set(in + PRM_CTX_BYTE, PRM_CTX_STATE, to);
	memset(r->out, 0, sizeof(r->out));
	ret = mlx5dv_devx_obj_modify(obj, in, sizeof(in), r->out, sizeof(r->out));
	if (ret)
		snprintf(r->why, sizeof(r->why),
			 "modify 0x%x: %s, status 0x%x syndrome 0x%x", op, strerror(ret),
			 prm_get(r->out, PRM_STATUS), prm_get(r->out, PRM_SYNDROME));
	return ret;
}

struct mlx5dv_devx_obj *rig_create_cq(struct rig *r, uint64_t ring, uint64_t dbrec,
				      uint8_t log_size, uint32_t *number)
{
	uint8_t in[PRM_CREATE_CQ_BYTES] = { 0 }, *cqc = in + PRM_CQC_BYTE;

	/* The kernel itself sets the bits that say "by umem"; devx.c, devx_set_umem_valid(). */
	prm_set(in, PRM_OPCODE, PRM_CREATE_CQ);
	prm_set(in, PRM_CQ_UMEM_ID, r->umem->umem_id);
	prm_set(in, PRM_CQ_UMEM_OFFSET, ring);
	prm_set(cqc, PRM_CQC_DBR_UMEM_ID, r->umem->umem_id);
	prm_set(cqc, PRM_CQC_DBR_ADDR, dbrec);
	prm_set(cqc, PRM_CQC_LOG_SIZE, log_size);
	prm_set(cqc, PRM_CQC_UAR_PAGE, r->uar->page_id);
	prm_set(cqc, PRM_CQC_EQN, r->eqn);
	return create(r, "CQ", in, sizeof(in), number);
}

static bool open_cq(struct rig *r, struct rig_cq *cq, uint32_t ring, uint32_t dbrec)
{
	cq->ring = r->mem + ring;
	cq->dbrec = (void *)(r->mem + dbrec);
	memset(cq->ring, 0xff, 64 << RIG_LOG_SIZE); /* opcode 0xf: not yet written */
	cq->obj = rig_create_cq(r, ring, dbrec, RIG_LOG_SIZE, &cq->number);
	return cq->obj;
}

static void fill_wq(struct rig *r, uint8_t *wq, uint32_t ring, uint32_t dbrec,
		    uint32_t log_stride)
{
	prm_set(wq, PRM_WQ_TYPE, 1);
	prm_set(wq, PRM_WQ_PD, r->pdn);
	prm_set(wq, PRM_WQ_LOG_STRIDE, log_stride);
	prm_set(wq, PRM_WQ_LOG_SIZE, RIG_LOG_SIZE);
	prm_set(wq, PRM_WQ_UMEM_ID, r->umem->umem_id);
	prm_set(wq, PRM_WQ_UMEM_OFFSET, ring);
	prm_set(wq, PRM_WQ_DBR_UMEM_ID, r->umem->umem_id);
	prm_set(wq, PRM_WQ_DBR_ADDR, dbrec);
}

static bool open_sq(struct rig *r)
{
	uint8_t in[PRM_WQ_CMD_BYTES] = { 0 }, *sqc = in + PRM_CTX_BYTE;

	prm_set(in, PRM_OPCODE, PRM_CREATE_SQ);
	prm_set(sqc, PRM_SQC_FLUSH, 1);
	prm_set(sqc, PRM_CTX_USER_INDEX, 0x111);
	prm_set(sqc, PRM_CTX_CQN, r->tx_cq.number);
	prm_set(sqc, PRM_SQC_TIS_LST_SZ, 1);
	prm_set(sqc, PRM_SQC_TIS_NUM, r->tisn);
	prm_set(in + PRM_CTX_WQ_BYTE, PRM_WQ_UAR_PAGE, r->uar->page_id);
	fill_wq(r, in + PRM_CTX_WQ_BYTE, SEND_RING, DB_SQ, 6);
	r->sq = create(r, "SQ", in, sizeof(in), &r->sqn);
	return r->sq &&
	       !rig_modify_state(r, r->sq, PRM_MODIFY_SQ, r->sqn, PRM_RST, PRM_RDY);
}

static bool open_rq(struct rig *r)
{
	uint8_t in[PRM_WQ_CMD_BYTES] = { 0 }, *rqc = in + PRM_CTX_BYTE;

	prm_set(in, PRM_OPCODE, PRM_CREATE_RQ);
	prm_set(rqc, PRM_RQC_FLUSH, 1);
	prm_set(rqc, PRM_RQC_VSD, 1); /* leave VLAN tags in the frame */
	prm_set(rqc, PRM_CTX_USER_INDEX, 0x222);
	prm_set(rqc, PRM_CTX_CQN, r->rx_cq.number);
	fill_wq(r, in + PRM_CTX_WQ_BYTE, RECV_RING, DB_RQ, LOG_RECV_STRIDE);
	r->rq = create(r, "RQ", in, sizeof(in), &r->rqn);
	return r->rq &&
	       !rig_modify_state(r, r->rq, PRM_MODIFY_RQ, r->rqn, PRM_RST, PRM_RDY);
}

static bool open_paths(struct rig *r)
{
	uint8_t td[16] = { 0 }, tis[PRM_CREATE_TIS_BYTES] = { 0 };

	prm_set(td, PRM_OPCODE, PRM_ALLOC_TD);
	r->td = create(r, "TD", td, sizeof(td), &r->tdn);
	if (!r->td)
		return false;
	prm_set(tis, PRM_OPCODE, PRM_CREATE_TIS);
	prm_set(tis + 32, PRM_TISC_TD, r->tdn);
	r->tis = create(r, "TIS", tis, sizeof(tis), &r->tisn);
	return r->tis;
}

static bool open_tir(struct rig *r)
{
	uint8_t tir[PRM_CREATE_TIR_BYTES] = { 0 };

	prm_set(tir, PRM_OPCODE, PRM_CREATE_TIR);
	prm_set(tir + 32, PRM_TIRC_INLINE_RQN, r->rqn);
	prm_set(tir + 32, PRM_TIRC_TD, r->tdn);
	r->tir = create(r, "TIR", tir, sizeof(tir), NULL);
	return r->tir;
}

/* Frames to our address go to the TIR. The destination is at byte 8 of the outer headers. */
static bool open_flow(struct rig *r)
{
	union {
		struct mlx5dv_flow_match_parameters p;
		uint8_t bytes[sizeof(struct mlx5dv_flow_match_parameters) + 64];
	} mask = { .p.match_sz = 64 }, value = { .p.match_sz = 64 };
	struct mlx5dv_flow_matcher_attr attr = { .type = IBV_FLOW_ATTR_NORMAL,
						 .match_criteria_enable = 1,
						 .match_mask = &mask.p };
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_DEST_DEVX,
						  .obj = r->tir };

	memset((uint8_t *)mask.p.match_buf + 8, 0xff, 6);
	memcpy((uint8_t *)value.p.match_buf + 8, r->mac, 6);
	r->matcher = mlx5dv_create_flow_matcher(r->ctx, &attr);
	if (r->matcher)
		r->flow = mlx5dv_create_flow(r->matcher, &value.p, 1, &action);
	if (!r->flow)
		snprintf(r->why, sizeof(r->why), "flow: %s", strerror(errno));
	return r->flow;
}

static bool open_memory(struct rig *r)
{
	struct mlx5dv_pd pd = { 0 };
	struct mlx5dv_obj obj = { .pd = { .out = &pd } };

	snprintf(r->why, sizeof(r->why), "PD, UAR, umem or MR");
	r->mem = aligned_alloc(4096, MEM_BYTES);
	if (!r->mem)
		return false;
	memset(r->mem, 0, MEM_BYTES);
	r->pd = obj.pd.in = ibv_alloc_pd(r->ctx);
	if (!r->pd || mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD))
		return false;
	r->pdn = pd.pdn;
	if (mlx5dv_devx_query_eqn(r->ctx, 0, &r->eqn))
		return false;
	r->uar = mlx5dv_devx_alloc_uar(r->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	r->umem = mlx5dv_devx_umem_reg(r->ctx, r->mem, MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	r->mr = ibv_reg_mr(r->pd, r->mem, MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	return r->uar && r->umem && r->mr;
}

int rig_open(struct rig *r, struct ibv_context *ctx, uint8_t last_mac_byte)
{
	*r = (struct rig){ .ctx = ctx, .mac = { 2, 0, 0, 0, 0, last_mac_byte } };
	if (open_memory(r) && open_paths(r) && open_cq(r, &r->tx_cq, TX_CQ, DB_TX_CQ) &&
	    open_cq(r, &r->rx_cq, RX_CQ, DB_RX_CQ) && open_sq(r) && open_rq(r) &&
	    open_tir(r) && open_flow(r))
		return 0;
	return errno ? -errno : -EIO;
}

static unsigned destroy(struct mlx5dv_devx_obj *obj)
{
	return obj && mlx5dv_devx_obj_destroy(obj);
}

unsigned rig_close(struct rig *r)
{
	unsigned failed = 0;

	failed += r->flow && ibv_destroy_flow(r->flow);
	failed += r->matcher && mlx5dv_destroy_flow_matcher(r->matcher);
	failed += destroy(r->tir) + destroy(r->rq) + destroy(r->sq);
	failed += destroy(r->rx_cq.obj) + destroy(r->tx_cq.obj);
	failed += destroy(r->tis) + destroy(r->td);
	failed += r->mr && ibv_dereg_mr(r->mr);
	failed += r->umem && mlx5dv_devx_umem_dereg(r->umem);
	if (r->uar)
		mlx5dv_devx_free_uar(r->uar);
	failed += r->pd && ibv_dealloc_pd(r->pd);
	free(r->mem);
	memset(r, 0, sizeof(*r));
	return failed;
}

/* ---- data ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is_new(const uint8_t *cqe, uint32_t ci)
{
	uint8_t own = __atomic_load_n(&cqe[63], __ATOMIC_ACQUIRE);

	return own >> 4 != 0xf && (own & 1) == (ci >> RIG_LOG_SIZE & 1);
}

bool rig_poll(struct rig_cq *cq, struct rig_cqe *ret)
{
	const uint8_t *cqe = cq->ring + (cq->ci & MASK) * 64;
	uint64_t start = now_ms();

	while (!is_new(cqe, cq->ci)) {
		if (now_ms() - start > 2000)
			return false;
		sched_yield();
	}
	*ret = (struct rig_cqe){
		.opcode = cqe[63] >> 4,
		.syndrome = (uint8_t)prm_get(cqe, PRM_CQE_SYNDROME),
		.wqe_counter = (uint16_t)prm_get(cqe, PRM_CQE_WQE_COUNTER),
		.user_index = prm_get(cqe, PRM_CQE_USER_INDEX),
		.bytes = prm_get(cqe, PRM_CQE_BYTES),
	};
	cq->ci++;
	__atomic_store_n(&cq->dbrec[0], htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	return true;
}

static void put_data_segment(uint8_t *p, uint32_t n, uint32_t key, const void *addr)
{
	prm_put32(p, n);
	prm_put32(p + 4, key);
	prm_put64(p + 8, (uintptr_t)addr);
}

void rig_post_recv(struct rig *r, uint32_t key, void *to, uint32_t n)
{
	uint32_t i = r->rq_pi & MASK;
	uint8_t *wqe = r->mem + RECV_RING + (i << LOG_RECV_STRIDE);

	put_data_segment(wqe, HEADER, r->mr->lkey, r->mem + HEADERS + 16 * i);
	put_data_segment(wqe + 16, n, key, to);
	r->rq_pi++;
	__atomic_store_n((uint32_t *)(r->mem + DB_RQ), htobe32(r->rq_pi),
			 __ATOMIC_RELEASE);
}

/* Control, Ethernet with the header inline, one pointer: exactly one basic block. Source:
 * mlx5dv.h, struct mlx5_wqe_ctrl_seg, mlx5_wqe_eth_seg, mlx5_wqe_data_seg. */
void rig_post_send(struct rig *r, uint32_t key, const void *from, uint32_t n)
{
	uint8_t *wqe = r->mem + SEND_RING + (r->sq_pi & MASK) * 64;
	/* from an address of nobody; type for local experiments, RFC 5342 */
	uint8_t header[HEADER] = { [6] = 2, [11] = 0xff, [12] = 0x88, [13] = 0xb5 };

	memcpy(header, r->mac, 6);
	memset(wqe, 0, 64);
	prm_put32(wqe, (uint32_t)r->sq_pi << 8 | MLX5_OPCODE_SEND);
	prm_put32(wqe + 4, r->sqn << 8 | 4);
	wqe[11] = MLX5_WQE_CTRL_CQ_UPDATE;
	wqe[29] = HEADER;
	memcpy(wqe + 30, header, HEADER);
	put_data_segment(wqe + 48, n, key, from);
	r->sq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n((uint32_t *)(r->mem + DB_SQ + 4), htobe32(r->sq_pi),
			 __ATOMIC_RELEASE);
}

void rig_ring(struct rig *r, volatile void *reg)
{
	const uint8_t *wqe = r->mem + SEND_RING + ((r->sq_pi - 1u) & MASK) * 64;
	uint64_t first;

	memcpy(&first, wqe, sizeof(first));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile uint64_t *)reg = first;
}

/* Source: mlx5_arm_cq() of rdma-core, providers/mlx5/cq.c. */
void rig_arm(struct rig *r, struct rig_cq *cq, uint32_t sn)
{
	uint32_t word = (sn & 3) << 28 | (cq->ci & 0xffffff);

	__atomic_store_n(&cq->dbrec[1], htobe32(word), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)((uint8_t *)r->uar->base_addr + 0x20) =
		htobe64((uint64_t)word << 32 | cq->number);
}

void rig_restart_sq(struct rig *r)
{
	r->sq_pi = 0;
	__atomic_store_n((uint32_t *)(r->mem + DB_SQ + 4), 0, __ATOMIC_RELEASE);
}

/* All of it. Return: 0, or -EIO with r->why. */
static int move_bytes(struct rig *r, uint32_t from_key, const void *from, uint32_t to_key,
		      void *to, uint32_t n)
{
	struct rig_cqe tx = { 0 }, rx = { 0 };

	rig_post_recv(r, to_key, to, n);
	rig_post_send(r, from_key, from, n);
	rig_ring(r, r->uar->reg_addr);
	if (!rig_poll(&r->tx_cq, &tx) || tx.opcode != PRM_CQE_REQ) {
		snprintf(r->why, sizeof(r->why),
			 "send: no completion or opcode %u syndrome 0x%x", tx.opcode,
			 tx.syndrome);
		return -EIO;
	}
	if (!rig_poll(&r->rx_cq, &rx) || rx.opcode != PRM_CQE_RESP_SEND ||
	    rx.bytes != HEADER + n) {
		snprintf(r->why, sizeof(r->why),
			 "receive: none, or opcode %u syndrome 0x%x bytes %u", rx.opcode,
			 rx.syndrome, rx.bytes);
		return -EIO;
	}
	return 0;
}

int rig_peek(struct rig *r, const struct ibv_mr *mr, const void *p, void *buf, uint32_t n)
{
	int ret;

	memset(r->mem + PEEK, 0xee, n);
	ret = move_bytes(r, mr->lkey, p, r->mr->lkey, r->mem + PEEK, n);
	memcpy(buf, r->mem + PEEK, n);
	return ret;
}

int rig_poke(struct rig *r, const struct ibv_mr *mr, void *p, const void *buf, uint32_t n)
{
	memcpy(r->mem + POKE, buf, n);
	return move_bytes(r, r->mr->lkey, r->mem + POKE, mr->lkey, p, n);
}
