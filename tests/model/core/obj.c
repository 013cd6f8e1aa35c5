/* core/obj.c - numbers, owners and counts of all objects */
#include "obj.h"

#include <errno.h>
#include <stdlib.h>

/* ---- types ---- */

/* One row a type. Spaces start at different numbers, so that a number used as that of another
 * type is nobody's. The limit is the capability's: 2^N objects, or N. Types without one are
 * bounded by what their table holds (flow tables: steer.c) or by the space. */
static const struct {
	const char *name;
	enum cx_space_id space;
	const char *log_limit, *limit;
} types[CX_OBJ_TYPE_COUNT] = {
	[CX_UCTX] = { "UCTX", CX_SPACE_UCTX, "hca.log_max_uctx", NULL },
	[CX_UMEM] = { "UMEM", CX_SPACE_UMEM, "hca.log_max_umem", NULL },
	[CX_UAR] = { "UAR", CX_SPACE_UAR, NULL, NULL },
	[CX_PD] = { "PD", CX_SPACE_PD, "hca.log_max_pd", NULL },
	[CX_TD] = { "TD", CX_SPACE_TD, "hca.log_max_transport_domain", NULL },
	[CX_MKEY] = { "MKEY", CX_SPACE_MKEY, "hca.log_max_mkey", NULL },
	[CX_CQ] = { "CQ", CX_SPACE_CQ, "hca.log_max_cq", NULL },
	[CX_SQ] = { "SQ", CX_SPACE_WQ, "hca.log_max_sq", NULL },
	[CX_RQ] = { "RQ", CX_SPACE_WQ, "hca.log_max_rq", NULL },
	[CX_RMP] = { "RMP", CX_SPACE_WQ, "hca.log_max_rmp", NULL },
	[CX_TIS] = { "TIS", CX_SPACE_TIS, "hca.log_max_tis", NULL },
	[CX_TIR] = { "TIR", CX_SPACE_TIR, "hca.log_max_tir", NULL },
	[CX_RQT] = { "RQT", CX_SPACE_RQT, "hca.log_max_rqt", NULL },
	[CX_QCOUNTER] = { "QCOUNTER", CX_SPACE_QCOUNTER, NULL, "hca.max_qp_cnt" },
	[CX_FCOUNTER] = { "FCOUNTER", CX_SPACE_FCOUNTER, NULL, NULL },
	[CX_FT] = { "FT", CX_SPACE_FT, NULL, NULL },
	[CX_FG] = { "FG", CX_SPACE_FG, NULL, NULL },
	[CX_FTE] = { "FTE", CX_SPACE_FTE, NULL, NULL },
	[CX_EQ] = { "EQ", CX_SPACE_EQ, "hca.log_max_eq", NULL },
};

/* Widest field that carries the number; source: rqc.counter_set_id has 8 bits, the uid of a
 * command 16, c_eqn 8 (kernel include/linux/mlx5/mlx5_ifc.h); all others 24 or 32. */
static const struct {
	uint32_t first, last;
} spaces[CX_SPACE_COUNT] = {
	[CX_SPACE_UCTX] = { 0x1, CX_UID_SHARED - 1 },
	[CX_SPACE_UMEM] = { 0x10, CX_NUM_MAX },
	[CX_SPACE_UAR] = { 0x20, CX_NUM_MAX },
	[CX_SPACE_PD] = { 0x30, CX_NUM_MAX },
	[CX_SPACE_TD] = { 0x70, CX_NUM_MAX },
	[CX_SPACE_MKEY] = { 0x100, CX_NUM_MAX }, /* 0x100 as a whole key ends a list */
	[CX_SPACE_CQ] = { 0x400, CX_NUM_MAX },
	[CX_SPACE_WQ] = { 0x1040, CX_NUM_MAX },
	[CX_SPACE_TIS] = { 0x80, CX_NUM_MAX },
	[CX_SPACE_TIR] = { 0x200, CX_NUM_MAX },
	[CX_SPACE_RQT] = { 0x300, CX_NUM_MAX },
	[CX_SPACE_QCOUNTER] = { 0x1, 0xff },
	[CX_SPACE_FCOUNTER] = { 0x500, CX_NUM_MAX },
	[CX_SPACE_FT] = { 0x600, CX_NUM_MAX },
	[CX_SPACE_FG] = { 0x700, CX_NUM_MAX },
	[CX_SPACE_FTE] = { 0x1, CX_NUM_MAX },
	[CX_SPACE_EQ] = { 0x4, 0xff },
};

