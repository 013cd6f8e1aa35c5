/* test/fuzz_cmd.c - mailboxes: good ones with changes, noise, and what lies between them
 *
 * A step is a valid mailbox of one command (cmd_rig.c) with up to seven changes; one of
 * them puts in the number of an object that is there, so that commands meet the objects
 * that others made. Between commands the device steps, and gets frames and doorbells.
 */
#include "fuzz.h"

#include <string.h>

#include "cmd_rig.h"

enum { MAX_IN = 1024, MAX_STEPS = 64 };

struct box {
	uint8_t in[MAX_IN];
	size_t in_len, out_len;
};

/* ---- a mailbox ---- */

static const struct rig_row *pick_row(struct fuzz *f)
{
	uint32_t n = 0;

	while (rig_rows[n].name)
		n++;
	return &rig_rows[fuzz_below(f, n)];
}

static bool takes_away(const struct rig_row *row)
{
	return !strncmp(row->name, "destroy_", 8) || !strncmp(row->name, "dealloc_", 8);
}

/* Builders of destroying commands make an object first, which may fail here. */
static void build(struct rig *r, const struct rig_row *row, struct box *b)
{
	struct mailbox m = { .opcode = row->opcode,
			     .in_len = row->in->bits / 8,
			     .out_len = 16 };

	if (!takes_away(row))
		row->build(r, &m);
	cx_put_be16(m.in, m.opcode);
	if (!row->kernel)
		cx_put_be16(m.in + 2, r->d->uid);
	memcpy(b->in, m.in, sizeof(m.in));
	memset(b->in + sizeof(m.in), 0, sizeof(b->in) - sizeof(m.in));
	b->in_len = m.in_len;
	b->out_len = m.out_len;
}

static uint32_t a_number(struct rig *r, struct fuzz *f)
{
	enum cx_obj_type type = (enum cx_obj_type)fuzz_below(f, CX_OBJ_TYPE_COUNT);

	return fuzz_number(r->d, type, (uint32_t)fuzz_take(f, 1));
}

static uint16_t a_uid(struct rig *r, struct fuzz *f)
{
	const uint16_t uids[] = { 0, r->d->uid, r->other, CX_UID_SHARED,
				  (uint16_t)fuzz_take(f, 2) };

	return uids[fuzz_below(f, 5)];
}

static uint32_t a_place(struct fuzz *f, const struct box *b, uint32_t align)
{
	uint32_t room = b->in_len < 4 ? 4 : (uint32_t)b->in_len;

	return fuzz_below(f, room) / align * align % (MAX_IN - 3);
}

static void change(struct rig *r, struct fuzz *f, struct box *b)
{
	uint32_t at = a_place(f, b, 4);

	switch (fuzz_below(f, 8)) {
	case 0:
		b->in[at + fuzz_below(f, 4)] ^= (uint8_t)(1 << fuzz_below(f, 8));
		break;
	case 1:
		cx_put_be32(b->in + at, (uint32_t)fuzz_take(f, 4));
		break;
	case 2:
	case 3:
		cx_set(b->in + at, CX_PACK(8, 24), a_number(r, f));
		break;
	case 4:
		b->in_len = fuzz_below(f, MAX_IN + 1);
		break;
	case 5:
		b->out_len = fuzz_below(f, 8192 + 1);
		break;
	case 6:
		cx_put_be16(b->in + 2, a_uid(r, f));
		break;
	case 7:
		b->in[at + fuzz_below(f, 4)] = (uint8_t)fuzz_take(f, 1);
		break;
	}
}

static void command(struct rig *r, struct fuzz *f)
{
	const struct rig_row *row = pick_row(f);
	struct box b;

	build(r, row, &b);
	if (row->num && fuzz_below(f, 2))
		cx_set(b.in, row->num, a_number(r, f));
	for (uint32_t n = fuzz_below(f, 8); n; n--)
		change(r, f, &b);
	fuzz_exec(r->d, b.in, b.in_len, b.out_len, NULL);
}

static void noise(struct rig *r, struct fuzz *f)
{
	uint8_t in[256];
	size_t in_len = fuzz_below(f, sizeof(in) + 1), out_len = fuzz_below(f, 512);

	fuzz_fill(f, in, in_len);
	fuzz_exec(r->d, in, in_len, out_len, NULL);
}

/* ---- from one state to another, as a program would ---- */

struct state_of {
	uint16_t opcode;
	enum cx_obj_type type;
	cx_field num, from, to;
	size_t bytes;
};

