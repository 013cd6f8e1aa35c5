/* test/queue_rig.c - see queue_rig.h */
#include "queue_rig.h"

#include <string.h>

void q_frame(uint8_t *b, uint32_t len, uint32_t seed)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5 };

	memcpy(b, head, sizeof(head));
	for (uint32_t i = sizeof(head); i < len; i++)
		b[i] = (uint8_t)((i * 0x9e3779b1u + seed * 0x85ebca77u) >> 19);
}

struct q_rx q_rx_open(const char *const *caps, const struct d_cq_conf *cq,
		      const struct d_rq_conf *conf)
{
	struct q_rx rx = { .d = d_open(caps) };
	struct d_rq_conf rq = *conf;

	cx_mtu_set(rx.d->dev, 9200);
	rx.cq = rq.cq ? rq.cq : d_cq(rx.d, cq);
	rq.cq = rx.cq;
	rx.rq = d_rq(rx.d, &rq);
	d_all_to(rx.d, d_tir(rx.d, rx.rq->num));
	return rx;
}

void q_rx_close(struct q_rx *rx)
{
	d_close(rx->d);
}

void q_rx_send(struct q_rx *rx, unsigned n, uint32_t len, uint32_t seed)
{
	static uint8_t b[16384];

	for (unsigned i = 0; i < n; i++) {
		q_frame(b, len, seed + i);
		assert_int_equal(cx_rx(rx->d->dev, b, len), CX_RX_QUEUED);
	}
}

struct cx_sq *q_sq(const struct d_sq *sq)
{
	return (struct cx_sq *)cx_obj_get(sq->d->dev, CX_SQ, sq->num, 0);
}

struct cx_rq *q_rq(const struct d_rq *rq)
{
	return (struct cx_rq *)cx_obj_get(rq->d->dev, CX_RQ, rq->num, 0);
}

struct cx_cq *q_cq(const struct d_cq *cq)
{
	return (struct cx_cq *)cx_obj_get(cq->d->dev, CX_CQ, cq->num, 0);
}

/* Byte offsets as in rdma-core's struct mlx5_err_cqe. */
void q_assert_error(const uint8_t *cqe, struct q_error want)
{
	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, want.opcode);
	assert_int_equal(cqe[55], want.syndrome);
	assert_int_equal(cqe[54], want.vendor);
	assert_int_equal(cx_be32(cqe + 56) & 0xffffff, want.qpn);
	assert_int_equal(cx_be16(cqe + 60), want.wqe_counter);
}

bool q_event(const struct direct *d, uint8_t type, uint32_t num)
{
	for (unsigned i = 0; i < d->events.n; i++)
		if (d->events.at[i].type == type && d->events.at[i].obj_num == num)
			return true;
	return false;
}
