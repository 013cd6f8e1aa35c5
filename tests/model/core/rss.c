/* core/rss.c - which queue of a TIR takes a frame
 *
 *   selected fields -> bytes -> hash -> entry of the RQT
 *
 * The bytes are the selected fields one after the other, in the order source
 * address, destination address, source port, destination port, as in Microsoft's
 * "RSS hashing functions", whose verification suite is in test/test_rss.c. With
 * fewer than all fields the rest moves up; assumed, no source says so.
 *
 * A TIR names one layer 3 and one layer 4 protocol:
 *   another layer 3   no hash; every frame goes to entry 0 (FD.io VPP issue 446: IPv6
 *                     traffic on an IPv4 TIR never left the first queue)
 *   another layer 4   the addresses alone. Assumed: the completion says for each layer
 *   or a fragment     whether it was hashed, and VPP hashes all IPv4 by a TIR for TCP.
 *
 * Symmetric: the pair (a, b) becomes (a | b, a ^ b): Linux 6.15, commit "ethtool: Symmetric
 * OR-XOR RSS hash", by the vendor, which gives this name to rx_hash_symmetric. (DPDK's log
 * calls it "SORT", as opposed to XOR, and does not define it.) A pair of which only one is
 * selected stays as it is; assumed.
 */
#include "dev.h"

#include <stdlib.h>

/* rx_hash_field_select: [31] layer 3, 1 = IPv6; [30] layer 4, 1 = UDP; [1:0] addresses and [3:2]
 * ports, source in the lower bit. Source: kernel include/linux/mlx5/mlx5_ifc.h and device.h. */
static bool names_ipv6(uint32_t select)
{
	return select >> 31;
}
static bool names_udp(uint32_t select)
{
	return select >> 30 & 1;
}

#define INPUT_BYTES 36 /* two IPv6 addresses, two ports */

struct input {
	uint8_t byte[INPUT_BYTES];
	unsigned n;
	uint8_t type; /* hash_type of the completion */
};

/* ---- hash functions ---- */

/* The 32 bits of the key that a set bit of the input adds. */
static uint32_t key_window(const uint8_t key[40], unsigned byte, unsigned bit)
{
	uint64_t w = (uint64_t)cx_be32(key + byte) << 8 | key[byte + 4];

	return (uint32_t)(w >> (8 - bit));
}

void cx_rss_prepare(struct cx_tir *tir)
{
	if (tir->fn != CX_HASH_TOEPLITZ) {
		cx_rss_release(tir);
		return;
	}
	if (!tir->toeplitz)
		tir->toeplitz = malloc(sizeof(uint32_t[INPUT_BYTES][256]));
	if (!tir->toeplitz)
		return; /* slower, not wrong: toeplitz_by_bit() */
	for (unsigned i = 0; i < INPUT_BYTES; i++) {
		uint32_t *t = tir->toeplitz[i];

		t[0] = 0;
		for (unsigned bit = 0; bit < 8; bit++)
			t[0x80 >> bit] = key_window(tir->key, i, bit);
		for (unsigned v = 1; v < 256; v++)
			t[v] = t[v & (v - 1)] ^ t[v & -v];
	}
}

void cx_rss_release(struct cx_tir *tir)
{
	free(tir->toeplitz);
	tir->toeplitz = NULL;
}

static uint32_t toeplitz_by_bit(const struct cx_tir *tir, const struct input *in)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < in->n; i++)
		for (unsigned bit = 0; bit < 8; bit++)
			if (in->byte[i] & 0x80 >> bit)
				hash ^= key_window(tir->key, i, bit);
	return hash;
}

static uint32_t toeplitz(const struct cx_tir *tir, const struct input *in)
{
	uint32_t hash = 0;

	if (!tir->toeplitz)
		return toeplitz_by_bit(tir, in);
	for (unsigned i = 0; i < in->n; i++)
		hash ^= tir->toeplitz[i][in->byte[i]];
	return hash;
}

