/* test/test_uverbs_vflow.c - ibv_create_flow(): headers, actions, leftovers, don't-trap
 *
 * Source: Linux 6.1 core/uverbs_cmd.c, ib_uverbs_ex_create_flow(); hw/mlx5/fs.c.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	ETH = 0x20,
	IPV4 = 0x30,
	IPV6 = 0x31,
	ESP = 0x34,
	TCP = 0x40,
	UDP = 0x41,
	VXLAN = 0x50,
	INNER = 0x100,
	TAG = 0x1000,
	ACTION_DROP,
	HANDLE,
	COUNT
};
enum { NORMAL, ALL_DEFAULT, MC_DEFAULT, SNIFFER };
enum { DONT_TRAP = 2, EGRESS = 4 };

static const uint8_t mac1[6] = { 2, 0, 0, 0, 0, 1 }, mac2[6] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t group_mac[6] = { 1, 0, 0x5e, 0, 0, 1 };
static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static struct uvr_ctx a, b;
static struct uvr_receiver of_a, of_b;

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", NULL);
	uvr_open(&a, 0);
	uvr_open(&b, 0);
	uvr_receiver(&a, &of_a, -1);
	uvr_receiver(&b, &of_b, -1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&b);
	uvr_close(&a);
	uvr_stop();
	return 0;
}

static void expect(unsigned verdict, unsigned want, unsigned n_a, unsigned n_b)
{
	assert_int_equal(verdict, want);
	assert_int_equal(uvr_drain(&of_a), n_a);
	assert_int_equal(uvr_drain(&of_b), n_b);
}

/* ---- a flow, header by header ---- */

/* struct ib_uverbs_create_flow without the list at its end, which may not lie in a struct. */
struct flow_req {
	uint32_t comp_mask, qp_handle;
	struct {
		uint32_t type;
		uint16_t size, priority;
		uint8_t num_of_specs, reserved[2], port;
		uint32_t flags;
	} flow_attr;
};
_Static_assert(sizeof(struct flow_req) == sizeof(struct ib_uverbs_create_flow),
	       "as the kernel has it");

struct flow {
	struct flow_req req;
	uint8_t specs[1024];
	size_t extra; /* bytes sent after the list */
	uint32_t handle;
	const void *drv;
	size_t drv_len;
};

static struct flow *begin(struct flow *f, uint32_t type, uint16_t priority,
			  uint32_t flags)
{
	memset(f, 0, sizeof(*f));
	f->req.flow_attr.type = type;
	f->req.flow_attr.priority = priority;
	f->req.flow_attr.flags = flags;
	f->req.flow_attr.port = 1;
	return f;
}

static void add(struct flow *f, uint32_t type, const void *one, size_t n_one,
		const void *two, size_t n_two)
{
	struct ib_uverbs_flow_spec_hdr h = {
		.type = type, .size = (uint16_t)(sizeof(h) + n_one + n_two)
	};
	uint8_t *p = f->specs + f->req.flow_attr.size;

	memcpy(p, &h, sizeof(h));
	if (n_one)
		memcpy(p + sizeof(h), one, n_one);
	if (n_two)
		memcpy(p + sizeof(h) + n_one, two, n_two);
	f->req.flow_attr.size = (uint16_t)(f->req.flow_attr.size + h.size);
	f->req.flow_attr.num_of_specs++;
}

static struct flow *eth(struct flow *f, const uint8_t mac[6])
{
	struct ib_uverbs_flow_eth_filter v = { 0 }, m = { 0 };

	memcpy(v.dst_mac, mac, 6);
	memset(m.dst_mac, 0xff, 6);
	add(f, ETH, &v, sizeof(v), &m, sizeof(m));
	return f;
}

static struct flow *action(struct flow *f, uint32_t type, uint32_t value)
{
	uint32_t data[2] = { value, 0 };

	add(f, type, data, type == ACTION_DROP ? 0 : sizeof(data), NULL, 0);
	return f;
}

