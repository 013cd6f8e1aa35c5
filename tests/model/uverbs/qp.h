/* uverbs/qp.h - raw packet QPs: what m_qp.c asks of qp.c */
#pragma once

#include "uverbs.h"

struct uv_qp_conf {
	struct ib_uverbs_qp_cap cap;
	uint32_t flags; /* enum ib_uverbs_qp_create_flags, without SQ_SIG_ALL */
	struct uv_obj *pd, *send_cq, *recv_cq;
	struct uv_obj *table; /* RWQ_IND_TBL: a QP that only spreads frames */
	struct uv_evfile *async;
};

/* All that mlx5_ib_create_qp() does; the driver's answer included. */
int uv_qp_make(struct uv_call *call, struct uv_obj *qp, struct uv_qp_conf *c);
/* From one state of enum ib_qp_state to another, which core/verbs.c allows. */
int uv_qp_to(struct uv_call *call, struct uv_obj *qp, uint8_t from, uint8_t to);
/* Asks the device. */
int uv_qp_state(struct uv_call *call, struct uv_obj *qp);
uint32_t uv_qp_num(const struct uv_obj *qp);
