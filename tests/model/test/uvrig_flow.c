/* test/uvrig_flow.c - see uvrig.h: flows, and queues that they lead to */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <string.h>

int uvr_matcher(int fd, const struct uvr_match *m, uint8_t criteria, uint16_t priority,
		uint32_t *handle)
{
	struct uvc_attr *type;
	struct uvc c;
	int rc;

	uvc_begin(&c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	uvc_handle(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0);
	uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, m->mask, sizeof(m->mask));
	type = uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &priority,
		      sizeof(priority));
	type->a.attr_data.enum_data.elem_id = MLX5_IB_FLOW_TYPE_NORMAL;
	uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, sizeof(criteria));
	rc = uvc_run(fd, &c);
	*handle = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	return rc;
}

int uvr_flow(int fd, const struct uvr_rule *r, uint32_t *handle)
{
	struct uvc c;
	int rc;

	uvc_begin(&c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0);
	uvc_in(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, r->match->value,
	       sizeof(r->match->value));
	uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, r->matcher);
	if (r->qp)
		uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, *r->qp);
	if (r->devx)
		uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, *r->devx);
	if (r->counter)
		uvc_in(&c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, r->counter, 4);
	if (r->tag)
		uvc_u32(&c, MLX5_IB_ATTR_CREATE_FLOW_TAG, *r->tag);
	if (r->flags)
		uvc_u32(&c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, r->flags);
	rc = uvc_run(fd, &c);
	*handle = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	return rc;
}

int uvr_destroy_flow(int fd, uint32_t handle)
{
	return uvr_destroy(fd, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW,
			   MLX5_IB_ATTR_CREATE_FLOW_HANDLE, handle);
}

void uvr_match_mac(struct uvr_match *m, const uint8_t mac[6])
{
	size_t at = cx_field_offset(CX_fte_match_set_lyr_2_4__dmac_47_16) / 8;

	memset(m, 0, sizeof(*m));
	memset(m->mask + at, 0xff, 6);
	memcpy(m->value + at, mac, 6);
}

void uvr_frame(uint8_t frame[64], const uint8_t mac[6])
{
	static const uint8_t rest[8] = { 0x02, 0, 0, 0, 0, 0xee, 0x88, 0xb5 };

	memset(frame, 0x5a, 64);
	memcpy(frame, mac, 6);
	memcpy(frame + 6, rest, sizeof(rest));
}

/* ---- receivers ---- */

void uvr_receiver(struct uvr_ctx *c, struct uvr_receiver *r, int channel)
{
	memset(r, 0, sizeof(*r));
	r->ctx = c;
	r->bufs = uvc_mem(UVR_BUFS * UVR_BUF_BYTES);
	assert_int_equal(uvr_cq(c, &r->cq, UVR_BUFS, channel), 0);
	assert_int_equal(uvr_qp(c, &r->qp, &r->cq, 16, UVR_BUFS), 0);
	uvr_qp_ready(c, &r->qp);
	assert_int_equal(
		uvr_reg_mr(c, r->bufs, UVR_BUFS * UVR_BUF_BYTES, 1, &r->mr, &r->key), 0);
	for (unsigned i = 0; i < UVR_BUFS; i++)
		uvr_post_recv(&r->qp, r->key, r->bufs + i * UVR_BUF_BYTES, UVR_BUF_BYTES);
}

const uint8_t *uvr_received(struct uvr_receiver *r)
{
	const uint8_t *cqe = uvr_poll(&r->cq);
	unsigned at = (r->cq.ci - 1) % UVR_BUFS;

	if (!cqe)
		return NULL;
	uvr_post_recv(&r->qp, r->key, r->bufs + at * UVR_BUF_BYTES, UVR_BUF_BYTES);
	return cqe;
}

unsigned uvr_drain(struct uvr_receiver *r)
{
	unsigned n = 0;

	while (uvr_received(r))
		n++;
	return n;
}

uint32_t uvr_flow_to(struct uvr_receiver *r, const struct uvr_match *m, uint16_t priority)
{
	struct uvr_rule rule = { .match = m, .qp = &r->qp.handle };
	uint32_t flow;

	assert_int_equal(uvr_matcher(r->ctx->fd, m, 1, priority, &rule.matcher), 0);
	assert_int_equal(uvr_flow(r->ctx->fd, &rule, &flow), 0);
	return flow;
}

unsigned uvr_frame_to(unsigned port, const uint8_t mac[6])
{
	uint8_t frame[64];

	uvr_frame(frame, mac);
	return uvr_rx(port, frame, sizeof(frame));
}
