/* uverbs/qp.c - raw packet QPs as objects of the device
 *
 *   send part      TIS <- SQ
 *   receive part   RQ <- TIR, which flow rules point to
 *   with a table   TIR that spreads over receive queues made before
 *
 * The parts live and die with the QP. Source: Linux 6.1 hw/mlx5/qp.c
 * (mlx5_ib_create_qp(), create_raw_packet_qp(), create_rss_raw_qp_tir(),
 * modify_raw_packet_qp(), query_raw_packet_qp_state()).
 */
#include "qp.h"

#include <errno.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define DEFAULT_UIDX 0xffffffu /* MLX5_IB_DEFAULT_UIDX: no user index */
#define NO_BFREG     UINT32_MAX
#define WQE_BB	     64
#define DATA_SEG     16

/* struct mlx5_ib_qp while it is made */
struct make {
	struct uv_call *call;
	struct uv_obj *qp;
	struct uv_qp_conf *c;
	struct mlx5_ib_create_qp drv;
	struct mlx5_ib_create_qp_rss rss;
	struct mlx5_ib_create_qp_resp resp;
	uint32_t vendor; /* MLX5_QP_FLAG_*, those that have an effect */
	uint32_t record; /* umem of both doorbell records */
};

/* ---- the driver's part of the request ---- */

static int read_plain(struct make *m)
{
	size_t len, last = offsetof(struct mlx5_ib_create_qp, reserved);
	const uint8_t *p = uv_uhw(m->call, &len);

	if (len < offsetof(struct mlx5_ib_create_qp, ece_options))
		return uv_refuse(m->call, EINVAL, "driver data", "%zu bytes", len);
	if (len > last && !uv_is_zero(p + last, len - last))
		return uv_refuse(m->call, EINVAL, "driver data",
				 "bytes after the first %zu are set", last);
	memcpy(&m->drv, p, UV_MIN(len, sizeof(m->drv)));
	return 0;
}

static int read_rss(struct make *m)
{
	size_t len, size = sizeof(m->rss);
	const uint8_t *p = uv_uhw(m->call, &len);

	if (len < size || uv_uhw_out_len(m->call) < sizeof(m->resp.bfreg_index))
		return uv_refuse(m->call, EINVAL, "driver data", "%zu bytes", len);
	if (!uv_is_zero(p + size, len - size))
		return uv_refuse(m->call, EINVAL, "driver data",
				 "bytes after the first %zu are set", size);
	memcpy(&m->rss, p, size);
	return 0;
}

static bool tunnels(struct uv_call *call)
{
	return uv_cap(call->port, "eth.tunnel_stateless_vxlan") ||
	       uv_cap(call->port, "eth.tunnel_stateless_gre") ||
	       uv_cap(call->port, "eth.tunnel_stateless_geneve_rx");
}

/* process_vendor_flags(): scattering into completions is ignored where it is not known. */
static int check_vendor(struct make *m)
{
	uint32_t flags = m->c->table ? m->rss.flags : m->drv.flags;
	uint32_t known = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |
			 MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;

	if (flags & (MLX5_QP_FLAG_TYPE_DCT | MLX5_QP_FLAG_TYPE_DCI))
		return uv_refuse(m->call, EOPNOTSUPP, "driver flags",
				 "0x%x: DC transport", flags);
	flags &= ~(uint32_t)(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE);
	if (tunnels(m->call))
		known |= MLX5_QP_FLAG_TUNNEL_OFFLOADS;
	if (!m->c->table)
		known |= MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_BFREG_INDEX |
			 MLX5_QP_FLAG_UAR_PAGE_INDEX;
	if (flags & ~known)
		return uv_refuse(m->call, EINVAL, "driver flags", "0x%x of 0x%x", flags,
				 known);
	m->vendor = flags;
	return 0;
}

static int check_uidx(struct make *m)
{
	uint32_t uidx = m->drv.uidx;

	if (!m->c->table && (uidx == DEFAULT_UIDX || uidx & ~DEFAULT_UIDX))
		return uv_refuse(m->call, EINVAL, "uidx", "0x%x", uidx);
	return 0;
}