static void to_state(struct rig *r, struct fuzz *f)
{
	static const struct state_of kinds[] = {
		{ D_MODIFY_SQ, CX_SQ, CX_modify_sq_in__sqn, CX_modify_sq_in__sq_state,
		  CX_sqc__state, CX_BYTES(modify_sq_in) },
		{ D_MODIFY_RQ, CX_RQ, CX_modify_rq_in__rqn, CX_modify_rq_in__rq_state,
		  CX_rqc__state, CX_BYTES(modify_rq_in) },
		{ D_MODIFY_RMP, CX_RMP, CX_modify_rmp_in__rmpn,
		  CX_modify_rmp_in__rmp_state, CX_rmpc__state, CX_BYTES(modify_rmp_in) },
	};
	const struct state_of *k = &kinds[fuzz_below(f, 3)];
	uint8_t in[MAX_IN] = { 0 };
	/* The context stands at the same place in all three. */
	uint8_t *ctx = CX_AT(modify_sq_in, in, ctx);

	cx_put_be16(in, k->opcode);
	cx_put_be16(in + 2, r->d->uid);
	cx_set(in, k->num, fuzz_number(r->d, k->type, (uint32_t)fuzz_take(f, 1)));
	cx_set(in, k->from, fuzz_take(f, 1) & 3);
	cx_set(ctx, k->to, fuzz_take(f, 1) & 3);
	fuzz_exec(r->d, in, k->bytes, 16, NULL);
}

/* ---- memory and doorbells ---- */

static void frame(struct rig *r, struct fuzz *f)
{
	uint8_t b[128];

	d_udp4(b, 64, 1, 2, 3, 4, 5);
	if (fuzz_below(f, 2))
		b[fuzz_below(f, 64)] = (uint8_t)fuzz_take(f, 1);
	cx_rx(r->d->dev, b, 64);
}

/* What a program does to its rings: the umem has the rings of all that the rows make. */
static void scribble(struct rig *r, struct fuzz *f)
{
	uint32_t at = fuzz_below(f, 0x2100), n = fuzz_below(f, 16);

	fuzz_fill(f, r->umem.p + at, n);
}

static void ring(struct rig *r, struct fuzz *f)
{
	static const uint16_t reg[] = { 0x20, 0x40, 0x48, 0x800, 0x900, 0xa00, 0xb00 };
	uint32_t at = reg[fuzz_below(f, 7)];
	uint8_t value[8];

	cx_put_be32(value, (uint32_t)fuzz_take(f, 4));
	cx_put_be32(value + 4,
		    fuzz_number(r->d, at == 0x20 ? CX_CQ : CX_SQ, fuzz_below(f, 8))
			    << (at == 0x20 ? 0 : 8));
	d_doorbell(r->d->uar, at, value);
}

static void memory(struct rig *r, struct fuzz *f)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	uint32_t num = a_number(r, f), len = fuzz_below(f, 4097);

	switch (fuzz_below(f, 6)) {
	case 0:
		cx_umem_reg(r->d->dev, a_uid(r, f), page, len, fuzz_below(f, 3), &num);
		break;
	case 1:
		cx_umem_dereg(r->d->dev, a_uid(r, f), num);
		break;
	case 2:
		cx_mkey_reg(r->d->dev, a_uid(r, f), num, page, fuzz_take(f, 8), len,
			    fuzz_below(f, 4), &num);
		break;
	case 3:
		cx_mkey_dereg(r->d->dev, a_uid(r, f), num << 8 | fuzz_below(f, 256));
		break;
	case 4:
		cx_mkey_peek(r->d->dev, num << 8 | fuzz_below(f, 256), fuzz_take(f, 8),
			     len);
		break;
	case 5:
		cx_uar_attach(r->d->dev, num, page);
		break;
	}
}

static void step(struct rig *r, struct fuzz *f)
{
	switch (fuzz_below(f, 16)) {
	default:
		command(r, f);
		break;
	case 10:
		to_state(r, f);
		break;
	case 11:
		scribble(r, f);
		break;
	case 12:
		ring(r, f);
		cx_step(r->d->dev);
		break;
	case 13:
		memory(r, f);
		break;
	case 14:
		frame(r, f);
		break;
	case 15:
		noise(r, f);
		break;
	}
}

int fuzz_cmd(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct rig *r = rig_open(NULL);

	for (unsigned i = 0; f.left && i < MAX_STEPS; i++)
		step(r, &f);
	cx_step(r->d->dev);
	fuzz_drain(r->d);
	cx_step(r->d->dev);
	rig_close(r);
	return 0;
}

FUZZ_TARGET(fuzz_cmd)
