/* pkt/verdict.h - what becomes of a packet, and why
 *
 * Every received packet leaves by exactly one exit: sent, punted or dropped. The
 * two lists below are the only place that knows a reason; names are those of the
 * metrics (mlx5fwd_dropped_packets_total{reason=...}) and of `mlx5fwdctl drop show`.
 */
#pragma once

#include <stdint.h>

enum pkt_verdict { PKT_FORWARD, PKT_PUNT, PKT_DROP };

/* X(symbol, name, help) */
#define PKT_DROP_REASONS(X) \
	X(BAD_MAC, "bad_mac", \
	  "source address multicast or our own, or destination not ours") \
	X(TRUNCATED, "truncated", "frame ends inside the header") \
	X(IP_VERSION, "ip_version", "version field does not fit the Ethernet type") \
	X(IP_HEADER_LENGTH, "ip_header_length", \
	  "IPv4 header length under 20 or past the end") \
	X(IP_TOTAL_LENGTH, "ip_total_length", \
	  "packet longer than its frame or its header") \
	X(IP_CHECKSUM, "ip_checksum", "IPv4 header checksum wrong") \
	X(MARTIAN_SOURCE, "martian_source", "source that no packet may have") \
	X(MARTIAN_DESTINATION, "martian_destination", \
	  "destination that is never forwarded") \
	X(BLACKHOLE, "blackhole", "route says drop silently") \
	X(PORT_DOWN, "port_down", "egress port is not ours or down") \
	X(LINK_DOWN, "link_down", "egress port has no carrier") \
	X(TX_FULL, "tx_full", "send ring full") \
	X(PUNT_FULL, "punt_full", "for the kernel, but the punt ring was full") \
	X(OVERSIZE, "oversize", "for the kernel, but longer than it takes")

#define PKT_PUNT_REASONS(X) \
	X(LOCAL, "local", "for one of the host's own addresses") \
	X(TTL, "ttl", "TTL or hop limit ends here") \
	X(MTU, "mtu", "larger than the egress MTU") \
	X(OPTIONS, "options", "IPv4 options") \
	X(HOP_BY_HOP, "hop_by_hop", "IPv6 hop-by-hop options") \
	X(NO_ROUTE, "no_route", "no route: the kernel answers unreachable") \
	X(UNREACHABLE, "unreachable", "unreachable or prohibit route") \
	X(LINK_LOCAL, "link_local", "link-local destination or source") \
	X(MULTICAST, "multicast", "multicast destination") \
	X(BROADCAST, "broadcast", "broadcast destination") \
	X(NON_IP, "non_ip", "not untagged IPv4 or IPv6") \
	X(UNSUPPORTED_ROUTE, "unsupported_route", \
	  "route leads where only the kernel goes")

enum pkt_drop {
#define X(sym, name, help) PKT_DROP_##sym,
	PKT_DROP_REASONS(X)
#undef X
		PKT_DROP_COUNT
};

enum pkt_punt {
#define X(sym, name, help) PKT_PUNT_##sym,
	PKT_PUNT_REASONS(X)
#undef X
		PKT_PUNT_COUNT
};

struct pkt_reason {
	const char *name, *help;
};
extern const struct pkt_reason pkt_drop_reason[PKT_DROP_COUNT];
extern const struct pkt_reason pkt_punt_reason[PKT_PUNT_COUNT];

/* What was found in a frame. */
struct pkt_meta {
	uint8_t verdict; /* enum pkt_verdict */
	uint8_t reason;	 /* enum pkt_drop or enum pkt_punt, by verdict */
	uint8_t family;	 /* 4 or 6; 0 = neither */
	uint8_t l3;	 /* offset of the IP header: 14, or 18 with a VLAN tag */
	uint16_t bytes;	 /* IP packet length, for the MTU check and for trimming */
};
