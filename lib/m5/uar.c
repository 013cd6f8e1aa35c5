/* m5/uar.c - doorbell pages, mapped non-cached
 *
 * Where the library can (rdma-core 45 and later), each queue has a send register of its own, two
 * of them on a page. Before, all queues of a device share one; that works too, as every doorbell
 * is a single store of eight bytes that names its queue. Source: rdma-core verbs.c,
 * _mlx5dv_devx_alloc_uar and mlx5_insert_dyn_uuars.
 */

#include <string.h>

#include "inside.h"

static struct mlx5dv_devx_uar *alloc(struct ibv_context *ctx)
{
	struct mlx5dv_devx_uar *uar = NULL;

	errno = 0;
#ifdef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
	uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	if (!uar &&
	    errno != EOPNOTSUPP) /* compiled with newer headers than the library's */
		return NULL;
#endif
	return uar ? uar : mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
}

int m5_uar_open(struct m5_dev *dev, struct err *err, struct mlx5dv_devx_uar **ret)
{
	struct mlx5dv_devx_uar *uar = alloc(dev->ctx);
	int r;

	if (!uar) {
		r = verbs_errno();
		return err_set(err, r, "%s: doorbell page: %s (%s)", dev->caps.rdma_name,
			       strerror(-r), err_symbol(r));
	}
	*ret = uar;
	return 0;
}

void m5_uar_close(struct mlx5dv_devx_uar **uar)
{
	if (*uar)
		mlx5dv_devx_free_uar(*uar);
	*uar = NULL;
}
