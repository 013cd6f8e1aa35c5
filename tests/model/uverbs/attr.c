/* uverbs/attr.c - attributes of a call: checked, bound, read and answered
 *
 * The rules and their errno are those of Linux 6.1 drivers/infiniband/core/
 * uverbs_ioctl.c: uverbs_process_attr(), uverbs_set_attr(), ib_uverbs_run_method().
 * Attributes are looked at in the program's order, so that the first wrong one
 * decides. Content of up to 8 bytes is in the attribute itself.
 */
#include "uverbs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INLINE_BYTES 8

bool uv_is_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

/* ---- content ---- */

static int bind_bytes(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	bool in = s->kind == UV_IN;

	/* Longer structs of newer programs pass while they ask for nothing we do not know. */
	if (in && s->flags & UV_ZERO_TAIL && a->u.len > s->max &&
	    !uv_is_zero(a->bytes + s->max, a->u.len - s->max))
		return uv_refuse(call, EOPNOTSUPP, "attribute",
				 "0x%x: bytes after the first %u are set", s->id, s->max);
	if (a->u.len < s->min || (a->u.len > s->max && !(s->flags & UV_ZERO_TAIL)))
		return uv_refuse(call, EINVAL, "attribute",
				 "0x%x: %u bytes, not %u to %u", s->id, a->u.len, s->min,
				 s->max);
	if (a->spec->kind != UV_ENUM && a->u.attr_data.reserved)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: reserved is set",
				 s->id);
	return 0;
}

static int bind_enum(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	unsigned value = a->u.attr_data.enum_data.elem_id;

	if (value >= s->n_variants)
		return uv_refuse(call, EOPNOTSUPP, "attribute", "0x%x: value %u", s->id,
				 value);
	if (a->u.attr_data.enum_data.reserved)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: reserved is set",
				 s->id);
	return bind_bytes(call, a, &s->variant[value]);
}

/* ---- objects ---- */

static int lookup(struct uv_call *call, uint16_t type, uint64_t handle, uint16_t id,
		  struct uv_obj **ret)
{
	int rc = uv_obj_get(call->ctx, type, handle, ret);

	if (rc == -ENOENT)
		return uv_refuse(call, ENOENT, "attribute", "0x%x: no handle %llu", id,
				 (unsigned long long)handle);
	if (rc)
		return uv_refuse(call, -rc, "attribute", "0x%x: handle %llu is no %s", id,
				 (unsigned long long)handle, uv_obj_type_name(type));
	return 0;
}

static int bind_obj(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	int rc;

	if (a->u.attr_data.reserved || a->u.len)
		return uv_refuse(call, EINVAL, "attribute",
				 "0x%x: length or reserved is set", s->id);
	if (s->access != UV_NEW)
		return lookup(call, s->obj, a->u.data, s->id, &a->obj);
	rc = uv_obj_new(call, s->obj, &a->obj);
	if (rc)
		return uv_refuse(call, -rc, "attribute", "0x%x: no new %s", s->id,
				 uv_obj_type_name(s->obj));
	a->u.data = a->obj->handle;
	a->out.handle = 1;
	return 0;
}

static int bind_new_evfile(struct uv_call *call, struct uv_attr *a,
			   const struct uv_spec *s)
{
	int fd, rc;

	if (!call->ctx->open)
		return uv_refuse(call, EINVAL, "context", "GET_CONTEXT was not called");
	rc = uv_evfile_new(call->ctx, (enum uv_ev_kind)s->obj, false, &a->evfile, &fd);
	if (rc)
		return uv_refuse(call, -rc, "attribute", "0x%x: no event file", s->id);
	call->fresh_file = a->evfile;
	uv_pass_fd(call, a, 1, 0, fd);
	return 0;
}

static int bind_evfile(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	int rc;

	if (a->u.attr_data.reserved || a->u.len)
		return uv_refuse(call, EINVAL, "attribute",
				 "0x%x: length or reserved is set", s->id);
	if (s->access == UV_NEW)
		return bind_new_evfile(call, a, s);
	if (a->u.data_s64 < INT_MIN || a->u.data_s64 > INT_MAX)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: %lld is no descriptor",
				 s->id, (long long)a->u.data_s64);
	rc = uv_evfile_find(call, a->u.data_s64, (enum uv_ev_kind)s->obj, &a->evfile);
	if (rc)
		return uv_refuse(
			call, -rc, "attribute",
			"0x%x: descriptor %lld is no such event file of this context",
			s->id, (long long)a->u.data_s64);
	return 0;
}

