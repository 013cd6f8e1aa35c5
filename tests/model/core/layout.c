/* core/layout.c - the bit tables, and two walks over them */
#include "layout.h"

#include <stdio.h>

/* ---- the tables, from the same lines as the constants in layout.h ---- */

/* The last row only keeps an empty structure legal C; it is not counted. */
/* clang-format off */
#define CX_BEGIN(s, bits) static const struct cx_layout_field fields_##s[] = {
#define CX_FIELD(s, f, off, width) { #f, (off), (width), NULL, false },
#define CX_SUB(s, f, off, sub) { #f, (off), CX_##sub##__SIZE_BITS, &cx_layout_##sub, false },
#define CX_TAIL(s, f, off, sub) { #f, (off), CX_##sub##__SIZE_BITS, &cx_layout_##sub, true },
#define CX_END(s) \
	{ NULL, 0, 0, NULL, false } }; \
	const struct cx_layout cx_layout_##s = { \
		#s, CX_##s##__SIZE_BITS, fields_##s, \
		sizeof(fields_##s) / sizeof(fields_##s[0]) - 1 \
	};
/* clang-format on */
#include "layout_queue.def"
#include "layout_flow.def"
#include "layout_cmd.def"
#undef CX_BEGIN
#undef CX_FIELD
#undef CX_SUB
#undef CX_TAIL
#undef CX_END

/* ---- bits ---- */

static uint8_t bit_mask(uint32_t bit)
{
	return (uint8_t)(0x80 >> bit % 8);
}

/* The first bit that is set in [from, to), or @to. */
static uint32_t first_set(const uint8_t *p, uint32_t from, uint32_t to)
{
	uint32_t bit = from;

	while (bit < to) {
		if (bit % 8 == 0 && !p[bit / 8])
			bit += 8;
		else if (p[bit / 8] & bit_mask(bit))
			return bit;
		else
			bit++;
	}
	return to;
}

static uint32_t len_bits(size_t len)
{
	return len > UINT32_MAX / 8 ? UINT32_MAX / 8 * 8 : (uint32_t)len * 8;
}

/* ---- reserved bits ---- */

/* NULL: no row names this bit. Rows lie in any order, so every one is asked; only bits that
 * are set get here. */
static const struct cx_layout_field *field_of_bit(const struct cx_layout *l, uint32_t bit)
{
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct cx_layout_field *f = &l->field[i];

		if (bit >= f->offset && (f->tail || bit - f->offset < f->width))
			return f;
	}
	return NULL;
}

/* @name gets the innermost structure that holds the bit. */
static bool bit_is_reserved(const struct cx_layout *l, uint32_t bit, char *name,
			    size_t name_size)
{
	for (;;) {
		const struct cx_layout_field *f = field_of_bit(l, bit);

		if (!f) {
			snprintf(name, name_size, "%s.reserved_at_%x", l->name, bit);
			return true;
		}
		if (!f->sub)
			return false;
		bit = (bit - f->offset) % f->width;
		l = f->sub;
	}
}

bool cx_layout_reserved(const struct cx_layout *l, const void *p, size_t len, char *name,
			size_t name_size)
{
	uint32_t end = len_bits(len), bit = first_set(p, 0, end);

	while (bit < end) {
		if (bit_is_reserved(l, bit, name, name_size))
			return true;
		bit = first_set(p, bit + 1, end);
	}
	return false;
}

/* ---- named fields ---- */

struct walk {
	void (*seen)(void *arg, const char *field, uint64_t value);
	void *arg;
};

/* A field of at most 64 bits has a value; a blob that is not zero counts as 1. */
static uint64_t value_of(const struct cx_layout_field *f, const uint8_t *p, uint32_t end)
{
	if (f->width <= 32 || (f->width == 64 && f->offset % 32 == 0))
		return cx_get(p, CX_PACK(f->offset, f->width));
	return first_set(p, f->offset, end) < end;
}

static void walk(const struct walk *w, const struct cx_layout *l, const uint8_t *p,
		 uint32_t bits);

static void walk_sub(const struct walk *w, const struct cx_layout_field *f,
		     const uint8_t *p, uint32_t bits)
{
	uint32_t at = f->offset;

	do {
		uint32_t left = bits - at;

		walk(w, f->sub, p + at / 8, left < f->width ? left : f->width);
		at += f->width;
	} while (f->tail && at < bits);
}

static void walk_field(const struct walk *w, const struct cx_layout *l,
		       const struct cx_layout_field *f, const uint8_t *p, uint32_t bits)
{
	char name[96];
	uint32_t end = f->offset + f->width;
	uint64_t value;

	/* Fields are read by whole dwords, and a mailbox may end inside of one. */
	if ((end + 31) / 32 * 32 > bits)
		return;
	value = value_of(f, p, end);
	if (!value)
		return;
	snprintf(name, sizeof(name), "%s.%s", l->name, f->name);
	w->seen(w->arg, name, value);
}

static void walk(const struct walk *w, const struct cx_layout *l, const uint8_t *p,
		 uint32_t bits)
{
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct cx_layout_field *f = &l->field[i];

		if (f->offset >= bits)
			continue;
		if (f->sub)
			walk_sub(w, f, p, bits);
		else
			walk_field(w, l, f, p, bits);
	}
}

void cx_layout_walk(const struct cx_layout *l, const void *p, size_t len,
		    void (*seen)(void *arg, const char *field, uint64_t value), void *arg)
{
	struct walk w = { seen, arg };

	walk(&w, l, p, len_bits(len));
}
