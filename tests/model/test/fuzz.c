/* test/fuzz.c - see fuzz.h */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/steer.h"

void fuzz_broken(const char *file, int line, const char *text)
{
	fprintf(stderr, "%s:%d: broken: %s\n", file, line, text);
	abort();
}

/* ---- commands ---- */

static uint32_t objects(const struct direct *d)
{
	uint32_t n = 0;

	for (int type = 0; type < CX_OBJ_TYPE_COUNT; type++)
		n += cx_obj_count(d->dev, (enum cx_obj_type)type);
	return n;
}

static bool is_zero(const uint8_t *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* A refusal has a reason in the log, changes nothing and tells nothing. */
static void check_refusal(const struct direct *d, const uint8_t *out, size_t out_len,
			  uint32_t objects_before)
{
	FUZZ_MUST(objects(d) == objects_before);
	FUZZ_MUST(d->log.n > 0);
	FUZZ_MUST(out_len <= 8 || is_zero(out + 8, out_len - 8));
	FUZZ_MUST(out_len < 4 || is_zero(out + 1, 3));
}

enum cx_status fuzz_exec(struct direct *d, const uint8_t *in, size_t in_len,
			 size_t out_len, uint8_t out[64])
{
	uint8_t *own_in = malloc(in_len), *own_out = malloc(out_len);
	uint32_t before = objects(d);
	enum cx_status st;

	FUZZ_MUST((own_in || !in_len) && (own_out || !out_len));
	d_forget(d);
	memcpy(own_in, in, in_len);
	memset(own_out, 0xa5, out_len);
	st = cx_cmd(d->dev, own_in, in_len, own_out, out_len);
	FUZZ_MUST(!memcmp(own_in, in, in_len));
	FUZZ_MUST(!out_len || own_out[0] == st);
	if (st != CX_ST_OK)
		check_refusal(d, own_out, out_len, before);
	if (out) {
		memset(out, 0, 64);
		memcpy(out, own_out, out_len < 64 ? out_len : 64);
	}
	free(own_in);
	free(own_out);
	return st;
}

/* ---- objects ---- */

struct nth {
	uint32_t left, n, num;
};

static bool count_one(void *arg, struct cx_obj *obj)
{
	struct nth *nth = arg;

	nth->n++;
	nth->num = obj->num;
	return nth->left--;
}

uint32_t fuzz_number(struct direct *d, enum cx_obj_type type, uint32_t k)
{
	struct nth nth = { .left = UINT32_MAX };

	cx_obj_each(d->dev, type, count_one, &nth);
	if (!nth.n)
		return 0;
	nth.left = k % nth.n;
	cx_obj_each(d->dev, type, count_one, &nth);
	return nth.num;
}

/* ---- taking everything down ---- */

/* Where a destroy command has its number; tables and what is in them are apart. */
static const struct {
	enum cx_obj_type type;
	uint16_t opcode;
	cx_field num;
} destroyers[] = {
	{ CX_TIR, D_DESTROY_TIR, CX_PACK(0x48, 24) },
	{ CX_RQT, D_DESTROY_RQT, CX_PACK(0x48, 24) },
	{ CX_SQ, D_DESTROY_SQ, CX_PACK(0x48, 24) },
	{ CX_RQ, D_DESTROY_RQ, CX_PACK(0x48, 24) },
	{ CX_RMP, D_DESTROY_RMP, CX_PACK(0x48, 24) },
	{ CX_CQ, D_DESTROY_CQ, CX_PACK(0x48, 24) },
	{ CX_TIS, D_DESTROY_TIS, CX_PACK(0x48, 24) },
	{ CX_MKEY, D_DESTROY_MKEY, CX_PACK(0x48, 24) },
	{ CX_QCOUNTER, D_DEALLOC_Q_COUNTER, CX_PACK(0x58, 8) },
	{ CX_FCOUNTER, D_DEALLOC_FLOW_COUNTER, CX_PACK(0x40, 32) },
	{ CX_UAR, D_DEALLOC_UAR, CX_PACK(0x48, 24) },
	{ CX_TD, D_DEALLOC_TD, CX_PACK(0x48, 24) },
	{ CX_PD, D_DEALLOC_PD, CX_PACK(0x48, 24) },
};

static bool destroy_plain(void *arg, struct cx_obj *obj)
{
	struct direct *d = arg;
	uint8_t in[16] = { 0 };

	for (size_t i = 0; i < sizeof(destroyers) / sizeof(destroyers[0]); i++) {
		if (destroyers[i].type != obj->type)
			continue;
		cx_put_be16(in, destroyers[i].opcode);
		cx_set(in, destroyers[i].num, obj->num);
		fuzz_exec(d, in, sizeof(in), 16, NULL);
		break; /* it may be gone */
	}
	return true;
}

static bool destroy_umem(void *arg, struct cx_obj *obj)
{
	cx_umem_dereg(((struct direct *)arg)->dev, 0, obj->num);
	return true;
}

static bool destroy_uctx(void *arg, struct cx_obj *obj)
{
	uint8_t in[CX_BYTES(destroy_uctx_in)] = { 0 };

	cx_put_be16(in, D_DESTROY_UCTX);
	CX_SET(destroy_uctx_in, in, uctx_uid, obj->num);
	fuzz_exec(arg, in, sizeof(in), 16, NULL);
	return true;
}

/* All of these mailboxes have table type and number in the same place. */
static void about_table(struct direct *d, uint16_t opcode, const struct cx_ft *ft,
			cx_field field, uint32_t value)
{
	uint8_t in[CX_BYTES(destroy_flow_group_in)] = { 0 };

	cx_put_be16(in, opcode);
	CX_SET(destroy_flow_group_in, in, table_type, ft->type);
	CX_SET(destroy_flow_group_in, in, table_id, ft->obj.num);
	if (field)
		cx_set(in, field, value);
	fuzz_exec(d, in, sizeof(in), 16, NULL);
}

static bool destroy_fte(void *arg, struct cx_obj *obj)
{
	const struct cx_fte *fte = (struct cx_fte *)obj;

	about_table(arg, D_DELETE_FTE, fte->fg->ft, CX_delete_fte_in__flow_index,
		    fte->index);
	return true;
}

static bool destroy_fg(void *arg, struct cx_obj *obj)
{
	const struct cx_fg *fg = (struct cx_fg *)obj;

	about_table(arg, D_DESTROY_FLOW_GROUP, fg->ft, CX_destroy_flow_group_in__group_id,
		    fg->obj.num);
	return true;
}

static bool destroy_ft(void *arg, struct cx_obj *obj)
{
	about_table(arg, D_DESTROY_FLOW_TABLE, (struct cx_ft *)obj, 0, 0);
	return true;
}

void fuzz_drain(struct direct *d)
{
	static const uint16_t kept[CX_OBJ_TYPE_COUNT] = { [CX_EQ] = CX_COMP_VECTORS };
	uint32_t before, after;
	char why[64];

	FUZZ_MUST(!cx_fault(d->dev, "clear", why, sizeof(why)));
	do {
		before = objects(d);
		cx_obj_each(d->dev, CX_FTE, destroy_fte, d);
		cx_obj_each(d->dev, CX_FG, destroy_fg, d);
		cx_obj_each(d->dev, CX_FT, destroy_ft, d);
		for (int type = 0; type < CX_OBJ_TYPE_COUNT; type++)
			cx_obj_each(d->dev, (enum cx_obj_type)type, destroy_plain, d);
		cx_obj_each(d->dev, CX_UMEM, destroy_umem, d);
		cx_obj_each(d->dev, CX_UCTX, destroy_uctx, d);
		after = objects(d);
	} while (after < before);
	for (int type = 0; type < CX_OBJ_TYPE_COUNT; type++)
		FUZZ_MUST(cx_obj_count(d->dev, (enum cx_obj_type)type) == kept[type]);
}
