/* test/direct.c - the device, what it says, commands and memory; see direct.h */
#include "direct.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"

/* ---- recording ---- */

/* Room for one more element of @size bytes; a test out of memory may as well end. */
static void *grown(void *list, unsigned n, unsigned *capacity, size_t size)
{
	if (n < *capacity)
		return list;
	*capacity = *capacity ? *capacity * 2 : 64;
	list = reallocarray(list, *capacity, size);
	assert_non_null(list);
	return list;
}

static void keep_frame(struct d_frames *f, const void *frame, uint32_t len)
{
	struct d_frame one = { malloc(len ? len : 1), len };

	assert_non_null(one.data);
	memcpy(one.data, frame, len);
	f->at = grown(f->at, f->n, &f->room, sizeof(*f->at));
	f->at[f->n++] = one;
}

static void keep_line(struct d_lines *l, const char *line)
{
	char *copy = strdup(line);

	assert_non_null(copy);
	l->at = grown(l->at, l->n, &l->room, sizeof(*l->at));
	l->at[l->n++] = copy;
}

static void on_wire(void *arg, const void *frame, uint32_t len)
{
	keep_frame(&((struct direct *)arg)->wire, frame, len);
}

static void on_kernel(void *arg, const void *frame, uint32_t len)
{
	keep_frame(&((struct direct *)arg)->kernel, frame, len);
}

static void on_event(void *arg, const struct cx_event *ev)
{
	struct d_events *e = &((struct direct *)arg)->events;

	e->at = grown(e->at, e->n, &e->room, sizeof(*e->at));
	e->at[e->n++] = *ev;
}

static void on_log(void *arg, const char *line)
{
	keep_line(&((struct direct *)arg)->log, line);
}

static void on_trace(void *arg, const char *line)
{
	keep_line(&((struct direct *)arg)->trace, line);
}

static void forget_frames(struct d_frames *f)
{
	while (f->n)
		free(f->at[--f->n].data);
}

static void forget_lines(struct d_lines *l)
{
	while (l->n)
		free(l->at[--l->n]);
}

void d_forget(struct direct *d)
{
	forget_frames(&d->wire);
	forget_frames(&d->kernel);
	forget_lines(&d->log);
	forget_lines(&d->trace);
	d->events.n = 0;
}

static bool in_log(const struct direct *d, const char *text)
{
	for (unsigned i = 0; i < d->log.n; i++)
		if (strstr(d->log.at[i], text))
			return true;
	return false;
}

static void show_log(const struct direct *d)
{
	for (unsigned i = 0; i < d->log.n; i++)
		print_error("log: %s\n", d->log.at[i]);
}

void d_assert_ok(const struct direct *d, enum cx_status st)
{
	if (st == CX_ST_OK)
		return;
	show_log(d);
	fail_msg("status 0x%x", st);
}

void d_assert_log(const struct direct *d, const char *text)
{
	if (in_log(d, text))
		return;
	show_log(d);
	fail_msg("no line of the log holds \"%s\"", text);
}

void d_assert_no_log(const struct direct *d, const char *text)
{
	if (!in_log(d, text))
		return;
	show_log(d);
	fail_msg("a line of the log holds \"%s\"", text);
}

/* ---- life ---- */

static bool take_num(void *arg, struct cx_obj *obj)
{
	*(uint32_t *)arg = obj->num;
	return false;
}

static struct cx_dev *new_dev(struct direct *d, const char *const *caps)
{
	struct cx_conf conf = { .name = "mlx5_0",
				.mac = { 2, 0, 0, 0, 0, 1 },
				.mtu = 1500,
				.device_id = 0x101d,
				.caps = caps };
	struct cx_ops ops = { .arg = d,
			      .wire_tx = on_wire,
			      .kernel_rx = on_kernel,
			      .event = on_event,
			      .log = on_log,
			      .trace = on_trace };
	struct cx_dev *dev = NULL;

	assert_int_equal(cx_dev_new(&conf, &ops, &dev), 0);
	cx_link_set(dev, true);
	return dev;
}