static int check_flags(struct make *m)
{
	struct uv_call *call = m->call;
	uint32_t flags = m->c->flags, known = 0;

	if (m->c->table)
		return flags ? uv_refuse(call, EINVAL, "create_flags",
					 "0x%x with a table", flags)
			     : 0;
	if (uv_cap(call->port, "hca.eth_net_offloads") &&
	    uv_cap(call->port, "eth.scatter_fcs"))
		known |= IB_UVERBS_QP_CREATE_SCATTER_FCS;
	if (uv_cap(call->port, "hca.eth_net_offloads") &&
	    uv_cap(call->port, "eth.vlan_cap"))
		known |= IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;
	if (uv_cap(call->port, "hca.end_pad"))
		known |= IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	if (flags & ~known)
		return uv_refuse(call, EOPNOTSUPP, "create_flags", "0x%x of 0x%x", flags,
				 known);
	return 0;
}

/* ---- sizes ---- */

static int check_rq_size(struct make *m)
{
	const struct mlx5_ib_create_qp *d = &m->drv;
	struct ib_uverbs_qp_cap *cap = &m->c->cap;
	struct uv_qp *qp = &m->qp->qp;
	unsigned signature = !!(m->vendor & MLX5_QP_FLAG_SIGNATURE);

	if (cap->max_recv_wr > 1u << uv_cap(m->call->port, "hca.log_max_qp_sz"))
		return uv_refuse(m->call, EINVAL, "max_recv_wr", "%u", cap->max_recv_wr);
	if (!cap->max_recv_wr) {
		cap->max_recv_sge = 0;
		if (d->rq_wqe_count || d->rq_wqe_shift)
			return uv_refuse(m->call, EINVAL, "rq_wqe_count",
					 "%u without a queue", d->rq_wqe_count);
		return 0;
	}
	if (d->rq_wqe_shift > 30 || (1u << d->rq_wqe_shift) / DATA_SEG < signature ||
	    (uint64_t)d->rq_wqe_count << d->rq_wqe_shift > INT32_MAX)
		return uv_refuse(m->call, EINVAL, "rq_wqe_shift", "%u", d->rq_wqe_shift);
	qp->rq_entries = d->rq_wqe_count;
	qp->rq_max_gs = (1u << d->rq_wqe_shift) / DATA_SEG - signature;
	return 0;
}

static int check_sq_size(struct make *m)
{
	uint32_t n = m->drv.sq_wqe_count,
		 max = 1u << uv_cap(m->call->port, "hca.log_max_qp_sz");

	if (n & (n - 1) || n > max)
		return uv_refuse(m->call, EINVAL, "sq_wqe_count", "%u of %u", n, max);
	m->qp->qp.sq_entries = n;
	return 0;
}

/* The doorbell page is named by the program, which got it from MLX5_IB_OBJECT_UAR. */
static int check_uar(struct make *m)
{
	uint32_t how = m->vendor &
		       (MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_BFREG_INDEX);

	if (how != MLX5_QP_FLAG_UAR_PAGE_INDEX)
		return uv_refuse(m->call, EINVAL, "driver flags",
				 "0x%x: no doorbell page is named", m->vendor);
	m->resp.bfreg_index = NO_BFREG;
	return 0;
}

static int check_plain(struct make *m)
{
	int rc = check_rq_size(m);

	if (!rc)
		rc = check_uar(m);
	if (!rc)
		rc = check_sq_size(m);
	if (!rc && !m->qp->qp.rq_entries && !m->qp->qp.sq_entries)
		rc = uv_refuse(m->call, EINVAL, "cap", "neither sends nor receives");
	if (!rc && m->qp->qp.sq_entries && !m->c->send_cq)
		rc = uv_refuse(m->call, EINVAL, "send_cq", "missing");
	if (!rc && m->qp->qp.rq_entries && !m->c->recv_cq)
		rc = uv_refuse(m->call, EINVAL, "recv_cq", "missing");
	return rc;
}

/* ---- send part ---- */

static int make_tis(struct make *m)
{
	uint8_t in[CX_BYTES(create_tis_in)] = { 0 };

	CX_SET(create_tis_in, in, opcode, CX_OP_CREATE_TIS);
	CX_SET(tisc, CX_AT(create_tis_in, in, ctx), transport_domain, m->call->ctx->tdn);
	return uv_create(m->call, m->qp, in, sizeof(in), "CREATE_TIS", CX_OP_DESTROY_TIS,
			 &m->qp->qp.tisn);
}

