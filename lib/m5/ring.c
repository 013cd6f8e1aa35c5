/* m5/ring.c - memory of a queue: entries, then its doorbell record
 *
 *   base | entries .............. | record (64 bytes of its own line) | to the page's end
 */

#include <string.h>

#include "../base/bits.h"
#include "../place/huge.h"
#include "inside.h"

enum { PAGE = 4096, RECORD_BYTES = 64 };

size_t m5_ring_bytes(size_t entry_bytes)
{
	return align_up(align_up(entry_bytes, RECORD_BYTES) + RECORD_BYTES, PAGE);
}

int m5_ring_map(struct m5_ring *ring, struct m5_dev *dev, size_t entry_bytes,
		bool device_writes, int numa_node, struct err *err)
{
	/* The device reads work entries and writes completions; source: mlx5dv_devx_umem_reg(3). */
	uint32_t access = device_writes ? IBV_ACCESS_LOCAL_WRITE : 0;
	size_t page;

	memset(ring, 0, sizeof(*ring));
	ring->dbrec_offset = align_up(entry_bytes, RECORD_BYTES);
	ring->bytes = m5_ring_bytes(entry_bytes);
	ring->base = place_huge_map(ring->bytes, numa_node, &page);
	if (!ring->base)
		return err_set(err, -ENOMEM, "%s: no memory for a ring of %zu bytes",
			       dev->caps.rdma_name, ring->bytes);
	ring->page_bytes = page;
	ring->dbrec = (be32_t *)(void *)(ring->base + ring->dbrec_offset);
	errno = 0;
	ring->umem = mlx5dv_devx_umem_reg(dev->ctx, ring->base, ring->bytes, access);
	if (!ring->umem)
		return m5_register_failed(dev, "queue memory", ring->bytes, verbs_errno(),
					  err);
	return 0;
}

void m5_ring_unmap(struct m5_ring *ring)
{
	if (ring->umem)
		mlx5dv_devx_umem_dereg(ring->umem);
	place_huge_unmap(ring->base, ring->bytes, ring->page_bytes);
	memset(ring, 0, sizeof(*ring));
}
