/* datapath/test_dp_open.c - what a device can do, and what is said when it cannot
 *
 * Ports with fewer capabilities are added to the model while it runs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/place/huge.h"
#include "../test.h"
#include "rig.h"

static char census[1024];

static int begin(void **state)
{
	(void)state;
	ctl_census(census, 0);
	return 0;
}

static int same(void **state)
{
	(void)state;
	ctl_same_census(census);
	return 0;
}

/* The sentence of an open that fails; *ret stays as it was. */
static const char *refused(const char *netdev, int want)
{
	static struct err err;
	struct m5_dev *dev = (void *)&err;
	int r;

	err.text[0] = '\0';
	r = m5_dev_open(netdev, 0, &err, &dev);
	assert_int_equal(r, want);
	assert_ptr_equal(dev, &err);
	return err.text;
}

static void add_port(const char *name, const char *caps)
{
	ctl("port add %s=none%s", name, caps);
}

static void del_port(const char *name)
{
	ctl_wait("stat", "clients", 0);
	ctl("port del %s", name);
}

/* ---- which device ---- */

static void no_such_netdev(void **state)
{
	char buf[400];

	(void)state;
	assert_string_equal(refused("eth7", -ENODEV),
			    "eth7: there is no such network interface here");
	assert_string_equal(refused("", -ENODEV),
			    ": there is no such network interface here");
	/* Would be a path to something that is there. */
	assert_string_equal(refused("../net/eth0", -ENODEV),
			    "../net/eth0: there is no such network interface here");
	assert_string_equal(refused(".", -ENODEV),
			    ".: there is no such network interface here");
	assert_string_equal(refused("..", -ENODEV),
			    "..: there is no such network interface here");
	memset(buf, 'x', sizeof(buf) - 1);
	buf[sizeof(buf) - 1] = '\0';
	assert_non_null(
		strstr(refused(buf, -ENODEV), "there is no such network interface here"));
}

static void netdev_of_no_card(void **state)
{
	(void)state;
	assert_string_equal(
		refused("lo", -ENODEV),
		"lo: none of the 2 RDMA devices is behind this interface; `rdma link` shows "
		"which interface each has");
}

static void too_many_ports(void **state)
{
	struct err err;
	struct m5_dev *dev = NULL;

	(void)state;
	assert_int_equal(m5_dev_open("eth0", M5_DEVS_MAX, &err, &dev), -EINVAL);
	assert_string_equal(err.text, "eth0: more than 16 ports");
	assert_null(dev);
}

/* ---- capabilities ---- */

static void capabilities(void **state)
{
	const struct m5_caps *c;
	struct m5_dev *dev;
	struct err err;

	(void)state;
	rig_ok(m5_dev_open("eth1", 3, &err, &dev), &err);
	assert_int_equal(m5_dev_index(dev), 3);
	c = m5_dev_caps(dev);
	/* As the model's table of capabilities has them (core/caps.def). */
	assert_string_equal(c->rdma_name, "mlx5_1");
	assert_int_equal(c->device_id, 0x101d);
	assert_int_equal(strlen(c->pci), strlen("0000:03:00.0"));
	assert_true(c->fw_ver[0]);
	assert_true(c->striding_rq && c->ext_stride_range && c->enhanced_mpw);
	assert_true(c->match_ttl && c->match_hop_limit);
	assert_true(c->cqe_compression && c->enhanced_cqe_compression && c->ts_real_time);
	assert_int_equal(c->log_max_cq_size, 22);
	assert_int_equal(c->log_max_wq_size, 15);
	assert_int_equal(c->log_max_rqt_size, 11);
	assert_int_equal(c->log_min_stride_bytes, 6);
	assert_int_equal(c->log_max_stride_bytes, 13);
	assert_int_equal(c->log_min_strides, 3);
	assert_int_equal(c->log_max_strides, 16);
	assert_int_equal(c->log_min_stride_wqe_bytes, 14);
	assert_int_equal(c->min_inline, 0);
	assert_int_equal(c->clock_khz, 1000000);
	m5_dev_close(dev);
	m5_dev_close(NULL);
}

