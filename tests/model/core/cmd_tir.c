/* core/cmd_tir.c - transport interfaces: TIS (send) and TIR (receive)
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/qp.c (create_raw_packet_qp_tis, _tir,
 * create_rss_raw_qp_tir), DPDK drivers/net/mlx5/mlx5_devx.c (mlx5_devx_tir_attr_set).
 */
#include "call.h"

#include <stdlib.h>

/* ---- TIS ---- */

static const struct cx_forbidden no_in_tis[] = {
	CX_FORBIDDEN(tisc, strict_lag_tx_port_affinity, "capability hca.lag_master is 0"),
	CX_FORBIDDEN(tisc, lag_tx_port_affinity, "capability hca.num_lag_ports is 0"),
	CX_FORBIDDEN(tisc, tls_en, "TLS is not modelled"),
	CX_FORBIDDEN(tisc, pd, "for TLS only"),
	{ 0, NULL, NULL },
};

static enum cx_status create_tis(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_tis_in, call->in, ctx);
	uint32_t tdn = (uint32_t)CX_GET(tisc, ctx, transport_domain);
	enum cx_status st = cx_call_plain(call);
	struct cx_obj *td = NULL;
	struct cx_tis *tis;

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_tis);
	if (st == CX_ST_OK)
		td = cx_call_obj(call, CX_TD, tdn, "tisc.transport_domain", &st);
	if (!td)
		return st;
	tis = calloc(1, sizeof(*tis));
	if (!tis)
		return cx_call_no_memory(call);
	st = cx_call_add(call, &tis->obj, CX_TIS, "create_tis_out.tisn");
	if (st != CX_ST_OK)
		return st;
	tis->td = (struct cx_td *)td;
	memcpy(tis->ctx, ctx, sizeof(tis->ctx));
	cx_use(td);
	CX_SET(create_tis_out, call->out, tisn, tis->obj.num);
	return CX_ST_OK;
}

/* Only the priority can change: the other two bits need bonding. */
static enum cx_status check_modify_tis(struct cx_call *call, const uint8_t *ctx)
{
	static const cx_field fields[] = { CX_tisc__prio, 0 };
	static const struct cx_forbidden no_bits[] = {
		CX_FORBIDDEN(modify_tis_bitmask, lag_tx_port_affinity,
			     "capability hca.num_lag_ports is 0"),
		CX_FORBIDDEN(modify_tis_bitmask, strict_lag_tx_port_affinity,
			     "capability hca.lag_master is 0"),
		{ 0, NULL, NULL },
	};
	const uint8_t *mask = CX_AT(modify_tis_in, call->in, bitmask);
	bool prio = CX_GET(modify_tis_bitmask, mask, prio);
	enum cx_status st = cx_call_forbid(call, mask, no_bits);

	if (st == CX_ST_OK && !prio)
		st = cx_refuse(call, CX_ST_BAD_PARAM, "modify_tis_bitmask.prio",
			       "nothing selected");
	return st == CX_ST_OK ? cx_call_only(call, &cx_layout_tisc, ctx, fields) : st;
}

static enum cx_status modify_tis(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_tis_in, call->in, ctx);
	enum cx_status st;
	struct cx_tis *tis =
		(struct cx_tis *)CX_ABOUT(call, CX_TIS, modify_tis_in, tisn, &st);

	if (!tis)
		return st;
	if (!cx_cap(call->dev, "hca.modify_tis"))
		return cx_refuse(call, CX_ST_BAD_PARAM, "opcode",
				 "capability hca.modify_tis is 0");
	st = check_modify_tis(call, ctx);
	if (st == CX_ST_OK)
		CX_SET(tisc, tis->ctx, prio, CX_GET(tisc, ctx, prio));
	return st;
}

static enum cx_status query_tis(struct cx_call *call)
{
	enum cx_status st;
	struct cx_tis *tis =
		(struct cx_tis *)CX_ABOUT(call, CX_TIS, query_tis_in, tisn, &st);

	if (!tis)
		return st;
	memcpy(CX_AT(query_tis_out, call->out, tis_context), tis->ctx, sizeof(tis->ctx));
	return CX_ST_OK;
}

static enum cx_status destroy_tis(struct cx_call *call)
{
	enum cx_status st;
	struct cx_tis *tis =
		(struct cx_tis *)CX_ABOUT(call, CX_TIS, destroy_tis_in, tisn, &st);

	if (!tis)
		return st;
	st = cx_call_unused(call, &tis->obj, "destroy_tis_in.tisn");
	if (st != CX_ST_OK)
		return st;
	cx_unuse(&tis->td->obj);
	cx_obj_free(call->dev, &tis->obj);
	return CX_ST_OK;
}

/* ---- TIR: hashing ---- */

