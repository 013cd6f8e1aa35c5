/* test/t_devx.c - DevX as a driver uses it: commands, queues, traffic, events, refusals
 *
 *   t_devx [--rounds N] [--mac LAST] [--device N]    all checks, N frames (20000)
 *   t_devx --async     prints "ready", then waits for the link to go down
 *   t_devx --nobody    as a user without privilege, from the open on
 *   t_devx --leave     makes every kind of object and ends without destroying any
 *
 * Public interface of libibverbs and libmlx5 only, so it runs on a card as well if what is
 * sent comes back.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/check.h"
#include "client/prm.h"
#include "client/rig.h"

static unsigned rounds = 20000;
static uint8_t last_mac_byte = 2;

/* ---- traffic ---- */

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed * 31 + i * 7 + (seed >> 8));
}

/* One frame; every field of both completions that says something. */
static bool one_frame(struct rig *r, const struct ibv_mr *mr, uint8_t *from, uint8_t *to,
		      unsigned i)
{
	uint32_t n = 46 + i % 467;
	struct rig_cqe tx = { 0 }, rx = { 0 };
	uint16_t sent = r->sq_pi, posted = r->rq_pi;

	fill(from, n, i);
	memset(to, 0, n + 1);
	rig_post_recv(r, mr->lkey, to, 1000);
	rig_post_send(r, mr->lkey, from, n);
	rig_ring(r, r->uar->reg_addr);
	return rig_poll(&r->tx_cq, &tx) && rig_poll(&r->rx_cq, &rx) &&
	       tx.opcode == PRM_CQE_REQ && tx.wqe_counter == sent &&
	       tx.user_index == 0x111 && rx.opcode == PRM_CQE_RESP_SEND &&
	       rx.wqe_counter == posted && rx.user_index == 0x222 && rx.bytes == 14 + n &&
	       !memcmp(from, to, n) && to[n] == 0;
}

static void traffic(struct rig *r)
{
	uint8_t *p = malloc(4096);
	struct ibv_mr *mr = ibv_reg_mr(r->pd, p, 4096, IBV_ACCESS_LOCAL_WRITE);
	unsigned i = 0;

	if (check(mr, "register"))
		while (i < rounds && one_frame(r, mr, p, p + 2048, i))
			i++;
	check(i == rounds, "%u of %u frames came back, unchanged, with right completions",
	      i, rounds);
	check(mr && !ibv_dereg_mr(mr), "deregister");
	free(p);
}

/* ---- events ---- */

static bool next_event(struct mlx5dv_devx_event_channel *ch, int timeout_ms,
		       uint64_t cookie)
{
	struct mlx5dv_devx_async_event_hdr e = { 0 };
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 &&
	       mlx5dv_devx_get_event(ch, &e, sizeof(e)) == sizeof(e) &&
	       e.cookie == cookie;
}

static bool move_any(struct rig *r)
{
	uint8_t buf[64] = { 0 };

	return !rig_peek(r, r->mr, r->mem, buf, sizeof(buf));
}

static void events(struct rig *r)
{
	const uint64_t cookie = 0xc00c1e;
	uint16_t completion = 0; /* MLX5_EVENT_TYPE_COMP */
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(
		r->ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);

	check(ch && !mlx5dv_devx_subscribe_devx_event(
			    ch, r->rx_cq.obj, sizeof(completion), &completion, cookie),
	      "subscribe to completions");
	if (!ch)
		return;
	check(move_any(r), "a completion nobody asked an event for");
	rig_arm(r, &r->rx_cq, 0);
	check(move_any(r) && next_event(ch, 2000, cookie),
	      "armed: an event with the cookie");
	check(move_any(r), "another completion, not armed");
	rig_arm(r, &r->rx_cq, 1);
	check(move_any(r) && next_event(ch, 2000, cookie), "armed again: an event");
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	check(!next_event(ch, 0, cookie), "two events in all");
	/* The completion is there already when it is asked for. */
	check(move_any(r), "a completion");
	r->rx_cq.ci--;
	rig_arm(r, &r->rx_cq, 2);
	check(next_event(ch, 2000, cookie), "armed behind it: an event at once");
	r->rx_cq.ci++;
	mlx5dv_devx_destroy_event_channel(ch);
}

