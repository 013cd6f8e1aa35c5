/* datapath/test_dp_rx.c - frames from the wire through a receive queue */

#include "../test.h"
#include "rig.h"

static void smoke(void **state)
{
	struct rig r;
	struct frame f;
	struct m5_pkt pkt;
	int wire = wire_open("eth1");

	(void)state;
	rig_open(&r, &(struct rig_conf){ 0 });
	for (uint32_t i = 0; i < 1000; i++) {
		frame_make(&f, i % 2 ? 6 : 4, 70 + i, i, r.mac);
		wire_send(wire, &f);
		assert_int_equal(rig_receive(r.rx, &pkt, 1, 2000), 1);
		frame_equal(&f, pkt.data, pkt.len);
		rig_put(&pkt, 1);
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(smoke) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