struct direct *d_open(const char *const *caps)
{
	struct direct *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->dev = new_dev(d, caps);
	cx_obj_each(d->dev, CX_EQ, take_num, &d->eqn);
	d->uid = d_uctx(d);
	d->pdn = d_pd(d);
	d->tdn = d_td(d);
	d->tisn = d_tis(d);
	d->uar = d_uar(d);
	d_forget(d);
	return d;
}

void d_close(struct direct *d)
{
	cx_dev_free(d->dev);
	d_forget(d);
	free(d->wire.at);
	free(d->kernel.at);
	free(d->log.at);
	free(d->trace.at);
	free(d->events.at);
	while (d->n_owned)
		free(d->owned[--d->n_owned]);
	free(d->owned);
	free(d);
}

unsigned d_run(struct direct *d)
{
	unsigned work, all = 0;

	while ((work = cx_step(d->dev)))
		all += work;
	return all;
}

void d_fault(struct direct *d, const char *line)
{
	char why[128];

	if (cx_fault(d->dev, line, why, sizeof(why)))
		fail_msg("%s: %s", line, why);
}

/* ---- commands ---- */

void d_patch(struct direct *d, uint32_t byte, cx_field field, uint64_t value)
{
	assert_true(d->n_patches < sizeof(d->patch) / sizeof(d->patch[0]));
	d->patch[d->n_patches++] = (struct d_patch){ byte, field, value };
}

enum cx_status d_cmd(struct direct *d, uint16_t opcode, void *in, size_t in_len,
		     void *out, size_t out_len)
{
	enum cx_status st;

	cx_put_be16(in, opcode);
	if (d->uid)
		cx_put_be16((uint8_t *)in + 2, d->uid);
	for (unsigned i = 0; i < d->n_patches; i++)
		cx_set((uint8_t *)in + d->patch[i].byte, d->patch[i].field,
		       d->patch[i].value);
	d->n_patches = 0;
	st = cx_cmd(d->dev, in, in_len, out, out_len);
	assert_int_equal(*(uint8_t *)out, st);
	d->syndrome = cx_be32((uint8_t *)out + 4);
	return st;
}

enum cx_status d_simple(struct direct *d, uint16_t opcode, uint32_t num, uint32_t *ret)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 };
	enum cx_status st;

	cx_set(in, CX_PACK(0x48, 24), num);
	st = d_cmd(d, opcode, in, sizeof(in), out, sizeof(out));
	if (ret)
		*ret = (uint32_t)cx_get(out, CX_PACK(0x48, 24));
	return st;
}

uint16_t d_uctx(struct direct *d)
{
	uint8_t in[CX_BYTES(create_uctx_in)] = { 0 },
		out[CX_BYTES(create_uctx_out)] = { 0 };
	uint16_t uid = d->uid;

	CX_SET(uctx, CX_AT(create_uctx_in, in, uctx), cap, 1); /* MLX5_UCTX_CAP_RAW_TX */
	d->uid = 0;
	d_assert_ok(d, d_cmd(d, D_CREATE_UCTX, in, sizeof(in), out, sizeof(out)));
	d->uid = uid;
	return (uint16_t)CX_GET(create_uctx_out, out, uid);
}

static uint32_t made(struct direct *d, uint16_t opcode)
{
	uint32_t num;

	d_assert_ok(d, d_simple(d, opcode, 0, &num));
	return num;
}

uint32_t d_pd(struct direct *d)
{
	return made(d, D_ALLOC_PD);
}

uint32_t d_td(struct direct *d)
{
	return made(d, D_ALLOC_TD);
}

uint32_t d_tis(struct direct *d)
{
	uint8_t in[CX_BYTES(create_tis_in)] = { 0 },
		out[CX_BYTES(create_tis_out)] = { 0 };
	uint8_t *ctx = CX_AT(create_tis_in, in, ctx);

	CX_SET(tisc, ctx, transport_domain, d->tdn);
	d_assert_ok(d, d_cmd(d, D_CREATE_TIS, in, sizeof(in), out, sizeof(out)));
	return (uint32_t)CX_GET(create_tis_out, out, tisn);
}

/* ---- memory ---- */

