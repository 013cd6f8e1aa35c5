/* core/obj.h - number spaces
 *
 * Private to core/. A space is a table from number to object:
 *
 *   number   0 .. first-1   never given out
 *            first .. size-1  free (NULL) or an object; a range fills several rows
 *
 * Search for a free number goes on where the last one ended, so that a number
 * that was just given back rests for a lap: a stale number in a program is then
 * refused, and not served by its successor. At the end of a lap the lowest free
 * one is taken. A lap is the table's present size, which doubles only when it is
 * three quarters full: memory follows the objects, not the capability.
 */
#pragma once

#include "dev.h"

struct cx_space {
	struct cx_obj **obj;
	uint32_t size;	      /* rows; 0 until the first object */
	uint32_t used;	      /* rows taken */
	uint32_t next;	      /* where the search goes on */
	uint32_t first, last; /* lowest and highest number of this space */
};

enum cx_space_id {
	CX_SPACE_UCTX,
	CX_SPACE_UMEM,
	CX_SPACE_UAR,
	CX_SPACE_PD,
	CX_SPACE_TD,
	CX_SPACE_MKEY,
	CX_SPACE_CQ,
	CX_SPACE_WQ,
	CX_SPACE_TIS,
	CX_SPACE_TIR,
	CX_SPACE_RQT,
	CX_SPACE_QCOUNTER,
	CX_SPACE_FCOUNTER,
	CX_SPACE_FT,
	CX_SPACE_FG,
	CX_SPACE_FTE,
	CX_SPACE_EQ,
	CX_SPACE_COUNT
};

struct cx_objs {
	struct cx_space space[CX_SPACE_COUNT];
	uint32_t count[CX_OBJ_TYPE_COUNT]; /* objects; a range is one */
	uint32_t limit[CX_OBJ_TYPE_COUNT];
};

/* The object at a number of a space, whatever its type and owner; NULL = none. */
static inline struct cx_obj *cx_space_at(const struct cx_objs *objs, enum cx_space_id id,
					 uint32_t num)
{
	const struct cx_space *s = &objs->space[id];

	return num < s->size ? s->obj[num] : NULL;
}

/* step.c: dev->uars and dev->sqs, with the counts of queues per page; cheap when fresh. */
void cx_lists_rebuild(struct cx_dev *dev);
static inline void cx_lists_refresh(struct cx_dev *dev)
{
	if (__builtin_expect(dev->lists_stale, 0))
		cx_lists_rebuild(dev);
}