static int fill_sq(struct make *m, uint8_t *sqc, uint32_t ring)
{
	struct uv_ring r = { .pdn = m->c->pd->num,
			     .ring = ring,
			     .record = m->record,
			     .log_stride = 6,
			     .log_size = (unsigned)__builtin_ctz(m->qp->qp.sq_entries) };
	uint8_t *wq = CX_AT(sqc, sqc, wq), format = 0;
	int rc = uv_ts_format(m->call, m->c->send_cq, "hca.sq_ts_format", &format);

	CX_SET(sqc, sqc, flush_in_error_en, 1);
	CX_SET(sqc, sqc, allow_multi_pkt_send_wqe,
	       !!uv_cap(m->call->port, "eth.multi_pkt_send_wqe"));
	CX_SET(sqc, sqc, allow_swp, uv_cap(m->call->port, "eth.swp"));
	CX_SET(sqc, sqc, ts_format, format);
	CX_SET(sqc, sqc, user_index, m->drv.uidx);
	CX_SET(sqc, sqc, cqn, m->c->send_cq->num);
	CX_SET(sqc, sqc, tis_lst_sz, 1);
	CX_SET(sqc, sqc, tis_num_0, m->qp->qp.tisn);
	CX_SET(wq, wq, wq_type, 1); /* cyclic */
	CX_SET(wq, wq, uar_page, m->drv.bfreg_index);
	uv_fill_wq(wq, &r);
	return rc;
}

static int make_sq(struct make *m)
{
	uint8_t in[CX_BYTES(create_sq_in)] = { 0 };
	uint32_t ring;
	int rc = uv_ring_umem(m->call, m->qp, "sq_buf_addr", m->drv.sq_buf_addr,
			      (uint64_t)m->qp->qp.sq_entries * WQE_BB, &ring);

	if (!rc)
		rc = make_tis(m);
	if (!rc)
		rc = fill_sq(m, CX_AT(create_sq_in, in, ctx), ring);
	if (rc)
		return rc;
	CX_SET(create_sq_in, in, opcode, CX_OP_CREATE_SQ);
	rc = uv_create(m->call, m->qp, in, sizeof(in), "CREATE_SQ", CX_OP_DESTROY_SQ,
		       &m->qp->qp.sqn);
	return rc ? rc : uv_watch_add(m->qp, CX_SQ, m->qp->qp.sqn);
}

/* ---- receive part ---- */

static int fill_rq(struct make *m, uint8_t *rqc, uint32_t ring)
{
	struct uv_ring r = { .pdn = m->c->pd->num,
			     .ring = ring,
			     .record = m->record,
			     .log_stride = m->drv.rq_wqe_shift,
			     .log_size =
				     31 - (unsigned)__builtin_clz(m->qp->qp.rq_entries) };
	uint8_t *wq = CX_AT(rqc, rqc, wq), format = 0;
	int rc = uv_ts_format(m->call, m->c->recv_cq, "hca.rq_ts_format", &format);
	uint32_t flags = m->c->flags;

	CX_SET(rqc, rqc, vsd, !(flags & IB_UVERBS_QP_CREATE_CVLAN_STRIPPING));
	CX_SET(rqc, rqc, scatter_fcs, !!(flags & IB_UVERBS_QP_CREATE_SCATTER_FCS));
	CX_SET(rqc, rqc, flush_in_error_en, 1);
	CX_SET(rqc, rqc, ts_format, format);
	CX_SET(rqc, rqc, user_index, m->drv.uidx);
	CX_SET(rqc, rqc, cqn, m->c->recv_cq->num);
	CX_SET(wq, wq, wq_type, 1);
	CX_SET(wq, wq, end_padding_mode,
	       !!(flags & IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING));
	uv_fill_wq(wq, &r);
	return rc;
}

/* BLOCK_UNICAST and BLOCK_MULTICAST, as the kernel names the two bits that it sets for these. */
static unsigned self_lb(const struct make *m)
{
	return (m->vendor & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC ? 1u : 0u) |
	       (m->vendor & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC ? 2u : 0u);
}

