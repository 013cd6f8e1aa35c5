/* m5/rss.c - table of queues and one TIR per traffic type */

#include "rss.h"

#include <string.h>

#include "../base/bits.h"
#include "../prm/ctx.h"
#include "inside.h"
#include "steer.h"

/* The verification suite's key (Microsoft, "Verifying the RSS Hash Calculation"), which the kernel
 * and DPDK use too: it spreads well and its results can be checked by hand. */
static const uint8_t key[PRM_HASH_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	const char *name; /* for error text */
	bool ip6, udp, ports;
} types[M5_TRAFFIC_COUNT] = {
	[M5_IP4] = { "CREATE_TIR (IPv4)", false, false, false },
	[M5_IP4_TCP] = { "CREATE_TIR (IPv4, TCP)", false, false, true },
	[M5_IP4_UDP] = { "CREATE_TIR (IPv4, UDP)", false, true, true },
	[M5_IP6] = { "CREATE_TIR (IPv6)", true, false, false },
	[M5_IP6_TCP] = { "CREATE_TIR (IPv6, TCP)", true, false, true },
	[M5_IP6_UDP] = { "CREATE_TIR (IPv6, UDP)", true, true, true },
};

/* Slots, so that a number of queues that is no power of two spreads evenly. */
enum { TABLE_MIN = 64 };

static int open_table(struct m5_rss *rss, struct m5_dev *dev, struct m5_rxq *const *rxq,
		      unsigned n_rxq, struct err *err)
{
	unsigned log = log2_ceil(n_rxq > TABLE_MIN ? n_rxq : TABLE_MIN), slots;
	uint32_t in[PRM_CREATE_RQT_BYTES / 4 + 2048] = { 0 };
	uint32_t *list = in + PRM_CREATE_RQT_BYTES / 4;
	void *ctx = prm_at(in, PRM_CREATE_RQT_CTX);

	if (log > dev->caps.log_max_rqt_size)
		log = dev->caps.log_max_rqt_size;
	slots = 1u << log;
	if (slots > 2048 || slots < n_rxq)
		return err_set(err, -EINVAL, "%s: %u queues: the device's table holds %u",
			       dev->caps.rdma_name, n_rxq, slots);
	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_RQT);
	prm_set(ctx, PRM_RQTC_MAX_SIZE, slots);
	prm_set(ctx, PRM_RQTC_SIZE, slots);
	rss->slots = slots;
	rss->n_rxq = n_rxq;
	for (unsigned i = 0; i < slots; i++)
		list[i] = to_be32(m5_rxq_num(rxq[i % n_rxq])).raw;
	return m5_devx_create(dev, "CREATE_RQT", in,
			      PRM_CREATE_RQT_BYTES + slots * sizeof(*list), err,
			      &rss->rqt, &rss->rqtn);
}

static int open_tir(struct m5_rss *rss, struct m5_dev *dev, enum m5_traffic type,
		    struct err *err)
{
	uint32_t in[PRM_CREATE_TIR_BYTES / 4] = { 0 };
	void *ctx = prm_at(in, PRM_CREATE_TIR_CTX);
	uint32_t fields = PRM_HASH_SRC_IP | PRM_HASH_DST_IP;

	if (types[type].ports)
		fields |= PRM_HASH_SPORT | PRM_HASH_DPORT;
	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_TIR);
	prm_set(ctx, PRM_TIRC_DISP_TYPE, 1);
	prm_set(ctx, PRM_TIRC_RQT, rss->rqtn);
	prm_set(ctx, PRM_TIRC_TD, dev->tdn);
	prm_set(ctx, PRM_TIRC_HASH_FN, PRM_HASH_TOEPLITZ);
	/* What this host sends by this port is not for us, even if it is sent to our MAC. */
	prm_set(ctx, PRM_TIRC_SELF_LB_BLOCK,
		PRM_SELF_LB_BLOCK_UNICAST | PRM_SELF_LB_BLOCK_MULTICAST);
	prm_set(ctx, PRM_TIRC_HASH_L3_IPV6, types[type].ip6);
	prm_set(ctx, PRM_TIRC_HASH_L4_UDP, types[type].udp);
	prm_set(ctx, PRM_TIRC_HASH_FIELDS, fields);
	memcpy(prm_at(ctx, PRM_TIRC_HASH_KEY), key, sizeof(key));
	return m5_devx_create(dev, types[type].name, in, sizeof(in), err, &rss->tir[type],
			      NULL);
}

int m5_rss_open(struct m5_rss *rss, struct m5_dev *dev, struct m5_rxq *const *rxq,
		unsigned n_rxq, struct err *err)
{
	int r;

	memset(rss, 0, sizeof(*rss));
	r = open_table(rss, dev, rxq, n_rxq, err);
	for (unsigned i = 0; i < M5_TRAFFIC_COUNT && !r; i++)
		r = open_tir(rss, dev, (enum m5_traffic)i, err);
	return r;
}

void m5_rss_close(struct m5_rss *rss)
{
	for (unsigned i = 0; i < M5_TRAFFIC_COUNT; i++)
		m5_devx_destroy(&rss->tir[i]);
	m5_devx_destroy(&rss->rqt);
}

/* ---- what the card computes ---- */

/* Toeplitz: each bit of the input that is set adds the 32 bits of the key that begin there.
 * Source: Microsoft, "RSS hashing functions". */
static uint32_t toeplitz(const uint8_t *in, unsigned bytes)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < bytes; i++) {
		uint64_t window = 0;

		for (unsigned k = 0; k < 5; k++)
			window = window << 8 | key[i + k];
		for (unsigned bit = 0; bit < 8; bit++)
			if (in[i] & 0x80 >> bit)
				hash ^= (uint32_t)(window >> (8 - bit));
	}
	return hash;
}

static uint8_t *put(uint8_t *at, const void *from, size_t bytes)
{
	memcpy(at, from, bytes);
	return at + bytes;
}

unsigned m5_rss_queue(const struct m5_rss *rss, enum m5_traffic type,
		      const struct m5_flow *f)
{
	const be16_t ports[] = { to_be16(f->sport), to_be16(f->dport) };
	const size_t addr = types[type].ip6 ? 16 : 4;
	uint8_t in[2 * 16 + sizeof(ports)], *end = in;

	end = put(end, f->src, addr);
	end = put(end, f->dst, addr);
	if (types[type].ports)
		end = put(end, ports, sizeof(ports));
	/* The low bits choose the slot. Source: DPDK, lib/hash/rte_thash.h,
	 * rte_thash_adjust_tuple(), which makes flows for a queue. */
	return (toeplitz(in, (unsigned)(end - in)) & (rss->slots - 1)) % rss->n_rxq;
}