static void missing_by_name(void **state)
{
	static const struct {
		const char *caps, *says;
	} rows[] = {
		{ ",cap=hca.nic_flow_table=0",
		  "mlx5_2: lacks the capability nic_flow_table: no packets can be steered to this "
		  "program" },
		{ ",cap=hca.port_type=0",
		  "mlx5_2: its port is InfiniBand; make it Ethernet (mlxconfig, LINK_TYPE_P1=2)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		add_port("old0", rows[i].caps);
		assert_string_equal(refused("old0", -EOPNOTSUPP), rows[i].says);
		del_port("old0");
	}
}

static void port_says_nothing_we_know(void **state)
{
	(void)state;
	add_port("old0", ",cap=eth.wqe_inline_mode=1,inline=5");
	assert_string_equal(
		refused("old0", -EOPNOTSUPP),
		"mlx5_2: its port wants the headers of tunnels inlined in sends: set the "
		"e-switch's inline-mode to transport or less (devlink dev eswitch set ... "
		"inline-mode none)");
	del_port("old0");
}

/* A device that leaves it to its port what sends must hold: here, IP headers; below, nothing. */
static void port_wants_ip(void **state)
{
	struct m5_dev *dev;
	struct err err;

	(void)state;
	add_port("old0", ",cap=eth.wqe_inline_mode=1,inline=2");
	rig_ok(m5_dev_open("old0", 0, &err, &dev), &err);
	assert_int_equal(m5_dev_caps(dev)->inline_mode, 2);
	assert_int_equal(m5_dev_caps(dev)->min_inline, 34);
	m5_dev_close(dev);
	del_port("old0");
}

static void port_says_what_to_inline(void **state)
{
	struct m5_dev *dev;
	bool asked = false;
	uint64_t clients;
	struct err err;

	(void)state;
	clients = ctl_number("stat", "clients");
	add_port("old0", ",cap=eth.wqe_inline_mode=1");
	rig_ok(m5_dev_open("old0", 0, &err, &dev), &err);
	assert_int_equal(m5_dev_caps(dev)->min_inline, 0);
	assert_true(m5_dev_caps(dev)->enhanced_mpw);
	m5_dev_close(dev);
	for (unsigned k = 1; k < 12 && !asked; k++) {
		dev = NULL;
		ctl_wait("stat", "clients",
			 clients); /* an end makes commands, too: they count */
		ctl("fault old0 cmd nth=%u status=0x03", k);
		if (m5_dev_open("old0", 0, &err, &dev) < 0)
			asked = strstr(err.text, "QUERY_NIC_VPORT_CONTEXT on mlx5_2");
		m5_dev_close(dev);
		ctl("fault old0 clear");
	}
	assert_true(asked);
	del_port("old0");
}

static void no_devx(void **state)
{
	(void)state;
	add_port("old0", ",cap=hca.log_max_uctx=0");
	assert_string_equal(
		refused("old0", -EOPNOTSUPP),
		"mlx5_2: has no DevX: Linux 5.10 or newer with mlx5_ib is needed, and a "
		"ConnectX-5 or newer with its firmware up to date");
	del_port("old0");
}

/* ---- what can be done without ---- */

static const struct m5_rx *with_rxq(const char *caps, uint32_t packets, uint16_t mtu,
				    struct rig *r)
{
	add_port("old0", caps);
	rig_open(r, &(struct rig_conf){
			    .netdev = "old0", .rx_packets = packets, .mtu = mtu });
	return r->rx;
}

static void without_rxq(struct rig *r)
{
	rig_close(r);
	del_port("old0");
}

static void no_striding_queue(void **state)
{
	struct rig r;
	const struct m5_rx *rx = with_rxq(",cap=hca.striding_rq=0", 1024, 1500, &r);

	(void)state;
	assert_false(rx->striding);
	assert_int_equal(m5_rxq_packets(r.rxq[0]), 1024);
	without_rxq(&r);
}

/* 512 strides a chunk at least. */
static void few_stride_numbers(void **state)
{
	struct rig r;
	const struct m5_rx *rx =
		with_rxq(",cap=hca.ext_stride_num_range=0", 4096, 1500, &r);

	(void)state;
	assert_true(rx->striding);
	assert_int_equal(rx->log_strides, 9);
	assert_int_equal(rx->mask, 7);
	without_rxq(&r);
}

static void larger_chunks(void **state)
{
	struct rig r;
	const struct m5_rx *rx =
		with_rxq(",cap=hca2.log_min_stride_wqe_sz=18", 256, 1500, &r);

	(void)state;
	assert_true(rx->striding);
	assert_int_equal(rx->log_strides + rx->log_stride_bytes, 18);
	without_rxq(&r);
}

/* Neither the second group of capabilities nor a free-running clock. */
static void other_firmware(void **state)
{
	struct rig r;

	(void)state;
	with_rxq(",cap=hca.hca_cap_2=0,cap=hca.rq_ts_format=1,cap=hca.sq_ts_format=1",
		 256, 1500, &r);
	assert_int_equal(m5_dev_caps(r.dev)->log_min_stride_wqe_bytes, 14);
	without_rxq(&r);
	with_rxq(",cap=hca.rq_ts_format=0,cap=hca.sq_ts_format=0", 256, 1500, &r);
	assert_false(m5_dev_caps(r.dev)->ts_real_time);
	without_rxq(&r);
}

/* Rules that the card cannot compare are left out. */
static void no_ttl_rules(void **state)
{
	static const struct {
		const char *caps;
		unsigned fewer;
	} rows[] = {
		{ "", 0 },
		{ ",cap=ft.rx_outer_ipv6_hop_limit=0", 2 },
		{ ",cap=ft.rx_outer_ipv4_ttl=0", 2 },
		{ ",cap=ft.rx_outer_ipv4_ttl=0,cap=ft.rx_outer_ipv6_hop_limit=0", 4 },
	};
	uint64_t all = 0, n;
	struct rig r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		with_rxq(rows[i].caps, 256, 1500, &r);
		n = ctl_number("stat old0", "FTE");
		if (i == 0)
			all = n;
		assert_int_equal(n, all - rows[i].fewer);
		without_rxq(&r);
	}
}

