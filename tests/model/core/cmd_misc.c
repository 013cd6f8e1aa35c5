/* core/cmd_misc.c - the device, its port, registers; contexts, pages and domains
 *
 * Sources: kernel include/linux/mlx5/mlx5_ifc.h for all mailboxes; the files of each
 * section are named there.
 */
#include "call.h"

#include <stdlib.h>

/* ---- the device ---- */

/* The refusal is what kernel logs show: "QUERY_HCA_CAP(0x100) op_mod(0x40) failed, status bad
 * parameter(0x3), syndrome (0x5add95)". */
static enum cx_status query_hca_cap(struct cx_call *call)
{
	enum { UNKNOWN_GROUP = 0x5add95 };
	static const struct cx_forbidden others[] = {
		CX_FORBIDDEN(query_hca_cap_in, other_function,
			     "capability hca.vport_group_manager is 0"),
		CX_FORBIDDEN(query_hca_cap_in, function_id, "without other_function"),
		{ 0, NULL, NULL },
	};
	const uint8_t *group = cx_cap_group(call->dev, call->op_mod >> 1);
	enum cx_status st = cx_call_forbid(call, call->in, others);

	if (st != CX_ST_OK)
		return st;
	if (!group) {
		st = cx_refuse(call, CX_ST_BAD_PARAM, "query_hca_cap_in.op_mod",
			       "capability group 0x%x is not known", call->op_mod >> 1);
		call->syndrome = UNKNOWN_GROUP;
		return st;
	}
	memcpy(CX_AT(query_hca_cap_out, call->out, capability), group, 4096);
	return CX_ST_OK;
}

/* vsd_contd_psid: the board's name, that of a ConnectX-6 Dx in public ibv_devinfo output. */
static enum cx_status query_adapter(struct cx_call *call)
{
	static const char board[16] = "MT_0000000359";
	uint8_t *block = CX_AT(query_adapter_out, call->out, query_adapter_struct);
	enum cx_status st = cx_call_plain(call);

	if (st != CX_ST_OK)
		return st;
	CX_SET(query_adapter_param_block, block, ieee_vendor_id, 0x02c9);
	CX_SET(query_adapter_param_block, block, vsd_vendor_id, 0x15b3);
	memcpy(CX_AT(query_adapter_param_block, block, vsd_contd_psid), board,
	       sizeof(board));
	return CX_ST_OK;
}

/* Version 1 is the only one that drivers know; source: kernel core/main.c, mlx5_core_set_issi. */
static enum cx_status query_issi(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);

	if (st != CX_ST_OK)
		return st;
	CX_SET(query_issi_out, call->out, current_issi, 1);
	CX_SET(query_issi_out, call->out, supported_issi_dw0, 1 << 1 | 1 << 0);
	return CX_ST_OK;
}

/* The other two keys need capabilities that are off. No queue may use this one here. */
static enum cx_status query_special_contexts(struct cx_call *call)
{
	enum { RESERVED_KEY = 0x700 };
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		CX_SET(query_special_contexts_out, call->out, resd_lkey, RESERVED_KEY);
	return st;
}

static enum cx_status nop(struct cx_call *call)
{
	return cx_call_plain(call);
}

/* ---- the port; kernel core/vport.c ---- */

/* Three mailboxes have the two fields at the same place. */
static enum cx_status own_vport(struct cx_call *call, const char *field)
{
	const uint8_t *in = call->in;

	if (CX_GET(query_vport_state_in, in, other_vport) ||
	    CX_GET(query_vport_state_in, in, vport_number))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, field,
			"another port, but capability hca.vport_group_manager is 0");
	return CX_ST_OK;
}

/* As on the card: first half of the MAC, 03 00, second half. */
static uint64_t guid_of(const uint8_t mac[6])
{
	uint64_t high = cx_be32(mac) >> 8, low = cx_be32(mac + 2) & 0xffffff;

	return high << 40 | UINT64_C(0x0300) << 24 | low;
}

static void put_mac(uint8_t *p, const uint8_t mac[6])
{
	CX_SET(mac_address_layout, p, mac_addr_47_32, cx_be16(mac));
	CX_SET(mac_address_layout, p, mac_addr_31_0, cx_be32(mac + 2));
}

/* The lists are empty: what the kernel wants to hear is a matter of its netdev, a TAP. The MTU
 * is the hardware's; source: kernel en.h, MLX5E_ETH_HARD_MTU. */
