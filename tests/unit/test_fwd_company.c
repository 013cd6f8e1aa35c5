/* unit/test_fwd_company.c - what becomes of a packet does not depend on those that it comes with */

#include "../test.h"

#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/pkt/csum.h"
#include "fwd_rig.h"

/* What became of a packet: where it went, and with what bytes. */
struct fate {
	enum { NOWHERE, SENT, PUNTED } exit;
	unsigned where; /* port or reason */
	uint32_t len;
	uint8_t bytes[512];
};

enum { COMPANY = 3000, ID_AT4 = 14 + 4, ID_AT6 = 14 + 22 };

static struct fate fates_alone[COMPANY], fates_among[COMPANY];
static struct {
	struct fate *fate;
	unsigned port;
} keeping;

static void keep(const uint8_t *frame, uint32_t len, unsigned exit, unsigned where)
{
	const uint8_t *ip = frame + (frame[12] == 0x81 ? 4 : 0);
	const uint8_t *id = ip + (ip[12] == 8 ? ID_AT4 : ID_AT6);
	uint32_t i = (uint32_t)id[0] << 8 | id[1];
	struct fate *fate;

	assert_in_range(i, 0, COMPANY - 1);
	fate = &keeping.fate[i];
	assert_int_equal(fate->exit, NOWHERE); /* once */
	*fate = (struct fate){ .exit = exit, .where = where, .len = len };
	assert_in_range(len, 1, sizeof(fate->bytes));
	memcpy(fate->bytes, frame, len);
}

static void keep_sent(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	keep(frame, len, SENT, keeping.port);
}

static void keep_all(struct rig *rig)
{
	const struct exc_frame *e;

	run_loop(rig);
	for (keeping.port = 0; keeping.port < 3; keeping.port++)
		rig->sent[keeping.port] +=
			fake_tx_run(&rig->tx[keeping.port], keep_sent, NULL);
	run_loop(rig);
	for (; (e = ring_peek(&rig->w->punt)); ring_pop(&rig->w->punt))
		keep(e->data, e->len, PUNTED, e->reason);
}

/* Nearly all that a burst may have; what tells packets apart is in each. */
static uint32_t make_any(uint8_t *f, uint32_t id)
{
	static const uint8_t keys4[] = {
		10, 10, 172, 26, 27, 25, 20, 22, 23, 24, 240, 99
	};
	static const uint8_t keys6[] = { 0xb8, 0xb8, 0xb9, 0xba, 0xbb, 0xbc };
	bool six = test_below(3) == 0;
	uint32_t len = six ? make6(f, 0, keys6[test_below(sizeof(keys6))], 64)
			   : make4(f, 0, keys4[test_below(sizeof(keys4))], 64,
				   20 + test_below(90));
	uint8_t *at = f + (six ? ID_AT6 : ID_AT4);
	be16_t c = { 0 };

	at[0] = (uint8_t)(id >> 8);
	at[1] = (uint8_t)id;
	switch (test_below(40)) {
	case 1:
		f[six ? 21 : 22] = 1; /* TTL */
		break;
	case 2:
		f[5] ^= 1; /* for another station */
		break;
	case 3:
		f[six ? 19 : 17]++; /* longer than it is, or not */
		break;
	}
	if (!six) {
		memcpy(f + 24, &c, 2);
		c = csum_of(f + 14, 20);
		memcpy(f + 24, &c, 2);
	}
	if (test_below(40))
		return len;
	memmove(f + 16, f + 12, len - 12);
	memcpy(f + 12, ((const uint8_t[]){ 0x81, 0, 0xe0, 0 }), 4); /* priority tag */
	return len + 4;
}

/* The same packets, one by one by the plain code, and in bursts of every size among all others. */
static void compare(const struct fwd_code *code)
{
	static uint8_t frames[COMPANY][128];
	static uint32_t len[COMPANY];
	struct rig alone, among;
	uint32_t i = 0;

	memset(fates_alone, 0, sizeof(fates_alone));
	memset(fates_among, 0, sizeof(fates_among));
	punt_ring = 512;
	open_rig(&alone, 6, 4, 7, 9);
	open_rig(&among, 6, 4, 7, 9);
	punt_ring = 64;
	alone.w->code = fwd_code_of(FWD_SET_PLAIN);
	among.w->code = code;
	keeping.fate = fates_alone;
	for (i = 0; i < COMPANY; i++) {
		len[i] = make_any(frames[i], i);
		assert_true(fake_rx_frame(&alone.rx[0], frames[i], len[i], i & 1));
		keep_all(&alone);
	}
	keeping.fate = fates_among;
	for (i = 0; i < COMPANY;) {
		uint32_t n = 1 + test_below(300);

		among.w->conf.burst = 4 + test_below(FWD_BURST_MAX - 3);
		for (; n && i < COMPANY; n--, i++)
			assert_true(fake_rx_frame(&among.rx[0], frames[i], len[i],
						  test_below(20) != 0));
		keep_all(&among);
	}
	for (i = 0; i < 4; i++) /* the last completions come when nothing else does */
		keep_all(&among);
	for (i = 0; i < COMPANY; i++)
		assert_memory_equal(&fates_alone[i], &fates_among[i],
				    sizeof(struct fate));
	for (unsigned p = 0; p < 2; p++)
		assert_memory_equal(fwd_worker_port_count(alone.w, p),
				    fwd_worker_port_count(among.w, p),
				    sizeof(struct fwd_port_count));
	assert_true(alone.sent[0] > 100 && alone.sent[1] > 100);
	check_conservation(&among);
	assert_int_equal(fake_rx_out(&among.rx[0]), 0);
	close_rig(&alone);
	close_rig(&among);
}

static void a_packets_fate_is_not_its_companys(void **state)
{
	(void)state;
	for (unsigned set = 0; set < FWD_SET_COUNT; set++)
		if (fwd_code_of((enum fwd_set)set))
			compare(fwd_code_of((enum fwd_set)set));
	assert_non_null(fwd_code_of(fwd_set_best()));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_packets_fate_is_not_its_companys),
};

int main(void)
{
	int r;

	rcu_reader_start();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_reader_stop();
	return r;
}
