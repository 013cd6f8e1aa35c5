/* fuzz/fuzz_parse.c - received frames: a verdict with a reason, and a good frame if forwarded
 *
 * Byte 0 says whether the card checked the IPv4 checksum; the frame is the rest. Its first
 * six bytes are made our address, as most frames of the corpus would be refused otherwise,
 * unless bit 1 of byte 0 is set.
 */

#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/pkt/flow_hot.h"
#include "../../lib/pkt/parse_hot.h"
#include "../../lib/pkt/plain_hot.h"
#include "../../lib/pkt/rewrite_hot.h"

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 2 };

static void check_reason(const struct pkt_meta *m)
{
	if (m->verdict == PKT_DROP)
		assert(m->reason < PKT_DROP_COUNT);
	else if (m->verdict == PKT_PUNT)
		assert(m->reason < PKT_PUNT_COUNT);
	else
		assert(m->verdict == PKT_FORWARD && (m->family == 4 || m->family == 6));
}

static bool checksum_good(const uint8_t *ip)
{
	return csum_fold(csum_add(0, ip, 20)) == 0xffff;
}

/* In memory that reaches past the shortest frame, as that of a receive queue does. */
static void check_rewrite(const uint8_t *frame, size_t n, struct pkt_meta *m)
{
	size_t room = n < 128 ? 128 : n;
	uint8_t *copy = calloc(1, room), *start = copy + m->l3 - 14;
	bool was_good = m->family == 4 && checksum_good(frame + m->l3);
	uint16_t len;

	assert(copy);
	assert(m->bytes >= (m->family == 4 ? 20 : 40) && m->bytes <= n - m->l3);
	memcpy(copy, frame, n);
	len = pkt_rewrite(start, m->bytes, macs, m->family == 6);
	assert(start >= copy && start + len <= copy + room);
	assert(len == (14 + m->bytes < 60 ? 60 : 14 + m->bytes));
	assert(!memcmp(start, macs, sizeof(macs)));
	if (m->family == 4) {
		assert(start[14 + 8] == frame[m->l3 + 8] - 1 && start[14 + 8] > 0);
		assert(!was_good || checksum_good(start + 14));
	} else {
		assert(start[14 + 7] == frame[m->l3 + 7] - 1 && start[14 + 7] > 0);
	}
	free(copy);
}

/* What is plain, the full look forwards; it may lie in as little memory as a receive queue has. */
static void check_plain(const uint8_t *frame, size_t n, bool l3_ok,
			const struct pkt_meta *m)
{
	uint8_t *copy = calloc(1, n < ETH_MIN ? ETH_MIN : n);
	unsigned family;

	assert(copy);
	memcpy(copy, frame, n);
	family = pkt_plain(copy, (uint32_t)n, l3_ok, our_mac);
	assert(!family || (m->verdict == PKT_FORWARD && m->family == family &&
			   m->l3 == 14 && m->bytes == pkt_bytes(copy, family == 6)));
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pkt_meta m;
	uint8_t *frame;
	size_t n;

	if (!size || size > 20000)
		return 0;
	n = size - 1;
	frame = malloc(n ? n : 1);
	assert(frame);
	memcpy(frame, data + 1, n);
	if (!(data[0] & 2) && n >= sizeof(our_mac))
		memcpy(frame, our_mac, sizeof(our_mac));
	pkt_parse_full(frame, (uint32_t)n, data[0] & 1, our_mac, &m);
	check_reason(&m);
	check_plain(frame, n, data[0] & 1, &m);
	if (m.verdict == PKT_FORWARD) {
		pkt_flow_hash(frame + m.l3, m.bytes, m.family, 0);
		check_rewrite(frame, n, &m);
	}
	free(frame);
	return 0;
}
