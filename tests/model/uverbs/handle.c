/* uverbs/handle.c - handles of a context, and how each is undone
 *
 *   fresh -commit-> in the list -destroy-> gone
 *     |                  |
 *     +---abort---+------+- context closed -> undone, newest first
 *                 |
 *                 +- what the device will not let go of -> orphan of the port
 *
 * Handles are the lowest free numbers from 0, as the kernel's xarray gives them.
 * Source: Linux 6.1 drivers/infiniband/core/rdma_core.c; the use counts (usecnt)
 * are those of core/verbs.c and uverbs_cmd.c.
 */
#include "uverbs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opcode.h"

#define MAX_HANDLES (1u << 20)
#define CLOSE_BATCH 64 /* objects undone at a time before others get the lock */

static const struct {
	uint16_t type;
	const char *name;
} names[] = {
	{ UVERBS_OBJECT_DEVICE, "context" },
	{ UVERBS_OBJECT_PD, "PD" },
	{ UVERBS_OBJECT_CQ, "CQ" },
	{ UVERBS_OBJECT_QP, "QP" },
	{ UVERBS_OBJECT_SRQ, "SRQ" },
	{ UVERBS_OBJECT_MR, "MR" },
	{ UVERBS_OBJECT_FLOW, "FLOW" },
	{ UVERBS_OBJECT_XRCD, "XRCD" },
	{ UVERBS_OBJECT_RWQ_IND_TBL, "RWQ_IND_TBL" },
	{ UVERBS_OBJECT_WQ, "WQ" },
	{ UVERBS_OBJECT_FLOW_ACTION, "FLOW_ACTION" },
	{ MLX5_IB_OBJECT_DEVX_OBJ, "DEVX_OBJ" },
	{ MLX5_IB_OBJECT_DEVX_UMEM, "DEVX_UMEM" },
	{ MLX5_IB_OBJECT_FLOW_MATCHER, "FLOW_MATCHER" },
	{ MLX5_IB_OBJECT_UAR, "UAR" },
};

