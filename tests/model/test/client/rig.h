/* test/client/rig.h - one send and one receive queue by DevX, for client programs
 *
 * Uses the public interface of libibverbs and libmlx5 only, as a driver would. With a
 * wire that brings back what is sent (`loop`), it makes the *device* read one place of
 * memory and write another:
 *
 *   [ 14 bytes of header, inline | n bytes at `from` ] -> wire -> [ scratch | n bytes at `to` ]
 *
 * so what program and device see of a page can be compared without asking the device.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define RIG_LOG_SIZE 4 /* entries of each ring: few, so that every test wraps them */

struct rig_cq {
	struct mlx5dv_devx_obj *obj;
	uint32_t number, ci;
	uint8_t *ring;
	volatile uint32_t *dbrec; /* [0] consumer index, [1] arm */
};

struct rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct mlx5dv_devx_uar *uar;
	uint8_t *mem; /* rings, doorbell records, scratch */
	struct mlx5dv_devx_umem *umem;
	struct ibv_mr *mr;
	struct rig_cq tx_cq, rx_cq;
	struct mlx5dv_devx_obj *td, *tis, *sq, *rq, *tir;
	struct mlx5dv_flow_matcher *matcher;
	struct ibv_flow *flow;
	uint32_t pdn, tdn, tisn, sqn, rqn, eqn;
	uint16_t sq_pi, rq_pi;
	uint8_t mac[6];
	uint8_t out[16]; /* answer of the last command */
	char why[160];	 /* of the last failure */
};

/* The n-th RDMA device, opened for DevX; NULL with errno. */
struct ibv_context *rig_open_device(unsigned n);

/* @last_mac_byte: where frames to it go; each user of a wire needs its own. Return: 0, or
 * -errno and a half-built rig that rig_close() takes. */
int rig_open(struct rig *r, struct ibv_context *ctx, uint8_t last_mac_byte);
/* Destroys in the right order. Return: number of destroy calls that failed. */
unsigned rig_close(struct rig *r);

struct rig_cqe {
	uint8_t opcode, syndrome;
	uint16_t wqe_counter;
	uint32_t user_index, bytes;
};
/* Waits up to two seconds. False: none came. */
bool rig_poll(struct rig_cq *cq, struct rig_cqe *cqe);

/* One receive buffer: 14 bytes to scratch, the rest to @to. */
void rig_post_recv(struct rig *r, uint32_t key, void *to, uint32_t n);
/* One frame; @n = 0 makes a data segment of length 0, which is not allowed. */
void rig_post_send(struct rig *r, uint32_t key, const void *from, uint32_t n);
void rig_ring(struct rig *r, volatile void *reg); /* send doorbell at that register */

/* Asks for an event at the next completion; @sn counts the events of this queue, 0 .. 3. */
void rig_arm(struct rig *r, struct rig_cq *cq, uint32_t sn);
/* Forgets what is in the send ring, after the queue was reset. */
void rig_restart_sq(struct rig *r);

/* What the device reads at @p. The answer is in @buf, 46 .. 512 bytes.
 * Return: 0, or -EIO with r->why. */
int rig_peek(struct rig *r, const struct ibv_mr *mr, const void *p, void *buf,
	     uint32_t n);
/* Makes the device write @n bytes at @p. */
int rig_poke(struct rig *r, const struct ibv_mr *mr, void *p, const void *buf,
	     uint32_t n);

/* DevX commands with the status in r->out and the reason in r->why. */
int rig_modify_state(struct rig *r, struct mlx5dv_devx_obj *obj, uint16_t op,
		     uint32_t number, uint8_t from, uint8_t to);
struct mlx5dv_devx_obj *rig_create_cq(struct rig *r, uint64_t ring, uint64_t dbrec,
				      uint8_t log_size, uint32_t *number);