void *d_alloc(struct direct *d, size_t len)
{
	size_t size = (len + 4095) / 4096 * 4096;
	void *p = aligned_alloc(4096, size ? size : 4096);

	assert_non_null(p);
	memset(p, 0, size);
	/* The rest of the page is not the device's to touch. */
	ASAN_POISON_MEMORY_REGION((uint8_t *)p + len, size - len);
	d->owned = grown(d->owned, d->n_owned, &d->room_owned, sizeof(*d->owned));
	d->owned[d->n_owned++] = p;
	return p;
}

struct d_mem d_mem(struct direct *d, uint64_t len)
{
	struct d_mem m = { .p = d_alloc(d, len), .len = len };

	m.iova = (uintptr_t)m.p ^ UINT64_C(0x0055000000000000);
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, m.p, m.iova, len,
				     CX_ACCESS_LOCAL_WRITE, &m.key),
			 0);
	return m;
}

struct d_umem d_umem(struct direct *d, uint64_t len)
{
	struct d_umem m = { .p = d_alloc(d, len), .len = len };

	assert_int_equal(
		cx_umem_reg(d->dev, d->uid, m.p, len, CX_ACCESS_LOCAL_WRITE, &m.num), 0);
	return m;
}

struct d_uar *d_uar(struct direct *d)
{
	struct d_uar *uar = d_alloc(d, sizeof(*uar));

	*uar = (struct d_uar){ .d = d,
			       .num = made(d, D_ALLOC_UAR),
			       .page = d_alloc(d, 4096) };
	assert_int_equal(cx_uar_attach(d->dev, uar->num, uar->page), 0);
	return uar;
}

void d_doorbell(struct d_uar *uar, uint32_t reg, const void *value)
{
	uint64_t v;

	memcpy(&v, value, sizeof(v));
	__atomic_store_n((uint64_t *)(void *)(uar->page + reg), v, __ATOMIC_RELEASE);
}

/* ---- counters ---- */

uint8_t d_q_counter(struct direct *d)
{
	uint8_t in[CX_BYTES(alloc_q_counter_in)] = { 0 },
		out[CX_BYTES(alloc_q_counter_out)] = { 0 };

	d_assert_ok(d, d_cmd(d, D_ALLOC_Q_COUNTER, in, sizeof(in), out, sizeof(out)));
	return (uint8_t)CX_GET(alloc_q_counter_out, out, counter_set_id);
}

uint32_t d_out_of_buffer(struct direct *d, uint8_t counter)
{
	uint8_t in[CX_BYTES(query_q_counter_in)] = { 0 },
		out[CX_BYTES(query_q_counter_out)] = { 0 };

	CX_SET(query_q_counter_in, in, counter_set_id, counter);
	d_assert_ok(d, d_cmd(d, D_QUERY_Q_COUNTER, in, sizeof(in), out, sizeof(out)));
	return (uint32_t)CX_GET(query_q_counter_out, out, out_of_buffer);
}

uint32_t d_flow_counter(struct direct *d)
{
	uint8_t in[CX_BYTES(alloc_flow_counter_in)] = { 0 };
	uint8_t out[CX_BYTES(alloc_flow_counter_out)] = { 0 };

	d_assert_ok(d, d_cmd(d, D_ALLOC_FLOW_COUNTER, in, sizeof(in), out, sizeof(out)));
	return (uint32_t)CX_GET(alloc_flow_counter_out, out, flow_counter_id);
}

void d_flow_counter_read(struct direct *d, uint32_t id, uint64_t *packets,
			 uint64_t *bytes)
{
	uint8_t in[CX_BYTES(query_flow_counter_in)] = { 0 };
	uint8_t out[CX_BYTES(query_flow_counter_out) + CX_BYTES(traffic_counter)] = { 0 };
	uint8_t *st = CX_AT(query_flow_counter_out, out, flow_statistics);

	CX_SET(query_flow_counter_in, in, flow_counter_id, id);
	d_assert_ok(d, d_cmd(d, D_QUERY_FLOW_COUNTER, in, sizeof(in), out, sizeof(out)));
	*packets = CX_GET(traffic_counter, st, packets);
	*bytes = CX_GET(traffic_counter, st, octets);
}
