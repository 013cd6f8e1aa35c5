/* daemon/trace_show.c - a packet of a trace, as a row: every decision on its way
 *
 *   when and where it came, what its headers say, which route and next hop, what became of it
 *
 * All but the route is what the worker noted; the route is the one that leads there.
 */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/time.h"
#include "../lib/pkt/eth.h"
#include "mac.h"
#include "packet_words.h"
#include "route_words.h"
#include "show.h"
#include "trace.h"

enum { TAG = sizeof(struct vlan_hdr) };

/* ---- when ---- */

/* Nanoseconds since 1970 as ISO 8601 has them. */
static void set_moment(struct row *row, uint64_t ns)
{
	time_t s = (time_t)(ns / NS_PER_S);
	char text[48];
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09uZ", (unsigned)(ns % NS_PER_S));
	row_set_text(row, "ts", text);
	row_set_count(row, "ts_ns", ns);
}

static void set_time(struct row *row, const struct trace *t, const struct trace_packet *p)
{
	static const char *const names[] = { [FWD_STAMP_NONE] = "host",
					     [FWD_STAMP_OWN] = "card",
					     [FWD_STAMP_SESSION] = "session" };
	const struct trace_clock *c = &t->clock[p->record->port];
	enum fwd_stamp kind = c->known ? p->record->stamp_kind : FWD_STAMP_NONE;
	uint64_t ns = kind == FWD_STAMP_NONE ? p->record->taken_ns + (uint64_t)t->real_ns
					     : p->card_ns + (uint64_t)c->ahead_ns;

	set_moment(row, ns);
	row_set_text(row, "clock", names[kind]);
}

/* ---- what its headers say ---- */

void trace_address(const struct fwd_seen *seen, unsigned end, uint8_t ret[16])
{
	uint64_t half[2] = { htobe64(seen->flow.addr[end][0]),
			     htobe64(seen->flow.addr[end][1]) };

	memset(ret, 0, 16);
	if (seen->family == 4)
		memcpy(ret, (const uint8_t *)half + 12, 4);
	else
		memcpy(ret, half, 16);
}

static void set_address(struct row *row, const char *key, const struct fwd_seen *seen,
			unsigned end)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t addr[16];

	trace_address(seen, end, addr);
	inet_ntop(seen->family == 4 ? AF_INET : AF_INET6, addr, text, sizeof(text));
	row_set_text(row, key, text);
}

static void set_headers(struct row *row, const struct fwd_traced *r,
			const struct fwd_seen *seen)
{
	char mac[MAC_TEXT], proto[4];

	if (r->captured >= sizeof(struct eth_hdr)) {
		row_set_text(row, "eth_dst", mac_text(r->data, mac));
		row_set_text(row, "eth_src", mac_text(r->data + 6, mac));
		row_set_count(row, "eth_type", flow_u16(r->data + 12));
	}
	row_set_count(row, "family", seen->family);
	if (!seen->family)
		return;
	set_address(row, "src", seen, 0);
	set_address(row, "dst", seen, 1);
	row_set_text(row, "proto", packet_proto_text(seen->flow.proto, proto));
	if (seen->flow.at) {
		row_set_count(row, "sport", seen->flow.port[0]);
		row_set_count(row, "dport", seen->flow.port[1]);
	}
	row_set_count(row, "ttl", seen->ttl);
	row_set_flag(row, "checked_by_card", r->checked);
}

/* ---- where it goes ---- */

/* Indexes of next hops that nobody refers to any more are used again, for others. */
static bool is_as_it_was(const struct router *r, const struct trace_packet *p)
{
	const struct fib_nh *nh;
	struct fib_route now;

	if (!fib_route_get(r->fib, &p->route.prefix, p->route.origin, &now) ||
	    now.nh != p->route.nh)
		return false;
	nh = fib_nh_at(r->fib, now.nh);
	return nh->kind == FIB_NH_GROUP || !memcmp(nh, &p->record->nh, sizeof(*nh));
}

/* Where a route led that is another one now, `hop` says. */
static void set_route(struct row *row, const struct router *r,
		      const struct trace_packet *p)
{
	static const char *const changed[] = { "changed" };
	char prefix[FIB_PREFIX_TEXT];
	struct row *route;

	if (!p->has_route)
		return;
	route = row_new();
	row_set_text(route, "prefix", fib_prefix_text(&p->route.prefix, prefix));
	if (is_as_it_was(r, p)) {
		route_set(route, r, &p->route);
	} else {
		row_set_text(route, "protocol", fib_origin_name(p->route.origin));
		row_set_count(route, "metric", p->route.metric);
		row_set_words(route, "flags", changed, 1);
	}
	row_set_row(row, "route", route);
}

static void set_hop(struct row *row, const struct router *r, const struct fwd_traced *t)
{
	const struct fib_nh *nh = &t->nh;
	struct row *hop;
	char mac[MAC_TEXT];

	if (!t->routed || nh->kind != FIB_NH_FORWARD)
		return;
	hop = row_new();
	row_set_text(hop, "lladdr", mac_text(nh->macs, mac));
	row_set_text(hop, "src_lladdr", mac_text(nh->macs + 6, mac));
	row_set_text(hop, "dev", r->port[nh->port].conf->name);
	if (nh->vlan)
		row_set_count(hop, "vlan", nh->vlan);
	row_set_count(hop, "mtu", nh->mtu);
	row_set_row(row, "hop", hop);
}

static void set_verdict(struct row *row, const struct router *r,
			const struct trace_packet *p)
{
	const struct fwd_traced *t = p->record;
	const struct pkt_reason *reason;

	row_set_text(row, "verdict", trace_verdict_name(t->verdict));
	if (t->verdict == PKT_FORWARD) {
		row_set_text(row, "out", r->port[t->nh.port].conf->name);
		row_set_count(row, "out_queue", p->worker);
		row_set_count(row, "out_bytes",
			      t->sent_bytes + (t->nh.vlan ? (unsigned)TAG : 0));
		return;
	}
	reason = t->verdict == PKT_PUNT ? &pkt_punt_reason[t->reason]
					: &pkt_drop_reason[t->reason];
	row_set_text(row, "reason", reason->name);
	row_set_text(row, "why", reason->help);
}

/* ---- */

static void set_data(struct row *row, const struct fwd_traced *r)
{
	static const char digits[] = "0123456789abcdef";
	static char text[2 * TRACE_BYTES_MAX + 1];

	for (unsigned i = 0; i < r->captured; i++) {
		text[2 * i] = digits[r->data[i] >> 4];
		text[2 * i + 1] = digits[r->data[i] & 15];
	}
	text[2 * r->captured] = '\0';
	row_set_text(row, "data", text);
}

/* Queues have the numbers of their workers, on the way in and out. */
struct row *trace_row(const struct router *r, const struct trace *t, uint32_t i)
{
	const struct trace_packet *p = &t->packet[i];
	const struct fwd_traced *record = p->record;
	struct row *row = row_new();

	row_set_count(row, "number", i + 1);
	set_time(row, t, p);
	row_set_text(row, "port", r->port[record->port].conf->name);
	row_set_count(row, "queue", p->worker);
	row_set_count(row, "worker", p->worker);
	row_set_count(row, "bytes", record->bytes);
	set_headers(row, record, &p->seen);
	row_set_text(row, "look", record->alone ? "alone" : "burst");
	set_route(row, r, p);
	set_hop(row, r, record);
	set_verdict(row, r, p);
	row_set_count(row, "lost", record->lost);
	row_set_count(row, "captured", record->captured);
	set_data(row, record);
	return row;
}