/* ---- compression of completions: what there is, or why not ---- */

static const struct choice {
	const char *caps;
	enum m5_compression wanted;
	enum m5_mini mini;
	bool cyclic;
	const char *is, *format, *why; /* is NULL: refused */
} choices[] = {
	{ "", M5_COMPRESSION_AUTO, M5_MINI_AUTO, false, "enhanced", "checksum and stride",
	  "the device has it" },
	{ "", M5_COMPRESSION_AUTO, M5_MINI_AUTO, true, "enhanced", "checksum",
	  "the device has it" },
	{ "", M5_COMPRESSION_BASIC, M5_MINI_TYPE_STRIDE, false, "basic",
	  "header type and stride", "as configured" },
	{ "", M5_COMPRESSION_OFF, M5_MINI_AUTO, false, "off", "none", "as configured" },
	{ ",cap=hca.enhanced_cqe_compression=0", M5_COMPRESSION_AUTO, M5_MINI_AUTO, false,
	  "basic", "checksum and stride",
	  "the device lacks the capability enhanced_cqe_compression" },
	{ ",cap=hca.enhanced_cqe_compression=0", M5_COMPRESSION_ENHANCED, M5_MINI_AUTO,
	  false, NULL, NULL,
	  "mlx5_2: enhanced compression of completions: the device lacks the capability "
	  "enhanced_cqe_compression" },
	{ ",cap=hca.cqe_compression=0,cap=hca.enhanced_cqe_compression=0",
	  M5_COMPRESSION_AUTO, M5_MINI_AUTO, false, "off", "none",
	  "the device lacks the capability cqe_compression" },
	{ ",cap=hca.cqe_compression=0,cap=hca.enhanced_cqe_compression=0",
	  M5_COMPRESSION_BASIC, M5_MINI_AUTO, false, NULL, NULL,
	  "mlx5_2: basic compression of completions: the device lacks the capability "
	  "cqe_compression" },
	{ ",cap=hca.mini_cqe_resp_stride_index=0", M5_COMPRESSION_AUTO, M5_MINI_AUTO,
	  false, "enhanced", "header type and stride", "the device has it" },
	{ ",cap=hca.mini_cqe_resp_stride_index=0,cap=hca.mini_cqe_resp_l3_l4_tag=0",
	  M5_COMPRESSION_AUTO, M5_MINI_AUTO, false, "off", "none",
	  "the device has no format with a stride index" },
	{ ",cap=hca.mini_cqe_resp_stride_index=0,cap=hca.mini_cqe_resp_l3_l4_tag=0",
	  M5_COMPRESSION_BASIC, M5_MINI_AUTO, true, "basic", "checksum",
	  "as configured" },
	{ "", M5_COMPRESSION_BASIC, M5_MINI_HASH, false, NULL, NULL,
	  "mlx5_2: basic compression of completions: a striding queue needs a format with a "
	  "stride index" },
};