/* Source and destination address, source and destination port; the fifth, SPI, is not
 * modelled. Source: DPDK mlx5_prm.h, MLX5_RX_HASH_FIELD_SELECT_SELECTED_FIELDS_*. */
#define SELECTABLE 0xf

static enum cx_status check_selector(struct cx_call *call, const uint8_t *select)
{
	uint64_t fields = CX_GET(rx_hash_field_select, select, selected_fields);

	if (fields & ~(uint64_t)SELECTABLE)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "rx_hash_field_select.selected_fields",
				 "0x%llx: only 0x%x can be hashed",
				 (unsigned long long)fields, SELECTABLE);
	return CX_ST_OK;
}

/* A hash of the inner header needs tunneled_offload_en (kernel qp.c), which is off. */
static enum cx_status check_hash(struct cx_call *call, const uint8_t *ctx)
{
	const uint8_t *inner = CX_AT(tirc, ctx, rx_hash_field_selector_inner);
	uint64_t fn = CX_GET(tirc, ctx, rx_hash_fn);

	if (fn > CX_HASH_TOEPLITZ)
		return cx_refuse(call, CX_ST_BAD_PARAM, "tirc.rx_hash_fn",
				 "%llu is not known", (unsigned long long)fn);
	if (cx_be32(inner))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "tirc.rx_hash_field_selector_inner",
				 "0x%x: inner headers are not modelled", cx_be32(inner));
	if (CX_GET(tirc, ctx, rx_hash_symmetric) &&
	    (fn != CX_HASH_TOEPLITZ || !call->dev->lim.symmetric_hash))
		return cx_refuse(call, CX_ST_BAD_PARAM, "tirc.rx_hash_symmetric",
				 "with hash function %llu", (unsigned long long)fn);
	return check_selector(call, CX_AT(tirc, ctx, rx_hash_field_selector_outer));
}

static void take_hash(struct cx_tir *tir, const uint8_t *ctx)
{
	tir->fn = (enum cx_rx_hash_fn)CX_GET(tirc, ctx, rx_hash_fn);
	tir->symmetric = CX_GET(tirc, ctx, rx_hash_symmetric);
	memcpy(tir->key, CX_AT(tirc, ctx, rx_hash_toeplitz_key), sizeof(tir->key));
	tir->outer_select = cx_be32(CX_AT(tirc, ctx, rx_hash_field_selector_outer));
	tir->inner_select = cx_be32(CX_AT(tirc, ctx, rx_hash_field_selector_inner));
}

/* ---- CREATE_TIR ---- */

enum { DISP_DIRECT = 0, DISP_INDIRECT = 1 };

static const struct cx_forbidden no_in_tir[] = {
	CX_FORBIDDEN(tirc, packet_merge_mask, "capability eth.lro_cap is 0"),
	CX_FORBIDDEN(tirc, lro_timeout_period_usecs, "capability eth.lro_cap is 0"),
	CX_FORBIDDEN(tirc, lro_max_ip_payload_size, "capability eth.lro_cap is 0"),
	CX_FORBIDDEN(tirc, tunneled_offload_en,
		     "capabilities eth.tunnel_stateless_* are 0"),
	{ 0, NULL, NULL },
};

/* Neither drivers set these in a direct TIR nor would they mean anything (assumed refused). */
static const cx_field direct_fields[] = {
	CX_tirc__disp_type,
	CX_tirc__inline_rqn,
	CX_tirc__self_lb_block,
	CX_tirc__transport_domain,
	0,
};

static enum cx_status take_direct(struct cx_call *call, const uint8_t *ctx,
				  struct cx_tir *tir)
{
	uint32_t rqn = (uint32_t)CX_GET(tirc, ctx, inline_rqn);
	enum cx_status st = cx_call_only(call, &cx_layout_tirc, ctx, direct_fields);

	if (st == CX_ST_OK)
		tir->rq = (struct cx_rq *)cx_call_obj(call, CX_RQ, rqn, "tirc.inline_rqn",
						      &st);
	return st;
}

static enum cx_status take_indirect(struct cx_call *call, const uint8_t *ctx,
				    struct cx_tir *tir)
{
	uint32_t rqtn = (uint32_t)CX_GET(tirc, ctx, indirect_table);
	enum cx_status st = check_hash(call, ctx);

	if (st == CX_ST_OK && CX_GET(tirc, ctx, inline_rqn))
		st = cx_refuse(call, CX_ST_BAD_PARAM, "tirc.inline_rqn",
			       "0x%x, but disp_type is indirect",
			       (unsigned)CX_GET(tirc, ctx, inline_rqn));
	if (st == CX_ST_OK)
		tir->rqt = (struct cx_rqt *)cx_call_obj(call, CX_RQT, rqtn,
							"tirc.indirect_table", &st);
	take_hash(tir, ctx);
	return st;
}