static void async_commands(struct rig *r)
{
	uint8_t in[16] = { 0 };
	union {
		struct mlx5dv_devx_async_cmd_hdr h;
		uint8_t bytes[sizeof(struct mlx5dv_devx_async_cmd_hdr) + 272];
	} answer = { 0 };
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(r->ctx);

	prm_set(in, PRM_OPCODE, PRM_QUERY_CQ);
	prm_set(in, PRM_NUMBER, r->rx_cq.number);
	check(comp && !mlx5dv_devx_obj_query_async(r->rx_cq.obj, in, sizeof(in), 272, 77,
						   comp),
	      "a command to be answered later");
	check(comp && !mlx5dv_devx_get_async_cmd_comp(comp, &answer.h, sizeof(answer)) &&
		      answer.h.wr_id == 77 &&
		      prm_get(answer.h.out_data, PRM_STATUS) == 0 &&
		      prm_get(answer.h.out_data + 16, PRM_CQC_LOG_SIZE) == RIG_LOG_SIZE,
	      "its answer");
	if (comp)
		mlx5dv_devx_destroy_cmd_comp(comp);
}

/* ---- queues that fail ---- */

static bool sq_state_is(struct rig *r, uint8_t state)
{
	uint8_t in[16] = { 0 }, out[PRM_CTX_BYTE + 240] = { 0 };

	prm_set(in, PRM_OPCODE, PRM_QUERY_SQ);
	prm_set(in, PRM_NUMBER, r->sqn);
	return !mlx5dv_devx_obj_query(r->sq, in, sizeof(in), out, sizeof(out)) &&
	       prm_get(out + PRM_CTX_BYTE, PRM_CTX_STATE) == state;
}

static void recover(struct rig *r)
{
	check(sq_state_is(r, PRM_ERR), "the queue is in the error state");
	check(!rig_modify_state(r, r->sq, PRM_MODIFY_SQ, r->sqn, PRM_ERR, PRM_RST),
	      "reset: %s", r->why);
	rig_restart_sq(r);
	check(!rig_modify_state(r, r->sq, PRM_MODIFY_SQ, r->sqn, PRM_RST, PRM_RDY),
	      "and ready");
	check(move_any(r), "it works again");
}

/* @n bytes with @key fail with @syndrome; what was posted behind is flushed. */
static void fails(struct rig *r, const char *what, uint32_t key, const void *p,
		  uint32_t n, uint8_t syndrome)
{
	struct rig_cqe cqe = { 0 };
	uint16_t first = r->sq_pi;

	rig_post_send(r, key, p, n);
	rig_post_send(r, r->mr->lkey, r->mem, 64);
	rig_ring(r, r->uar->reg_addr);
	check(rig_poll(&r->tx_cq, &cqe) && cqe.opcode == PRM_CQE_REQ_ERR &&
		      cqe.syndrome == syndrome && cqe.wqe_counter == first,
	      "%s: opcode %u, syndrome 0x%x", what, cqe.opcode, cqe.syndrome);
	check(rig_poll(&r->tx_cq, &cqe) && cqe.opcode == PRM_CQE_REQ_ERR &&
		      cqe.syndrome == PRM_SYN_FLUSHED,
	      "the next one: opcode %u, syndrome 0x%x", cqe.opcode, cqe.syndrome);
	recover(r);
}