const char *cx_obj_type_name(enum cx_obj_type type)
{
	return type < CX_OBJ_TYPE_COUNT ? types[type].name : "?";
}

static uint32_t limit_of(const struct cx_dev *dev, enum cx_obj_type type)
{
	uint32_t log = types[type].log_limit ? cx_cap(dev, types[type].log_limit) : 24;

	if (types[type].limit)
		return cx_cap(dev, types[type].limit);
	return log < 24 ? UINT32_C(1) << log : CX_NUM_MAX;
}

int cx_objs_new(struct cx_dev *dev)
{
	struct cx_objs *objs = calloc(1, sizeof(*objs));

	if (!objs)
		return -ENOMEM;
	for (unsigned i = 0; i < CX_SPACE_COUNT; i++) {
		objs->space[i].first = objs->space[i].next = spaces[i].first;
		objs->space[i].last = spaces[i].last;
	}
	for (unsigned i = 0; i < CX_OBJ_TYPE_COUNT; i++)
		objs->limit[i] = limit_of(dev, (enum cx_obj_type)i);
	dev->objs = objs;
	return 0;
}

/* ---- free numbers ---- */

static bool grow(struct cx_space *s, uint32_t want)
{
	uint64_t size = s->size ? s->size : s->first + 256;
	struct cx_obj **obj;

	while (size < want)
		size *= 2;
	if (size > (uint64_t)s->last + 1)
		size = (uint64_t)s->last + 1;
	if (size <= s->size)
		return false;
	obj = reallocarray(s->obj, size, sizeof(struct cx_obj *));
	if (!obj)
		return false;
	memset(obj + s->size, 0, (size - s->size) * sizeof(struct cx_obj *));
	s->obj = obj;
	s->size = (uint32_t)size;
	return true;
}

/* The first of @n free rows in [from, to), or 0, which is never a number. A range of four or
 * more starts at a multiple of four: QUERY_FLOW_COUNTER of many counters needs that. */
