/* test/test_clock.c - the 41-bit clock, virtual and real; link and MTU of the port */
#include "direct.h"

#include <string.h>

#include "../core/dev.h"

#define WRAP (UINT64_C(1) << 41)

static void test_virtual_clock_stands_still(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	assert_int_equal(cx_clock_ns(d->dev), 0);
	d_run(d);
	assert_int_equal(cx_clock_ns(d->dev), 0);
	cx_clock_advance(d->dev, 12345);
	assert_int_equal(cx_clock_ns(d->dev), 12345);
	d_close(d);
}

static void test_wraps_at_41_bits(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	cx_clock_advance(d->dev, WRAP - 1);
	assert_true(cx_clock_ns(d->dev) == WRAP - 1);
	cx_clock_advance(d->dev, 1);
	assert_int_equal(cx_clock_ns(d->dev), 0);
	cx_clock_advance(d->dev, WRAP + 7);
	assert_int_equal(cx_clock_ns(d->dev), 7);
	assert_true(cx_now_ns(d->dev) == 2 * WRAP + 7); /* delays never wrap */
	d_close(d);
}

static uint64_t given_time(void *arg)
{
	return *(uint64_t *)arg;
}

static void test_real_clock_is_the_callers(void **state)
{
	uint64_t now = WRAP + 5;
	struct cx_conf conf = { .name = "mlx5_0", .mac = { 2 } };
	struct cx_ops ops = { .arg = &now, .now_ns = given_time };
	struct cx_dev *dev;

	(void)state;
	assert_int_equal(cx_dev_new(&conf, &ops, &dev), 0);
	assert_int_equal(cx_clock_ns(dev), 5);
	now = 99;
	assert_int_equal(cx_clock_ns(dev), 99);
	cx_clock_advance(dev, 1000);
	assert_int_equal(cx_clock_ns(dev), 1099);
	now = 100;
	assert_int_equal(cx_clock_ns(dev), 1100);
	cx_clock_advance(dev, WRAP - 1101);
	assert_true(cx_clock_ns(dev) == WRAP - 1);
	now = 105;
	assert_int_equal(cx_clock_ns(dev), 4);
	cx_dev_free(dev);
}

/* The stamp of a completion is the clock's. */
static void test_completion_carries_the_clock(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
	uint8_t frame[60] = { 0 };
	const uint8_t *cqe;

	(void)state;
	cx_clock_advance(d->dev, WRAP + 0x123456789);
	d_send(sq, frame, sizeof(frame));
	d_run(d);
	cqe = d_cq_poll(cq);
	assert_non_null(cqe);
	assert_true(CX_GET(cqe, cqe, timestamp) == 0x123456789);
	d_close(d);
}

static void test_link(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t frame[60] = { 0 };

	(void)state;
	assert_true(cx_link_up(d->dev));
	cx_link_set(d->dev, true); /* no change, no event */
	assert_int_equal(d->events.n, 0);
	cx_link_set(d->dev, false);
	assert_int_equal(d->events.n, 1);
	assert_int_equal(d->events.at[0].type, CX_EVENT_PORT_CHANGE);
	assert_int_equal(d->events.at[0].subtype, 1);
	assert_int_equal(cx_rx(d->dev, frame, sizeof(frame)), CX_RX_DOWN);
	cx_kernel_tx(d->dev, frame, sizeof(frame));
	assert_int_equal(d->wire.n + d->kernel.n, 0);
	cx_link_set(d->dev, true);
	assert_int_equal(d->events.n, 2);
	assert_int_equal(d->events.at[1].subtype, 4);
	cx_kernel_tx(d->dev, frame, sizeof(frame));
	assert_int_equal(d->wire.n, 1);
	d_close(d);
}

static void test_a_new_device_is_down(void **state)
{
	struct cx_conf conf = { .name = "mlx5_0", .mac = { 2, 3, 4, 5, 6, 7 } };
	struct cx_dev *dev;
	uint8_t mac[6];

	(void)state;
	assert_int_equal(cx_dev_new(&conf, NULL, &dev), 0);
	assert_false(cx_link_up(dev));
	cx_mac_get(dev, mac);
	assert_memory_equal(mac, conf.mac, 6);
	assert_int_equal(cx_step(dev), 0); /* nothing there, nobody listens */
	cx_link_set(dev, true);
	cx_dev_free(dev);
	cx_dev_free(NULL);
}

/* Frames up to MTU + 22: two VLAN tags and the Ethernet header. */
static void test_mtu(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t frame[2022] = { 0 };

	(void)state;
	assert_int_equal(cx_rx(d->dev, frame, 1522), CX_RX_KERNEL);
	assert_int_equal(cx_rx(d->dev, frame, 1523), CX_RX_OVERSIZE);
	cx_mtu_set(d->dev, 2000);
	assert_int_equal(cx_rx(d->dev, frame, 2022), CX_RX_KERNEL);
	assert_int_equal(d->kernel.n, 2);
	assert_int_equal(cx_stats(d->dev)->rx[CX_RX_OVERSIZE], 1);
	assert_int_equal(cx_stats(d->dev)->rx[CX_RX_KERNEL], 2);
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual_clock_stands_still),
		cmocka_unit_test(test_wraps_at_41_bits),
		cmocka_unit_test(test_real_clock_is_the_callers),
		cmocka_unit_test(test_completion_carries_the_clock),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_a_new_device_is_down),
		cmocka_unit_test(test_mtu),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
