/* unit/test_m5_geometry.c - how the memory of a receive queue is cut, for all devices and rings */

#include "../../lib/m5/geometry.h"

#include "../test.h"

static const struct m5_caps card = { .rdma_name = "card",
				     .striding_rq = true,
				     .ext_stride_range = true,
				     .log_max_wq_size = 15,
				     .log_min_stride_bytes = 6,
				     .log_max_stride_bytes = 13,
				     .log_min_strides = 3,
				     .log_max_strides = 16,
				     .log_min_stride_wqe_bytes = 14 };

static size_t choose(const struct m5_caps *c, uint32_t packets, uint16_t mtu,
		     size_t bytes_max, struct m5_geometry *g)
{
	struct m5_rxq_conf conf = {
		.packets = packets, .mtu = mtu, .striding = true, .bytes_max = bytes_max
	};
	struct err err;

	assert_int_equal(m5_geometry_choose(c, &conf, &err, g), 0);
	return m5_geometry_bytes(g);
}

static uint32_t depth(const struct m5_geometry *g)
{
	return UINT32_C(1) << (g->log_chunks + g->log_strides);
}

static void the_usual(void **state)
{
	struct m5_geometry g;

	(void)state;
	choose(&card, 1024, 1500, 0, &g);
	assert_true(g.striding);
	assert_int_equal(g.log_stride_bytes, 11);
	assert_int_equal(g.log_strides, 4);
	assert_int_equal(g.log_chunks, 6);
	assert_int_equal(g.pitch, 16 * 2048 + 2 * 64);
}

/* A jumbo frame takes five strides of 2 KiB, so a chunk of sixteen has room for three. */
static void frames_of_the_mtu(void **state)
{
	struct m5_geometry g;

	(void)state;
	choose(&card, 1024, 1500, 0, &g);
	assert_int_equal(m5_geometry_frames(&g, 1500), 1024);
	choose(&card, 1024, 9000, 0, &g);
	assert_int_equal(m5_geometry_frames(&g, 9000), 3 * depth(&g) / 16);
	choose(&card, 1024, 1500, (size_t)256 << 10,
	       &g); /* strides of 256 bytes, 64 to a chunk */
	assert_int_equal(m5_geometry_frames(&g, 1500), ((1u << g.log_strides) / 6)
							       << g.log_chunks);
}

/* Memory shrinks with the limit as long as pieces can, and the depth stays. */
static void limited_memory(void **state)
{
	size_t before = SIZE_MAX;

	(void)state;
	for (size_t max = (size_t)8 << 20; max >= 1; max /= 2) {
		struct m5_geometry g;
		size_t bytes = choose(&card, 1024, 1500, max, &g);

		assert_true(bytes <= before);
		assert_int_equal(depth(&g), 1024);
		assert_in_range(g.log_stride_bytes, 8, 11);
		if (max >= (size_t)1024 << 8)
			assert_true((size_t)1024 << g.log_stride_bytes <= max);
		before = bytes;
	}
}

/* Whatever is asked for: what the device wants, chunks for the longest frame, and room for others
 * while one is filled. */
static void always(void **state)
{
	static const uint16_t mtus[] = { 68,   234,  235,  576,	 1500,
					 2026, 2027, 4096, 9000, 65513 };

	(void)state;
	for (unsigned log = 3; log <= 15; log++)
		for (size_t m = 0; m < sizeof(mtus) / sizeof(mtus[0]); m++)
			for (size_t max = 0; max <= (size_t)1 << 24;
			     max = max ? max * 8 : 1 << 12) {
				struct m5_geometry g;
				size_t chunk;

				choose(&card, UINT32_C(1) << log, mtus[m], max, &g);
				chunk = m5_geometry_chunk_bytes(&g);
				assert_true(g.striding);
				assert_true(chunk >= mtus[m] + 22u);
				assert_true(chunk >= (size_t)1 << 14);
				assert_true(g.pitch > chunk && g.pitch % 64 == 0);
				assert_in_range(g.log_strides, 3, 16);
				assert_in_range(g.log_stride_bytes, 6, 13);
				assert_in_range(g.log_chunks, 2, 15);
				assert_true(depth(&g) >= UINT32_C(1) << log);
			}
}

/* The offsets of neighbouring chunks: a burst of 64 spreads over a first-level cache of 64 sets. */
static void frames_meet_in_no_set(void **state)
{
	unsigned in_set[64] = { 0 };
	struct m5_geometry g;

	(void)state;
	choose(&card, 1024, 1500, 0, &g);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t at = (i >> g.log_strides) * g.pitch +
			      ((i & ((1u << g.log_strides) - 1)) << g.log_stride_bytes);

		in_set[at / 64 % 64]++;
	}
	for (unsigned i = 0; i < 64; i++)
		assert_true(in_set[i] <= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual),
		cmocka_unit_test(frames_of_the_mtu),
		cmocka_unit_test(limited_memory),
		cmocka_unit_test(always),
		cmocka_unit_test(frames_meet_in_no_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
