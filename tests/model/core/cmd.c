/* core/cmd.c - one command: what every command has in common
 *
 *   known opcode -> fault script -> device alive -> caller known -> lengths ->
 *   reserved bits -> the command's own function -> status and syndrome
 *
 * Sources: the header of in- and output mailboxes, opcodes and status values are in
 * kernel include/linux/mlx5/mlx5_ifc.h and device.h; what the card checks first is
 * not public, so the order above is assumed.
 */
#include "dev.h"

#include <stdarg.h>
#include <stdio.h>

#define HEADER_BYTES 16 /* of both mailboxes */

static const struct cx_cmd *const tables[] = {
	cx_cmds_misc, cx_cmds_cq, cx_cmds_wq, cx_cmds_tir, cx_cmds_counter, cx_cmds_flow,
};

static const struct cx_cmd *find_cmd(uint16_t opcode)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct cx_cmd *c = tables[i]; c->name; c++)
			if (c->opcode == opcode)
				return c;
	return NULL;
}

/* ---- refusals ---- */

/* Syndromes of the card that public sources print; a name ends the field's path. */
static const struct {
	const char *field;
	uint32_t syndrome;
} known_syndromes[] = {
	/* ts_format the device does not have: reported by users of DPDK and DAQIRI */
	{ "sqc.ts_format", 0x43d98f },
	{ "rqc.ts_format", 0x43d98f },
};

static uint32_t syndrome_of(const char *field)
{
	uint32_t hash = 0x811c9dc5; /* FNV-1a, folded to 24 bits */

	for (size_t i = 0; i < sizeof(known_syndromes) / sizeof(known_syndromes[0]); i++)
		if (!strcmp(field, known_syndromes[i].field))
			return known_syndromes[i].syndrome;
	while (*field)
		hash = (hash ^ (uint8_t)*field++) * 0x01000193;
	hash = (hash >> 24 ^ hash) & 0xffffff;
	return hash ? hash : 1;
}

enum cx_status cx_refuse(struct cx_call *call, enum cx_status status, const char *field,
			 const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cx_log(call->dev, "%s uid %u: %s: %s", call->name, call->uid, field, text);
	cx_cover("refuse", field);
	call->syndrome = syndrome_of(field);
	return status;
}

/* Says why, in the log only: the card tells a program no more about others' objects. */
static void refuse_obj(struct cx_call *call, enum cx_obj_type type, uint32_t num,
		       const char *field)
{
	const struct cx_obj *obj = cx_obj_get(call->dev, type, num, 0);
	const char *name = cx_obj_type_name(type);

	if (obj)
		cx_refuse(call, CX_ST_BAD_RES, field, "%s 0x%x belongs to uid %u", name,
			  num, obj->uid);
	else
		cx_refuse(call, CX_ST_BAD_RES, field, "there is no %s 0x%x", name, num);
}

struct cx_obj *cx_call_obj(struct cx_call *call, enum cx_obj_type type, uint32_t num,
			   const char *field, enum cx_status *status)
{
	struct cx_obj *obj = cx_obj_get(call->dev, type, num, call->uid);

	if (!obj) {
		refuse_obj(call, type, num, field);
		*status = CX_ST_BAD_RES;
	}
	return obj;
}

/* ---- checks before the command's own ---- */

/* Commands that only take away still work on a dead device, so that its owner can clean up:
 * the kernel pretends the same (core/cmd.c, mlx5_internal_err_ret_value). */
static bool takes_away(const struct cx_cmd *cmd)
{
	return !strncmp(cmd->name, "DESTROY_", 8) || !strncmp(cmd->name, "DEALLOC_", 8) ||
	       !strncmp(cmd->name, "DELETE_", 7);
}

static enum cx_status check_caller(struct cx_call *call, const struct cx_cmd *cmd)
{
	if (call->dev->fatal && !takes_away(cmd))
		return cx_refuse(call, CX_ST_INTERNAL, "device", "is in the fatal state");
	if (call->uid && call->uid != CX_UID_SHARED &&
	    !cx_obj_get(call->dev, CX_UCTX, call->uid, 0))
		return cx_refuse(call, CX_ST_BAD_PARAM, "uid", "there is no UCTX %u",
				 call->uid);
	return CX_ST_OK;
}

static size_t least_bytes(const struct cx_layout *l)
{
	return l ? l->bits / 8 : HEADER_BYTES;
}

/* Longer is allowed (lists, larger answers of newer devices); its bits are checked below. */
static enum cx_status check_lengths(struct cx_call *call, const struct cx_cmd *cmd)
{
	if (call->in_len < least_bytes(cmd->in))
		return cx_refuse(call, CX_ST_BAD_IN_LEN, "in_len",
				 "%zu bytes, at least %zu needed", call->in_len,
				 least_bytes(cmd->in));
	if (call->out_len < least_bytes(cmd->out))
		return cx_refuse(call, CX_ST_BAD_OUT_LEN, "out_len",
				 "%zu bytes, at least %zu needed", call->out_len,
				 least_bytes(cmd->out));
	return CX_ST_OK;
}

