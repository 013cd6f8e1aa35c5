/* m5/uar.c - doorbell pages
 *
 *   non-cached        a doorbell is on its way when the store is; nothing else is needed
 *   write-combining   the same eight bytes through a buffer, with a fence on either side
 *
 * Non-cached: where the library can (rdma-core 45 and later), each queue has a send register of
 * its own, four of them on a page. Before, all queues of a device share one; that works too, as
 * every doorbell is a single store of eight bytes that names its queue. Write-combining: a
 * register of its own for each, two on a page; the kernel gives none where the device's
 * BlueFlame is off or the memory type cannot be had, as in some virtual machines. Source:
 * rdma-core verbs.c, _mlx5dv_devx_alloc_uar and mlx5_insert_dyn_uuars.
 *
 * A BlueFlame register has two halves, written in turn when whole WQEs are copied into it: the
 * device may still be reading the one. Eight bytes are taken at once, so a doorbell always uses
 * the first half. Source: rdma-core qp.c, post_send_db (bf->offset); DPDK mlx5_common.h,
 * mlx5_doorbell_ring.
 */

#include <string.h>

#include "inside.h"

#if defined(__aarch64__)
enum { WC_BY_DEFAULT = 1 };
#else
enum { WC_BY_DEFAULT = 0 }; /* DPDK guide, sq_db_nc */
#endif

static struct mlx5dv_devx_uar *alloc_nc(struct ibv_context *ctx)
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

static struct mlx5dv_devx_uar *alloc_wc(struct ibv_context *ctx)
{
	errno = 0;
	return mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
}

static int failed(const struct m5_dev *dev, const char *page, struct err *err)
{
	int r = verbs_errno();

	return err_set(err, r, "%s: %s: %s (%s)", dev->caps.rdma_name, page, strerror(-r),
		       err_symbol(r));
}

int m5_uar_open(struct m5_dev *dev, struct err *err, struct mlx5dv_devx_uar **ret)
{
	struct mlx5dv_devx_uar *uar = alloc_nc(dev->ctx);

	if (!uar)
		return failed(dev, "doorbell page", err);
	*ret = uar;
	return 0;
}

int m5_uar_open_send(struct m5_dev *dev, enum m5_doorbell want, struct err *err,
		     struct mlx5dv_devx_uar **ret, bool *ret_wc)
{
	struct mlx5dv_devx_uar *uar = NULL;
	bool wc = want == M5_DOORBELL_WC || (want == M5_DOORBELL_AUTO && WC_BY_DEFAULT);

	if (wc)
		uar = alloc_wc(dev->ctx);
	if (!uar && want == M5_DOORBELL_WC)
		return failed(dev, "write-combining doorbell page (doorbell = wc)", err);
	if (!uar) {
		int r = m5_uar_open(dev, err, &uar);

		if (r < 0)
			return r;
		wc = false;
	}
	*ret = uar;
	*ret_wc = wc;
	return 0;
}

void m5_uar_close(struct mlx5dv_devx_uar **uar)
{
	if (*uar)
		mlx5dv_devx_free_uar(*uar);
	*uar = NULL;
}
