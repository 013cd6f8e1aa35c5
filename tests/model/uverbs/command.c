/* uverbs/command.c - commands to the device, as the kernel gives them
 *
 * Source of the errno for each status: Linux 6.1 mlx5/core/cmd.c,
 * cmd_status_to_err(); mlx5_cmd_do() returns -EREMOTEIO for any bad status and
 * leaves the rest to its caller, which hands the answer to the program.
 */
#include "uverbs.h"

#include <errno.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

static int errno_of(uint8_t status)
{
	switch (status) {
	case CX_ST_OK:
		return 0;
	case CX_ST_BAD_OP:
	case CX_ST_BAD_PARAM:
	case CX_ST_BAD_RES:
	case CX_ST_BAD_RES_STATE:
	case CX_ST_BAD_INDEX:
	case CX_ST_BAD_QP_STATE:
		return -EINVAL;
	case CX_ST_RES_BUSY:
		return -EBUSY;
	case CX_ST_LIMIT:
		return -ENOMEM;
	case CX_ST_NO_RES:
		return -EAGAIN;
	default: /* internal, system state, lengths, unknown */
		return -EIO;
	}
}

int uv_exec_raw(struct uv_port *port, uint16_t uid, void *in, size_t in_len, void *out,
		size_t out_len)
{
	cx_put_be16((uint8_t *)in + 2, uid);
	return cx_cmd(port->dev, in, in_len, out, out_len) == CX_ST_OK ? 0 : -EREMOTEIO;
}

int uv_exec(struct uv_port *port, uint16_t uid, void *in, size_t in_len, void *out,
	    size_t out_len)
{
	uv_exec_raw(port, uid, in, in_len, out, out_len);
	return errno_of(*(uint8_t *)out);
}

/* Numbers of 24 bits or less; flow counters have 32 and are not made here. */
int uv_exec_alloc(struct uv_port *port, uint16_t uid, uint16_t opcode, uint32_t *num)
{
	uint8_t in[16] = { 0 }, out[16];
	int rc;

	cx_put_be16(in, opcode);
	rc = uv_exec(port, uid, in, sizeof(in), out, sizeof(out));
	if (!rc)
		*num = cx_be32(out + 8) & 0xffffff;
	return rc;
}

int uv_exec_num(struct uv_port *port, uint16_t uid, uint16_t opcode, uint32_t num)
{
	uint8_t in[16] = { 0 }, out[16];

	cx_put_be16(in, opcode);
	cx_put_be32(in + 8, num);
	return uv_exec(port, uid, in, sizeof(in), out, sizeof(out));
}

/* The kernel itself gives contexts back; the number has a place of its own. */
int uv_exec_uctx_free(struct uv_port *port, uint16_t uid)
{
	uint8_t in[CX_BYTES(destroy_uctx_in)] = { 0 }, out[16];

	CX_SET(destroy_uctx_in, in, opcode, CX_OP_DESTROY_UCTX);
	CX_SET(destroy_uctx_in, in, uctx_uid, uid);
	return uv_exec(port, 0, in, sizeof(in), out, sizeof(out));
}
