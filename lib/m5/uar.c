/* m5/uar.c - doorbell pages: one a queue, so that a doorbell names no other's */

#include <string.h>

#include "inside.h"

int m5_uar_open(struct m5_dev *dev, struct err *err, struct mlx5dv_devx_uar **ret)
{
	struct mlx5dv_devx_uar *uar;

	errno = 0;
	uar = mlx5dv_devx_alloc_uar(dev->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	if (!uar)
		return err_set(err, verbs_errno(), "%s: doorbell page: %s (%s)", dev->caps.rdma_name,
			       strerror(errno), err_symbol(-errno));
	*ret = uar;
	return 0;
}

void m5_uar_close(struct mlx5dv_devx_uar **uar)
{
	if (*uar)
		mlx5dv_devx_free_uar(*uar);
	*uar = NULL;
}