static int run(struct uvr_receiver *r, struct flow *f)
{
	uint8_t in[sizeof(f->req) + sizeof(f->specs)];
	struct ib_uverbs_create_flow_resp resp = { 0 };
	size_t specs = f->req.flow_attr.size + f->extra;
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_FLOW |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = in,
			       .in_len = sizeof(f->req) + specs,
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = f->drv,
			       .drv_in_len = f->drv_len };
	struct uvc c;
	int rc;

	f->req.qp_handle = r->qp.handle;
	memcpy(in, &f->req, sizeof(f->req));
	memcpy(in + sizeof(f->req), f->specs, specs);
	rc = uvc_write(r->ctx->fd, &c, &w);
	f->handle = resp.flow_handle;
	return rc;
}

static int end(struct uvr_receiver *r, const struct flow *f)
{
	struct ib_uverbs_destroy_flow req = { .flow_handle = f->handle };
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_DESTROY_FLOW |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req) };
	struct uvc c;

	return uvc_write(r->ctx->fd, &c, &w);
}

/* ---- headers ---- */

static void an_address_is_matched(void **state)
{
	struct flow f;

	(void)state;
	assert_int_equal(run(&of_a, eth(begin(&f, NORMAL, 0, 0), mac1)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_KERNEL, 0, 0);
	assert_int_equal(end(&of_a, &f), 0);
	assert_int_equal(end(&of_a, &f), ENOENT);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
}

/* A frame of @bytes with each of the given fields, and one that differs in one of them. */
static void hits(const uint8_t *frame, size_t len, size_t differ)
{
	uint8_t other[128];

	expect(uvr_rx(0, frame, (uint32_t)len), CX_RX_QUEUED, 1, 0);
	memcpy(other, frame, len);
	other[differ] ^= 1;
	expect(uvr_rx(0, other, (uint32_t)len), CX_RX_KERNEL, 0, 0);
}

static void ipv4_and_udp_are_matched(void **state)
{
	struct ib_uverbs_flow_ipv4_filter v4 = { .dst_ip = htobe32(0x0a000001),
						 .src_ip = htobe32(0x0a000002),
						 .tos = 0x28 },
					  m4 = { .dst_ip = 0xffffffff,
						 .src_ip = 0xffffffff,
						 .tos = 0xff };
	struct ib_uverbs_flow_tcp_udp_filter v = { .dst_port = htobe16(4791),
						   .src_port = htobe16(53) },
					     m = { .dst_port = 0xffff,
						   .src_port = 0xffff };
	static const uint8_t frame[64] = {
		2,    0,    0,	0,  0, 1, 2, 0,	 0,    0,    0, 0xee, 8,  0,
		0x45, 0x28, 0,	50, 0, 0, 0, 0,	 64,   17,   0, 0,    10, 0,
		0,    2,    10, 0,  0, 1, 0, 53, 0x12, 0xb7, 0, 30,   0,  0,
	};
	struct flow f;

	(void)state;
	begin(&f, NORMAL, 0, 0);
	add(&f, IPV4, &v4, sizeof(v4), &m4, sizeof(m4));
	add(&f, UDP, &v, sizeof(v), &m, sizeof(m));
	assert_int_equal(run(&of_a, &f), 0);
	hits(frame, sizeof(frame), 33); /* address of the receiver */
	hits(frame, sizeof(frame), 29);
	hits(frame, sizeof(frame), 15); /* type of service */
	hits(frame, sizeof(frame), 35); /* ports */
	hits(frame, sizeof(frame), 37);
	hits(frame, sizeof(frame), 23); /* protocol 16 */
}

static void ipv6_and_tcp_are_matched(void **state)
{
	struct ib_uverbs_flow_ipv6_filter v6 = { .dst_ip = { [0] = 0x20, [15] = 1 },
						 .flow_label = htobe32(0x12345),
						 .traffic_class = 0x50 },
					  m6 = { .flow_label = htobe32(0xfffff),
						 .traffic_class = 0xff };
	struct ib_uverbs_flow_tcp_udp_filter v = { .dst_port = htobe16(80) },
					     m = { .dst_port = 0xffff };
	static const uint8_t frame[78] = {
		2,    0,	   0,	     0,	       0,	  1,	       2,
		0,    0,	   0,	     0,	       0xee,	  0x86,	       0xdd,
		0x65, 0x01,	   0x23,     0x45,     0,	  24,	       6,
		64,   [38] = 0x20, [53] = 1, [56] = 0, [57] = 80, [66] = 0x50,
	};
	struct flow f;

	(void)state;
	memset(m6.dst_ip, 0xff, 16);
	begin(&f, NORMAL, 0, 0);
	add(&f, IPV6, &v6, sizeof(v6), &m6, sizeof(m6));
	add(&f, TCP, &v, sizeof(v), &m, sizeof(m));
	assert_int_equal(run(&of_a, &f), 0);
	hits(frame, sizeof(frame), 53); /* address */
	hits(frame, sizeof(frame), 57); /* port */
	hits(frame, sizeof(frame), 17); /* label */
}

static void a_vlan_is_matched(void **state)
{
	struct ib_uverbs_flow_eth_filter v = { .vlan_tag = htobe16(0x6123) },
					 m = { .vlan_tag = 0xffff };
	static const uint8_t frame[64] = { 2, 0, 0,    0,    0, 1,    2,    0,	  0,
					   0, 0, 0xee, 0x81, 0, 0x61, 0x23, 0x88, 0xb5 };
	struct flow f;

	(void)state;
	memcpy(v.dst_mac, mac1, 6);
	memset(m.dst_mac, 0xff, 6);
	begin(&f, NORMAL, 0, 0);
	add(&f, ETH, &v, sizeof(v), &m, sizeof(m));
	assert_int_equal(run(&of_a, &f), 0);
	hits(frame, sizeof(frame), 15);			   /* identifier */
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0); /* without one */
}