static enum cx_status query_nic_vport_context(struct cx_call *call)
{
	enum { L2_BYTES = 22, LIST_VLAN = 2 };
	uint8_t *ctx = CX_AT(query_nic_vport_context_out, call->out, nic_vport_context);
	uint64_t type = CX_GET(query_nic_vport_context_in, call->in, allowed_list_type);
	struct cx_dev *dev = call->dev;
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = own_vport(call, "query_nic_vport_context_in.other_vport");
	if (st == CX_ST_OK && type > LIST_VLAN)
		st = cx_refuse(call, CX_ST_BAD_PARAM,
			       "query_nic_vport_context_in.allowed_list_type",
			       "%u is not known", (unsigned)type);
	if (st != CX_ST_OK)
		return st;
	CX_SET(nic_vport_context, ctx, min_wqe_inline_mode, dev->lim.min_inline_mode);
	CX_SET(nic_vport_context, ctx, mtu, dev->mtu + L2_BYTES);
	CX_SET(nic_vport_context, ctx, system_image_guid,
	       dev->system_image_guid ? dev->system_image_guid : guid_of(dev->mac));
	CX_SET(nic_vport_context, ctx, port_guid, guid_of(dev->mac));
	CX_SET(nic_vport_context, ctx, node_guid, guid_of(dev->mac));
	CX_SET(nic_vport_context, ctx, allowed_list_type, type);
	put_mac(CX_AT(nic_vport_context, ctx, permanent_address), dev->mac);
	return CX_ST_OK;
}

/* op_mod 0 is the function's own port; source: kernel mlx5_ifc.h, MLX5_VPORT_STATE_OP_MOD_*. */
static enum cx_status query_vport_state(struct cx_call *call)
{
	enum { DOWN = 0, UP = 1 };
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = own_vport(call, "query_vport_state_in.other_vport");
	if (st != CX_ST_OK)
		return st;
	CX_SET(query_vport_state_out, call->out, admin_state, UP);
	CX_SET(query_vport_state_out, call->out, state, call->dev->up ? UP : DOWN);
	return CX_ST_OK;
}

static void put_counts(uint8_t *out, const struct cx_vport_count *c,
		       const cx_field at[CX_CAST_COUNT])
{
	for (unsigned i = 0; i < CX_CAST_COUNT; i++) {
		CX_SET(traffic_counter, cx_at(out, at[i]), packets, c->packets[i]);
		CX_SET(traffic_counter, cx_at(out, at[i]), octets, c->octets[i]);
	}
}

static enum cx_status query_vport_counter(struct cx_call *call)
{
	static const cx_field rx[CX_CAST_COUNT] = {
		[CX_UNICAST] = CX_query_vport_counter_out__received_eth_unicast,
		[CX_MULTICAST] = CX_query_vport_counter_out__received_eth_multicast,
		[CX_BROADCAST] = CX_query_vport_counter_out__received_eth_broadcast,
	};
	static const cx_field tx[CX_CAST_COUNT] = {
		[CX_UNICAST] = CX_query_vport_counter_out__transmitted_eth_unicast,
		[CX_MULTICAST] = CX_query_vport_counter_out__transmitted_eth_multicast,
		[CX_BROADCAST] = CX_query_vport_counter_out__transmitted_eth_broadcast,
	};
	uint64_t port = CX_GET(query_vport_counter_in, call->in, port_num);
	struct cx_dev *dev = call->dev;
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = own_vport(call, "query_vport_counter_in.other_vport");
	if (st == CX_ST_OK && port > 1)
		st = cx_refuse(call, CX_ST_BAD_PARAM, "query_vport_counter_in.port_num",
			       "%u, but the function has one port", (unsigned)port);
	if (st != CX_ST_OK)
		return st;
	put_counts(call->out, &dev->vport_rx, rx);
	put_counts(call->out, &dev->vport_tx, tx);
	if (CX_GET(query_vport_counter_in, call->in, clear)) {
		memset(&dev->vport_rx, 0, sizeof(dev->vport_rx));
		memset(&dev->vport_tx, 0, sizeof(dev->vport_tx));
	}
	return CX_ST_OK;
}

/* ---- registers; kernel core/port.c, DPDK mlx5_devx_cmds.c ---- */

enum { OP_MOD_WRITE = 0, OP_MOD_READ = 1 };

/* Mode 0: the free running counter, not the time of day, is the device's default. */
static void read_mtutc(struct cx_dev *dev, uint8_t *p)
{
	uint64_t ns = cx_now_ns(dev);

	CX_SET(register_mtutc, p, time_stamp_mode, 0);
	CX_SET(register_mtutc, p, utc_sec, (uint32_t)(ns / 1000000000));
	CX_SET(register_mtutc, p, utc_nsec, (uint32_t)(ns % 1000000000));
}

static const struct {
	uint32_t id;
	size_t bytes;
	void (*read)(struct cx_dev *dev, uint8_t *p);
} registers[] = {
	{ 0x9055, CX_BYTES(register_mtutc), read_mtutc },
};

static enum cx_status access_register(struct cx_call *call)
{
	uint32_t id = (uint32_t)CX_GET(access_register_in, call->in, register_id);
	size_t room = call->out_len - CX_BYTES(access_register_out);