/* Domain 0 is taken without having been allocated: DPDK's driver makes the TIR of its drop
 * queue before it knows a domain (mlx5_devx_tir_attr_set(): sh->tdn is set with the first
 * send queue), and that works on cards. */
static enum cx_status take_domain(struct cx_call *call, const uint8_t *ctx,
				  struct cx_tir *tir)
{
	uint32_t tdn = (uint32_t)CX_GET(tirc, ctx, transport_domain);
	enum cx_status st = CX_ST_OK;

	if (tdn)
		tir->td = (struct cx_td *)cx_call_obj(call, CX_TD, tdn,
						      "tirc.transport_domain", &st);
	return st;
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx,
				   struct cx_tir *tir)
{
	uint64_t disp = CX_GET(tirc, ctx, disp_type);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_tir);
	if (st == CX_ST_OK && disp > DISP_INDIRECT)
		st = cx_refuse(call, CX_ST_BAD_PARAM, "tirc.disp_type",
			       "%llu is not known", (unsigned long long)disp);
	if (st == CX_ST_OK)
		st = take_domain(call, ctx, tir);
	if (st != CX_ST_OK)
		return st;
	tir->self_lb_block = (uint8_t)CX_GET(tirc, ctx, self_lb_block);
	return disp == DISP_DIRECT ? take_direct(call, ctx, tir)
				   : take_indirect(call, ctx, tir);
}

static struct cx_obj *target_of(const struct cx_tir *tir)
{
	return tir->rq ? &tir->rq->obj : &tir->rqt->obj;
}

static enum cx_status create_tir(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_tir_in, call->in, ctx);
	struct cx_tir *tir = calloc(1, sizeof(*tir));
	enum cx_status st;

	if (!tir)
		return cx_call_no_memory(call);
	st = check_create(call, ctx, tir);
	if (st != CX_ST_OK) {
		free(tir);
		return st;
	}
	st = cx_call_add(call, &tir->obj, CX_TIR, "create_tir_out.tirn");
	if (st != CX_ST_OK)
		return st;
	memcpy(tir->ctx, ctx, sizeof(tir->ctx));
	if (tir->td)
		cx_use(&tir->td->obj);
	cx_use(target_of(tir));
	cx_rss_prepare(tir);
	CX_SET(create_tir_out, call->out, tirn, tir->obj.num);
	return CX_ST_OK;
}

/* ---- MODIFY_TIR ---- */

static const cx_field hash_fields[] = {
	CX_tirc__rx_hash_symmetric,
	CX_tirc__rx_hash_fn,
	CX_tirc__rx_hash_toeplitz_key,
	CX_tirc__rx_hash_field_selector_outer,
	CX_tirc__rx_hash_field_selector_inner,
};
#define N_HASH_FIELDS (sizeof(hash_fields) / sizeof(hash_fields[0]))

struct selected {
	bool hash, table, self_lb;
};

static enum cx_status check_selected(struct cx_call *call, const uint8_t *ctx,
				     const struct selected *sel)
{
	cx_field fields[N_HASH_FIELDS + 3] = { 0 };
	unsigned n = 0;

	for (size_t i = 0; sel->hash && i < N_HASH_FIELDS; i++)
		fields[n++] = hash_fields[i];
	if (sel->table)
		fields[n++] = CX_tirc__indirect_table;
	if (sel->self_lb)
		fields[n++] = CX_tirc__self_lb_block;
	return cx_call_only(call, &cx_layout_tirc, ctx, fields);
}

static enum cx_status check_modify(struct cx_call *call, const uint8_t *ctx,
				   const struct cx_tir *tir, const struct selected *sel)
{
	const uint8_t *mask = CX_AT(modify_tir_in, call->in, bitmask);
	enum cx_status st;

	if (CX_GET(modify_tir_bitmask, mask, packet_merge))
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_tir_bitmask.packet_merge",
				 "capability eth.lro_cap is 0");
	if (sel->self_lb && !cx_cap(call->dev, "eth.self_lb_en_modifiable"))
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_tir_bitmask.self_lb_en",
				 "capability eth.self_lb_en_modifiable is 0");
	if (tir->rq && (sel->hash || sel->table))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 sel->hash ? "modify_tir_bitmask.hash"
					   : "modify_tir_bitmask.indirect_table",
				 "TIR 0x%x is direct", tir->obj.num);
	st = check_selected(call, ctx, sel);
	return st == CX_ST_OK && sel->hash ? check_hash(call, ctx) : st;
}

static void put_hash(struct cx_tir *tir, const uint8_t *ctx)
{
	for (size_t i = 0; i < N_HASH_FIELDS; i++) {
		cx_field f = hash_fields[i];

		if (cx_field_width(f) > 32)
			memcpy(cx_at(tir->ctx, f), cx_at(ctx, f), cx_field_width(f) / 8);
		else
			cx_set(tir->ctx, f, cx_get(ctx, f));
	}
	take_hash(tir, ctx);
	cx_rss_prepare(tir);
}

