/* core/cmd_counter.c - queue counters and flow counters
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/counters.c, core/fs_cmd.c and
 * core/fs_counters.c; DPDK drivers/common/mlx5/mlx5_devx_cmds.c.
 */
#include "call.h"

#include <stdlib.h>

/* ---- queue counters ---- */

static enum cx_status alloc_q_counter(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);
	struct cx_qcounter *counter;

	if (st != CX_ST_OK)
		return st;
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return cx_call_no_memory(call);
	st = cx_call_add(call, &counter->obj, CX_QCOUNTER,
			 "alloc_q_counter_out.counter_set_id");
	if (st == CX_ST_OK)
		CX_SET(alloc_q_counter_out, call->out, counter_set_id, counter->obj.num);
	return st;
}

static enum cx_status query_q_counter(struct cx_call *call)
{
	enum cx_status st;
	struct cx_qcounter *counter = (struct cx_qcounter *)CX_ABOUT(
		call, CX_QCOUNTER, query_q_counter_in, counter_set_id, &st);

	if (!counter)
		return st;
	CX_SET(query_q_counter_out, call->out, out_of_buffer, counter->out_of_buffer);
	if (CX_GET(query_q_counter_in, call->in, clear))
		counter->out_of_buffer = 0;
	return CX_ST_OK;
}

static enum cx_status dealloc_q_counter(struct cx_call *call)
{
	enum cx_status st;
	struct cx_obj *counter =
		CX_ABOUT(call, CX_QCOUNTER, dealloc_q_counter_in, counter_set_id, &st);

	if (!counter)
		return st;
	st = cx_call_unused(call, counter, "dealloc_q_counter_in.counter_set_id");
	if (st == CX_ST_OK)
		cx_obj_free(call->dev, counter);
	return st;
}

/* ---- flow counters: ALLOC ---- */

/* One bit of the bitmap: 128, 256 ... 16384 counters; source: kernel mlx5_ifc.h, enum
 * mlx5_fc_bulk_alloc_bitmask. 0 is a single counter. */
static enum cx_status bulk_of(struct cx_call *call, uint32_t *n)
{
	uint32_t bulk =
		(uint32_t)CX_GET(alloc_flow_counter_in, call->in, flow_counter_bulk);

	*n = bulk ? bulk * 128 : 1;
	if (bulk & (bulk - 1))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "alloc_flow_counter_in.flow_counter_bulk",
				 "0x%x: more than one bit", bulk);
	if (bulk & ~cx_cap(call->dev, "hca.flow_counter_bulk_alloc"))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "alloc_flow_counter_in.flow_counter_bulk",
			"0x%x is not in capability hca.flow_counter_bulk_alloc 0x%x",
			bulk, cx_cap(call->dev, "hca.flow_counter_bulk_alloc"));
	return CX_ST_OK;
}

static const struct cx_forbidden no_in_alloc[] = {
	CX_FORBIDDEN(alloc_flow_counter_in, pd,
		     "capability hca.alloc_flow_counter_pd is 0"),
	CX_FORBIDDEN(alloc_flow_counter_in, flow_counter_bulk_log_size,
		     "capability hca2.flow_counter_bulk_log_max_alloc is 0"),
	{ 0, NULL, NULL },
};

struct sum {
	uint64_t counters;
};

static bool add_bulk(void *arg, struct cx_obj *obj)
{
	((struct sum *)arg)->counters += ((struct cx_fcounter *)obj)->bulk;
	return true;
}

static enum cx_status check_limit(struct cx_call *call, uint32_t n)
{
	uint32_t max = cx_cap(call->dev, "hca.max_flow_counter_31_16") << 16 |
		       cx_cap(call->dev, "hca.max_flow_counter_15_0");
	struct sum sum = { 0 };

	cx_obj_each(call->dev, CX_FCOUNTER, add_bulk, &sum);
	if (sum.counters + n > max)
		return cx_refuse(call, CX_ST_LIMIT,
				 "alloc_flow_counter_out.flow_counter_id",
				 "%u more than %llu of %u", n,
				 (unsigned long long)sum.counters, max);
	return CX_ST_OK;
}

static void drop_counter(struct cx_fcounter *c)
{
	free(c->packets);
	free(c->bytes);
	free(c);
}

static struct cx_fcounter *new_counter(uint32_t n)
{
	struct cx_fcounter *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bulk = n;
	c->packets = calloc(n, sizeof(*c->packets));
	c->bytes = calloc(n, sizeof(*c->bytes));
	if (c->packets && c->bytes)
		return c;
	drop_counter(c);
	return NULL;
}

static enum cx_status alloc_flow_counter(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);
	struct cx_fcounter *c;
	uint32_t n = 1;

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, call->in, no_in_alloc);
	if (st == CX_ST_OK)
		st = bulk_of(call, &n);
	if (st == CX_ST_OK)
		st = check_limit(call, n);
	if (st != CX_ST_OK)
		return st;
	c = new_counter(n);
	if (!c)
		return cx_call_no_memory(call);
	if (cx_obj_add_range(call->dev, &c->obj, CX_FCOUNTER, call->uid, n)) {
		drop_counter(c);
		return cx_refuse(call, CX_ST_LIMIT,
				 "alloc_flow_counter_out.flow_counter_id",
				 "no %u numbers in a row left", n);
	}
	CX_SET(alloc_flow_counter_out, call->out, flow_counter_id, c->obj.num);
	return CX_ST_OK;
}

/* ---- flow counters: QUERY ---- */

