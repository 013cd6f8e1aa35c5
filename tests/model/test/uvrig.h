/* test/uvrig.h - the device process in this process, and objects of its clients
 *
 *   uvr_start("eth0=none", NULL);       log, ports, poller, server
 *   struct uvr_ctx a;
 *   uvr_open(&a, 0);                    context with DevX, PD, doorbell page
 *   uvr_cq(&a, &cq, 16, NULL); uvr_qp(&a, &qp, &cq, 16, 16);
 *   uvr_close(&a);
 *   uvr_stop();                         asserts that nothing was left
 */
#pragma once

#include "uvclient.h"

#include "../core/cx.h"
#include "../core/layout.h"
#include "../cxmodel/inside.h"
#include "../uverbs/opcode.h"

extern struct model uvr_m;

/* ---- the process ---- */

void uvr_start(const char *port, const char *second); /* NULL = only one */
void uvr_stop(void);
void uvr_catch_sigbus(void); /* first thing in a test that cuts files short */
struct cx_dev *uvr_dev(unsigned port);
/* Until it is so, at most 10 s; asserts. Looks with the model's lock held. */
void uvr_until(bool (*is_so)(void *arg), void *arg, const char *what);
void uvr_until_clients(unsigned n); /* at most so many connections are open */
struct server_stat uvr_stat(void);
uint32_t uvr_count(unsigned port, enum cx_obj_type type);
void uvr_fault(unsigned port, const char *line);
unsigned uvr_logged(const char *text); /* lines with @text so far */
void uvr_step(unsigned port);	       /* until the device has nothing left to do */
enum cx_rx_verdict uvr_rx(unsigned port, const void *frame, uint32_t len);

/* ---- contexts ---- */

struct uvr_ctx {
	int fd;
	uint32_t pd, pdn;      /* handle and number */
	uint32_t uar, uar_num; /* handle and number */
	uint8_t *page;
};

int uvr_get_context(int fd, uint32_t flags); /* GET_CONTEXT; errno */
void uvr_open(struct uvr_ctx *c, unsigned uverbs);
void uvr_close(struct uvr_ctx *c); /* and waits for the server to have seen it */
void uvr_drop(struct uvr_ctx *c);  /* closes our end only */
int uvr_alloc_pd(int fd, uint32_t *handle, uint32_t *num);
int uvr_alloc_uar(int fd, uint32_t *handle, uint32_t *num, uint64_t *offset);
/* Any object with a method that takes nothing but its handle. */
int uvr_destroy(int fd, uint16_t object, uint16_t method, uint16_t id, uint32_t handle);

/* ---- memory ---- */

int uvr_reg_mr(const struct uvr_ctx *c, void *p, size_t len, uint32_t access,
	       uint32_t *handle, uint32_t *key);
int uvr_dereg_mr(int fd, uint32_t handle);
int uvr_reg_umem(int fd, void *p, size_t len, uint32_t access, uint32_t *handle,
		 uint32_t *num);
int uvr_dereg_umem(int fd, uint32_t handle);

/* ---- DevX ---- */

int uvr_create(int fd, void *in, size_t in_len, void *out, size_t out_len,
	       uint32_t *handle);
int uvr_modify(int fd, uint32_t handle, void *in, size_t in_len, void *out,
	       size_t out_len);
int uvr_query(int fd, uint32_t handle, void *in, size_t in_len, void *out,
	      size_t out_len);
int uvr_general(int fd, void *in, size_t in_len, void *out, size_t out_len);
int uvr_devx_destroy(int fd, uint32_t handle);
/* A 16-byte command that makes an object. */
int uvr_alloc(int fd, uint16_t opcode, uint32_t *handle, uint32_t *num);

/* A completion queue that the program makes itself, of 16 entries. */
struct uvr_dcq {
	uint32_t umem, umem_num, handle, cqn, ci, arm_sn;
	uint8_t *ring;
	uint32_t *dbrec;
};
uint32_t uvr_eqn(int fd, uint32_t vector); /* 0 = there is none */
void uvr_dcq_fill(const struct uvr_ctx *c, const struct uvr_dcq *cq, uint8_t *in);
void uvr_dcq(const struct uvr_ctx *c, struct uvr_dcq *cq);
const uint8_t *uvr_dpoll(struct uvr_dcq *cq);
void uvr_darm(const struct uvr_ctx *c, struct uvr_dcq *cq);

/* A receive queue with 16 buffers posted, and a TIR that sends to it. */
struct uvr_drq {
	uint32_t umem, umem_num, mr, key, handle, rqn, td, tdn, tir, tirn;
	uint8_t *mem, *bufs; /* 256 bytes each */
};
void uvr_drq(const struct uvr_ctx *c, struct uvr_drq *rq, uint32_t cqn);
/* By hand and in reverse, so that the queue's number and key can be tried afterwards. */
void uvr_drq_destroy(const struct uvr_ctx *c, const struct uvr_drq *rq);