static int bind_objs(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	unsigned n = a->u.len / 4;
	int rc = 0;

	if (a->u.attr_data.reserved || a->u.len % 4 || n < s->min || n > s->max)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: %u bytes of handles",
				 s->id, a->u.len);
	a->objs = calloc(n, sizeof(*a->objs));
	if (!a->objs)
		return -ENOMEM;
	for (; a->n_objs < n && !rc; a->n_objs += !rc) {
		uint32_t handle;

		memcpy(&handle, a->bytes + 4 * (size_t)a->n_objs, 4);
		rc = lookup(call, s->obj, handle, s->id, &a->objs[a->n_objs]);
	}
	return rc;
}

static int bind_raw_fd(struct uv_call *call, struct uv_attr *a, const struct uv_spec *s)
{
	if (a->u.attr_data.reserved || a->u.len || a->u.data_s64 < INT_MIN ||
	    a->u.data_s64 > INT_MAX)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: not a descriptor",
				 s->id);
	return 0;
}

/* ---- all of them ---- */

static int (*const binders[])(struct uv_call *, struct uv_attr *,
			      const struct uv_spec *) = {
	[UV_IN] = bind_bytes,  [UV_OUT] = bind_bytes, [UV_ENUM] = bind_enum,
	[UV_IDR] = bind_obj,   [UV_FD] = bind_evfile, [UV_RAW_FD] = bind_raw_fd,
	[UV_IDRS] = bind_objs,
};

static const struct uv_spec *spec_of(const struct uv_method *m, uint16_t id)
{
	for (size_t i = 0; i < m->n_attrs; i++)
		if (m->attr[i].id == id)
			return &m->attr[i];
	return NULL;
}

static int bind_one(struct uv_call *call, struct uv_attr *a)
{
	const struct uv_spec *s = spec_of(call->method, a->u.attr_id);

	if (!s && a->u.flags & UVERBS_ATTR_F_MANDATORY)
		return uv_refuse(call, EPROTONOSUPPORT, "attribute", "0x%x: unknown",
				 a->u.attr_id);
	if (!s)
		return 0;
	if (uv_attr(call, s->id))
		return uv_refuse(call, EINVAL, "attribute", "0x%x: given twice", s->id);
	a->spec = s;
	/* An answer's old content came along when it is long, and is not known when short. */
	if (a->u.len <= INLINE_BYTES)
		a->bytes = s->kind == UV_OUT ? a->small : (uint8_t *)&a->u.data;
	return binders[s->kind](call, a, s);
}

int uv_attrs_bind(struct uv_call *call)
{
	const struct uv_method *m = call->method;
	int rc;

	for (unsigned i = 0; i < call->n_attrs; i++) {
		rc = bind_one(call, &call->attr[i]);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < m->n_attrs; i++)
		if (m->attr[i].flags & UV_MANDATORY && !uv_attr(call, m->attr[i].id))
			return uv_refuse(call, EINVAL, "attribute", "0x%x: missing",
					 m->attr[i].id);
	return 0;
}

/* ---- for handlers: in ---- */

struct uv_attr *uv_attr(struct uv_call *call, uint16_t id)
{
	for (unsigned i = 0; i < call->n_attrs; i++)
		if (call->attr[i].spec && call->attr[i].spec->id == id)
			return &call->attr[i];
	return NULL;
}

int uv_in(struct uv_call *call, uint16_t id, void *to, size_t size)
{
	const struct uv_attr *a = uv_attr(call, id);

	if (!a)
		return -ENOENT;
	if (a->u.len > size && !(a->spec->flags & UV_ZERO_TAIL))
		return uv_refuse(call, EINVAL, "attribute", "0x%x: %u bytes, at most %zu",
				 id, a->u.len, size);
	memcpy(to, a->bytes, UV_MIN(a->u.len, size));
	return 0;
}

