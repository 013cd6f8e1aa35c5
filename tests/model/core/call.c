/* core/call.c - checks that many commands make */
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum cx_status cx_call_plain(struct cx_call *call)
{
	if (call->op_mod)
		return cx_refuse(call, CX_ST_BAD_PARAM, "op_mod", "0x%x is not known",
				 call->op_mod);
	return CX_ST_OK;
}

enum cx_status cx_call_kernel(struct cx_call *call)
{
	if (call->uid)
		return cx_refuse(call, CX_ST_BAD_PARAM, "uid", "the kernel's command");
	return CX_ST_OK;
}

/* ---- fields ---- */

enum cx_status cx_call_forbid(struct cx_call *call, const uint8_t *p,
			      const struct cx_forbidden *rows)
{
	for (; rows->name; rows++) {
		uint64_t value = cx_get(p, rows->field);

		if (value)
			return cx_refuse(call, CX_ST_BAD_PARAM, rows->name, "0x%llx: %s",
					 (unsigned long long)value, rows->why);
	}
	return CX_ST_OK;
}

enum cx_status cx_call_need(struct cx_call *call, const uint8_t *p,
			    const struct cx_needed *rows)
{
	for (; rows->name; rows++)
		if (cx_get(p, rows->field) && !cx_cap(call->dev, rows->cap))
			return cx_refuse(call, CX_ST_BAD_PARAM, rows->name,
					 "set, but capability %s is 0", rows->cap);
	return CX_ST_OK;
}

struct first_field {
	char name[96];
	uint64_t value;
};

static void keep_first(void *arg, const char *field, uint64_t value)
{
	struct first_field *first = arg;

	if (first->name[0])
		return;
	snprintf(first->name, sizeof(first->name), "%s", field);
	first->value = value;
}

#define CONTEXT_MAX 256 /* bytes; the largest is 240 */

enum cx_status cx_call_only(struct cx_call *call, const struct cx_layout *l,
			    const uint8_t *p, const cx_field *fields)
{
	struct first_field first = { .name = "" };
	uint8_t rest[CONTEXT_MAX];

	memcpy(rest, p, l->bits / 8);
	for (; *fields; fields++)
		if (cx_field_width(*fields) > 64)
			memset(cx_at(rest, *fields), 0, cx_field_width(*fields) / 8);
		else
			cx_set(rest, *fields, 0);
	cx_layout_walk(l, rest, l->bits / 8, keep_first, &first);
	if (!first.name[0])
		return CX_ST_OK;
	return cx_refuse(call, CX_ST_BAD_PARAM, first.name,
			 "0x%llx, but the command does not select it",
			 (unsigned long long)first.value);
}

enum cx_status cx_call_empty(struct cx_call *call, const uint8_t *p, size_t len,
			     const char *field)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return cx_refuse(call, CX_ST_BAD_PARAM, field,
					 "byte %zu past the end of what is used is 0x%x",
					 i, p[i]);
	return CX_ST_OK;
}

/* ---- objects ---- */

struct cx_obj *cx_call_about(struct cx_call *call, enum cx_obj_type type, cx_field num,
			     const char *field, enum cx_status *st)
{
	*st = cx_call_plain(call);
	if (*st != CX_ST_OK)
		return NULL;
	return cx_call_obj(call, type, (uint32_t)cx_get(call->in, num), field, st);
}

/* In kernel logs and commit messages: DESTROY_CQ and DEALLOC_PD of a used object give "bad
 * resource state(0x9)" with these; the others' syndromes are not public. */
static uint32_t in_use_syndrome(const struct cx_call *call)
{
	static const struct {
		const char *name;
		uint32_t syndrome;
	} known[] = {
		{ "DESTROY_CQ", 0x1870ad },
		{ "DEALLOC_PD", 0xef0c8a },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, call->name))
			return known[i].syndrome;
	return call->syndrome;
}

enum cx_status cx_call_unused(struct cx_call *call, const struct cx_obj *obj,
			      const char *field)
{
	if (obj->uid == CX_UID_SHARED && call->uid && call->uid != CX_UID_SHARED)
		return cx_refuse(call, CX_ST_BAD_RES, field, "%s 0x%x belongs to all",
				 cx_obj_type_name(obj->type), obj->num);
	if (!obj->refs)
		return CX_ST_OK;
	cx_refuse(call, CX_ST_BAD_RES_STATE, field, "%s 0x%x is in use (%u references)",
		  cx_obj_type_name(obj->type), obj->num, obj->refs);
	call->syndrome = in_use_syndrome(call);
	return CX_ST_BAD_RES_STATE;
}

enum cx_status cx_call_no_memory(struct cx_call *call)
{
	return cx_refuse(call, CX_ST_NO_RES, "memory", "out of memory");
}

/* Limit and status: "CREATE_MKEY failed, status limits exceeded(0x8)" in kernel logs. */
enum cx_status cx_call_add(struct cx_call *call, struct cx_obj *obj,
			   enum cx_obj_type type, const char *field)
{
	if (!cx_obj_add(call->dev, obj, type, call->uid))
		return CX_ST_OK;
	free(obj);
	return cx_refuse(call, CX_ST_LIMIT, field, "no number left for another %s",
			 cx_obj_type_name(type));
}

/* ---- bytes of a umem ---- */

enum cx_status cx_call_range(struct cx_call *call, const struct cx_range *r,
			     struct cx_umem **umem, uint8_t **bytes)
{
	enum cx_status st = CX_ST_OK;
	struct cx_umem *m;
	uint8_t *p;

	m = (struct cx_umem *)cx_call_obj(call, CX_UMEM, (uint32_t)r->umem, r->umem_field,
					  &st);
	if (!m)
		return st;
	p = cx_umem_at(m, r->offset, r->bytes);
	if (!p)
		return cx_refuse(
			call, CX_ST_BAD_PARAM, r->offset_field,
			"0x%llx and %llu bytes from there are not in UMEM 0x%x of %llu bytes",
			(unsigned long long)r->offset, (unsigned long long)r->bytes,
			m->obj.num, (unsigned long long)m->len);
	if ((uintptr_t)p % r->align)
		return cx_refuse(call, CX_ST_BAD_PARAM, r->offset_field,
				 "0x%llx is not aligned to %u bytes",
				 (unsigned long long)r->offset, r->align);
	if (r->access & ~m->access)
		return cx_refuse(call, CX_ST_BAD_PARAM, r->umem_field,
				 "UMEM 0x%x is registered without local write",
				 m->obj.num);
	*umem = m;
	*bytes = p;
	return CX_ST_OK;
}