static const struct cx_layout_field header_fields[] = {
	{ "opcode", 0x00, 16, NULL, false },
	{ "uid", 0x10, 16, NULL, false },
	{ "op_mod", 0x30, 16, NULL, false },
};
static const struct cx_layout header = { "header", HEADER_BYTES * 8, header_fields, 3 };

static enum cx_status check_reserved(struct cx_call *call, const struct cx_cmd *cmd)
{
	char name[96];

	if (!cx_layout_reserved(cmd->in ? cmd->in : &header, call->in, call->in_len, name,
				sizeof(name)))
		return CX_ST_OK;
	return cx_refuse(call, CX_ST_BAD_PARAM, name, "a reserved bit is set");
}

static void cover_field(void *arg, const char *field, uint64_t value)
{
	(void)arg;
	(void)value;
	cx_cover("field", field);
}

static enum cx_status serve(struct cx_call *call, const struct cx_cmd *cmd)
{
	enum cx_status st;

	cx_cover("cmd", cmd->name);
	if (cx_fault_cmd(call->dev, cmd->opcode, &st, &call->syndrome)) {
		cx_log(call->dev, "%s uid %u: fault script: status 0x%x, syndrome 0x%x",
		       cmd->name, call->uid, st, call->syndrome);
		return st;
	}
	st = check_caller(call, cmd);
	if (st == CX_ST_OK)
		st = check_lengths(call, cmd);
	if (st == CX_ST_OK)
		st = check_reserved(call, cmd);
	if (st != CX_ST_OK)
		return st;
	cx_layout_walk(cmd->in ? cmd->in : &header, call->in, call->in_len, cover_field,
		       NULL);
	return cmd->run(call);
}

/* ---- the way in and out ---- */

static void trace(struct cx_call *call, const struct cx_cmd *cmd, bool in,
		  enum cx_status st)
{
	const struct cx_layout *l = in ? cmd->in : cmd->out;
	const uint8_t *p = in ? call->in : call->out;
	size_t len = in ? call->in_len : call->out_len;
	char title[64];

	if (!(call->dev->trace & CX_TRACE_CMD))
		return;
	if (in)
		snprintf(title, sizeof(title), "%s uid %u in:", cmd->name, call->uid);
	else
		snprintf(title, sizeof(title), "%s uid %u out, status 0x%x:", cmd->name,
			 call->uid, st);
	if (l && (in || st == CX_ST_OK))
		cx_trace_layout(call->dev, CX_TRACE_CMD, title, l, p, len);
	else
		cx_trace_hex(call->dev, CX_TRACE_CMD, title, p,
			     len < HEADER_BYTES ? len : HEADER_BYTES);
}

static enum cx_status dispatch(struct cx_call *call)
{
	const struct cx_cmd *cmd;
	enum cx_status st;

	if (call->in_len < HEADER_BYTES)
		return cx_refuse(call, CX_ST_BAD_IN_LEN, "in_len",
				 "%zu bytes, at least %d needed", call->in_len,
				 HEADER_BYTES);
	call->uid = cx_be16(call->in + 2);
	call->op_mod = cx_be16(call->in + 6);
	cmd = find_cmd(cx_be16(call->in));
	if (!cmd)
		return cx_refuse(call, CX_ST_BAD_OP, "opcode", "0x%x is not known",
				 cx_be16(call->in));
	call->name = cmd->name;
	trace(call, cmd, true, CX_ST_OK);
	st = serve(call, cmd);
	trace(call, cmd, false, st);
	return st;
}

/* A refused command answers with nothing but why. */
static void answer(struct cx_call *call, enum cx_status st)
{
	uint8_t head[8] = { (uint8_t)st };

	cx_put_be32(head + 4, call->syndrome);
	if (st != CX_ST_OK)
		memset(call->out, 0, call->out_len);
	memcpy(call->out, head,
	       call->out_len < sizeof(head) ? call->out_len : sizeof(head));
}

enum cx_status cx_cmd(struct cx_dev *dev, const void *in, size_t in_len, void *out,
		      size_t out_len)
{
	struct cx_call call = { .dev = dev,
				.in = in,
				.in_len = in_len,
				.out = out,
				.out_len = out_len,
				.name = "command" };
	enum cx_status st;

	memset(out, 0, out_len);
	dev->stats.cmds++;
	/* A doorbell rung before the command reaches the device before it (both are posted
	 * writes to one function): a queue is not destroyed, or reset, under its last one. */
	if (!dev->held && !dev->fatal)
		cx_uar_poll(dev);
	st = dispatch(&call);
	if (st != CX_ST_OK)
		dev->stats.cmd_refusals++;
	answer(&call, st);
	return st;
}