static void bad_sends(struct rig *r)
{
	uint8_t *p = malloc(4096);
	struct ibv_mr *mr = ibv_reg_mr(r->pd, p, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_pd *pd2 = ibv_alloc_pd(r->ctx);
	struct ibv_mr *other = ibv_reg_mr(pd2, p, 4096, IBV_ACCESS_LOCAL_WRITE);

	if (!check(mr && other, "register"))
		return;
	fails(r, "a key that does not exist", mr->lkey + 0x100000, p, 64,
	      PRM_SYN_LOCAL_PROTECTION);
	fails(r, "a key of one bit less", mr->lkey ^ 1, p, 64, PRM_SYN_LOCAL_PROTECTION);
	fails(r, "past the end of the region", mr->lkey, p + 4096 - 63, 64,
	      PRM_SYN_LOCAL_PROTECTION);
	fails(r, "a key of another domain", other->lkey, p, 64, PRM_SYN_LOCAL_PROTECTION);
	fails(r, "a segment of no length", mr->lkey, p, 0, PRM_SYN_LOCAL_LENGTH);
	check(!ibv_dereg_mr(mr) && !ibv_dereg_mr(other) && !ibv_dealloc_pd(pd2),
	      "deregister");
	free(p);
}

/* libmlx5 hands out two registers of one page before it asks for the next page. */
static struct mlx5dv_devx_uar *another_page(struct rig *r,
					    struct mlx5dv_devx_uar *spare[2])
{
	for (unsigned i = 0; i < 2; i++) {
		spare[i] = mlx5dv_devx_alloc_uar(r->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
		if (spare[i] && spare[i]->page_id != r->uar->page_id)
			return spare[i];
	}
	return NULL;
}

/* A send doorbell on the page of another queue is ignored, as a comment in the kernel's devx.c
 * says of the hardware. A second rig's traffic shows that the device has looked since. */
static void wrong_page(struct rig *r)
{
	struct mlx5dv_devx_uar *spare[2] = { 0 }, *other = another_page(r, spare);
	struct rig second;
	struct rig_cqe cqe = { 0 };
	uint8_t buf[64];
	bool ok = !rig_open(&second, r->ctx, (uint8_t)(last_mac_byte + 1));

	if (!check(ok && other, "second pair of queues: %s", second.why)) {
		rig_close(&second);
		return;
	}
	rig_post_recv(r, r->mr->lkey, r->mem + 0x7000, 64);
	rig_post_send(r, r->mr->lkey, r->mem, 64);
	rig_ring(r, other->reg_addr);
	for (unsigned i = 0; i < 100 && ok; i++)
		ok = !rig_peek(&second, second.mr, second.mem, buf, sizeof(buf));
	check(ok, "the second pair works");
	check((r->tx_cq.ring[(r->tx_cq.ci & 15) * 64 + 63] & 1) !=
			      (r->tx_cq.ci >> 4 & 1) ||
		      r->tx_cq.ring[(r->tx_cq.ci & 15) * 64 + 63] >> 4 == 0xf,
	      "a doorbell on another page does nothing");
	rig_ring(r, r->uar->reg_addr);
	check(rig_poll(&r->tx_cq, &cqe) && cqe.opcode == PRM_CQE_REQ &&
		      rig_poll(&r->rx_cq, &cqe),
	      "on its own page it does");
	check(rig_close(&second) == 0, "close the second pair");
	for (unsigned i = 0; i < 2; i++)
		if (spare[i])
			mlx5dv_devx_free_uar(spare[i]);
}

/* ---- commands that are refused ---- */

static void refused(struct rig *r)
{
	uint8_t in[PRM_CREATE_CQ_BYTES] = { 0 }, out[16] = { 0 };
	struct mlx5dv_devx_obj *cq;
	uint32_t n;

	prm_set(in, PRM_OPCODE, PRM_CREATE_CQ);
	check(mlx5dv_devx_general_cmd(r->ctx, in, sizeof(in), out, sizeof(out)) != 0,
	      "creating by the general command");
	prm_set(in, PRM_OPCODE, 0xfff);
	check(mlx5dv_devx_general_cmd(r->ctx, in, 16, out, sizeof(out)) != 0,
	      "an unknown opcode");
	check(!mlx5dv_devx_obj_create(r->ctx, in, 16, out, sizeof(out)),
	      "also as an object");
	cq = rig_create_cq(r, 0x2000, 0x4100, 31, &n);
	check(!cq && errno == EREMOTEIO && prm_get(r->out, PRM_STATUS) &&
		      prm_get(r->out, PRM_SYNDROME),
	      "a queue too large: status and syndrome in the answer");
	cq = rig_create_cq(r, 0x7fc0, 0x4100, 4, &n);
	check(!cq && errno == EREMOTEIO && prm_get(r->out, PRM_STATUS),
	      "a ring that ends behind its umem");
	check(rig_modify_state(r, r->sq, PRM_MODIFY_SQ, r->sqn, PRM_RST, PRM_RDY) &&
		      prm_get(r->out, PRM_STATUS),
	      "a change from a state the queue is not in");
	check(rig_modify_state(r, r->sq, PRM_MODIFY_RQ, r->rqn, PRM_RDY, PRM_ERR) ==
		      EINVAL,
	      "a command about another object than the handle's");
	check(mlx5dv_devx_umem_dereg(r->umem) != 0, "deregistering a umem in use");
	check(ibv_dealloc_pd(r->pd) == EBUSY, "freeing a domain in use");
	check(move_any(r), "after all that the queues work");
}

static void capabilities(struct rig *r)
{
	uint8_t in[16] = { 0 }, out[4112] = { 0 };
	uint32_t set = 0;

	prm_set(in, PRM_OPCODE, PRM_QUERY_HCA_CAP);
	prm_set(in, PRM_OP_MOD, 1);
	check(!mlx5dv_devx_general_cmd(r->ctx, in, sizeof(in), out, sizeof(out)) &&
		      prm_get(out, PRM_STATUS) == 0,
	      "QUERY_HCA_CAP");
	for (unsigned i = 16; i < sizeof(out); i++)
		set += (unsigned)__builtin_popcount(out[i]);
	check(set > 100, "%u capability bits are set", set);
}

/* ---- other ways to run ---- */

static int wait_link_down(struct ibv_context *ctx)
{
	struct ibv_async_event e;
	struct ibv_port_attr port;

	printf("ready\n");
	fflush(stdout);
	if (check(!ibv_get_async_event(ctx, &e), "an asynchronous event")) {
		check(e.event_type == IBV_EVENT_PORT_ERR && e.element.port_num == 1,
		      "port 1 went down: event %d", e.event_type);
		ibv_ack_async_event(&e);
	}
	check(!ibv_query_port(ctx, 1, &port) && port.state == IBV_PORT_DOWN,
	      "so says the port");
	check(!ibv_close_device(ctx), "close");
	return check_end();
}

/* Everything but raw queues and flows; the kernel wants CAP_NET_RAW for those. */
static int as_nobody(unsigned device)
{
	struct ibv_context *ctx;
	struct rig r;
	int ret;

	if (!check_become_nobody())
		return check_end();
	ctx = rig_open_device(device);
	if (!check(ctx, "open for DevX"))
		return check_end();
	ret = rig_open(&r, ctx, last_mac_byte);
	check(r.pd && r.uar && r.umem && r.mr,
	      "domain, doorbell page, umem, memory region");
	check(r.tx_cq.obj && r.rx_cq.obj && r.td, "completion queues, transport domain");
	check(ret && !r.flow, "but no traffic: %s", r.why);
	capabilities(&r);
	check(rig_close(&r) == 0, "destroy");
	check(!ibv_close_device(ctx), "close");
	return check_end();
}

static void all(struct rig *r)
{
	static const struct {
		const char *name;
		void (*run)(struct rig *r);
	} cases[] = {
		{ "capabilities", capabilities },
		{ "traffic", traffic },
		{ "events", events },
		{ "commands answered later", async_commands },
		{ "sends that fail", bad_sends },
		{ "doorbells", wrong_page },
		{ "refusals", refused },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		printf("-- %s\n", cases[i].name);
		cases[i].run(r);
	}
}

int main(int argc, char **argv)
{
	unsigned device = 0;
	bool async = false, nobody = false, leave = false;
	struct ibv_context *ctx;
	struct rig r;

	for (int i = 1; i < argc; i++) {
		async |= !strcmp(argv[i], "--async");
		nobody |= !strcmp(argv[i], "--nobody");
		leave |= !strcmp(argv[i], "--leave");
		if (i + 1 < argc && !strcmp(argv[i], "--rounds"))
			rounds = (unsigned)atoi(argv[++i]);
		else if (i + 1 < argc && !strcmp(argv[i], "--mac"))
			last_mac_byte = (uint8_t)atoi(argv[++i]);
		else if (i + 1 < argc && !strcmp(argv[i], "--device"))
			device = (unsigned)atoi(argv[++i]);
	}
	if (nobody)
		return as_nobody(device);
	ctx = rig_open_device(device);
	if (!check(ctx, "open device %u for DevX", device))
		return check_end();
	if (async)
		return wait_link_down(ctx);
	if (check(!rig_open(&r, ctx, last_mac_byte), "queues: %s", r.why))
		all(&r);
	if (leave)
		_exit(check_end());
	check(rig_close(&r) == 0, "every object is destroyed");
	check(!ibv_close_device(ctx), "close");
	return check_end();
}
