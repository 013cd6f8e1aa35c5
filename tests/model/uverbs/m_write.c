/* uverbs/m_write.c - the older commands, called through INVOKE_WRITE
 *
 * They come as one fixed struct in (CORE_IN), one out (CORE_OUT), and driver data
 * beside. libibverbs finds out whether the kernel has INVOKE_WRITE by calling it
 * with a command and neither struct: ENOSPC means yes.
 *
 * Source: Linux 6.1 drivers/infiniband/core/uverbs_cmd.c (uverbs_request(),
 * uverbs_response(), the table uverbs_def_write_intf), uverbs_std_types_device.c.
 */
#include "uverbs.h"

#include <errno.h>
#include <string.h>

#define CMD_BITS (IB_USER_VERBS_CMD_FLAG_EXTENDED | 0xff)

static const struct uv_write *const tables[] = {
	uv_writes_device, uv_writes_verbs, uv_writes_qp, uv_writes_wq, uv_writes_flow,
};

/* ---- the two structs ---- */

static size_t len_of(struct uv_call *call, uint16_t id)
{
	const struct uv_attr *a = uv_attr(call, id);

	return a ? a->u.len : 0;
}

const uint8_t *uv_req_bytes(struct uv_call *call, size_t *len)
{
	const struct uv_attr *a = uv_attr(call, UVERBS_ATTR_CORE_IN);

	*len = a ? a->u.len : 0;
	return a ? a->bytes : NULL;
}

int uv_req(struct uv_call *call, void *req, size_t size)
{
	size_t len;
	const uint8_t *p = uv_req_bytes(call, &len);

	memset(req, 0, size);
	if (len)
		memcpy(req, p, UV_MIN(len, size));
	if (len > size && !uv_is_zero(p + size, len - size))
		return uv_refuse(call, EOPNOTSUPP, "request",
				 "bytes after the first %zu are set", size);
	return 0;
}

int uv_resp(struct uv_call *call, const void *resp, size_t size)
{
	uv_out_or_zero(call, UVERBS_ATTR_CORE_OUT, resp, size);
	return 0;
}

uint32_t uv_resp_len(struct uv_call *call, size_t size)
{
	return (uint32_t)UV_MIN(len_of(call, UVERBS_ATTR_CORE_OUT), size);
}

/* ---- objects named in a struct ---- */

int uv_get(struct uv_call *call, uint16_t type, uint32_t handle, const char *field,
	   struct uv_obj **ret)
{
	int rc = uv_obj_get(call->ctx, type, handle, ret);

	if (rc)
		return uv_refuse(call, -rc, field, "%u is no handle of a %s", handle,
				 uv_obj_type_name(type));
	return 0;
}

int uv_new(struct uv_call *call, uint16_t type, struct uv_obj **ret)
{
	int rc = uv_obj_new(call, type, ret);

	if (rc)
		return uv_refuse(call, -rc, "handle", "no new %s",
				 uv_obj_type_name(type));
	return 0;
}

int uv_destroy(struct uv_call *call, uint16_t type, uint32_t handle, struct uv_obj **ret)
{
	struct uv_obj *obj;
	int rc = uv_get(call, type, handle, "handle", &obj);

	if (rc)
		return rc;
	rc = uv_obj_destroy(obj);
	if (rc)
		return uv_refuse(call, -rc, "handle", "%s %u is %s",
				 uv_obj_type_name(type), handle,
				 obj->uses ? "in use" : "not let go by the device");
	call->gone = obj;
	if (ret)
		*ret = obj;
	return 0;
}

int uv_need_context(struct uv_call *call)
{
	if (call->ctx->open)
		return 0;
	return uv_refuse(call, EINVAL, "context", "GET_CONTEXT was not called");
}

/* ---- the method ---- */

static const struct uv_write *find(uint64_t cmd)
{
	for (size_t i = 0; i < UV_COUNT(tables); i++)
		for (const struct uv_write *w = tables[i]; w->name; w++)
			if (w->cmd == cmd)
				return w;
	return NULL;
}

static int enough(struct uv_call *call, const struct uv_write *w)
{
	size_t in = len_of(call, UVERBS_ATTR_CORE_IN),
	       out = len_of(call, UVERBS_ATTR_CORE_OUT);

	if (in >= w->req && out >= w->resp)
		return 0;
	/* Not a refusal worth a line when it is the question of libibverbs above. */
	if (!uv_attr(call, UVERBS_ATTR_CORE_IN) && !uv_attr(call, UVERBS_ATTR_CORE_OUT))
		return -ENOSPC;
	return uv_refuse(call, ENOSPC, "lengths",
			 "%zu and %zu bytes, at least %u and %u needed", in, out, w->req,
			 w->resp);
}

int uv_invoke_write(struct uv_call *call)
{
	uint64_t cmd = uv_in64(call, UVERBS_ATTR_WRITE_CMD);
	const struct uv_write *w = find(cmd);
	int rc;

	if (cmd & ~(uint64_t)CMD_BITS)
		return uv_refuse(call, EINVAL, "command", "0x%llx",
				 (unsigned long long)cmd);
	if (!w)
		return uv_refuse(call, EOPNOTSUPP, "command", "0x%llx",
				 (unsigned long long)cmd);
	call->name = w->name;
	rc = enough(call, w);
	return rc ? rc : w->run(call);
}