static void check_choice(const struct choice *c, struct m5_dev *dev)
{
	struct m5_rxq_conf conf = { .packets = 256,
				    .mtu = 1500,
				    .numa_node = -1,
				    .striding = !c->cyclic,
				    .compression = c->wanted,
				    .mini = c->mini };
	struct m5_rxq *q = NULL;
	struct m5_rxq_info info;
	struct err err, warn;
	int r = m5_rxq_open(dev, &conf, &warn, &err, &q);

	if (!c->is) {
		assert_int_equal(r, -EOPNOTSUPP);
		assert_string_equal(err.text, c->why);
		return;
	}
	rig_ok(r, &err);
	m5_rxq_info(q, &info);
	assert_string_equal(info.compression, c->is);
	assert_string_equal(info.mini, c->format);
	assert_string_equal(info.why, c->why);
	m5_rxq_close(q);
}

static void compression_is_chosen(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		struct m5_dev *dev;
		struct err err;

		add_port("old0", choices[i].caps);
		rig_ok(m5_dev_open("old0", 0, &err, &dev), &err);
		check_choice(&choices[i], dev);
		m5_dev_close(dev);
		del_port("old0");
	}
}

/* ---- geometry ---- */

static const char *no_rxq(struct m5_dev *dev, uint32_t packets, uint16_t mtu,
			  bool striding)
{
	static struct err err, warn;
	struct m5_rxq_conf conf = {
		.packets = packets, .mtu = mtu, .numa_node = -1, .striding = striding
	};
	struct m5_rxq *q = (void *)&err;

	assert_int_equal(m5_rxq_open(dev, &conf, &warn, &err, &q), -EINVAL);
	assert_ptr_equal(q, &err);
	return err.text;
}

static const char *no_txq(struct m5_dev *dev, uint32_t packets)
{
	static struct err err;
	struct m5_txq_conf conf = { .packets = packets, .numa_node = -1 };
	struct m5_txq *q = (void *)&err;

	assert_int_equal(m5_txq_open(dev, &conf, &err, &q), -EINVAL);
	assert_ptr_equal(q, &err);
	return err.text;
}

static void bad_geometry(void **state)
{
	struct m5_dev *dev;
	struct err err;

	(void)state;
	rig_ok(m5_dev_open("eth0", 0, &err, &dev), &err);
	assert_string_equal(
		no_rxq(dev, 100, 1500, true),
		"receive ring of 100 packets: must be a power of two, 8 at least");
	assert_string_equal(
		no_rxq(dev, 0, 1500, true),
		"receive ring of 0 packets: must be a power of two, 8 at least");
	assert_string_equal(
		no_rxq(dev, 4, 1500, false),
		"receive ring of 4 packets: must be a power of two, 8 at least");
	assert_string_equal(no_rxq(dev, 64, 60, true),
			    "receive ring for an MTU of 60: must be 68 to 65513");
	assert_string_equal(no_rxq(dev, 64, 65535, true),
			    "receive ring for an MTU of 65535: must be 68 to 65513");
	assert_string_equal(
		no_rxq(dev, 65536, 1500, false),
		"mlx5_0: receive ring of 65536 packets: the device has at most 32768");
	assert_string_equal(
		no_rxq(dev, 1 << 22, 1500, true),
		"mlx5_0: receive ring of 4194304 packets: the device has at most 524288");
	assert_string_equal(
		no_txq(dev, 100),
		"send ring of 100 packets: must be a power of two, 64 at least");
	assert_string_equal(
		no_txq(dev, 32),
		"send ring of 32 packets: must be a power of two, 64 at least");
	assert_string_equal(
		no_txq(dev, 65536),
		"mlx5_0: send ring of 65536 packets: the device has at most 32768");
	m5_dev_close(dev);
}

static void small_limits(void **state)
{
	struct m5_rxq *none[1] = { NULL };
	struct m5_steer_conf steer = { .rxq = none, .n_rxq = 20 };
	struct m5_steer *s = NULL;
	struct m5_dev *dev;
	struct err err;

	(void)state;
	add_port(
		"old0",
		",cap=hca.log_max_wq_sz=8,cap=hca.log_max_cq_sz=10,cap=hca.log_max_rqt_size=4");
	rig_ok(m5_dev_open("old0", 0, &err, &dev), &err);
	assert_string_equal(
		no_rxq(dev, 512, 1500, false),
		"mlx5_2: receive ring of 512 packets: the device has at most 256");
	assert_string_equal(
		no_rxq(dev, 4096, 1500, true),
		"mlx5_2: a completion queue of 2^12 entries: the device has at most 2^10");
	assert_string_equal(
		no_txq(dev, 512),
		"mlx5_2: send ring of 512 packets: the device has at most 256");
	assert_int_equal(m5_steer_open(dev, &steer, &err, &s), -EINVAL);
	assert_string_equal(err.text, "mlx5_2: 20 queues: the device's table holds 16");
	m5_dev_close(dev);
	del_port("old0");
}