static void begin_tir(struct make *m, uint8_t *in)
{
	uint8_t *tirc = CX_AT(create_tir_in, in, ctx);

	CX_SET(create_tir_in, in, opcode, CX_OP_CREATE_TIR);
	CX_SET(tirc, tirc, transport_domain, m->call->ctx->tdn);
	CX_SET(tirc, tirc, self_lb_block, self_lb(m));
	CX_SET(tirc, tirc, tunneled_offload_en,
	       !!(m->vendor & MLX5_QP_FLAG_TUNNEL_OFFLOADS));
}

static int make_tir(struct make *m, uint8_t *in, size_t len)
{
	return uv_create(m->call, m->qp, in, len, "CREATE_TIR", CX_OP_DESTROY_TIR,
			 &m->qp->qp.tirn);
}

static int make_direct_tir(struct make *m)
{
	uint8_t in[CX_BYTES(create_tir_in)] = { 0 };

	begin_tir(m, in);
	CX_SET(tirc, CX_AT(create_tir_in, in, ctx), inline_rqn, m->qp->qp.rqn);
	return make_tir(m, in, sizeof(in));
}

static int make_rq(struct make *m)
{
	uint8_t in[CX_BYTES(create_rq_in)] = { 0 };
	uint32_t ring;
	int rc = uv_ring_umem(m->call, m->qp, "buf_addr", m->drv.buf_addr,
			      (uint64_t)m->qp->qp.rq_entries << m->drv.rq_wqe_shift,
			      &ring);

	if (!rc)
		rc = fill_rq(m, CX_AT(create_rq_in, in, ctx), ring);
	if (rc)
		return rc;
	CX_SET(create_rq_in, in, opcode, CX_OP_CREATE_RQ);
	rc = uv_create(m->call, m->qp, in, sizeof(in), "CREATE_RQ", CX_OP_DESTROY_RQ,
		       &m->qp->qp.rqn);
	if (!rc)
		rc = uv_watch_add(m->qp, CX_RQ, m->qp->qp.rqn);
	return rc ? rc : make_direct_tir(m);
}

static int make_plain(struct make *m)
{
	struct uv_qp *qp = &m->qp->qp;
	int rc = uv_umem_of(m->call, m->qp, m->drv.db_addr, 8, 0, &m->record);

	uv_undo_push(m->qp, UV_UNDO_WATCH, 0, 0, NULL);
	if (!rc && qp->sq_entries)
		rc = make_sq(m);
	if (!rc && qp->rq_entries)
		rc = make_rq(m);
	return rc;
}

/* ---- spreading ---- */

#define IPV4  (MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4)
#define IPV6  (MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6)
#define TCP   (MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP)
#define UDP   (MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP)
#define INNER ((uint64_t)1 << 31)

static int check_rss(struct make *m)
{
	const struct mlx5_ib_create_qp_rss *r = &m->rss;
	uint64_t f = r->rx_hash_fields_mask;
	bool tcp = f & TCP, udp = f & UDP, spi = f & MLX5_RX_HASH_IPSEC_SPI;

	if (r->comp_mask)
		return uv_refuse(m->call, EOPNOTSUPP, "comp_mask", "0x%x", r->comp_mask);
	if (f & INNER && !(m->vendor & MLX5_QP_FLAG_TUNNEL_OFFLOADS))
		return uv_refuse(m->call, EOPNOTSUPP, "rx_hash_fields_mask",
				 "inner headers");
	if (r->rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ)
		return uv_refuse(m->call, EOPNOTSUPP, "rx_hash_function", "%u",
				 r->rx_hash_function);
	if (r->rx_key_len != 40)
		return uv_refuse(m->call, EINVAL, "rx_key_len", "%u, not 40",
				 r->rx_key_len);
	if (!f && m->c->table->rwq.log_size)
		return uv_refuse(m->call, EINVAL, "rx_hash_fields_mask",
				 "nothing to spread by");
	if ((f & IPV4 && f & IPV6) || tcp + udp + spi > 1)
		return uv_refuse(m->call, EINVAL, "rx_hash_fields_mask",
				 "0x%llx: two protocols", (unsigned long long)f);
	return 0;
}

/* MLX5_HASH_FIELD_SEL_*: source and destination address, source and destination port, SPI */
static unsigned selected(uint64_t f)
{
	return (f & (MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_SRC_IPV6) ? 1u : 0u) |
	       (f & (MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_DST_IPV6) ? 2u : 0u) |
	       (f & (MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP) ? 4u : 0u) |
	       (f & (MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP) ? 8u : 0u) |
	       (f & MLX5_RX_HASH_IPSEC_SPI ? 16u : 0u);
}