static void put_table(struct cx_tir *tir, struct cx_obj *rqt)
{
	cx_unuse(&tir->rqt->obj);
	cx_use(rqt);
	tir->rqt = (struct cx_rqt *)rqt;
	CX_SET(tirc, tir->ctx, indirect_table, rqt->num);
}

static void change(struct cx_tir *tir, const uint8_t *ctx, const struct selected *sel,
		   struct cx_obj *rqt)
{
	if (sel->hash)
		put_hash(tir, ctx);
	if (sel->table)
		put_table(tir, rqt);
	if (sel->self_lb) {
		tir->self_lb_block = (uint8_t)CX_GET(tirc, ctx, self_lb_block);
		CX_SET(tirc, tir->ctx, self_lb_block, tir->self_lb_block);
	}
}

static enum cx_status modify_tir(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_tir_in, call->in, ctx);
	const uint8_t *mask = CX_AT(modify_tir_in, call->in, bitmask);
	struct selected sel = {
		.hash = CX_GET(modify_tir_bitmask, mask, hash),
		.table = CX_GET(modify_tir_bitmask, mask, indirect_table),
		.self_lb = CX_GET(modify_tir_bitmask, mask, self_lb_en),
	};
	uint32_t rqtn = (uint32_t)CX_GET(tirc, ctx, indirect_table);
	enum cx_status st;
	struct cx_tir *tir =
		(struct cx_tir *)CX_ABOUT(call, CX_TIR, modify_tir_in, tirn, &st);
	struct cx_obj *rqt = NULL;

	if (!tir)
		return st;
	st = check_modify(call, ctx, tir, &sel);
	if (st == CX_ST_OK && sel.table)
		rqt = cx_call_obj(call, CX_RQT, rqtn, "tirc.indirect_table", &st);
	if (st == CX_ST_OK)
		change(tir, ctx, &sel, rqt);
	return st;
}

/* ---- QUERY_TIR, DESTROY_TIR ---- */

static enum cx_status query_tir(struct cx_call *call)
{
	enum cx_status st;
	struct cx_tir *tir =
		(struct cx_tir *)CX_ABOUT(call, CX_TIR, query_tir_in, tirn, &st);

	if (!tir)
		return st;
	memcpy(CX_AT(query_tir_out, call->out, tir_context), tir->ctx, sizeof(tir->ctx));
	return CX_ST_OK;
}

static enum cx_status destroy_tir(struct cx_call *call)
{
	enum cx_status st;
	struct cx_tir *tir =
		(struct cx_tir *)CX_ABOUT(call, CX_TIR, destroy_tir_in, tirn, &st);

	if (!tir)
		return st;
	st = cx_call_unused(call, &tir->obj, "destroy_tir_in.tirn");
	if (st != CX_ST_OK)
		return st;
	if (tir->td)
		cx_unuse(&tir->td->obj);
	cx_unuse(target_of(tir));
	cx_obj_free(call->dev, &tir->obj);
	return CX_ST_OK;
}

const struct cx_cmd cx_cmds_tir[] = {
	{ 0x900, "CREATE_TIR", &cx_layout_create_tir_in, &cx_layout_create_tir_out,
	  create_tir },
	{ 0x901, "MODIFY_TIR", &cx_layout_modify_tir_in, NULL, modify_tir },
	{ 0x902, "DESTROY_TIR", &cx_layout_destroy_tir_in, NULL, destroy_tir },
	{ 0x903, "QUERY_TIR", &cx_layout_query_tir_in, &cx_layout_query_tir_out,
	  query_tir },
	{ 0x912, "CREATE_TIS", &cx_layout_create_tis_in, &cx_layout_create_tis_out,
	  create_tis },
	{ 0x913, "MODIFY_TIS", &cx_layout_modify_tis_in, NULL, modify_tis },
	{ 0x914, "DESTROY_TIS", &cx_layout_destroy_tis_in, NULL, destroy_tis },
	{ 0x915, "QUERY_TIS", &cx_layout_query_tis_in, &cx_layout_query_tis_out,
	  query_tis },
	{ 0x916, "CREATE_RQT", &cx_layout_create_rqt_in, &cx_layout_create_rqt_out,
	  cx_create_rqt },
	{ 0x917, "MODIFY_RQT", &cx_layout_modify_rqt_in, NULL, cx_modify_rqt },
	{ 0x918, "DESTROY_RQT", &cx_layout_destroy_rqt_in, NULL, cx_destroy_rqt },
	{ 0x919, "QUERY_RQT", &cx_layout_query_rqt_in, &cx_layout_query_rqt_out,
	  cx_query_rqt },
	{ 0, NULL, NULL, NULL, NULL },
};