/* ---- memory ---- */

static bool no_huge_pages;

void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (no_huge_pages && flags & MAP_HUGETLB) {
		errno = ENOMEM; /* mmap(2) */
		return MAP_FAILED;
	}
	return __real_mmap(at, bytes, prot, flags, fd, offset);
}

static bool is_zero(const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			return false;
	return true;
}

/* One sentence, and small pages. */
static void huge_pages_missing(void **state)
{
	struct err warn;
	struct m5_mem mem;

	(void)state;
	no_huge_pages = true;
	assert_return_code(m5_mem_map(&mem, 3 * PLACE_HUGE_PAGE_BYTES, -1, &warn), 0);
	no_huge_pages = false;
	assert_int_equal(mem.page_bytes, sysconf(_SC_PAGESIZE));
	assert_string_equal(
		warn.text,
		"no huge pages free for 6 MiB of packet memory: using small pages, which costs "
		"speed; this queue wants 3 of 2 MiB (vm.nr_hugepages)");
	assert_true(is_zero(mem.base, 4096));
	m5_mem_unmap(&mem);
}

/* Less than half a page never asks for one, so nothing is missing. */
static void too_small_for_huge_pages(void **state)
{
	struct err warn = { "?" };
	struct m5_mem mem;

	(void)state;
	assert_return_code(m5_mem_map(&mem, PLACE_HUGE_MIN_BYTES - 1, -1, &warn), 0);
	assert_int_equal(mem.page_bytes, sysconf(_SC_PAGESIZE));
	assert_string_equal(warn.text, "");
	m5_mem_unmap(&mem);
	m5_mem_unmap(&mem); /* a zeroed one */
}

/* What the kernel says of the mapping at @p; other programs take huge pages too, so their number
 * says nothing. */
static unsigned long page_kb_of(const void *p)
{
	unsigned long from, to, kb = 0;
	bool here = false;
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from <= (uintptr_t)p && (uintptr_t)p < to;
		else if (here && sscanf(line, "KernelPageSize: %lu kB", &kb) == 1)
			break;
	}
	fclose(f);
	return kb;
}

/* on_card.sh has seen to it that there are some. */
static void on_huge_pages(void **state)
{
	struct err warn = { "?" };
	struct m5_mem mem;
	struct frame f;
	struct m5_pkt pkt;
	struct rig r;
	int wire;

	(void)state;
	assert_return_code(m5_mem_map(&mem, 3 << 20, 0, &warn), 0);
	assert_string_equal(warn.text, "");
	assert_int_equal(mem.page_bytes, PLACE_HUGE_PAGE_BYTES);
	assert_int_equal(page_kb_of(mem.base + mem.bytes - 1), 2048);
	m5_mem_unmap(&mem);

	rig_open(&r, &(struct rig_conf){ .rx_packets = 2048 });
	assert_string_equal(r.warn.text, "");
	assert_int_equal(page_kb_of(r.rx->region), 2048);
	wire = wire_open("eth1");
	for (uint32_t i = 0; i < 3000; i++) {
		frame_make(&f, 4, 60 + i % 1400, i, r.mac);
		wire_send(wire, &f);
		rig_receive_all(r.rx, &pkt, 1);
		frame_equal(&f, pkt.data, pkt.len);
		rig_put(r.rx, &pkt, 1);
	}
	close(wire);
	rig_close(&r);
}

/* A node that is not there is no failure. */
static void far_node(void **state)
{
	static const int nodes[] = { -1, 0, 1, 63, 1023, 1024, 1 << 20 };
	size_t page;
	uint8_t *p;

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		p = place_huge_map(10000, nodes[i], &page);
		assert_non_null(p);
		assert_true(is_zero(p, 10000));
		place_huge_unmap(p, 10000, page);
	}
	place_huge_unmap(NULL, 10000, page);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, same)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_such_netdev),
		TEST(netdev_of_no_card),
		TEST(too_many_ports),
		TEST(capabilities),
		TEST(missing_by_name),
		TEST(port_says_nothing_we_know),
		TEST(port_wants_ip),
		TEST(port_says_what_to_inline),
		TEST(no_devx),
		TEST(no_striding_queue),
		TEST(few_stride_numbers),
		TEST(larger_chunks),
		TEST(other_firmware),
		TEST(no_ttl_rules),
		TEST(compression_is_chosen),
		TEST(bad_geometry),
		TEST(small_limits),
		TEST(huge_pages_missing),
		TEST(too_small_for_huge_pages),
		TEST(on_huge_pages),
		TEST(far_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