const char *uv_obj_type_name(uint16_t type)
{
	for (size_t i = 0; i < UV_COUNT(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return "object";
}

/* ---- numbers ---- */

static int grow(struct uv_ctx *ctx)
{
	uint32_t cap = ctx->cap_handles ? 2 * ctx->cap_handles : 64;
	struct uv_obj **p;

	if (ctx->cap_handles >= MAX_HANDLES)
		return -ENOMEM;
	p = realloc(ctx->handle, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + ctx->cap_handles, 0, (cap - ctx->cap_handles) * sizeof(*p));
	ctx->handle = p;
	ctx->cap_handles = cap;
	return 0;
}

static int take_handle(struct uv_ctx *ctx, struct uv_obj *obj)
{
	uint32_t i = ctx->lowest_free;
	int rc;

	while (i < ctx->cap_handles && ctx->handle[i])
		i++;
	if (i == ctx->cap_handles) {
		rc = grow(ctx);
		if (rc)
			return rc;
	}
	ctx->handle[i] = obj;
	ctx->lowest_free = i + 1;
	obj->handle = i;
	return 0;
}

static void drop_handle(struct uv_obj *obj)
{
	struct uv_ctx *ctx = obj->ctx;

	assert(ctx);
	ctx->handle[obj->handle] = NULL;
	if (obj->handle < ctx->lowest_free)
		ctx->lowest_free = obj->handle;
}

int uv_obj_get(struct uv_ctx *ctx, uint16_t type, uint64_t handle, struct uv_obj **ret)
{
	struct uv_obj *obj = handle < ctx->cap_handles ? ctx->handle[handle] : NULL;

	if (!obj || !obj->live)
		return -ENOENT;
	if (type != UV_ANY_OBJECT && obj->type != type)
		return -EINVAL;
	*ret = obj;
	return 0;
}

/* ---- life ---- */

static struct uv_obj *alloc_obj(struct uv_ctx *ctx, uint16_t type)
{
	struct uv_obj *obj = calloc(1, sizeof(*obj));

	if (obj) {
		obj->port = ctx->port;
		obj->ctx = ctx;
		obj->type = type;
		obj->uid = ctx->uid;
	}
	return obj;
}

int uv_obj_new(struct uv_call *call, uint16_t type, struct uv_obj **ret)
{
	struct uv_obj *obj;
	int rc;

	assert(!call->fresh);
	if (!call->ctx->open)
		return -EINVAL;
	obj = alloc_obj(call->ctx, type);
	if (!obj)
		return -ENOMEM;
	rc = take_handle(call->ctx, obj);
	if (rc) {
		free(obj);
		return rc;
	}
	call->fresh = obj;
	*ret = obj;
	return 0;
}

/* The context itself: what GET_CONTEXT makes is undone after everything else. */
struct uv_obj *uv_ctx_obj(struct uv_ctx *ctx)
{
	return alloc_obj(ctx, UVERBS_OBJECT_DEVICE);
}

void uv_obj_commit(struct uv_obj *obj)
{
	struct uv_ctx *ctx = obj->ctx;

	obj->live = true;
	obj->older = ctx->newest;
	if (obj->older)
		obj->older->newer = obj;
	ctx->newest = obj;
	ctx->n_objs++;
}

static void take_out(struct uv_obj *obj)
{
	struct uv_ctx *ctx = obj->ctx;

	if (obj->older)
		obj->older->newer = obj->newer;
	if (obj->newer)
		obj->newer->older = obj->older;
	else
		ctx->newest = obj->older;
	obj->older = obj->newer = NULL;
	obj->live = false;
	ctx->n_objs--;
}

/* Steps are left only when the device itself is about to go. */
void uv_obj_free(struct uv_obj *obj)
{
	for (unsigned i = 0; i < obj->n_undo; i++) {
		struct uv_undo *u = &obj->undo[i];

		if (u->kind == UV_UNDO_MAILBOX || u->kind == UV_UNDO_USES ||
		    u->kind == UV_UNDO_RULE)
			free(u->ptr);
		else if ((u->kind == UV_UNDO_UMEM || u->kind == UV_UNDO_MAP) && u->ptr)
			uv_map_put(u->ptr);
		else if (u->kind == UV_UNDO_UAR)
			uv_uar_forget(obj);
	}
	free(obj);
}

/* ---- steps ---- */

static int undo_cmd(struct uv_obj *obj, struct uv_undo *u)
{
	return uv_exec_num(obj->port, obj->uid, u->opcode, u->num);
}

static int undo_mailbox(struct uv_obj *obj, struct uv_undo *u)
{
	uint8_t out[16];
	int rc = uv_exec(obj->port, obj->uid, u->ptr, u->num, out, sizeof(out));

	if (!rc)
		free(u->ptr);
	return rc;
}

static int undo_uctx(struct uv_obj *obj, struct uv_undo *u)
{
	return uv_exec_uctx_free(obj->port, (uint16_t)u->num);
}

static int undo_umem(struct uv_obj *obj, struct uv_undo *u)
{
	int rc = cx_umem_dereg(obj->port->dev, obj->uid, u->num);

	if (!rc && u->ptr)
		uv_map_put(u->ptr);
	return rc;
}

static int undo_mkey(struct uv_obj *obj, struct uv_undo *u)
{
	return cx_mkey_dereg(obj->port->dev, obj->uid, u->num);
}

static int undo_map(struct uv_obj *obj, struct uv_undo *u)
{
	(void)obj;
	uv_map_put(u->ptr);
	return 0;
}

static int undo_uar(struct uv_obj *obj, struct uv_undo *u)
{
	(void)u;
	return uv_uar_free(obj);
}

static int undo_rule(struct uv_obj *obj, struct uv_undo *u)
{
	return uv_rule_del(obj->port, u->ptr);
}

static int undo_use(struct uv_obj *obj, struct uv_undo *u)
{
	(void)obj;
	((struct uv_obj *)u->ptr)->uses--;
	return 0;
}

static int undo_uses(struct uv_obj *obj, struct uv_undo *u)
{
	struct uv_obj **used = u->ptr;

	(void)obj;
	for (uint32_t i = 0; i < u->num; i++)
		used[i]->uses--;
	free(used);
	return 0;
}

static int undo_evfile(struct uv_obj *obj, struct uv_undo *u)
{
	uv_evfile_forget(u->ptr, obj);
	uv_evfile_put(u->ptr);
	return 0;
}

static int undo_watch(struct uv_obj *obj, struct uv_undo *u)
{
	(void)u;
	uv_watch_del(obj);
	return 0;
}

static int (*const undo[UV_UNDO_KIND_COUNT])(struct uv_obj *, struct uv_undo *) = {
	[UV_UNDO_CMD] = undo_cmd,     [UV_UNDO_MAILBOX] = undo_mailbox,
	[UV_UNDO_UCTX] = undo_uctx,   [UV_UNDO_UMEM] = undo_umem,
	[UV_UNDO_MKEY] = undo_mkey,   [UV_UNDO_MAP] = undo_map,
	[UV_UNDO_UAR] = undo_uar,     [UV_UNDO_RULE] = undo_rule,
	[UV_UNDO_USE] = undo_use,     [UV_UNDO_EVFILE] = undo_evfile,
	[UV_UNDO_WATCH] = undo_watch, [UV_UNDO_USES] = undo_uses,
};

void uv_undo_push(struct uv_obj *obj, enum uv_undo_kind kind, uint16_t opcode,
		  uint32_t num, void *ptr)
{
	assert(obj->n_undo < UV_UNDO_MAX);
	obj->undo[obj->n_undo++] = (struct uv_undo){ (uint8_t)kind, opcode, num, ptr };
}

void uv_obj_use(struct uv_obj *obj, struct uv_obj *used)
{
	used->uses++;
	uv_undo_push(obj, UV_UNDO_USE, 0, 0, used);
}

void uv_obj_use_all(struct uv_obj *obj, struct uv_obj **used, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		used[i]->uses++;
	uv_undo_push(obj, UV_UNDO_USES, 0, n, used);
}

static int undo_all(struct uv_obj *obj)
{
	while (obj->n_undo) {
		struct uv_undo *u = &obj->undo[obj->n_undo - 1];
		int rc = undo[u->kind](obj, u);

		if (rc)
			return rc;
		obj->n_undo--;
	}
	return 0;
}

int uv_obj_destroy(struct uv_obj *obj)
{
	int rc = obj->uses ? -EBUSY : undo_all(obj);

	if (rc)
		return rc;
	uv_subs_del_obj(obj);
	drop_handle(obj);
	take_out(obj);
	return 0;
}

/* ---- what cannot be undone ---- */

static bool of_context(const struct uv_undo *u)
{
	return u->kind == UV_UNDO_EVFILE || u->kind == UV_UNDO_WATCH;
}

/* The device keeps it (a fault, or a refusal). It must not reach into the context, nor into
 * the client's memory; its numbers stay taken until a later try succeeds. */
static void make_orphan(struct uv_obj *obj)
{
	struct uv_port *port = obj->port;
	unsigned kept = 0;

	model_log(port->port->model, "%s pid %d: %s %u stays behind: the device keeps it",
		  port->port->rdma_name, obj->ctx->pid, uv_obj_type_name(obj->type),
		  obj->handle);
	uv_subs_del_obj(obj);
	for (unsigned i = 0; i < obj->n_undo; i++) {
		struct uv_undo *u = &obj->undo[i];

		if (of_context(u)) {
			undo[u->kind](obj, u);
			continue;
		}
		if ((u->kind == UV_UNDO_UMEM || u->kind == UV_UNDO_MAP) && u->ptr)
			uv_map_orphan(u->ptr);
		obj->undo[kept++] = *u;
	}
	obj->n_undo = kept;
	obj->ctx = NULL;
	obj->older = port->orphan;
	port->orphan = obj;
}

void uv_obj_abort(struct uv_obj *obj)
{
	int rc = undo_all(obj);

	drop_handle(obj);
	if (rc)
		make_orphan(obj);
	else
		free(obj);
}

void uv_orphans_retry(struct uv_port *port)
{
	bool progress = port->orphan;

	while (progress) {
		struct uv_obj **p = &port->orphan;

		progress = false;
		while (*p) {
			struct uv_obj *obj = *p;

			if (obj->uses || undo_all(obj)) {
				p = &obj->older;
				continue;
			}
			*p = obj->older;
			free(obj);
			progress = true;
		}
	}
}

/* ---- the end of a context ---- */

static void unlock_a_moment(struct uv_ctx *ctx, unsigned *n)
{
	struct model *m = ctx->port->port->model;

	if (++*n % CLOSE_BATCH)
		return;
	model_unlock(m);
	uv_unmap_now(ctx);
	model_lock(m);
}

/* One pass as __uverbs_cleanup_ufile(): newest first; what is in use waits for the next.
 * Return: did anything go? */
static bool close_pass(struct uv_ctx *ctx)
{
	struct uv_obj **at = &ctx->newest, *obj;
	bool progress = false;
	unsigned n = 0;

	while ((obj = *at)) {
		if (uv_obj_destroy(obj)) {
			at = &obj->older;
		} else {
			assert(*at != obj); /* out of the list */
			uv_obj_free(obj);
			progress = true;
		}
		unlock_a_moment(ctx, &n);
	}
	return progress;
}

static void orphan_rest(struct uv_ctx *ctx)
{
	while (ctx->newest) {
		struct uv_obj *obj = ctx->newest;

		drop_handle(obj);
		take_out(obj);
		make_orphan(obj);
	}
}

void uv_ctx_undo(struct uv_ctx *ctx)
{
	if (!ctx->self)
		return;
	if (undo_all(ctx->self))
		make_orphan(ctx->self);
	else
		free(ctx->self);
	ctx->self = NULL;
	ctx->uid = 0;
}

void uv_ctx_close(struct uv_ctx *ctx)
{
	struct model *m = ctx->port->port->model;

	model_lock(m);
	while (ctx->newest && close_pass(ctx))
		;
	orphan_rest(ctx);
	while (ctx->evfile)
		uv_evfile_close(ctx->evfile);
	ctx->open = false;
	uv_orphans_retry(ctx->port);
	uv_ctx_undo(ctx);
	model_unlock(m);
}

/* ---- memory that went away ---- */

/* The key goes, as a card would fail its translations: work requests that use it end with
 * local protection errors. A queue's own memory reads as zeroes from now on. Assumed. */
static void lose_map(struct uv_obj *obj)
{
	model_log(
		obj->port->port->model,
		"%s pid %d: %s %u: the program took its memory away (SIGBUS): reads as zeroes",
		obj->port->port->rdma_name, obj->ctx->pid, uv_obj_type_name(obj->type),
		obj->handle);
	if (obj->n_undo && obj->undo[obj->n_undo - 1].kind == UV_UNDO_MKEY &&
	    !cx_mkey_dereg(obj->port->dev, obj->uid, obj->undo[obj->n_undo - 1].num))
		obj->n_undo--;
}

void uv_broken_maps(struct uv_ctx *ctx)
{
	ctx->broken_map = false;
	for (struct uv_obj *obj = ctx->newest; obj; obj = obj->older)
		for (unsigned i = 0; i < obj->n_undo; i++) {
			struct uv_undo *u = &obj->undo[i];

			if ((u->kind == UV_UNDO_UMEM || u->kind == UV_UNDO_MAP) &&
			    u->ptr && uv_map_lost(u->ptr))
				lose_map(obj);
		}
}