static void fill_rss(const struct make *m, uint8_t *tirc)
{
	uint64_t f = m->rss.rx_hash_fields_mask;
	uint8_t *select = f & INNER ? CX_AT(tirc, tirc, rx_hash_field_selector_inner)
				    : CX_AT(tirc, tirc, rx_hash_field_selector_outer);

	CX_SET(tirc, tirc, disp_type, 1); /* indirect */
	CX_SET(tirc, tirc, indirect_table, m->c->table->num);
	CX_SET(tirc, tirc, rx_hash_fn, 2); /* Toeplitz */
	memcpy(CX_AT(tirc, tirc, rx_hash_toeplitz_key), m->rss.rx_hash_key, 40);
	CX_SET(rx_hash_field_select, select, l3_prot_type, !!(f & IPV6));
	CX_SET(rx_hash_field_select, select, l4_prot_type, !!(f & UDP));
	CX_SET(rx_hash_field_select, select, selected_fields, selected(f));
}

static int make_rss(struct make *m)
{
	uint8_t in[CX_BYTES(create_tir_in)] = { 0 };
	int rc = check_rss(m);

	if (rc)
		return rc;
	m->qp->qp.rss = true;
	begin_tir(m, in);
	fill_rss(m, CX_AT(create_tir_in, in, ctx));
	return make_tir(m, in, sizeof(in));
}

/* ---- all of it ---- */

static int check(struct make *m)
{
	int rc = m->c->table ? read_rss(m) : read_plain(m);

	if (!m->call->ctx->cqe_version)
		return uv_refuse(m->call, EINVAL, "context",
				 "max_cqe_version 0: no raw packet QPs");
	if (!rc)
		rc = check_vendor(m);
	if (!rc)
		rc = check_uidx(m);
	if (!rc)
		rc = check_flags(m);
	if (!rc && m->c->table && m->c->send_cq)
		rc = uv_refuse(m->call, EINVAL, "send_cq",
			       "with a table of receive queues");
	if (!rc && !m->c->table)
		rc = check_plain(m);
	return rc;
}

static void use_all(struct uv_obj *qp, const struct uv_qp_conf *c)
{
	struct uv_obj *used[] = { c->pd, c->send_cq, c->recv_cq, c->table };

	for (size_t i = 0; i < UV_COUNT(used); i++)
		if (used[i])
			uv_obj_use(qp, used[i]);
}

/* Numbers are told to programs that may give commands themselves. */
static void answer(struct make *m)
{
	const struct uv_qp *qp = &m->qp->qp;
	struct mlx5_ib_create_qp_resp *r = &m->resp;

	if (m->qp->uid) {
		r->tirn = qp->tirn;
		r->tisn = qp->tisn;
		r->rqn = qp->rqn;
		r->sqn = qp->sqn;
		if (qp->sq_entries)
			r->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TISN |
					MLX5_IB_CREATE_QP_RESP_MASK_SQN;
		if (qp->rq_entries)
			r->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_RQN;
		if (qp->rq_entries || qp->rss)
			r->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TIRN;
	}
	uv_uhw_out(m->call, r, sizeof(*r));
}

int uv_qp_make(struct uv_call *call, struct uv_obj *qp, struct uv_qp_conf *c)
{
	struct make m = { .call = call, .qp = qp, .c = c };
	int rc = check(&m);

	if (rc)
		return rc;
	use_all(qp, c);
	uv_report_async(qp, c->async);
	rc = c->table ? make_rss(&m) : make_plain(&m);
	if (!rc)
		answer(&m);
	return rc;
}

uint32_t uv_qp_num(const struct uv_obj *qp)
{
	if (qp->qp.rss)
		return 0;
	return qp->qp.sq_entries ? qp->qp.sqn : qp->qp.rqn;
}

/* ---- states ---- */

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR }; /* enum ib_qp_state */