	if (call->op_mod != OP_MOD_READ)
		return cx_refuse(call, CX_ST_BAD_PARAM, "access_register_in.op_mod",
				 call->op_mod == OP_MOD_WRITE
					 ? "registers cannot be written"
					 : "not known");
	if (CX_GET(access_register_in, call->in, argument))
		return cx_refuse(call, CX_ST_BAD_PARAM, "access_register_in.argument",
				 "0x%x: no register takes one",
				 (unsigned)CX_GET(access_register_in, call->in,
						  argument));
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (registers[i].id != id)
			continue;
		if (room < registers[i].bytes)
			return cx_refuse(call, CX_ST_BAD_OUT_LEN, "out_len",
					 "%zu bytes have no room for register 0x%x",
					 call->out_len, id);
		registers[i].read(call->dev, call->out + CX_BYTES(access_register_out));
		return CX_ST_OK;
	}
	/* Status as in kernel logs of registers that a device does not give away. */
	return cx_refuse(call, CX_ST_BAD_RES, "access_register_in.register_id",
			 "there is no register 0x%x", id);
}

static enum cx_status access_reg(struct cx_call *call)
{
	enum cx_status st = cx_call_kernel(call);

	return st == CX_ST_OK ? access_register(call) : st;
}

static enum cx_status access_register_user(struct cx_call *call)
{
	if (!cx_cap(call->dev, "hca.access_register_user"))
		return cx_refuse(call, CX_ST_BAD_OP, "opcode",
				 "capability hca.access_register_user is 0");
	return access_register(call);
}

/* ---- contexts; kernel hw/mlx5/devx.c ---- */

static enum cx_status create_uctx(struct cx_call *call)
{
	uint32_t cap = (uint32_t)CX_GET(uctx, CX_AT(create_uctx_in, call->in, uctx), cap);
	uint32_t known = cx_cap(call->dev, "hca.uctx_cap");
	enum cx_status st = cx_call_plain(call);
	struct cx_uctx *uctx;

	if (st == CX_ST_OK)
		st = cx_call_kernel(call);
	if (st == CX_ST_OK && cap & ~known)
		st = cx_refuse(call, CX_ST_BAD_PARAM, "uctx.cap",
			       "0x%x is not in capability hca.uctx_cap 0x%x", cap, known);
	if (st != CX_ST_OK)
		return st;
	uctx = calloc(1, sizeof(*uctx));
	if (!uctx)
		return cx_call_no_memory(call);
	uctx->cap = cap;
	st = cx_call_add(call, &uctx->obj, CX_UCTX, "create_uctx_out.uid");
	if (st == CX_ST_OK)
		CX_SET(create_uctx_out, call->out, uid, uctx->obj.num);
	return st;
}

/* Status assumed, as of other objects in use. The kernel closes what a context owns first. */
static enum cx_status destroy_uctx(struct cx_call *call)
{
	uint16_t uid = (uint16_t)CX_GET(destroy_uctx_in, call->in, uctx_uid);
	enum cx_status st = cx_call_kernel(call);
	struct cx_obj *uctx;
	uint32_t n;

	if (st != CX_ST_OK)
		return st;
	uctx = CX_ABOUT(call, CX_UCTX, destroy_uctx_in, uctx_uid, &st);
	if (!uctx)
		return st;
	n = cx_obj_count_uid(call->dev, uid);
	if (n)
		return cx_refuse(call, CX_ST_BAD_RES_STATE, "destroy_uctx_in.uctx_uid",
				 "UCTX 0x%x still owns %u objects", uid, n);
	cx_obj_free(call->dev, uctx);
	return CX_ST_OK;
}

/* A page list names physical pages, which only a front end can turn into bytes: it calls
 * cx_umem_reg() and cx_umem_dereg() instead, and gives the number to the program. */
static enum cx_status no_umem(struct cx_call *call)
{
	return cx_refuse(call, CX_ST_BAD_OP, "opcode", "memory comes by cx_umem_reg()");
}

/* ---- pages and domains ---- */

static enum cx_status alloc(struct cx_call *call, enum cx_obj_type type, size_t bytes,
			    cx_field num, const char *field)
{
	enum cx_status st = cx_call_plain(call);
	struct cx_obj *obj;

	if (st != CX_ST_OK)
		return st;
	obj = calloc(1, bytes);
	if (!obj)
		return cx_call_no_memory(call);
	st = cx_call_add(call, obj, type, field);
	if (st == CX_ST_OK)
		cx_set(call->out, num, obj->num);
	return st;
}

