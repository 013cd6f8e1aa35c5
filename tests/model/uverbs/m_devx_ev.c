/* uverbs/m_devx_ev.c - DevX: event channels, and commands whose answer comes later
 *
 * Source: Linux 6.1 hw/mlx5/devx.c (MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
 * MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY and the two kinds of descriptors).
 */
#include "uverbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/bits.h"
#include "opcode.h"

#define HEADER_BYTES	16
#define MAX_EVENTS	16
#define MAX_ASYNC_BYTES (1024 * 1024) /* MAX_ASYNC_BYTES_IN_USE */

enum {
	QUEUE_TYPE_QP,
	QUEUE_TYPE_RQ,
	QUEUE_TYPE_SQ,
	QUEUE_TYPE_DCT = 6
}; /* MLX5_EVENT_QUEUE_TYPE_* */

/* ---- descriptors ---- */

static int event_fd_alloc(struct uv_call *call)
{
	uint32_t flags;
	int rc = uv_flags(call, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
			  MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA, &flags);

	if (!rc)
		uv_evfile_omit(call->fresh_file,
			       flags & MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	return rc;
}

/* ---- subscriptions ---- */

/* Without capability event_cap, which this device has not, the kernel has fixed lists:
 * is_legacy_obj_event_num() and is_legacy_unaffiliated_event_num(). */
static bool known_event(uint16_t event, bool of_object)
{
	static const uint16_t of_objects[] = {
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x10,
		0x11, 0x12, 0x13, 0x14, 0x18, 0x1c, 0x1d,
	};

	if (!of_object)
		return event == 0x09; /* PORT_CHANGE */
	for (size_t i = 0; i < UV_COUNT(of_objects); i++)
		if (of_objects[i] == event)
			return true;
	return false;
}

static uint16_t queue_type(const struct uv_obj *obj)
{
	switch (obj ? (uint16_t)(obj->devx.id >> 32) : 0) {
	case CX_OP_CREATE_RQ:
	case CX_OP_CREATE_RMP:
		return QUEUE_TYPE_RQ;
	case CX_OP_CREATE_SQ:
		return QUEUE_TYPE_SQ;
	case CX_OP_CREATE_DCT:
		return QUEUE_TYPE_DCT;
	default:
		return QUEUE_TYPE_QP;
	}
}

/* eventfd_ctx_fdget() */
static bool is_eventfd(int fd)
{
	char path[32], target[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target));
	return n == (ssize_t)strlen("anon_inode:[eventfd]") &&
	       !memcmp(target, "anon_inode:[eventfd]", (size_t)n);
}

static int take_eventfd(struct uv_call *call, int *fd)
{
	int32_t number;
	int rc;

	*fd = -1;
	if (!uv_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM))
		return 0;
	if (uv_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE))
		return uv_refuse(call, EINVAL, "cookie", "with a descriptor");
	number = (int32_t)uv_in32(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
	rc = uv_ask_fd(call, number, fd);
	if (rc)
		return uv_refuse(call, -rc, "fd", "%d", number);
	if (is_eventfd(*fd))
		return 0;
	close(*fd);
	*fd = -1;
	return uv_refuse(call, EINVAL, "fd", "%d is no eventfd", number);
}

static int read_events(struct uv_call *call, bool of_object, uint16_t event[MAX_EVENTS],
		       unsigned *n)
{
	const struct uv_attr *a =
		uv_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);

	*n = a->u.len / 2;
	if (a->u.len % 2 || *n > MAX_EVENTS)
		return uv_refuse(call, EINVAL, "events", "%u bytes", a->u.len);
	memcpy(event, a->bytes, a->u.len);
	for (unsigned i = 0; i < *n; i++)
		if (!known_event(event[i], of_object))
			return uv_refuse(call, EINVAL, "events", "0x%x of %s", event[i],
					 of_object ? "an object" : "the device");
	return 0;
}