/* "Inverted" is the order of bits (Linux commit 2be6967cdbc9, which re-orders the indirection
 * table by bit reversal to make a plain XOR of it), and the 8 bits are repeated (commit
 * 7ee2ace9c544). */
static uint32_t inverted_xor8(const struct input *in)
{
	uint8_t x = 0;

	for (unsigned i = 0; i < in->n; i++)
		x ^= in->byte[i];
	x = (uint8_t)((x & 0x0f) << 4 | x >> 4);
	x = (uint8_t)((x & 0x33) << 2 | (x >> 2 & 0x33));
	x = (uint8_t)((x & 0x55) << 1 | (x >> 1 & 0x55));
	return x * UINT32_C(0x01010101);
}

/* ---- what is hashed ---- */

static void add(struct input *in, const uint8_t *p, unsigned bytes)
{
	memcpy(in->byte + in->n, p, bytes);
	in->n += bytes;
}

static void fold_pair(struct input *in, const uint8_t *a, const uint8_t *b,
		      unsigned bytes)
{
	uint8_t *out = in->byte + in->n;

	for (unsigned i = 0; i < bytes; i++) {
		out[i] = a[i] | b[i];
		out[bytes + i] = a[i] ^ b[i];
	}
	in->n += 2 * bytes;
}

/* @select: the pair's own two bits, source and destination. The code of the protocol stands
 * twice in the type: source at @shift (assumed), destination two bits above. */
static void add_pair(struct input *in, const uint8_t *src, unsigned bytes,
		     unsigned select, bool symmetric, uint8_t code, unsigned shift)
{
	const uint8_t *dst = src + bytes;

	if (symmetric && select == 3) {
		fold_pair(in, src, dst, bytes);
	} else {
		if (select & 1)
			add(in, src, bytes);
		if (select & 2)
			add(in, dst, bytes);
	}
	if (select & 1)
		in->type |= (uint8_t)(code << shift);
	if (select & 2)
		in->type |= (uint8_t)(code << (shift + 2));
}

static bool l3_is_named(const struct cx_pkt *pkt, uint32_t select)
{
	return pkt->l3 == (names_ipv6(select) ? 6 : 4);
}

static bool l4_is_named(const struct cx_pkt *pkt, uint32_t select)
{
	return pkt->l4_off && !pkt->frag && pkt->ip_proto == (names_udp(select) ? 17 : 6);
}

/* When no address is selected the TIR names no layer 3 either (kernel
 * drivers/infiniband/hw/mlx5/qp.c: "this bit field is ignored"); the same for layer 4. */
static void gather(struct input *in, const struct cx_tir *tir, const struct cx_pkt *pkt)
{
	uint32_t select = tir->outer_select;
	unsigned ips = select & 3, ports = select >> 2 & 3;
	const uint8_t *ip = pkt->data + pkt->l3_off;

	in->n = 0;
	in->type = 0;
	if (ips && !l3_is_named(pkt, select))
		return;
	if (ips)
		add_pair(in, pkt->l3 == 4 ? ip + 12 : ip + 8, pkt->l3 == 4 ? 4 : 16, ips,
			 tir->symmetric, pkt->l3 == 4 ? 1 : 2, 0);
	if (ports && l4_is_named(pkt, select))
		add_pair(in, pkt->data + pkt->l4_off, 2, ports, tir->symmetric,
			 names_udp(select) ? 2 : 1, 4);
}

struct cx_rq *cx_rss_pick(struct cx_tir *tir, struct cx_pkt *pkt)
{
	struct input in;

	pkt->hash = 0;
	pkt->hash_type = 0;
	if (tir->fn != CX_HASH_NONE && tir->outer_select) {
		gather(&in, tir, pkt);
		pkt->hash = tir->fn == CX_HASH_TOEPLITZ ? toeplitz(tir, &in)
							: inverted_xor8(&in);
		pkt->hash_type = in.type;
	}
	if (!tir->rqt)
		return tir->rq;
	return tir->rqt->n ? tir->rqt->rq[pkt->hash & (tir->rqt->n - 1)] : NULL;
}
