/* core/layout.h - where each field of each device structure is
 *
 * The *.def files are the only place that knows an offset. They were written
 * from public sources (named at the top of each file), independently of
 * lib/prm: a mistake on either side must show as a difference.
 *
 *   CX_BEGIN(cqc, 512)                 structure and its size in bits
 *   CX_FIELD(cqc, log_cq_size, 0x63, 5)   bit offset, width in bits
 *   CX_SUB(create_cq_in, cqc, 0x80, cqc)  nested structure
 *   CX_TAIL(...)                       see layout_cmd.def: a variable list at the end
 *   CX_END(cqc)
 *
 * Every bit that no line names is reserved and must be zero.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bits.h"

/* CX_cqc__log_cq_size and so on */
enum cx_layout_fields {
#define CX_BEGIN(s, bits)	   CX_##s##__SIZE_BITS = (bits),
#define CX_FIELD(s, f, off, width) CX_##s##__##f = (int)((off) << 16 | (width)),
#define CX_SUB(s, f, off, sub)	   CX_##s##__##f = (int)((off) << 16 | CX_##sub##__SIZE_BITS),
#define CX_TAIL(s, f, off, sub) \
	CX_##s##__##f = (int)((off) << 16 | CX_##sub##__SIZE_BITS),
#define CX_END(s)
#include "layout_queue.def"
#include "layout_flow.def"
#include "layout_cmd.def"
#undef CX_BEGIN
#undef CX_FIELD
#undef CX_SUB
#undef CX_TAIL
#undef CX_END
};

#define CX_BYTES(s) ((size_t)CX_##s##__SIZE_BITS / 8)

struct cx_layout_field {
	const char *name;
	uint32_t offset, width;	     /* bits */
	const struct cx_layout *sub; /* nested structure, NULL = plain */
	bool tail;		     /* repeats to the end of the mailbox */
};

struct cx_layout {
	const char *name;
	uint32_t bits;
	const struct cx_layout_field *field;
	size_t n_fields;
};

/* One object per structure: cx_layout_cqc ... */
#define CX_BEGIN(s, bits) extern const struct cx_layout cx_layout_##s;
#define CX_FIELD(s, f, off, width)
#define CX_SUB(s, f, off, sub)
#define CX_TAIL(s, f, off, sub)
#define CX_END(s)
#include "layout_queue.def"
#include "layout_flow.def"
#include "layout_cmd.def"
#undef CX_BEGIN
#undef CX_FIELD
#undef CX_SUB
#undef CX_TAIL
#undef CX_END

/**
 * cx_layout_reserved() - find a reserved bit that is set
 * @l:    the structure
 * @p:    device memory, @len bytes (fields past @len are not looked at)
 * @name: on a hit, "cqc.reserved_at_1a0" (bit offset in hex), for the log line
 *
 * Return: true if a bit that no field names is set.
 */
bool cx_layout_reserved(const struct cx_layout *l, const void *p, size_t len, char *name,
			size_t name_size);

/* Calls @seen("cqc.log_cq_size") for each named field that is not zero. */
void cx_layout_walk(const struct cx_layout *l, const void *p, size_t len,
		    void (*seen)(void *arg, const char *field, uint64_t value),
		    void *arg);
