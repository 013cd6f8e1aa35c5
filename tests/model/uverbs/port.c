/* uverbs/port.c - what the kernel keeps per device while no client is there
 *
 * A user context that asks for others, a queue counter for receive queues made by
 * verbs, and the flow tables (fs.c). Source: Linux 6.1 hw/mlx5/devx.c
 * mlx5_ib_devx_init(), counters.c.
 */
#include "uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

static int new_uctx(struct uv_port *p)
{
	uint8_t in[CX_BYTES(create_uctx_in)] = { 0 }, out[CX_BYTES(create_uctx_out)];
	int rc;

	CX_SET(create_uctx_in, in, opcode, CX_OP_CREATE_UCTX);
	rc = uv_exec(p, 0, in, sizeof(in), out, sizeof(out));
	if (!rc)
		p->devx_uid = (uint16_t)CX_GET(create_uctx_out, out, uid);
	return rc;
}

static int new_q_counter(struct uv_port *p)
{
	uint32_t num;
	int rc = uv_exec_alloc(p, CX_UID_SHARED, CX_OP_ALLOC_Q_COUNTER, &num);

	if (!rc)
		p->q_counter = (uint8_t)num;
	return rc;
}

/* What the device would not give back is forgotten; it must not touch that memory again. */
static void forget_orphans(struct uv_port *p)
{
	struct uv_obj *obj, *next;

	if (p->orphan)
		cx_hold(p->dev, true);
	for (obj = p->orphan; obj; obj = next) {
		next = obj->older;
		uv_obj_free(obj);
	}
}

static void free_port(struct uv_port *p)
{
	uv_orphans_retry(p);
	uv_fs_free(p);
	if (p->q_counter)
		uv_exec_num(p, CX_UID_SHARED, CX_OP_DEALLOC_Q_COUNTER, p->q_counter);
	if (p->devx_uid)
		uv_exec_uctx_free(p, p->devx_uid);
	forget_orphans(p); /* the device is about to go: no command from here on */
	free(p);
}

int server_port_add(struct model_port *port)
{
	struct uv_port *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->port = port;
	p->dev = port->dev;
	rc = uv_eqns(p);
	if (!rc)
		rc = new_uctx(p);
	if (!rc)
		rc = new_q_counter(p);
	if (!rc)
		rc = uv_fs_new(p);
	if (rc) {
		model_log(port->model,
			  "%s: the kernel's own objects could not be made: %s",
			  port->rdma_name, strerror(-rc));
		free_port(p);
		return rc;
	}
	port->server = p;
	return 0;
}

int server_port_del(struct model_port *port)
{
	struct uv_port *p = port->server;

	if (!p)
		return 0;
	if (p->ctx)
		return -EBUSY;
	port->server = NULL;
	free_port(p);
	return 0;
}

static void add_ctx(const struct uv_ctx *ctx, struct server_stat *st)
{
	st->clients++;
	st->handles += ctx->n_objs;
	st->mappings += ctx->n_maps;
	st->mapped_bytes += ctx->mapped_bytes;
	st->event_fds += ctx->n_evfiles;
}

void server_stat(struct model *m, struct server_stat *st)
{
	*st = (struct server_stat){ 0 };
	for (unsigned i = 0; i < m->n_ports; i++) {
		const struct uv_port *p = m->port[i].dev ? m->port[i].server : NULL;

		if (!p)
			continue;
		for (const struct uv_ctx *ctx = p->ctx; ctx; ctx = ctx->next_of_port)
			add_ctx(ctx, st);
		for (const struct uv_obj *obj = p->orphan; obj; obj = obj->older)
			st->handles++;
	}
}
