/* uverbs/event.c - who wants to know what happened
 *
 *   queue of verbs   -> completion channel, async file of its context
 *   DevX object      -> event channels that subscribed (cookie, or the event itself)
 *   port, device     -> every async file; DevX channels that asked for the device
 *
 * Everything here runs in the middle of cx_step() or cx_cmd(), with the lock held,
 * and must not wait.
 *
 * Sources: Linux 6.1 core/uverbs_main.c (ib_uverbs_comp_handler, _async_handler),
 * hw/mlx5/devx.c (devx_event_notifier, deliver_event), hw/mlx5/main.c
 * (mlx5_netdev_event); struct mlx5_eqe in include/linux/mlx5/device.h.
 */
#include "uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/bits.h"

enum { /* rdma/ib_verbs.h, enum ib_event_type */
       IB_CQ_ERR = 0,
       IB_QP_FATAL = 1,
       IB_DEVICE_FATAL = 8,
       IB_PORT_ACTIVE = 9,
       IB_PORT_ERR = 10,
       IB_WQ_FATAL = 19,
};
enum { QUEUE_TYPE_RQ = 1, QUEUE_TYPE_SQ = 2 }; /* MLX5_EVENT_QUEUE_TYPE_* */
enum { PORT_DOWN = 1, PORT_ACTIVE = 4 };       /* subtypes */
#define EQE_BYTES 64

struct uv_watch {
	struct uv_watch *next;
	enum cx_obj_type type;
	uint32_t num;
	struct uv_obj *obj;
};

struct uv_sub {
	struct uv_sub *next;
	struct uv_evfile *ef;
	struct uv_sub_conf conf;
};

/* ---- queues of verbs ---- */

int uv_watch_add(struct uv_obj *obj, enum cx_obj_type type, uint32_t num)
{
	struct uv_watch **bucket = &obj->port->watch[num % UV_BUCKETS];
	struct uv_watch *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct uv_watch){ .next = *bucket, .type = type, .num = num, .obj = obj };
	*bucket = w;
	return 0;
}

void uv_watch_del(struct uv_obj *obj)
{
	for (unsigned i = 0; i < UV_BUCKETS; i++)
		for (struct uv_watch **p = &obj->port->watch[i], *w; (w = *p);) {
			if (w->obj != obj) {
				p = &w->next;
				continue;
			}
			*p = w->next;
			free(w);
		}
}

static struct uv_obj *watched(const struct uv_port *port, const struct cx_event *ev)
{
	const struct uv_watch *w = port->watch[ev->obj_num % UV_BUCKETS];

	while (w && (w->num != ev->obj_num || w->type != (enum cx_obj_type)ev->obj_type))
		w = w->next;
	return w ? w->obj : NULL;
}

static void tell_completion(struct uv_obj *cq)
{
	struct ib_uverbs_comp_event_desc desc = { .cq_handle = cq->user_handle };

	if (cq->comp)
		uv_evfile_push(cq->comp, cq, &cq->comp_events, &desc, sizeof(desc));
}

static void tell_async(struct uv_evfile *ef, struct uv_obj *obj, uint64_t element,
		       uint32_t event)
{
	struct ib_uverbs_async_event_desc desc = { .element = element,
						   .event_type = event };

	if (ef)
		uv_evfile_push(ef, obj, obj ? &obj->async_events : NULL, &desc,
			       sizeof(desc));
}

static void queue_event(const struct uv_port *port, const struct cx_event *ev)
{
	struct uv_obj *obj = watched(port, ev);

	if (!obj)
		return;
	if (ev->type == CX_EVENT_COMPLETION)
		tell_completion(obj);
	else if (ev->type == CX_EVENT_CQ_ERROR)
		tell_async(obj->async, obj, obj->user_handle, IB_CQ_ERR);
	else if (ev->type == CX_EVENT_WQ_CATASTROPHIC)
		tell_async(obj->async, obj, obj->user_handle,
			   obj->type == UVERBS_OBJECT_WQ ? IB_WQ_FATAL : IB_QP_FATAL);
}

/* ---- the port and the device ---- */

/* RoCE ports tell of the netdev's state: mlx5_netdev_event(). Port 1 is the only one. */
static void device_event(const struct uv_port *port, const struct cx_event *ev)
{
	uint32_t event = IB_DEVICE_FATAL;

	if (ev->type == CX_EVENT_PORT_CHANGE && ev->subtype == PORT_ACTIVE)
		event = IB_PORT_ACTIVE;
	else if (ev->type == CX_EVENT_PORT_CHANGE && ev->subtype == PORT_DOWN)
		event = IB_PORT_ERR;
	else if (ev->type != CX_EVENT_INTERNAL_ERROR)
		return;
	for (struct uv_ctx *ctx = port->ctx; ctx; ctx = ctx->next_of_port)
		for (struct uv_evfile *ef = ctx->evfile; ef; ef = ef->next)
			if (ef->kind == UV_EV_ASYNC)
				tell_async(ef, NULL, 1, event);
}

/* ---- DevX ---- */

static struct uv_sub **bucket_of(struct uv_port *port, uint32_t num)
{
	return &port->sub[num % UV_BUCKETS];
}

static void free_sub(struct uv_sub *sub)
{
	uv_evfile_disown(sub->ef, sub);
	uv_evfile_put(sub->ef);
	if (sub->conf.eventfd >= 0)
		close(sub->conf.eventfd);
	free(sub);
}

