/* wire/pair.c - wires inside the model: pair, loop and none
 *
 *   pair   what one port sends waits in the other port's queue until that one is polled
 *   loop   what the port sends waits in its own
 *   none   nothing is connected: link down
 *
 * The queue keeps the device that sends out of the device that receives: they
 * may be the same one. It is bounded; a frame that finds it full is lost and
 * counted by the sender, as on a switch without flow control.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../cxmodel/model.h"
#include "fifo.h"
#include "offload.h"
#include "wire.h"

#define QUEUE_BYTES (8u << 20) /* two full 512-entry rings of 8 KiB frames */

struct inner {
	struct wire w;
	struct fifo queue; /* frames on their way to this port */
	struct inner
		*other; /* where frames of this port go; itself: a loop; NULL: nowhere */
	char other_name[16];
	int quiet_fd; /* never readable: what is in the queue was put there by this thread */
};

static int inner_open(struct model_port *port, const struct wire_class *class,
		      struct wire **ret)
{
	struct inner *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->w.class = class;
	in->w.port = port;
	in->quiet_fd = eventfd(0, EFD_CLOEXEC);
	if (in->quiet_fd < 0 || fifo_open(&in->queue, QUEUE_BYTES) < 0) {
		class->close(&in->w);
		return -ENOMEM;
	}
	*ret = &in->w;
	return 0;
}

static int no_args(const char *kind, const char *args, char *why, size_t why_size)
{
	if (!*args)
		return 0;
	snprintf(why, why_size, "wire %s: takes no argument, but got '%s'", kind, args);
	return -EINVAL;
}

static void inner_tx(struct wire *w, const void *frame, uint32_t len)
{
	struct inner *in = (struct inner *)w;
	uint8_t padded[WIRE_MIN_FRAME] = { 0 };

	if (in->other && len < WIRE_MIN_FRAME) {
		memcpy(padded, frame, len);
		frame = padded;
		len = WIRE_MIN_FRAME;
	}
	if (in->other && fifo_put(&in->other->queue, frame, len))
		w->tx_frames++;
	else
		w->tx_lost++;
}

static unsigned inner_poll(struct wire *w, unsigned budget)
{
	struct inner *in = (struct inner *)w;
	const uint8_t *frame;
	unsigned n = 0;
	uint32_t len;

	for (; n < budget && (frame = fifo_peek(&in->queue, &len)); n++) {
		cx_rx(w->port->dev, frame, len);
		fifo_drop(&in->queue);
	}
	w->rx_frames += n;
	return n;
}

static int inner_fd(const struct wire *w)
{
	return ((const struct inner *)w)->quiet_fd;
}

static void set_carrier(struct inner *in, bool on)
{
	if (in->w.carrier == on)
		return;
	in->w.carrier = on;
	port_link_update(in->w.port);
}

/* The light is on while the other port sends it. */
static void pair_state(struct wire *w)
{
	struct inner *in = (struct inner *)w;

	if (in->other)
		set_carrier(in->other, w->port->admin_up && !w->port->forced_down);
}

static void inner_close(struct wire *w)
{
	struct inner *in = (struct inner *)w;

	if (in->other && in->other != in) {
		in->other->other = NULL;
		set_carrier(in->other, false);
	}
	if (in->quiet_fd >= 0)
		close(in->quiet_fd);
	fifo_close(&in->queue);
	free(in);
}

/* ---- pair ---- */

static int pair_open(struct model_port *port, const char *args, char *why,
		     size_t why_size, struct wire **ret)
{
	struct inner *in;
	int r;

	if (!*args || strlen(args) >= sizeof(in->other_name) ||
	    !strcmp(args, port->netdev)) {
		snprintf(why, why_size,
			 "wire pair:%s: not the name of another port; "
			 "use: --port a=pair:b --port b=pair:a",
			 args);
		return -EINVAL;
	}
	r = inner_open(port, &wire_pair, ret);
	if (r < 0)
		return r;
	in = (struct inner *)*ret;
	snprintf(in->other_name, sizeof(in->other_name), "%s", args);
	return 0;
}

static struct model_port *port_named(struct model *m, const char *name)
{
	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev && !strcmp(m->port[i].netdev, name))
			return &m->port[i];
	return NULL;
}

static int pair_start(struct wire *w, char *why, size_t why_size)
{
	struct inner *in = (struct inner *)w;
	struct model_port *p = port_named(w->port->model, in->other_name);
	struct inner *other = p ? (struct inner *)p->wire : NULL;

	if (!p && w->port->model->running)
		return 0; /* the other port is added next, and its start joins both */
	if (!p || !other || other->w.class != &wire_pair ||
	    strcmp(other->other_name, w->port->netdev) != 0) {
		snprintf(why, why_size,
			 "wire pair:%s of port %s: %s; use: --port %s=pair:%s",
			 in->other_name, w->port->netdev,
			 p ? "that port's wire is not a pair with this one"
			   : "there is no such port",
			 in->other_name, w->port->netdev);
		return -EINVAL;
	}
	in->other = other;
	other->other = in;
	pair_state(w);
	pair_state(&other->w);
	return 0;
}

const struct wire_class wire_pair = {
	.name = "pair",
	.args = "PORT",
	.help = "another port of this model, by its netdev's name",
	.open = pair_open,
	.start = pair_start,
	.tx = inner_tx,
	.poll = inner_poll,
	.fd = inner_fd,
	.close = inner_close,
	.port_state = pair_state,
};

/* ---- loop ---- */

static int loop_open(struct model_port *port, const char *args, char *why,
		     size_t why_size, struct wire **ret)
{
	int r = no_args("loop", args, why, why_size);

	if (!r)
		r = inner_open(port, &wire_loop, ret);
	if (r < 0)
		return r;
	((struct inner *)*ret)->other = (struct inner *)*ret;
	(*ret)->carrier = true;
	return 0;
}

const struct wire_class wire_loop = {
	.name = "loop",
	.args = "",
	.help = "what is sent comes back",
	.open = loop_open,
	.tx = inner_tx,
	.poll = inner_poll,
	.fd = inner_fd,
	.close = inner_close,
};

/* ---- none ---- */

static int none_open(struct model_port *port, const char *args, char *why,
		     size_t why_size, struct wire **ret)
{
	int r = no_args("none", args, why, why_size);

	return r ? r : inner_open(port, &wire_none, ret);
}

const struct wire_class wire_none = {
	.name = "none",
	.args = "",
	.help = "nothing connected, link down",
	.open = none_open,
	.tx = inner_tx,
	.poll = inner_poll,
	.fd = inner_fd,
	.close = inner_close,
};