static int rq_to(struct uv_call *call, struct uv_obj *qp, uint8_t to, bool with_counter)
{
	uint8_t rqc[CX_BYTES(rqc)] = { 0 };
	uint64_t mask = 0;
	int rc;

	if (!qp->qp.rq_entries)
		return 0;
	if (with_counter && uv_cap(call->port, "hca.modify_rq_counter_set_id")) {
		mask = UV_RQ_COUNTER;
		CX_SET(rqc, rqc, counter_set_id, call->port->q_counter);
	}
	rc = uv_rq_to(call, qp, qp->qp.rqn, qp->qp.rq_state, to, mask, rqc);
	if (!rc)
		qp->qp.rq_state = to;
	return rc;
}

static int sq_to(struct uv_call *call, struct uv_obj *qp, uint8_t to)
{
	int rc;

	if (!qp->qp.sq_entries)
		return 0;
	rc = uv_sq_to(call, qp, qp->qp.sqn, qp->qp.sq_state, to);
	if (!rc)
		qp->qp.sq_state = to;
	return rc;
}

/* The device may have put a queue in error. */
static int ask(struct uv_call *call, struct uv_obj *qp)
{
	int rc = 0;

	if (qp->qp.sq_entries)
		rc = uv_sq_ask(call, qp, qp->qp.sqn, &qp->qp.sq_state);
	if (!rc && qp->qp.rq_entries)
		rc = uv_rq_ask(call, qp, qp->qp.rqn, &qp->qp.rq_state);
	return rc;
}

/* optab of __mlx5_ib_modify_qp() and the states of modify_raw_packet_qp(). */
static int change(struct uv_call *call, struct uv_obj *qp, uint8_t from, uint8_t to)
{
	int rc = 0;

	if (to == RESET || to == ERR) {
		/* The kernel names the state that it remembers; a program that only sees
		 * an error completion gets its queue back so (DPDK, mlx5_verbs.c). */
		rc = ask(call, qp);
		if (rc)
			return rc;
		rc = rq_to(call, qp, to == ERR ? UV_Q_ERR : UV_Q_RST, false);
		return rc ? rc : sq_to(call, qp, to == ERR ? UV_Q_ERR : UV_Q_RST);
	}
	if (from == RESET && to == INIT) {
		rc = rq_to(call, qp, UV_Q_RDY, true);
		return rc ? rc : sq_to(call, qp, UV_Q_RST);
	}
	if (from == INIT && (to == INIT || to == RTR))
		return 0;
	if ((from == RTR || from == RTS) && to == RTS)
		return sq_to(call, qp, UV_Q_RDY);
	return uv_refuse(call, EINVAL, "qp_state", "no way from %u to %u", from, to);
}

int uv_qp_to(struct uv_call *call, struct uv_obj *qp, uint8_t from, uint8_t to)
{
	int rc = change(call, qp, from, to);

	if (!rc)
		qp->qp.state = to;
	return rc;
}

/* sqrq_trans of sqrq_state_to_qp_state(); KEEP = as the kernel remembers it. The table is for
 * states 0 (RST), 1 (RDY), 3 (ERR); row and column 2 stand for "no such queue". */
int uv_qp_state(struct uv_call *call, struct uv_obj *qp)
{
	enum { KEEP = 100, BAD };
	static const uint8_t table[4][4] = {
		[UV_Q_RST] = { [UV_Q_RST] = RESET,
			       [UV_Q_RDY] = BAD,
			       [2] = RESET,
			       [UV_Q_ERR] = BAD },
		[UV_Q_RDY] = { [UV_Q_RST] = KEEP,
			       [UV_Q_RDY] = KEEP,
			       [2] = KEEP,
			       [UV_Q_ERR] = SQE },
		[2] = { [UV_Q_RST] = KEEP, [UV_Q_RDY] = KEEP, [2] = BAD, [UV_Q_ERR] = KEEP },
		[UV_Q_ERR] = { [UV_Q_RST] = BAD,
			       [UV_Q_RDY] = BAD,
			       [2] = ERR,
			       [UV_Q_ERR] = ERR },
	};
	struct uv_qp *q = &qp->qp;
	uint8_t state;
	int rc = ask(call, qp);

	if (rc)
		return rc;
	state = table[q->rq_entries ? q->rq_state : 2][q->sq_entries ? q->sq_state : 2];
	if (state == BAD)
		return uv_refuse(call, EINVAL, "device", "RQ in state %u, SQ in state %u",
				 q->rq_state, q->sq_state);
	if (state != KEEP)
		q->state = state;
	return 0;
}
