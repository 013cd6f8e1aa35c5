/* m5/devx.c - commands to the device, and their failures in words */

#include <string.h>

#include "inside.h"

/* The kernel answers EREMOTEIO when the device refused, with the device's answer in the output
 * (Linux 5.19 and later); older kernels give an errno and leave the output alone. */
static int refused(struct m5_dev *dev, const char *name, int r, const void *out,
		   struct err *err)
{
	unsigned status = (unsigned)prm_get(out, PRM_OUT_STATUS);

	if (status)
		return err_set(
			err, r == -EREMOTEIO ? -EIO : r,
			"%s on %s: the device says %s (status 0x%02x, syndrome 0x%06x)",
			name, dev->caps.rdma_name, prm_status_text(status), status,
			(unsigned)prm_get(out, PRM_OUT_SYNDROME));
	if (r == -EPERM || r == -EACCES)
		return err_set(err, r, "%s on %s: not permitted; run with CAP_NET_RAW",
			       name, dev->caps.rdma_name);
	return err_set(err, r, "%s on %s: %s (%s)", name, dev->caps.rdma_name,
		       strerror(-r), err_symbol(r));
}

int m5_devx_command(struct m5_dev *dev, const char *name, const void *in, size_t in_bytes,
		    void *out, size_t out_bytes, struct err *err)
{
	int r;

	memset(out, 0, PRM_OUT_BYTES);
	r = verbs_result(mlx5dv_devx_general_cmd(dev->ctx, in, in_bytes, out, out_bytes));
	return r < 0 ? refused(dev, name, r, out, err) : 0;
}

int m5_devx_create(struct m5_dev *dev, const char *name, const void *in, size_t in_bytes,
		   struct err *err, struct mlx5dv_devx_obj **ret, uint32_t *num)
{
	uint32_t out[PRM_OUT_BYTES / 4] = { 0 };
	struct mlx5dv_devx_obj *obj;

	errno = 0;
	obj = mlx5dv_devx_obj_create(dev->ctx, in, in_bytes, out, sizeof(out));
	if (!obj)
		return refused(dev, name, verbs_errno(), out, err);
	if (num)
		*num = (uint32_t)prm_get(out, PRM_OUT_NUMBER);
	*ret = obj;
	return 0;
}

int m5_devx_modify(struct m5_dev *dev, struct mlx5dv_devx_obj *obj, const char *name,
		   const void *in, size_t in_bytes, struct err *err)
{
	uint32_t out[PRM_OUT_BYTES / 4] = { 0 };
	int r = verbs_result(mlx5dv_devx_obj_modify(obj, in, in_bytes, out, sizeof(out)));

	return r < 0 ? refused(dev, name, r, out, err) : 0;
}

int m5_devx_query(struct m5_dev *dev, struct mlx5dv_devx_obj *obj, const char *name,
		  const void *in, size_t in_bytes, void *out, size_t out_bytes,
		  struct err *err)
{
	int r;

	memset(out, 0, out_bytes);
	r = verbs_result(mlx5dv_devx_obj_query(obj, in, in_bytes, out, out_bytes));
	return r < 0 ? refused(dev, name, r, out, err) : 0;
}

void m5_devx_destroy(struct mlx5dv_devx_obj **obj)
{
	/* It fails only when the device is gone, and then the object is too. */
	if (*obj)
		mlx5dv_devx_obj_destroy(*obj);
	*obj = NULL;
}