/* ---- verbs ---- */

struct uvr_cq {
	uint32_t handle, cqn, entries, ci, arm_sn;
	uint8_t *ring;
	uint32_t *dbrec;
};
int uvr_comp_channel(int fd); /* its descriptor */
int uvr_try_comp_channel(int fd, int *channel);
int uvr_async_fd(int fd);
/* @channel: a completion channel, -1 = none */
int uvr_cq(struct uvr_ctx *c, struct uvr_cq *cq, uint32_t entries, int channel);
int uvr_destroy_cq(int fd, uint32_t handle, struct ib_uverbs_destroy_cq_resp *resp);
const uint8_t *uvr_poll(struct uvr_cq *cq); /* next completion, NULL = none yet */
/* For the next event; the one before must have come. */
void uvr_arm(const struct uvr_ctx *c, struct uvr_cq *cq);

struct uvr_qp {
	uint32_t handle, num;
	struct mlx5_ib_create_qp_resp resp;
	uint32_t n_sq, n_rq, sq_pi, rq_pi;
	uint8_t *sq, *rq;
	uint32_t *dbrec;
};
/* 0 entries = no such queue */
int uvr_qp(struct uvr_ctx *c, struct uvr_qp *qp, const struct uvr_cq *cq, uint32_t n_sq,
	   uint32_t n_rq);
int uvr_modify_qp(int fd, uint32_t handle, uint32_t mask, uint8_t state);
void uvr_qp_ready(struct uvr_ctx *c, const struct uvr_qp *qp); /* to RTS */
int uvr_destroy_qp(int fd, uint32_t handle, uint32_t *events);
void uvr_post_recv(struct uvr_qp *qp, uint32_t key, const void *p, uint32_t len);
void uvr_post_send(const struct uvr_ctx *c, struct uvr_qp *qp, uint32_t key,
		   const void *p, uint32_t len);

/* A receive queue by itself, with @entries buffers posted that have UVR_BUF_BYTES each. */
struct uvr_wq {
	uint32_t handle, num, entries;
	uint8_t *ring;
	struct ib_uverbs_ex_create_wq req; /* may be changed between _fill and _make */
	struct mlx5_ib_create_wq drv;
};
void uvr_wq_fill(struct uvr_ctx *c, struct uvr_wq *wq, const struct uvr_cq *cq,
		 uint32_t entries);
int uvr_wq_make(struct uvr_ctx *c, struct uvr_wq *wq);
void uvr_wq_post(struct uvr_wq *wq, uint32_t key, uint8_t *bufs);
int uvr_modify_wq(int fd, uint32_t handle, uint32_t mask, uint32_t state);
int uvr_destroy_wq(int fd, uint32_t handle, uint32_t *events);
int uvr_table(int fd, const uint32_t *wq, uint32_t log_size, uint32_t *handle);
int uvr_destroy_table(int fd, uint32_t handle);

/* ---- flows ---- */

struct uvr_match {
	uint8_t mask[512], value[512];
};
int uvr_matcher(int fd, const struct uvr_match *m, uint8_t criteria, uint16_t priority,
		uint32_t *handle);
struct uvr_rule {
	uint32_t matcher;
	const struct uvr_match *match;
	const uint32_t *qp, *devx, *counter, *tag; /* NULL = not given */
	uint32_t flags;
};
int uvr_flow(int fd, const struct uvr_rule *r, uint32_t *handle);
int uvr_destroy_flow(int fd, uint32_t handle);
/* Matches on the destination address. */
void uvr_match_mac(struct uvr_match *m, const uint8_t mac[6]);
/* A frame of 64 bytes from 02:..:ee to this address. */
void uvr_frame(uint8_t frame[64], const uint8_t mac[6]);

/* ---- receivers: a CQ and a QP with buffers posted ---- */

#define UVR_BUFS      64u
#define UVR_BUF_BYTES 256u

struct uvr_receiver {
	struct uvr_ctx *ctx;
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint32_t mr, key;
	uint8_t *bufs;
};
void uvr_receiver(struct uvr_ctx *c, struct uvr_receiver *r, int channel);
const uint8_t *uvr_received(struct uvr_receiver *r); /* next completion; posts again */
unsigned uvr_drain(struct uvr_receiver *r);	     /* how many there were */
/* A flow with a matcher of its own; the handle. */
uint32_t uvr_flow_to(struct uvr_receiver *r, const struct uvr_match *m,
		     uint16_t priority);
unsigned uvr_frame_to(unsigned port, const uint8_t mac[6]); /* enum cx_rx_verdict */