static enum cx_status dealloc(struct cx_call *call, enum cx_obj_type type, cx_field num,
			      const char *field)
{
	enum cx_status st;
	struct cx_obj *obj = cx_call_about(call, type, num, field, &st);

	if (!obj)
		return st;
	st = cx_call_unused(call, obj, field);
	if (st == CX_ST_OK)
		cx_obj_free(call->dev, obj);
	return st;
}

static enum cx_status alloc_uar(struct cx_call *call)
{
	return alloc(call, CX_UAR, sizeof(struct cx_uar), CX_alloc_uar_out__uar,
		     "alloc_uar_out.uar");
}

static enum cx_status dealloc_uar(struct cx_call *call)
{
	return dealloc(call, CX_UAR, CX_dealloc_uar_in__uar, "dealloc_uar_in.uar");
}

static enum cx_status alloc_pd(struct cx_call *call)
{
	return alloc(call, CX_PD, sizeof(struct cx_pd), CX_alloc_pd_out__pd,
		     "alloc_pd_out.pd");
}

static enum cx_status dealloc_pd(struct cx_call *call)
{
	return dealloc(call, CX_PD, CX_dealloc_pd_in__pd, "dealloc_pd_in.pd");
}

static enum cx_status alloc_td(struct cx_call *call)
{
	return alloc(call, CX_TD, sizeof(struct cx_td),
		     CX_alloc_transport_domain_out__transport_domain,
		     "alloc_transport_domain_out.transport_domain");
}

static enum cx_status dealloc_td(struct cx_call *call)
{
	return dealloc(call, CX_TD, CX_dealloc_transport_domain_in__transport_domain,
		       "dealloc_transport_domain_in.transport_domain");
}

/* ---- the table ---- */

/* clang-format off */
#define ROW(opcode, name, in, out, run)                                                  \
	{ (opcode), (name), &cx_layout_##in, &cx_layout_##out, (run) }
#define ROW_PLAIN(opcode, name, in, run) { (opcode), (name), &cx_layout_##in, NULL, (run) }
/* clang-format on */

const struct cx_cmd cx_cmds_misc[] = {
	ROW(0x100, "QUERY_HCA_CAP", query_hca_cap_in, query_hca_cap_out, query_hca_cap),
	ROW(0x101, "QUERY_ADAPTER", query_adapter_in, query_adapter_out, query_adapter),
	ROW(0x10a, "QUERY_ISSI", query_issi_in, query_issi_out, query_issi),
	ROW(0x200, "CREATE_MKEY", create_mkey_in, create_mkey_out, cx_create_mkey),
	ROW(0x201, "QUERY_MKEY", query_mkey_in, query_mkey_out, cx_query_mkey),
	ROW_PLAIN(0x202, "DESTROY_MKEY", destroy_mkey_in, cx_destroy_mkey),
	ROW(0x203, "QUERY_SPECIAL_CONTEXTS", query_special_contexts_in,
	    query_special_contexts_out, query_special_contexts),
	ROW(0x750, "QUERY_VPORT_STATE", query_vport_state_in, query_vport_state_out,
	    query_vport_state),
	ROW(0x754, "QUERY_NIC_VPORT_CONTEXT", query_nic_vport_context_in,
	    query_nic_vport_context_out, query_nic_vport_context),
	ROW(0x770, "QUERY_VPORT_COUNTER", query_vport_counter_in, query_vport_counter_out,
	    query_vport_counter),
	ROW(0x800, "ALLOC_PD", alloc_pd_in, alloc_pd_out, alloc_pd),
	ROW_PLAIN(0x801, "DEALLOC_PD", dealloc_pd_in, dealloc_pd),
	ROW(0x802, "ALLOC_UAR", alloc_uar_in, alloc_uar_out, alloc_uar),
	ROW_PLAIN(0x803, "DEALLOC_UAR", dealloc_uar_in, dealloc_uar),
	ROW(0x805, "ACCESS_REG", access_register_in, access_register_out, access_reg),
	ROW_PLAIN(0x80d, "NOP", nop_in, nop),
	ROW(0x816, "ALLOC_TRANSPORT_DOMAIN", alloc_transport_domain_in,
	    alloc_transport_domain_out, alloc_td),
	ROW_PLAIN(0x817, "DEALLOC_TRANSPORT_DOMAIN", dealloc_transport_domain_in,
		  dealloc_td),
	ROW(0xa04, "CREATE_UCTX", create_uctx_in, create_uctx_out, create_uctx),
	ROW_PLAIN(0xa06, "DESTROY_UCTX", destroy_uctx_in, destroy_uctx),
	ROW(0xa08, "CREATE_UMEM", create_umem_in, create_umem_out, no_umem),
	ROW_PLAIN(0xa0a, "DESTROY_UMEM", destroy_umem_in, no_umem),
	ROW(0xb0c, "ACCESS_REGISTER_USER", access_register_in, access_register_out,
	    access_register_user),
	{ 0, NULL, NULL, NULL, NULL },
};
