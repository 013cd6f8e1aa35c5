/* unit/test_daemon_metrics_card.c - counters of a driver, which is played here: ioctl() is ours */

#include "../test.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../../daemon/metrics_inside.h"

static const struct stat_row {
	const char *name;
	uint64_t value;
} all[] = {
	{ "rx_packets", 1 },
	{ "rx_discards_phy", 2 },
	{ "tx_discards_phy", 3 },
	{ "outbound_pci_stalled_wr", 75 },
	{ "rx_prio7_discards", UINT64_MAX },
	{ "rx_a_name_that_is_as_long_as_can", 4 },
	{ "rx_discards_phy_of_something", 5 },
};

static struct {
	unsigned n;	 /* statistics there are */
	unsigned n_late; /* when they are asked for; another number if the device has grown */
	uint32_t speed;
	int r_stats, r_link;
} driver;

static int get_count(struct ethtool_sset_info *info)
{
	assert_int_equal(info->sset_mask, 1 << ETH_SS_STATS);
	if (driver.n)
		info->data[0] = driver.n;
	else
		info->sset_mask = 0;
	return driver.r_stats;
}

static int get_names(struct ethtool_gstrings *s)
{
	assert_int_equal(s->string_set, ETH_SS_STATS);
	s->len = driver.n_late;
	for (unsigned i = 0; i < driver.n_late; i++)
		strncpy((char *)s->data + i * ETH_GSTRING_LEN,
			all[i % (sizeof(all) / sizeof(all[0]))].name, ETH_GSTRING_LEN);
	return 0;
}

static int get_values(struct ethtool_stats *s)
{
	s->n_stats = driver.n_late;
	for (unsigned i = 0; i < driver.n_late; i++)
		s->data[i] = all[i % (sizeof(all) / sizeof(all[0]))].value;
	return 0;
}

/* ethtool's handshake: how many words, then the words. */
static int get_link(struct ethtool_link_settings *link)
{
	if (driver.r_link)
		return driver.r_link;
	if (link->link_mode_masks_nwords != 3) {
		link->link_mode_masks_nwords = -3;
		return 0;
	}
	link->speed = driver.speed;
	memset(link->link_mode_masks, 0xff, sizeof(uint32_t) * 3 * 3);
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *ifr;
	va_list ap;
	int r;

	(void)fd;
	va_start(ap, request);
	ifr = va_arg(ap, struct ifreq *);
	va_end(ap);
	assert_int_equal(request, SIOCETHTOOL);
	assert_string_equal(ifr->ifr_name, "a_name_of_15_by");
	switch (*(uint32_t *)(void *)ifr->ifr_data) {
	case ETHTOOL_GSSET_INFO:
		r = get_count((void *)ifr->ifr_data);
		break;
	case ETHTOOL_GSTRINGS:
		r = get_names((void *)ifr->ifr_data);
		break;
	case ETHTOOL_GSTATS:
		r = get_values((void *)ifr->ifr_data);
		break;
	case ETHTOOL_GLINKSETTINGS:
		r = get_link((void *)ifr->ifr_data);
		break;
	default:
		r = -EOPNOTSUPP;
	}
	errno = -r;
	return r ? -1 : 0;
}

static int look(struct card_facts *ret)
{
	memset(ret, 0xff, sizeof(*ret));
	return card_look("a_name_of_15_by", ret);
}

static int reset(void **state)
{
	(void)state;
	driver.n = driver.n_late = sizeof(all) / sizeof(all[0]);
	driver.speed = 400000;
	driver.r_stats = driver.r_link = 0;
	return 0;
}

static void counters_are_found_by_their_whole_name(void **state)
{
	static const enum card_counter has[] = { CARD_RX_DISCARDS, CARD_TX_DISCARDS,
						 CARD_PCI_STALLED_WRITE,
						 CARD_PRIO_DISCARDS + 7 };
	static const uint64_t values[] = { 2, 3, 75, UINT64_MAX };
	struct card_facts f;
	uint64_t mask = 0;

	(void)state;
	assert_int_equal(look(&f), 0);
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
		mask |= UINT64_C(1) << has[i];
		assert_true(f.counter[has[i]] == values[i]);
	}
	assert_true(f.has == mask);
	assert_int_equal(f.speed_mbps, 400000);
}

static void a_driver_without_them_has_none(void **state)
{
	struct card_facts f;

	(void)state;
	driver.r_stats = driver.r_link = -EOPNOTSUPP;
	assert_int_equal(look(&f), 0);
	assert_int_equal(f.has | f.speed_mbps, 0);
	driver.r_stats = driver.r_link = 0;
	driver.n = driver.n_late = 0;
	driver.speed = (uint32_t)SPEED_UNKNOWN;
	assert_int_equal(look(&f), 0);
	assert_int_equal(f.has | f.speed_mbps, 0);
}

/* The kernel writes all it has. Nothing is believed of such a reading. */
static void a_device_may_grow_meanwhile(void **state)
{
	struct card_facts f;

	(void)state;
	driver.n_late = 5000;
	assert_int_equal(look(&f), 0);
	assert_int_equal(f.has, 0);
}

static void failures_are_told(void **state)
{
	struct card_facts f;

	(void)state;
	driver.r_stats = -ENODEV;
	assert_int_equal(look(&f), -ENODEV);
	driver.r_stats = 0;
	driver.r_link = -EIO;
	assert_int_equal(look(&f), -EIO);
}

#define test(f) cmocka_unit_test_setup(f, reset)
static const struct CMUnitTest tests[] = {
	test(counters_are_found_by_their_whole_name),
	test(a_driver_without_them_has_none),
	test(a_device_may_grow_meanwhile),
	test(failures_are_told),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