/* ---- actions ---- */

static void flows_tag_and_drop(void **state)
{
	struct flow f, g;
	const uint8_t *cqe;

	(void)state;
	assert_int_equal(
		run(&of_a, action(eth(begin(&f, NORMAL, 1, 0), mac1), TAG, 0x4711)), 0);
	assert_int_equal(uvr_frame_to(0, mac1), CX_RX_QUEUED);
	cqe = uvr_received(&of_a);
	assert_non_null(cqe);
	assert_int_equal(cx_be32(cqe + 0x38) & 0xffffff, 0x4711);
	assert_int_equal(run(&of_b,
			     action(eth(begin(&g, NORMAL, 0, 0), mac1), ACTION_DROP, 0)),
			 0);
	expect(uvr_frame_to(0, mac1), CX_RX_RULE_DROP, 0, 0);
	assert_int_equal(end(&of_b, &g), 0);
	/* Two tags for the same frames cannot be. */
	assert_int_equal(run(&of_b,
			     action(eth(begin(&g, NORMAL, 1, 0), mac1), TAG, 0x4712)),
			 EEXIST);
	assert_int_equal(
		run(&of_b, action(eth(begin(&g, NORMAL, 1, 0), mac1), TAG, 0x4711)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
}

/* ---- flags and kinds ---- */

static void dont_trap_gives_a_copy_and_goes_on(void **state)
{
	struct flow f, g, h;

	(void)state;
	assert_int_equal(run(&of_a, eth(begin(&f, NORMAL, 0, DONT_TRAP), mac1)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	/* the same priority without the flag comes right after it */
	assert_int_equal(run(&of_b, eth(begin(&g, NORMAL, 0, 0), mac1)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(end(&of_b, &g), 0);
	assert_int_equal(run(&of_b, eth(begin(&g, NORMAL, 8, 0), mac1)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	/* a table comes and goes between the two */
	assert_int_equal(run(&of_b, eth(begin(&h, NORMAL, 4, 0), mac2)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(end(&of_b, &h), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(end(&of_a, &f), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
}

/* A rule that gives a copy says itself what comes next. When it cannot be told of a new table,
 * the table does not stay, and it goes on where it went. */
static void a_copy_that_cannot_be_sent_on_goes_where_it_went(void **state)
{
	struct flow f, g, h;
	uint32_t tables;

	(void)state;
	assert_int_equal(run(&of_a, eth(begin(&f, NORMAL, 0, DONT_TRAP), mac1)), 0);
	assert_int_equal(run(&of_b, eth(begin(&g, NORMAL, 8, 0), mac1)), 0);
	tables = uvr_count(0, CX_FT);
	uvr_fault(0, "cmd op=0x936 status=8 times=1"); /* SET_FLOW_TABLE_ENTRY */
	assert_int_not_equal(run(&of_b, eth(begin(&h, NORMAL, 4, 0), mac2)), 0);
	assert_int_equal(uvr_count(0, CX_FT), tables);
	expect(uvr_frame_to(0, mac2), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(run(&of_b, eth(begin(&h, NORMAL, 4, 0), mac2)), 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	uvr_fault(0, "cmd op=0x936 status=8 times=1");
	assert_int_equal(end(&of_b, &h),
			 0); /* its table stays, for the copy leads there */
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(run(&of_b, eth(begin(&h, NORMAL, 4, 0), mac2)), 0);
	assert_int_equal(end(&of_b, &h), 0);
	assert_int_equal(uvr_count(0, CX_FT), tables);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
}

static void leftovers_are_what_nobody_wants(void **state)
{
	struct flow all, mc, f;
	uint8_t own[6];

	(void)state;
	model_lock(&uvr_m);
	cx_mac_get(uvr_dev(0), own);
	model_unlock(&uvr_m);
	assert_int_equal(run(&of_a, begin(&all, ALL_DEFAULT, 0, 0)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	expect(uvr_frame_to(0, own), CX_RX_KERNEL, 0, 0); /* the netdev's own */
	expect(uvr_frame_to(0, broadcast), CX_RX_KERNEL, 0, 0);
	assert_int_equal(run(&of_b, eth(begin(&f, NORMAL, 15, 0), mac1)), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 1, 0);
	assert_int_equal(run(&of_b, begin(&mc, MC_DEFAULT, 0, 0)), 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 1, 0);
	{
		static const uint8_t some_group[6] = { 3, 0, 0, 0, 0, 9 };

		expect(uvr_frame_to(0, some_group), CX_RX_QUEUED, 1, 1);
	}
	assert_int_equal(end(&of_a, &all), 0);
	expect(uvr_frame_to(0, mac2), CX_RX_KERNEL, 0, 0);
	assert_int_equal(end(&of_b, &mc), 0);
	expect(uvr_frame_to(0, own), CX_RX_KERNEL, 0, 0);
	assert_int_equal(end(&of_b, &f), 0);
	assert_int_equal(uvr_count(0, CX_FTE), 0);
}

static void multicast_has_a_place_after_all(void **state)
{
	struct flow f, g;

	(void)state;
	assert_int_equal(run(&of_a, eth(begin(&f, NORMAL, 0, 0), group_mac)), 0);
	expect(uvr_frame_to(0, group_mac), CX_RX_QUEUED, 1, 0);
	assert_int_equal(run(&of_b, action(begin(&g, NORMAL, 15, 0), ACTION_DROP, 0)), 0);
	expect(uvr_frame_to(0, group_mac), CX_RX_RULE_DROP, 0, 0);
}

/* ---- what is refused ---- */

static void refused(int want, struct flow *f)
{
	unsigned lines = uvr_logged("EX_CREATE_FLOW");

	assert_int_equal(run(&of_a, f), want);
	assert_int_equal(uvr_logged("EX_CREATE_FLOW"), lines + 1);
}

static void kinds_and_flags_are_checked(void **state)
{
	struct flow f;

	(void)state;
	refused(EOPNOTSUPP, begin(&f, SNIFFER, 0, 0));
	refused(EOPNOTSUPP, begin(&f, 4, 0, 0));
	refused(EOPNOTSUPP, eth(begin(&f, NORMAL, 0, EGRESS), mac1));
	refused(EINVAL, begin(&f, ALL_DEFAULT, 0, EGRESS));
	refused(EINVAL, begin(&f, ALL_DEFAULT, 0, DONT_TRAP));
	refused(EINVAL, begin(&f, MC_DEFAULT, 0, DONT_TRAP));
	refused(EINVAL, begin(&f, NORMAL, 0, 8));
	refused(ENOMEM, begin(&f, NORMAL, 16, 0));
	begin(&f, NORMAL, 0, 0)->req.flow_attr.port = 0;
	refused(EINVAL, &f);
	begin(&f, NORMAL, 0, 0)->req.flow_attr.port = 2;
	refused(EINVAL, &f);
	begin(&f, NORMAL, 0, 0)->req.comp_mask = 1;
	refused(EINVAL, &f);
	begin(&f, NORMAL, 0, 0)->req.flow_attr.reserved[1] = 1;
	refused(EINVAL, &f);
}

static void lengths_are_checked(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, NORMAL, 0, 0)->req.flow_attr.num_of_specs = 11;
	refused(EINVAL, &f);
	begin(&f, NORMAL, 0, 0)->req.flow_attr.num_of_specs = 1; /* of no bytes */
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->req.flow_attr.num_of_specs = 0;
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->req.flow_attr.num_of_specs = 2;
	refused(EINVAL, &f);
	action(eth(begin(&f, NORMAL, 0, 0), mac1), TAG, 1)->req.flow_attr.num_of_specs =
		1;
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->specs[6] = 1; /* reserved */
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->specs[4] = 7; /* shorter than its header */
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->specs[4] = 0xff; /* longer than the list */
	refused(EINVAL, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->req.flow_attr.size +=
		8; /* than the command */
	f.extra = (size_t)-8;
	refused(ENOSPC, &f);
	eth(begin(&f, NORMAL, 0, 0), mac1)->extra = 8;
	f.specs[f.req.flow_attr.size + 7] = 1;
	refused(EOPNOTSUPP, &f);
	f.specs[f.req.flow_attr.size + 7] = 0;
	assert_int_equal(run(&of_a, &f), 0);
}

static void headers_are_checked(void **state)
{
	uint8_t one[64] = { 0 }, zero[64] = { 0 };
	struct ib_uverbs_flow_ipv4_filter v4 = { 0 }, ttl = { .ttl = 0xff };
	struct ib_uverbs_flow_ipv6_filter v6 = { 0 }, hops = { .hop_limit = 0xff },
					  label = { .flow_label = htobe32(0x100000) };
	struct ib_uverbs_flow_eth_filter ve = { .ether_type = htobe16(0x0800) },
					 me = { .ether_type = 0xffff };
	struct flow f;

	(void)state;
	add(begin(&f, NORMAL, 0, 0), ESP, zero, 8, zero, 8);
	refused(EOPNOTSUPP, &f);
	add(begin(&f, NORMAL, 0, 0), VXLAN, zero, 4, zero, 4);
	refused(EOPNOTSUPP, &f);
	add(begin(&f, NORMAL, 0, 0), ETH | INNER, zero, 16, zero, 16);
	refused(EOPNOTSUPP, &f);
	add(begin(&f, NORMAL, 0, 0), 0x77, zero, 8, zero, 8);
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), 0x1004, zero, 8, zero, 0);
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), ETH, zero, 0, zero, 0);
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), ETH, zero, 10, zero, 10);
	refused(EINVAL, &f);
	/* a longer header than the kernel knows: its mask must be zero there */
	one[20] = 1;
	add(begin(&f, NORMAL, 0, 0), ETH, zero, 24, one, 24);
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), ETH, one, 24, zero, 24);
	assert_int_equal(run(&of_a, &f), 0);
	assert_int_equal(end(&of_a, &f), 0);
	add(begin(&f, NORMAL, 0, 0), IPV4, &v4, sizeof(v4), &ttl, sizeof(ttl));
	refused(EOPNOTSUPP, &f);
	add(begin(&f, NORMAL, 0, 0), IPV6, &v6, sizeof(v6), &hops, sizeof(hops));
	refused(EOPNOTSUPP, &f);
	add(begin(&f, NORMAL, 0, 0), IPV6, &label, sizeof(label), &v6, sizeof(v6));
	refused(EINVAL, &f);
	/* two headers that cannot be of one packet */
	add(begin(&f, NORMAL, 0, 0), ETH, &ve, sizeof(ve), &me, sizeof(me));
	add(&f, IPV6, &v6, sizeof(v6), &v6, sizeof(v6));
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), TCP, zero, 4, zero, 4);
	add(&f, UDP, zero, 4, zero, 4);
	refused(EINVAL, &f);
}

static void actions_are_checked(void **state)
{
	uint32_t data[4] = { 0 };
	struct mlx5_ib_create_flow drv = { .ncounters_data = 2 };
	struct uvr_qp sender;
	struct uvr_receiver s = { .ctx = &a };
	struct flow f;

	(void)state;
	refused(EINVAL, action(begin(&f, NORMAL, 0, 0), TAG, 0x1000000));
	add(begin(&f, NORMAL, 0, 0), TAG, data, 16, NULL, 0);
	refused(EINVAL, &f);
	add(begin(&f, NORMAL, 0, 0), ACTION_DROP, data, 8, NULL, 0);
	refused(EINVAL, &f);
	refused(ENOENT, action(begin(&f, NORMAL, 0, 0), COUNT, 1));
	refused(ENOENT, action(begin(&f, NORMAL, 0, 0), HANDLE, 1));
	add(begin(&f, NORMAL, 0, 0), HANDLE, data, 16, NULL, 0);
	refused(EOPNOTSUPP, &f);
	begin(&f, NORMAL, 0, 0)->drv = &drv;
	f.drv_len = sizeof(drv);
	refused(EINVAL, &f);
	f.drv_len = 4;
	refused(EOPNOTSUPP, &f);
	drv.ncounters_data = 0;
	f.drv_len = sizeof(drv);
	assert_int_equal(run(&of_a, &f), 0);
	/* what cannot receive is no destination; what drops needs none */
	assert_int_equal(uvr_qp(&a, &sender, &of_a.cq, 16, 0), 0);
	s.qp = sender;
	assert_int_equal(run(&s, eth(begin(&f, NORMAL, 0, 0), mac1)), EINVAL);
	s.qp.handle = a.pd;
	assert_int_not_equal(run(&s, eth(begin(&f, NORMAL, 0, 0), mac1)), 0);
	s.qp.handle = 4711;
	assert_int_equal(run(&s, eth(begin(&f, NORMAL, 0, 0), mac1)), ENOENT);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_matched),
		cmocka_unit_test(ipv4_and_udp_are_matched),
		cmocka_unit_test(ipv6_and_tcp_are_matched),
		cmocka_unit_test(a_vlan_is_matched),
		cmocka_unit_test(flows_tag_and_drop),
		cmocka_unit_test(dont_trap_gives_a_copy_and_goes_on),
		cmocka_unit_test(a_copy_that_cannot_be_sent_on_goes_where_it_went),
		cmocka_unit_test(leftovers_are_what_nobody_wants),
		cmocka_unit_test(multicast_has_a_place_after_all),
		cmocka_unit_test(kinds_and_flags_are_checked),
		cmocka_unit_test(lengths_are_checked),
		cmocka_unit_test(headers_are_checked),
		cmocka_unit_test(actions_are_checked),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
