/* m5/rss.h - how packets spread over the queues of a port
 *
 * One TIR hashes one combination of protocols, so there is one per traffic type;
 * steering picks it. All share one table of queues and one key.
 */
#pragma once

#include "dev.h"
#include "rxq.h"

enum m5_traffic {
	M5_IP4,
	M5_IP4_TCP,
	M5_IP4_UDP,
	M5_IP6,
	M5_IP6_TCP,
	M5_IP6_UDP,
	M5_TRAFFIC_COUNT
};

struct m5_flow; /* steer.h */
struct mlx5dv_devx_obj;
struct m5_rss {
	struct mlx5dv_devx_obj *rqt;
	struct mlx5dv_devx_obj *tir[M5_TRAFFIC_COUNT];
	uint32_t rqtn;
	unsigned slots, n_rxq; /* of the table; queues that stand in it in turn */
};

int m5_rss_open(struct m5_rss *rss, struct m5_dev *dev, struct m5_rxq *const *rxq,
		unsigned n_rxq, struct err *err);
void m5_rss_close(struct m5_rss *rss);
/* Which of the queues the card chooses for a packet that steering gave to the TIR of @type. */
unsigned m5_rss_queue(const struct m5_rss *rss, enum m5_traffic type,
		      const struct m5_flow *f);
