/* m5/use_hot.h - how full rings are
 *
 * Context: owning worker.
 */
#pragma once

#include "tx_wqe_hot.h"

/* Chunks that the device does not have: packets of them are not let go of yet. */
ALWAYS_INLINE uint32_t m5_rx_used(const struct m5_rx *rx)
{
	return rx->mask + 1 - (uint16_t)(rx->post - rx->fill);
}

/* Blocks of all rings; any thread. */
ALWAYS_INLINE uint32_t m5_tx_size(const struct m5_tx *tx)
{
	return tx->n_rings * (tx->ring[0].mask + 1);
}

/* Of them, queued or under way. */
ALWAYS_INLINE uint32_t m5_tx_used(const struct m5_tx *tx)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < tx->n_rings; i++)
		sum += (uint16_t)(tx->ring[i].next - tx->ring[i].done);
	return sum;
}
