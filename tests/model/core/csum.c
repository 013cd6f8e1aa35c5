/* core/csum.c - sums over frames: checksums to send, the sum of a completion, FCS
 *
 * The device computes a whole TCP or UDP checksum, pseudo-header included, and does
 * not care what the field held: DPDK's driver has no tx_prepare callback and the kernel
 * leaves a pseudo-header sum there; both work on one card. It takes the lengths
 * from the IP header, so that padding does not count.
 *
 * Written apart from parse.c on purpose: what one sends and the other receives must
 * agree.
 */
#include "queue.h"

#include <endian.h>

/* IANA protocol numbers */
enum {
	HOP_BY_HOP = 0,
	TCP = 6,
	UDP = 17,
	ROUTING = 43,
	FRAGMENT = 44,
	DEST_OPTIONS = 60
};

/* ---- RFC 1071 ---- */

static uint64_t add(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

static uint16_t fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & UINT32_MAX);
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)sum;
}

uint16_t cx_sum(const void *p, size_t len)
{
	const uint8_t *b = p;
	uint64_t sum = 0, word;

	for (; len >= 8; b += 8, len -= 8) {
		memcpy(&word, b, 8);
		sum = add(sum, word);
	}
	word = 0;
	if (len)
		memcpy(&word, b, len);
	/* The order of bytes in a sum is that of the words: section 2(B). */
	return be16toh(fold(add(sum, word)));
}

/* ---- headers ---- */

static uint32_t skip_tags(const uint8_t *frame, uint32_t len, uint16_t *type)
{
	uint32_t off = 14;

	*type = len >= 14 ? cx_be16(frame + 12) : 0;
	for (int i = 0; i < 2 && (*type == CX_ETH_CVLAN || *type == CX_ETH_SVLAN); i++) {
		if (len < off + 4)
			return len;
		*type = cx_be16(frame + off + 2);
		off += 4;
	}
	return off;
}

static void find_ipv4(struct cx_hdrs *h, const uint8_t *ip, uint32_t room)
{
	uint32_t header, total;

	if (room < 20 || ip[0] >> 4 != 4)
		return;
	header = (ip[0] & 15) * 4u;
	total = cx_be16(ip + 2);
	if (header < 20 || header > total || total > room)
		return;
	h->l3 = 4;
	h->proto = ip[9];
	h->end = h->l3_off + total;
	if (!(cx_be16(ip + 6) & 0x3fff)) /* a fragment's checksum is not ours to know */
		h->l4_off = h->l3_off + header;
}

/* The next header's offset after extensions, 0 when there is no layer 4 to sum. A routing
 * header with segments left has another destination in its pseudo-header: left alone. */
static uint32_t skip_extensions(struct cx_hdrs *h, const uint8_t *ip, uint32_t end)
{
	uint32_t off = 40;

	while (h->proto == HOP_BY_HOP || h->proto == ROUTING ||
	       h->proto == DEST_OPTIONS) {
		if (off + 8 > end || (h->proto == ROUTING && ip[off + 3]))
			return 0;
		h->proto = ip[off];
		off += (ip[off + 1] + 1u) * 8;
	}
	return h->proto == FRAGMENT ? 0 : off;
}

static void find_ipv6(struct cx_hdrs *h, const uint8_t *ip, uint32_t room)
{
	uint32_t total, off;

	if (room < 40 || ip[0] >> 4 != 6)
		return;
	total = 40u + cx_be16(ip + 4);
	if (total > room)
		return;
	h->l3 = 6;
	h->proto = ip[6];
	h->end = h->l3_off + total;
	off = skip_extensions(h, ip, total);
	h->l4_off = off ? h->l3_off + off : 0;
}

void cx_hdrs_find(struct cx_hdrs *h, const uint8_t *frame, uint32_t len)
{
	uint32_t need;
	uint16_t type;

	*h = (struct cx_hdrs){ .l3_off = skip_tags(frame, len, &type) };
	if (type == 0x0800)
		find_ipv4(h, frame + h->l3_off, len - h->l3_off);
	else if (type == 0x86dd)
		find_ipv6(h, frame + h->l3_off, len - h->l3_off);
	need = h->proto == TCP ? 20 : h->proto == UDP ? 8 : UINT32_MAX;
	if (h->l4_off && (h->l4_off > h->end || need > h->end - h->l4_off))
		h->l4_off = 0;
}

/* ---- filling in ---- */

static void fill_ipv4(uint8_t *ip)
{
	cx_put_be16(ip + 10, 0);
	cx_put_be16(ip + 10, (uint16_t)~cx_sum(ip, (ip[0] & 15) * 4u));
}

/* Addresses, protocol, length: RFC 9293 3.1, RFC 8200 8.1 */
static uint64_t pseudo_header(const uint8_t *ip, uint8_t l3, uint8_t proto,
			      uint32_t bytes)
{
	uint64_t sum = l3 == 4 ? cx_sum(ip + 12, 8) : cx_sum(ip + 8, 32);

	return sum + proto + (bytes >> 16) + (bytes & 0xffff);
}

static void fill_l4(uint8_t *frame, const struct cx_hdrs *h)
{
	uint8_t *l4 = frame + h->l4_off, *at = l4 + (h->proto == TCP ? 16 : 6);
	uint32_t bytes = h->end - h->l4_off;
	uint64_t sum = pseudo_header(frame + h->l3_off, h->l3, h->proto, bytes);
	uint16_t check;

	cx_put_be16(at, 0);
	check = (uint16_t)~fold(sum + cx_sum(l4, bytes));
	if (h->proto == UDP && !check)
		check = 0xffff; /* 0 says "none": RFC 768 */
	cx_put_be16(at, check);
}

void cx_csum_fill(uint8_t *frame, const struct cx_hdrs *h, bool l3, bool l4)
{
	if (l3 && h->l3 == 4)
		fill_ipv4(frame + h->l3_off);
	if (l4 && h->l4_off)
		fill_l4(frame, h);
}

/* ---- frame check sequence ---- */

/* IEEE 802.3 3.2.9, reflected, four bits at a time: few queues ask for it. */
void cx_fcs(const uint8_t *frame, uint32_t len, uint8_t fcs[4])
{
	static const uint32_t step[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < len; i++) {
		crc ^= frame[i];
		crc = crc >> 4 ^ step[crc & 15];
		crc = crc >> 4 ^ step[crc & 15];
	}
	crc = htole32(~crc);
	memcpy(fcs, &crc, 4);
}