static int subscribe_to(struct uv_call *call, const uint16_t *event, unsigned n,
			int eventfd)
{
	struct uv_evfile *ef =
		uv_in_evfile(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	struct uv_obj *obj =
		uv_in_obj(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct uv_sub_conf conf[MAX_EVENTS];

	for (unsigned i = 0; i < n; i++)
		conf[i] = (struct uv_sub_conf){
			.obj = obj,
			.event = event[i],
			.obj_type = queue_type(obj),
			.num = obj ? (uint32_t)obj->devx.id : 0,
			.cookie = uv_in64(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE),
			.eventfd = eventfd,
		};
	return uv_subs_add(ef, conf, n);
}

static int subscribe(struct uv_call *call)
{
	uint16_t event[MAX_EVENTS];
	unsigned n;
	int fd, rc;

	if (!call->ctx->uid)
		return uv_refuse(call, EINVAL, "context", "opened without DevX");
	rc = read_events(call,
			 uv_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE),
			 event, &n);
	if (!rc)
		rc = take_eventfd(call, &fd);
	if (rc)
		return rc;
	rc = subscribe_to(call, event, n, fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- queries that answer later ---- */

/* The device answers at once; what takes time is the program's reading. */
static int query_later(struct uv_call *call, struct uv_evfile *ef, uint16_t uid,
		       size_t out_len)
{
	struct uv_attr *in = uv_attr(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
	struct mlx5_ib_uapi_devx_async_cmd_hdr *answer =
		calloc(1, sizeof(*answer) + out_len);

	if (!answer)
		return -ENOMEM;
	answer->wr_id = uv_in64(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID);
	uv_exec_raw(call->port, uid, in->bytes, in->u.len, answer->out_data, out_len);
	uv_evfile_push(ef, ef, NULL, answer, sizeof(*answer) + out_len);
	free(answer);
	return 0;
}

static int async_query(struct uv_call *call)
{
	struct uv_attr *in = uv_attr(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
	struct uv_evfile *ef = uv_in_evfile(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
	uint64_t out_len;
	uint16_t uid;
	int rc = uv_devx_uid(call, in->bytes, &uid);

	if (cx_be16(in->bytes + 4))
		return uv_refuse(call, EINVAL, "vhca_tunnel_id", "%u",
				 cx_be16(in->bytes + 4));
	if (!rc)
		rc = uv_const(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, UINT16_MAX,
			      &out_len);
	if (!rc)
		rc = uv_devx_check(
			call, uv_in_obj(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE),
			in->bytes, in->u.len, UV_CMD_QUERY);
	if (rc)
		return rc;
	if (out_len < HEADER_BYTES)
		return uv_refuse(call, EINVAL, "out_len", "%llu",
				 (unsigned long long)out_len);
	if (uv_evfile_bytes(ef) + out_len > MAX_ASYNC_BYTES)
		return uv_refuse(call, EAGAIN, "out_len",
				 "%llu: too much is not read yet",
				 (unsigned long long)out_len);
	return query_later(call, ef, uid, (size_t)out_len);
}

/* ---- tables ---- */

const struct uv_method uv_methods_devx_ev[] = {
	{ MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, false,
	  "DEVX_ASYNC_CMD_FD_ALLOC",
	  UV_ATTRS(UV_EVFD(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, UV_EV_CMD, UV_NEW,
			   UV_MANDATORY)) },
	{ MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
	  false, "DEVX_ASYNC_EVENT_FD_ALLOC",
	  UV_ATTRS(UV_EVFD(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, UV_EV_DEVX,
			   UV_NEW, UV_MANDATORY),
		   UV_FLAGS_IN(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
			       UV_MANDATORY)),
	  .run = event_fd_alloc },
	{ MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, false,
	  "DEVX_SUBSCRIBE_EVENT",
	  UV_ATTRS(UV_EVFD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, UV_EV_DEVX,
			   UV_READ, UV_MANDATORY),
		   UV_OBJ(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE,
			  MLX5_IB_OBJECT_DEVX_OBJ, UV_READ, UV_OPTIONAL),
		   UV_IN_MIN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2,
			     UV_MANDATORY),
		   UV_IN_TYPE(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, uint64_t,
			      UV_OPTIONAL),
		   UV_IN_TYPE(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, uint32_t,
			      UV_OPTIONAL)),
	  .run = subscribe },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, false,
	  "DEVX_OBJ_ASYNC_QUERY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, UV_ANY_OBJECT,
			  UV_READ, UV_MANDATORY),
		   UV_IN_MIN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, HEADER_BYTES,
			     UV_MANDATORY),
		   UV_CONST_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, UV_MANDATORY),
		   UV_EVFD(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, UV_EV_CMD, UV_READ,
			   UV_MANDATORY),
		   UV_IN_TYPE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, uint64_t,
			      UV_MANDATORY)),
	  .run = async_query },
	{ .name = NULL },
};
