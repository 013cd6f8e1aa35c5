/* test/wire_bench.c - see wire_bench.h */
#include "wire_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_wire_tx(void *arg, const void *frame, uint32_t len)
{
	struct model_port *p = arg;

	p->wire->class->tx(p->wire, frame, len);
}

static void on_kernel_rx(void *arg, const void *frame, uint32_t len)
{
	struct model_port *p = arg;
	struct bench *b = (struct bench *)p->model;
	struct bench_frames *f = &b->got[p->index];

	f->bytes = realloc(f->bytes, f->used + len);
	f->len = realloc(f->len, (f->n + 1) * sizeof(*f->len));
	assert_true(f->bytes && f->len);
	memcpy(f->bytes + f->used, frame, len);
	f->used += len;
	f->len[f->n++] = len;
}

static void on_event(void *arg, const struct cx_event *ev)
{
	(void)arg;
	(void)ev;
}

static void on_log(void *arg, const char *line)
{
	(void)arg;
	printf("  | %s\n", line);
}

void bench_open(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	pthread_mutex_init(&b->m.lock, NULL);
}

static struct model_port *make(struct bench *b, const char *name)
{
	struct model_port *p = &b->m.port[b->m.n_ports];
	struct cx_conf conf = { .name = name,
				.mtu = 9000,
				.device_id = 0x101d,
				.mac = { 2, 0, 0, 0, 0, (uint8_t)b->m.n_ports } };
	struct cx_ops ops = { .arg = p,
			      .wire_tx = on_wire_tx,
			      .kernel_rx = on_kernel_rx,
			      .event = on_event,
			      .log = on_log,
			      .trace = on_log };

	assert_true(b->m.n_ports < MODEL_PORTS);
	p->model = &b->m;
	p->index = b->m.n_ports;
	p->admin_up = true;
	snprintf(p->netdev, sizeof(p->netdev), "%s", name);
	snprintf(p->rdma_name, sizeof(p->rdma_name), "mlx5_%u", p->index);
	assert_int_equal(cx_dev_new(&conf, &ops, &p->dev), 0);
	cx_link_set(p->dev, false);
	return p;
}

struct model_port *bench_port(struct bench *b, const char *name, const char *wire)
{
	struct model_port *p = make(b, name);
	int r = wire_open(p, wire, b->why, sizeof(b->why), &p->wire);

	if (r < 0)
		fail_msg("wire %s: %s", wire, b->why);
	b->m.n_ports++;
	return p;
}

int bench_refused(struct bench *b, const char *name, const char *wire)
{
	struct model_port *p = make(b, name);
	struct wire *untouched = (struct wire *)b, *ret = untouched;
	int r = wire_open(p, wire, b->why, sizeof(b->why), &ret);

	assert_ptr_equal(ret, untouched);
	cx_dev_free(p->dev);
	memset(p, 0, sizeof(*p));
	return r;
}

void bench_start(struct bench *b)
{
	for (unsigned i = 0; i < b->m.n_ports; i++) {
		struct wire *w = b->m.port[i].wire;

		if (w->class->start && w->class->start(w, b->why, sizeof(b->why)) < 0)
			fail_msg("start: %s", b->why);
		port_link_update(&b->m.port[i]);
	}
	b->m.running = true;
}

void bench_send(struct model_port *p, const void *frame, uint32_t len)
{
	cx_kernel_tx(p->dev, frame, len);
}

unsigned bench_run(struct bench *b)
{
	unsigned all = 0, n;

	do {
		n = 0;
		for (unsigned i = 0; i < b->m.n_ports; i++)
			n += b->m.port[i].wire->class->poll(b->m.port[i].wire, 64);
		all += n;
	} while (n);
	return all;
}

const uint8_t *bench_frame(const struct bench *b, const struct model_port *p,
			   unsigned nth, uint32_t *len)
{
	const struct bench_frames *f = &b->got[p->index];
	size_t at = 0;

	assert_true(nth < f->n);
	for (unsigned i = 0; i < nth; i++)
		at += f->len[i];
	*len = f->len[nth];
	return f->bytes + at;
}

void bench_forget(struct bench *b)
{
	for (unsigned i = 0; i < MODEL_PORTS; i++) {
		free(b->got[i].bytes);
		free(b->got[i].len);
		memset(&b->got[i], 0, sizeof(b->got[i]));
	}
}

void bench_close(struct bench *b)
{
	for (unsigned i = 0; i < b->m.n_ports; i++) {
		struct model_port *p = &b->m.port[i];

		if (p->wire)
			p->wire->class->close(p->wire);
		p->wire = NULL;
	}
	for (unsigned i = 0; i < b->m.n_ports; i++)
		if (b->m.port[i].dev)
			cx_dev_free(b->m.port[i].dev);
	bench_forget(b);
	pthread_mutex_destroy(&b->m.lock);
}