static uint32_t find_run(const struct cx_space *s, uint32_t from, uint32_t to, uint32_t n)
{
	uint32_t run = 0;

	for (uint32_t i = from; i < to; i++) {
		if (s->obj[i] || (!run && n >= 4 && i % 4))
			run = 0;
		else
			run++;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

static uint32_t find_free(struct cx_space *s, uint32_t n)
{
	uint32_t num;

	if (!s->size || (uint64_t)(s->used + n) * 4 > (uint64_t)(s->size - s->first) * 3)
		grow(s, s->size + n);
	for (;;) {
		num = find_run(s, s->next, s->size, n);
		if (!num)
			num = find_run(s, s->first, s->size, n);
		if (num || !grow(s, s->size + n))
			return num;
	}
}

int cx_obj_add_range(struct cx_dev *dev, struct cx_obj *obj, enum cx_obj_type type,
		     uint16_t uid, uint32_t n)
{
	struct cx_objs *objs = dev->objs;
	struct cx_space *s = &objs->space[types[type].space];
	uint32_t num;

	if (!n || n > CX_NUM_MAX || objs->count[type] >= objs->limit[type])
		return -ENOSPC;
	num = find_free(s, n);
	if (!num)
		return -ENOSPC;
	obj->type = type;
	obj->num = num;
	obj->uid = uid;
	for (uint32_t i = 0; i < n; i++)
		s->obj[num + i] = obj;
	s->used += n;
	s->next = num + n < s->size ? num + n : s->first;
	objs->count[type]++;
	dev->lists_stale = true;
	return 0;
}

int cx_obj_add(struct cx_dev *dev, struct cx_obj *obj, enum cx_obj_type type,
	       uint16_t uid)
{
	return cx_obj_add_range(dev, obj, type, uid, 1);
}

void cx_obj_del(struct cx_dev *dev, struct cx_obj *obj)
{
	struct cx_space *s = &dev->objs->space[types[obj->type].space];

	for (uint32_t i = obj->num; i < s->size && s->obj[i] == obj; i++) {
		s->obj[i] = NULL;
		s->used--;
	}
	dev->objs->count[obj->type]--;
	dev->lists_stale = true;
}

/* ---- look-up ---- */

/* Event queues are the kernel's, and every program may name them: DevX hands their numbers out
 * (kernel drivers/infiniband/hw/mlx5/devx.c, QUERY_EQN). Anything else belongs to its maker. */
static bool may_see(const struct cx_obj *obj, uint16_t uid)
{
	return !uid || obj->uid == uid || obj->uid == CX_UID_SHARED || obj->type == CX_EQ;
}

struct cx_obj *cx_obj_get(const struct cx_dev *dev, enum cx_obj_type type, uint32_t num,
			  uint16_t uid)
{
	struct cx_obj *obj = cx_space_at(dev->objs, types[type].space, num);

	return obj && obj->type == type && may_see(obj, uid) ? obj : NULL;
}

void cx_obj_each(const struct cx_dev *dev, enum cx_obj_type type,
		 bool (*fn)(void *arg, struct cx_obj *obj), void *arg)
{
	const struct cx_space *s = &dev->objs->space[types[type].space];

	for (uint32_t i = s->first; i < s->size; i++) {
		struct cx_obj *obj = s->obj[i];

		if (obj && obj->type == type && obj->num == i && !fn(arg, obj))
			return;
	}
}

uint32_t cx_obj_count(const struct cx_dev *dev, enum cx_obj_type type)
{
	return dev->objs->count[type];
}

struct uid_count {
	uint16_t uid;
	uint32_t n;
};

static bool count_uid(void *arg, struct cx_obj *obj)
{
	struct uid_count *c = arg;

	c->n += obj->uid == c->uid;
	return true;
}

uint32_t cx_obj_count_uid(const struct cx_dev *dev, uint16_t uid)
{
	struct uid_count c = { uid, 0 };

	for (unsigned i = 0; i < CX_OBJ_TYPE_COUNT; i++)
		cx_obj_each(dev, (enum cx_obj_type)i, count_uid, &c);
	return c.n;
}

/* ---- end ---- */

static void free_inside(struct cx_obj *obj)
{
	switch (obj->type) {
	case CX_CQ:
		cx_cq_closed((struct cx_cq *)obj);
		break;
	case CX_TIR:
		cx_rss_release((struct cx_tir *)obj);
		break;
	case CX_RQT:
		free(((struct cx_rqt *)obj)->rq);
		break;
	case CX_FCOUNTER:
		free(((struct cx_fcounter *)obj)->packets);
		free(((struct cx_fcounter *)obj)->bytes);
		break;
	default:
		break;
	}
}

void cx_obj_free(struct cx_dev *dev, struct cx_obj *obj)
{
	if (obj->type == CX_CQ)
		cx_comp_del(dev, (struct cx_cq *)obj);
	cx_obj_del(dev, obj);
	free_inside(obj);
	free(obj);
}

void cx_objs_free(struct cx_dev *dev)
{
	if (!dev->objs)
		return;
	for (unsigned i = 0; i < CX_SPACE_COUNT; i++) {
		struct cx_space *s = &dev->objs->space[i];

		for (uint32_t n = s->first; n < s->size; n++)
			if (s->obj[n])
				cx_obj_free(dev, s->obj[n]);
		free(s->obj);
	}
	free(dev->objs);
	dev->objs = NULL;
}