static struct uv_sub *new_sub(struct uv_evfile *ef, const struct uv_sub_conf *conf)
{
	struct uv_sub *sub = malloc(sizeof(*sub));

	if (!sub)
		return NULL;
	*sub = (struct uv_sub){ .ef = ef, .conf = *conf };
	uv_evfile_get(ef);
	if (conf->eventfd >= 0) {
		sub->conf.eventfd = fcntl(conf->eventfd, F_DUPFD_CLOEXEC, 0);
		if (sub->conf.eventfd < 0) {
			free_sub(sub);
			return NULL;
		}
	}
	return sub;
}

int uv_subs_add(struct uv_evfile *ef, const struct uv_sub_conf *conf, unsigned n)
{
	struct uv_sub *made = NULL, *sub;

	for (unsigned i = 0; i < n; i++) {
		sub = new_sub(ef, &conf[i]);
		if (!sub) {
			while ((sub = made)) {
				made = sub->next;
				free_sub(sub);
			}
			return -ENOMEM;
		}
		sub->next = made;
		made = sub;
	}
	while ((sub = made)) {
		struct uv_sub **bucket = bucket_of(ef->ctx->port, sub->conf.num);

		made = sub->next;
		sub->next = *bucket;
		*bucket = sub;
	}
	return 0;
}

static void del_subs(struct uv_port *port, const struct uv_obj *obj,
		     const struct uv_evfile *ef)
{
	for (unsigned i = 0; i < UV_BUCKETS; i++)
		for (struct uv_sub **p = &port->sub[i], *sub; (sub = *p);) {
			if ((obj && sub->conf.obj != obj) || (ef && sub->ef != ef)) {
				p = &sub->next;
				continue;
			}
			*p = sub->next;
			free_sub(sub);
		}
}

void uv_subs_del_obj(const struct uv_obj *obj)
{
	if (obj->type == MLX5_IB_OBJECT_DEVX_OBJ)
		del_subs(obj->port, obj, NULL);
}

void uv_subs_del_file(const struct uv_evfile *ef)
{
	if (ef->kind == UV_EV_DEVX)
		del_subs(ef->ctx->port, NULL, ef);
}

static uint16_t queue_type(const struct cx_event *ev)
{
	if (ev->type != CX_EVENT_WQ_CATASTROPHIC)
		return 0;
	return ev->obj_type == CX_SQ ? QUEUE_TYPE_SQ : QUEUE_TYPE_RQ;
}

/* The entry of the event queue, as the kernel would have read it. */
static void build_eqe(const struct cx_event *ev, uint8_t eqe[EQE_BYTES])
{
	uint8_t *data = eqe + 32;

	memset(eqe, 0, EQE_BYTES);
	eqe[1] = ev->type;
	eqe[3] = ev->subtype;
	switch (ev->type) {
	case CX_EVENT_COMPLETION:
		cx_put_be32(data + 24, ev->obj_num);
		break;
	case CX_EVENT_CQ_ERROR:
		cx_put_be32(data, ev->obj_num);
		data[11] = ev->subtype;
		break;
	case CX_EVENT_WQ_CATASTROPHIC:
		data[20] = (uint8_t)queue_type(ev);
		cx_put_be32(data + 24, ev->obj_num);
		break;
	case CX_EVENT_PORT_CHANGE:
		data[8] = 1 << 4;
		break;
	}
}

/* eventfd_signal() never waits; a write does when the counter is full. */
static void signal_eventfd(int fd)
{
	struct pollfd set = { .fd = fd, .events = POLLOUT };
	uint64_t one = 1;

	if (poll(&set, 1, 0) == 1 && set.revents & POLLOUT &&
	    write(fd, &one, sizeof(one)) < 0)
		return;
}

static void deliver(struct uv_sub *sub, const struct cx_event *ev)
{
	struct {
		uint64_t cookie;
		uint8_t eqe[EQE_BYTES];
	} record = { .cookie = sub->conf.cookie };

	if (sub->conf.eventfd >= 0) {
		signal_eventfd(sub->conf.eventfd);
		return;
	}
	if (sub->ef->omit_data) {
		if (!uv_evfile_pending(sub->ef, sub))
			uv_evfile_push(sub->ef, sub, NULL, &record.cookie,
				       sizeof(record.cookie));
		return;
	}
	build_eqe(ev, record.eqe);
	uv_evfile_push(sub->ef, sub, NULL, &record, sizeof(record));
}

static void devx_event(struct uv_port *port, const struct cx_event *ev, bool device_wide)
{
	uint32_t num = device_wide ? 0 : ev->obj_num;

	for (struct uv_sub *sub = *bucket_of(port, num); sub; sub = sub->next)
		if (!sub->conf.obj == device_wide && sub->conf.event == ev->type &&
		    sub->conf.num == num &&
		    (device_wide || sub->conf.obj_type == queue_type(ev)))
			deliver(sub, ev);
}

void server_event(struct model_port *port, const struct cx_event *ev)
{
	struct uv_port *p = port->server;
	bool device_wide = ev->type == CX_EVENT_PORT_CHANGE ||
			   ev->type == CX_EVENT_INTERNAL_ERROR;

	if (!p)
		return;
	if (device_wide)
		device_event(p, ev);
	else
		queue_event(p, ev);
	devx_event(p, ev, device_wide);
}