static const struct cx_forbidden no_in_query[] = {
	CX_FORBIDDEN(query_flow_counter_in, dump_to_memory,
		     "capability hca.flow_counters_dump is 0"),
	CX_FORBIDDEN(query_flow_counter_in, mkey, "without dump_to_memory"),
	CX_FORBIDDEN(query_flow_counter_in, address, "without dump_to_memory"),
	{ 0, NULL, NULL },
};

static void read_counter(struct cx_fcounter *c, uint32_t id, bool clear, uint8_t *out)
{
	uint32_t i = id - c->obj.num;

	CX_SET(traffic_counter, out, packets, c->packets[i]);
	CX_SET(traffic_counter, out, octets, c->bytes[i]);
	if (clear)
		c->packets[i] = c->bytes[i] = 0;
}

/* In a query of many the kernel starts at a multiple of four and may pass over numbers that
 * nobody has (fs_counters.c): these read as zero. A program must own all it asks for
 * (assumed). */
static struct cx_fcounter *counter_at(struct cx_call *call, uint32_t id,
				      enum cx_status *st)
{
	if (!call->uid && !cx_obj_get(call->dev, CX_FCOUNTER, id, 0))
		return NULL;
	return (struct cx_fcounter *)cx_call_obj(
		call, CX_FCOUNTER, id, "query_flow_counter_in.flow_counter_id", st);
}

static enum cx_status read_many(struct cx_call *call, uint32_t id, uint32_t n, bool clear)
{
	uint8_t *stat = call->out + CX_BYTES(query_flow_counter_out);
	enum cx_status st = CX_ST_OK;

	if (id % 4)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "query_flow_counter_in.flow_counter_id",
				 "0x%x is not a multiple of 4, as a query of many needs",
				 id);
	for (uint32_t i = 0; i < n && st == CX_ST_OK; i++)
		counter_at(call, id + i, &st);
	for (uint32_t i = 0; i < n && st == CX_ST_OK; i++) {
		struct cx_fcounter *c = counter_at(call, id + i, &st);

		if (c)
			read_counter(c, id + i, clear,
				     stat + i * CX_BYTES(traffic_counter));
	}
	return st;
}

static enum cx_status read_one(struct cx_call *call, uint32_t id, bool clear)
{
	enum cx_status st = CX_ST_OK;
	struct cx_fcounter *c = (struct cx_fcounter *)cx_call_obj(
		call, CX_FCOUNTER, id, "query_flow_counter_in.flow_counter_id", &st);

	if (c)
		read_counter(c, id, clear, call->out + CX_BYTES(query_flow_counter_out));
	return st;
}

static enum cx_status query_flow_counter(struct cx_call *call)
{
	uint32_t id = (uint32_t)CX_GET(query_flow_counter_in, call->in, flow_counter_id);
	uint32_t n = (uint32_t)CX_GET(query_flow_counter_in, call->in, num_of_counters);
	bool clear = CX_GET(query_flow_counter_in, call->in, clear);
	size_t room = (call->out_len - CX_BYTES(query_flow_counter_out)) /
		      CX_BYTES(traffic_counter);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, call->in, no_in_query);
	if (st != CX_ST_OK)
		return st;
	if (n > UINT32_C(1) << cx_cap(call->dev, "hca.log_max_flow_counter_bulk"))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "query_flow_counter_in.num_of_counters",
				 "%u is over 2^%u", n,
				 cx_cap(call->dev, "hca.log_max_flow_counter_bulk"));
	if (room < (n ? n : 1))
		return cx_refuse(call, CX_ST_BAD_OUT_LEN, "out_len",
				 "%zu bytes have no room for %u counters", call->out_len,
				 n ? n : 1);
	return n ? read_many(call, id, n, clear) : read_one(call, id, clear);
}

/* ---- flow counters: DEALLOC ---- */

static enum cx_status dealloc_flow_counter(struct cx_call *call)
{
	uint32_t id =
		(uint32_t)CX_GET(dealloc_flow_counter_in, call->in, flow_counter_id);
	enum cx_status st;
	struct cx_obj *c = CX_ABOUT(call, CX_FCOUNTER, dealloc_flow_counter_in,
				    flow_counter_id, &st);

	if (!c)
		return st;
	if (c->num != id)
		return cx_refuse(call, CX_ST_BAD_RES,
				 "dealloc_flow_counter_in.flow_counter_id",
				 "0x%x is inside the bulk that starts at 0x%x", id,
				 c->num);
	st = cx_call_unused(call, c, "dealloc_flow_counter_in.flow_counter_id");
	if (st == CX_ST_OK)
		cx_obj_free(call->dev, c);
	return st;
}

const struct cx_cmd cx_cmds_counter[] = {
	{ 0x771, "ALLOC_Q_COUNTER", &cx_layout_alloc_q_counter_in,
	  &cx_layout_alloc_q_counter_out, alloc_q_counter },
	{ 0x772, "DEALLOC_Q_COUNTER", &cx_layout_dealloc_q_counter_in, NULL,
	  dealloc_q_counter },
	{ 0x773, "QUERY_Q_COUNTER", &cx_layout_query_q_counter_in,
	  &cx_layout_query_q_counter_out, query_q_counter },
	{ 0x939, "ALLOC_FLOW_COUNTER", &cx_layout_alloc_flow_counter_in,
	  &cx_layout_alloc_flow_counter_out, alloc_flow_counter },
	{ 0x93a, "DEALLOC_FLOW_COUNTER", &cx_layout_dealloc_flow_counter_in, NULL,
	  dealloc_flow_counter },
	{ 0x93b, "QUERY_FLOW_COUNTER", &cx_layout_query_flow_counter_in,
	  &cx_layout_query_flow_counter_out, query_flow_counter },
	{ 0, NULL, NULL, NULL, NULL },
};
