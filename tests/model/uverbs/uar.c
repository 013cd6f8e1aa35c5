/* uverbs/uar.c - doorbell pages
 *
 * Each context has a memfd of its own, so that no program can store into the page
 * of another. A page is used once: after it was given back, a stale mapping in the
 * program writes into memory that nothing looks at. Its place in the file is not
 * used again, and its memory is freed by a hole.
 *
 * The offset for mmap() is the kernel's: command and index spread over a page
 * offset. Source: Linux 6.1 hw/mlx5/main.c, alloc_uar_entry(),
 * mlx5_entry_to_mmap_offset(), mlx5_vma_to_pgoff().
 */
#include "uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opcode.h"

#define FILE_BYTES    ((uint64_t)1 << 36) /* sparse; 16 million pages in a context's life */
#define FIRST_COMMAND 9			  /* MLX5_IB_MMAP_OFFSET_START */
#define MAX_PAGES     ((255 - FIRST_COMMAND + 1) << 16)

struct uv_uars {
	int memfd;
	uint64_t next_at; /* place of the next page in the file */
	struct uv_obj **page;
	uint32_t cap;
};

/* ---- the file ---- */

static int open_file(struct uv_uars *u)
{
	u->memfd = memfd_create("cx-uar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (u->memfd < 0)
		return -errno;
	if (ftruncate(u->memfd, (off_t)FILE_BYTES) ||
	    fcntl(u->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(u->memfd);
		return -errno;
	}
	return 0;
}

static int uars_of(struct uv_ctx *ctx, struct uv_uars **ret)
{
	struct uv_uars *u = ctx->uars;
	int rc;

	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		rc = open_file(u);
		if (rc) {
			free(u);
			return rc;
		}
		ctx->uars = u;
	}
	*ret = u;
	return 0;
}

void uv_uars_close(struct uv_ctx *ctx)
{
	struct uv_uars *u = ctx->uars;

	if (!u)
		return;
	close(u->memfd);
	free(u->page);
	free(u);
	ctx->uars = NULL;
}

/* ---- indices ---- */

static int take_index(struct uv_uars *u, struct uv_obj *obj)
{
	uint32_t i = 0;

	while (i < u->cap && u->page[i])
		i++;
	if (i == u->cap) {
		uint32_t cap = u->cap ? 2 * u->cap : 16;
		struct uv_obj **p = cap > MAX_PAGES ? NULL
						    : realloc(u->page, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		for (uint32_t k = u->cap; k < cap; k++)
			p[k] = NULL;
		u->page = p;
		u->cap = cap;
	}
	u->page[i] = obj;
	obj->uar.index = i;
	return 0;
}

uint64_t uv_uar_mmap_offset(const struct uv_obj *obj)
{
	uint64_t cmd = FIRST_COMMAND + (obj->uar.index >> 16),
		 index = obj->uar.index & 0xffff;

	return ((index >> 8) << 16 | cmd << 8 | (index & 0xff)) * UV_PAGE;
}

/* ---- pages ---- */

static int map_page(struct uv_uars *u, struct uv_obj *obj)
{
	if (u->next_at >= FILE_BYTES)
		return -ENOSPC;
	obj->uar.page = mmap(NULL, UV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, u->memfd,
			     (off_t)u->next_at);
	if (obj->uar.page == MAP_FAILED)
		return -ENOMEM;
	obj->uar.at = u->next_at;
	u->next_at += UV_PAGE;
	return 0;
}

static void unmap_page(struct uv_obj *obj)
{
	struct uv_uars *u = obj->ctx ? obj->ctx->uars : NULL;

	munmap(obj->uar.page, UV_PAGE);
	if (!u)
		return;
	fallocate(u->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		  (off_t)obj->uar.at, UV_PAGE);
	u->page[obj->uar.index] = NULL;
}

int uv_uar_new(struct uv_obj *obj)
{
	struct uv_uars *u;
	int rc = uars_of(obj->ctx, &u);

	if (rc)
		return rc;
	rc = take_index(u, obj);
	if (rc)
		return rc;
	rc = map_page(u, obj);
	if (rc) {
		u->page[obj->uar.index] = NULL;
		return rc;
	}
	rc = uv_exec_alloc(obj->port, obj->uid, CX_OP_ALLOC_UAR, &obj->num);
	if (rc) {
		unmap_page(obj);
		return rc;
	}
	uv_undo_push(obj, UV_UNDO_UAR, 0, obj->num, NULL);
	return cx_uar_attach(obj->port->dev, obj->num, obj->uar.page);
}

/* The kernel gives the page back to the device only when no program maps it any more, and
 * nobody hears of it. A page that queues still ring by stays behind until they are gone. */
static int leave_behind(struct uv_obj *obj)
{
	struct uv_obj *rest = calloc(1, sizeof(*rest));

	if (!rest)
		return -ENOMEM;
	rest->port = obj->port;
	rest->type = obj->type;
	rest->uid = obj->uid;
	rest->num = obj->num;
	rest->uar.page = obj->uar.page;
	uv_undo_push(rest, UV_UNDO_UAR, 0, obj->num, NULL);
	rest->older = obj->port->orphan;
	obj->port->orphan = rest;
	obj->ctx->uars->page[obj->uar.index] = NULL;
	return 0;
}

void uv_uar_forget(struct uv_obj *obj)
{
	munmap(obj->uar.page, UV_PAGE);
}

int uv_uar_free(struct uv_obj *obj)
{
	int rc = uv_exec_num(obj->port, obj->uid, CX_OP_DEALLOC_UAR, obj->num);

	if (!rc)
		unmap_page(obj);
	else if (obj->ctx)
		rc = leave_behind(obj);
	return rc;
}

/* ---- mmap ---- */

static struct uv_obj *page_at(const struct uv_uars *u, uint64_t offset)
{
	uint64_t pgoff = offset / UV_PAGE, cmd = pgoff >> 8 & 0xff;
	uint64_t index = (pgoff & 0xff) | (pgoff >> 16 & 0xff) << 8;

	if (cmd < FIRST_COMMAND)
		return NULL;
	index |= (cmd - FIRST_COMMAND) << 16;
	return u && index < u->cap ? u->page[index] : NULL;
}

/* The pages that libmlx5 would map without asking for one first. */
static int other_page(struct uv_call *call, unsigned cmd)
{
	switch (cmd) {
	case MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES:
		return uv_refuse(call, ENOSYS, "offset", "contiguous pages");
	case MLX5_IB_MMAP_CORE_CLOCK:
	case MLX5_IB_MMAP_CLOCK_INFO:
		return uv_refuse(call, EOPNOTSUPP, "offset", "the clock is not offered");
	default: /* static doorbell pages: not with MLX5_LIB_CAP_DYN_UAR */
		return uv_refuse(call, EINVAL, "offset", "command %u", cmd);
	}
}

int uv_uar_mmap(struct uv_call *call, const struct cxp_mmap *m, uint64_t *offset, int *fd)
{
	const struct uv_obj *obj;
	unsigned cmd = (unsigned)(m->offset / UV_PAGE >> 8 & 0xff);

	if (!call->ctx->open)
		return uv_refuse(call, EINVAL, "context", "GET_CONTEXT was not called");
	if (m->offset % UV_PAGE)
		return uv_refuse(call, EINVAL, "offset", "0x%llx",
				 (unsigned long long)m->offset);
	if (cmd < FIRST_COMMAND)
		return other_page(call, cmd);
	obj = page_at(call->ctx->uars, m->offset);
	if (!obj || !obj->live)
		return uv_refuse(call, EINVAL, "offset", "0x%llx: no such page",
				 (unsigned long long)m->offset);
	if (m->len != UV_PAGE)
		return uv_refuse(call, EINVAL, "len", "%llu, not a page",
				 (unsigned long long)m->len);
	*offset = obj->uar.at;
	*fd = call->ctx->uars->memfd;
	return 0;
}