uint32_t uv_in32(struct uv_call *call, uint16_t id)
{
	uint32_t v = 0;

	uv_in(call, id, &v, sizeof(v));
	return v;
}

uint64_t uv_in64(struct uv_call *call, uint16_t id)
{
	uint64_t v = 0;

	uv_in(call, id, &v, sizeof(v));
	return v;
}

int uv_const(struct uv_call *call, uint16_t id, uint64_t max, uint64_t *ret)
{
	uint64_t v = uv_in64(call, id);

	if (v > max)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: %llu", id,
				 (unsigned long long)v);
	*ret = v;
	return 0;
}

int uv_flags(struct uv_call *call, uint16_t id, uint64_t allowed, uint32_t *ret)
{
	const struct uv_attr *a = uv_attr(call, id);
	uint64_t v = 0;

	if (a && a->u.len != 4 && a->u.len != 8)
		return uv_refuse(call, EINVAL, "attribute", "0x%x: %u bytes of flags", id,
				 a->u.len);
	if (a)
		memcpy(&v, a->bytes, a->u.len);
	if (v & ~allowed || v > UINT32_MAX)
		return uv_refuse(call, EINVAL, "attribute",
				 "0x%x: flags 0x%llx of 0x%llx", id,
				 (unsigned long long)v, (unsigned long long)allowed);
	*ret = (uint32_t)v;
	return 0;
}

struct uv_obj *uv_in_obj(struct uv_call *call, uint16_t id)
{
	const struct uv_attr *a = uv_attr(call, id);

	return a ? a->obj : NULL;
}

struct uv_evfile *uv_in_evfile(struct uv_call *call, uint16_t id)
{
	const struct uv_attr *a = uv_attr(call, id);

	return a ? a->evfile : NULL;
}

/* ---- for handlers: out ---- */

static void answer(struct uv_attr *a, const void *from, size_t size)
{
	memcpy(a->bytes, from, UV_MIN(size, a->u.len));
	a->u.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	a->out.blob = 1;
}

int uv_out(struct uv_call *call, uint16_t id, const void *from, size_t size)
{
	struct uv_attr *a = uv_attr(call, id);

	if (!a)
		return -ENOENT;
	answer(a, from, size);
	return 0;
}

void uv_out_if(struct uv_call *call, uint16_t id, const void *from, size_t size)
{
	uv_out(call, id, from, size);
}

int uv_out_or_zero(struct uv_call *call, uint16_t id, const void *from, size_t size)
{
	struct uv_attr *a = uv_attr(call, id);

	if (!a)
		return -ENOENT;
	if (size < a->u.len)
		memset(a->bytes + size, 0, a->u.len - size);
	answer(a, from, size);
	return 0;
}

/* @fd belongs to the call from now on. */
void uv_pass_fd(struct uv_call *call, struct uv_attr *a, uint8_t how, uint32_t off,
		int fd)
{
	call->fd[call->n_fds++] = fd;
	a->out.fd = how;
	a->out.fd_off = off;
}

/* ---- driver data ---- */

const uint8_t *uv_uhw(struct uv_call *call, size_t *len)
{
	const struct uv_attr *a = uv_attr(call, UVERBS_ATTR_UHW_IN);

	*len = a ? a->u.len : 0;
	return a ? a->bytes : NULL;
}

int uv_uhw_in(struct uv_call *call, void *to, size_t size, size_t min)
{
	size_t len;
	const uint8_t *p = uv_uhw(call, &len);

	if (len < min)
		return uv_refuse(call, EINVAL, "driver data",
				 "%zu bytes, at least %zu needed", len, min);
	memset(to, 0, size);
	if (len)
		memcpy(to, p, UV_MIN(len, size));
	if (len > size && !uv_is_zero(p + size, len - size))
		return uv_refuse(call, EOPNOTSUPP, "driver data",
				 "bytes after the first %zu are set", size);
	return 0;
}

size_t uv_uhw_out_len(struct uv_call *call)
{
	const struct uv_attr *a = uv_attr(call, UVERBS_ATTR_UHW_OUT);

	return a ? a->u.len : 0;
}

void uv_uhw_out(struct uv_call *call, const void *from, size_t size)
{
	uv_out(call, UVERBS_ATTR_UHW_OUT, from, size);
}
