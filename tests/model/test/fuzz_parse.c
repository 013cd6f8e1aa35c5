/* test/fuzz_parse.c - hostile frames: whatever comes, nothing is read outside them
 *
 * The frame lies in a block of its own size, so that AddressSanitizer sees one byte
 * too many.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "../core/steer.h"

static void must(bool true_thing)
{
	if (!true_thing)
		abort();
}

/* Headers follow each other and end inside the frame. */
static void check_offsets(const struct cx_pkt *p)
{
	uint32_t l2 = 14 + 4u * p->n_vlan;

	must(p->n_vlan <= 2);
	must(p->l2_ok == (p->len >= 14));
	must(p->payload_off <= p->len);
	must(!p->n_vlan || p->len >= l2);
	must(p->l3 == 0 || p->l3 == 4 || p->l3 == 6);
	must(!p->l3 || p->l3_off == l2);
	must(!p->l3 || p->len >= p->l3_off + (p->l3 == 4 ? 20u : 40u));
	must(!p->l4_off || p->l3);
	must(!p->l4_off || p->l4_off + 8u <= p->len);
	must(!p->l4_off || p->payload_off >= p->l4_off + 8u);
}

static void check_flags(const struct cx_pkt *p)
{
	must(!p->l3_ok || p->l3);
	must(!p->l4_ok || (p->l4_off && !p->frag));
	must(!p->l4_off || p->ip_proto == 6 || p->ip_proto == 17);
	must(!p->first_frag || p->frag);
	must(!p->frag || p->l3);
	must(p->l4_off || !(p->sport | p->dport | p->tcp_flags));
	must(p->tcp_flags <= 0x1ff);
}

/* Every selection, on every frame: RSS must find its bytes or do without. */
static void hash_all_ways(struct cx_pkt *pkt)
{
	struct cx_tir tir = { .fn = CX_HASH_TOEPLITZ };

	for (uint32_t i = 0; i < 128; i++) {
		tir.outer_select = (i & 0xf) | (i >> 4 & 1) << 31 | (i >> 5 & 1) << 30;
		tir.symmetric = i >> 6;
		must(!cx_rss_pick(&tir, pkt));
	}
	tir.fn = CX_HASH_XOR8;
	tir.outer_select = 0xf;
	must(!cx_rss_pick(&tir, pkt));
}

int fuzz_parse(const uint8_t *data, size_t size)
{
	uint8_t *frame = malloc(size ? size : 1);
	struct cx_match key;
	struct cx_pkt pkt;

	if (!frame)
		return 0;
	if (size)
		memcpy(frame, data, size);
	cx_parse(&pkt, frame, (uint32_t)size);
	check_offsets(&pkt);
	check_flags(&pkt);
	hash_all_ways(&pkt);
	cx_match_frame(&key, &pkt);
	free(frame);
	return 0;
}

FUZZ_TARGET(fuzz_parse)
