/* daemon/metrics_card.c - counters and speed that the kernel's driver has of a port
 *
 * Asked by ioctl as `ethtool -S` and `ethtool` do. Names: Linux
 * drivers/net/ethernet/mellanox/mlx5/core/en_stats.c. The stalls are percentages of the last
 * second. What a driver does not have is left out.
 */

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../lib/base/cleanup.h"
#include "metrics_inside.h"

/* The kernel writes as many statistics as the driver has at that time, without a look at how many
 * were asked for: room for a device that gets many queues between two calls. */
enum { SPARE = 8192 };

static const char *const names[CARD_COUNTERS] = {
	[CARD_RX_DISCARDS] = "rx_discards_phy",
	[CARD_RX_OUT_OF_BUFFER] = "rx_out_of_buffer",
	[CARD_RX_STEER_MISSED] = "rx_steer_missed_packets",
	[CARD_RX_CRC] = "rx_crc_errors_phy",
	[CARD_RX_SYMBOL] = "rx_symbol_err_phy",
	[CARD_RX_LENGTH_IN_RANGE] = "rx_in_range_len_errors_phy",
	[CARD_RX_LENGTH_OUT_OF_RANGE] = "rx_out_of_range_len_phy",
	[CARD_RX_OVERSIZE] = "rx_oversize_pkts_phy",
	[CARD_RX_UNDERSIZE] = "rx_undersize_pkts_phy",
	[CARD_TX_DISCARDS] = "tx_discards_phy",
	[CARD_TX_ERRORS] = "tx_errors_phy",
	[CARD_RX_PAUSE] = "rx_pause_ctrl_phy",
	[CARD_TX_PAUSE] = "tx_pause_ctrl_phy",
	[CARD_PCI_STALLED_READ] = "outbound_pci_stalled_rd",
	[CARD_PCI_STALLED_WRITE] = "outbound_pci_stalled_wr",
	[CARD_PCI_OVERFLOW] = "outbound_pci_buffer_overflow",
	[CARD_PRIO_DISCARDS] = "rx_prio0_discards",
	"rx_prio1_discards",
	"rx_prio2_discards",
	"rx_prio3_discards",
	"rx_prio4_discards",
	"rx_prio5_discards",
	"rx_prio6_discards",
	"rx_prio7_discards",
};

static int ask(int fd, const char *netdev, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	strncpy(ifr.ifr_name, netdev, sizeof(ifr.ifr_name) - 1);
	return ioctl(fd, SIOCETHTOOL, &ifr) ? err_errno() : 0;
}

/* How many statistics there are; they may be more at another time, with more queues. */
static int count_of_strings(int fd, const char *netdev, uint32_t *ret)
{
	union {
		struct ethtool_sset_info head;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} info = { .head = { .cmd = ETHTOOL_GSSET_INFO,
			     .sset_mask = UINT64_C(1) << ETH_SS_STATS } };
	int r = ask(fd, netdev, &info.head);

	*ret = !r && info.head.sset_mask ? info.head.data[0] : 0;
	return r;
}

static void take(const struct ethtool_gstrings *strings,
		 const struct ethtool_stats *stats, uint32_t n, struct card_facts *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *name = (const char *)strings->data + i * ETH_GSTRING_LEN;

		for (unsigned c = 0; c < CARD_COUNTERS; c++) {
			if (strncmp(name, names[c], ETH_GSTRING_LEN) != 0)
				continue;
			ret->has |= UINT64_C(1) << c;
			ret->counter[c] = stats->data[i];
		}
	}
}

static int look_at_each(int fd, const char *netdev, struct ethtool_gstrings *strings,
			struct ethtool_stats *stats, uint32_t n, struct card_facts *ret)
{
	int r;

	*strings = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS,
					      .string_set = ETH_SS_STATS,
					      .len = n };
	*stats = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = n };
	r = ask(fd, netdev, strings);
	if (!r)
		r = ask(fd, netdev, stats);
	if (!r && strings->len == n && stats->n_stats == n)
		take(strings, stats, n, ret);
	return r;
}

static int look_at_counters(int fd, const char *netdev, struct card_facts *ret)
{
	struct ethtool_gstrings *strings;
	struct ethtool_stats *stats;
	uint32_t n;
	int r = count_of_strings(fd, netdev, &n);

	if (r < 0 || !n)
		return r;
	strings = calloc(1, sizeof(*strings) + (n + SPARE) * (size_t)ETH_GSTRING_LEN);
	stats = calloc(1, sizeof(*stats) + (n + SPARE) * sizeof(stats->data[0]));
	r = strings && stats ? look_at_each(fd, netdev, strings, stats, n, ret) : -ENOMEM;
	free(strings);
	free(stats);
	return r;
}

/* The first call says how many words come after the head; nobody looks at them. */
static int look_at_speed(int fd, const char *netdev, struct card_facts *ret)
{
	union {
		struct ethtool_link_settings head;
		char room[sizeof(struct ethtool_link_settings) + 3 * INT8_MAX * 4];
	} link = { .head = { .cmd = ETHTOOL_GLINKSETTINGS } };
	int r = ask(fd, netdev, &link.head);

	if (r)
		return r;
	link.head.cmd = ETHTOOL_GLINKSETTINGS;
	link.head.link_mode_masks_nwords = (int8_t)-link.head.link_mode_masks_nwords;
	r = ask(fd, netdev, &link.head);
	if (!r && link.head.speed != (uint32_t)SPEED_UNKNOWN)
		ret->speed_mbps = link.head.speed;
	return r;
}

int card_look(const char *netdev, struct card_facts *ret)
{
	SCOPED_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r, r_speed;

	memset(ret, 0, sizeof(*ret));
	if (fd < 0)
		return err_errno();
	r = look_at_counters(fd, netdev, ret);
	r_speed = look_at_speed(fd, netdev, ret);
	if (r == -EOPNOTSUPP)
		r = 0;
	return r || r_speed == -EOPNOTSUPP ? r : r_speed;
}
