/* wire/frames.c - test frames that say who they are */

#include "frames.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/bits.h"

enum { ETH = 14, IP4 = 20, IP6 = 40, UDP = 8, NAME = 8 };

struct address {
	uint8_t family; /* 4 or 6 */
	uint8_t byte[16];
	uint8_t routed_dmac[6];
};

struct frames {
	struct frames_conf conf;
	struct address *dst; /* from the file, NULL = made from the number */
	uint32_t n_dst;
};

struct frames_conf frames_defaults(uint8_t set, const uint8_t dmac[6])
{
	struct frames_conf c = { .set = set,
				 .family = 4,
				 .len = 60,
				 .flows = 64,
				 .hop = 1,
				 .smac = { 2, 0, 0, 0, 0xaa, set } };

	memcpy(c.dmac, dmac, 6);
	return c;
}

const struct frames_conf *frames_conf(const struct frames *f)
{
	return &f->conf;
}

static uint32_t sum(const uint8_t *p, uint32_t len, uint32_t start)
{
	uint32_t s = start, i;

	for (i = 0; i + 1 < len; i += 2)
		s += cx_be16(p + i);
	if (len & 1)
		s += (uint32_t)p[len - 1] << 8;
	return s;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

static unsigned family_of(const struct frames *f, uint32_t n)
{
	return f->conf.family == 46 ? (n & 1 ? 6 : 4) : f->conf.family;
}

static uint32_t length_of(const struct frames *f, uint32_t n, unsigned family)
{
	uint32_t least = family == 4 ? 60 : 70, len = f->conf.len;

	if (f->conf.len_max > len)
		len += n % (f->conf.len_max - len + 1);
	return len < least ? least : len;
}

/* The file's destinations of that family in turn; NULL = there is no file. */
static const struct address *listed(const struct frames *f, uint32_t n, unsigned family)
{
	if (!f->n_dst)
		return NULL;
	while (f->dst[n % f->n_dst].family != family)
		n++;
	return &f->dst[n % f->n_dst];
}

/* A destination of that family for frame n: the file's, or one of the ranges that RFC 2544 and
 * RFC 5180 set apart for benchmarks. */
static void destination(const struct frames *f, uint32_t n, unsigned family, uint8_t *to)
{
	static const uint8_t v4[4] = { 198, 18 }, v6[16] = { 0x20, 0x01, 0x00, 0x02 };
	const struct address *a = listed(f, n, family);
	uint32_t size = family == 4 ? 4 : 16;

	if (a) {
		memcpy(to, a->byte, size);
		return;
	}
	memcpy(to, family == 4 ? v4 : v6, size);
	cx_put_be16(to + size - 2, (uint16_t)n);
	to[1] = family == 4 ? (uint8_t)(18 + (n >> 16 & 1)) : to[1];
}

static void fill_ip4(const struct frames *f, uint32_t n, uint32_t len, uint8_t *ip)
{
	uint32_t flow = n % f->conf.flows;

	ip[0] = 0x45;
	cx_put_be16(ip + 2, (uint16_t)(len - ETH));
	cx_put_be16(ip + 4, (uint16_t)n);
	ip[8] = 64;
	ip[9] = 17;
	ip[12] = 10;
	ip[13] = (uint8_t)(flow >> 16);
	cx_put_be16(ip + 14, (uint16_t)(flow + 1));
	destination(f, n, 4, ip + 16);
	cx_put_be16(ip + 10, fold(sum(ip, IP4, 0)));
}

static void fill_ip6(const struct frames *f, uint32_t n, uint32_t len, uint8_t *ip)
{
	ip[0] = 0x60;
	cx_put_be16(ip + 4, (uint16_t)(len - ETH - IP6));
	ip[6] = 17;
	ip[7] = 64;
	ip[8] = 0xfd;
	cx_put_be32(ip + 20, n % f->conf.flows + 1);
	destination(f, n, 6, ip + 24);
}

static void fill_udp(const struct frames *f, uint32_t n, const uint8_t *ip,
		     uint32_t ip_len, uint8_t *udp, uint32_t udp_len)
{
	uint32_t pseudo;
	uint16_t c;

	cx_put_be16(udp, (uint16_t)(1024 + n % f->conf.flows % 60000));
	cx_put_be16(udp + 2, 9);
	cx_put_be16(udp + 4, (uint16_t)udp_len);
	cx_put_be16(udp + UDP, FRAMES_MAGIC);
	udp[UDP + 2] = f->conf.set;
	cx_put_be32(udp + UDP + 4, n);
	for (uint32_t i = UDP + NAME; i < udp_len; i++)
		udp[i] = (uint8_t)(n + i);
	/* RFC 768, RFC 8200 8.1: addresses, length and protocol count too */
	pseudo = ip_len == IP4 ? sum(ip + 12, 8, 17 + udp_len)
			       : sum(ip + 8, 32, 17 + udp_len);
	c = fold(sum(udp, udp_len, pseudo));
	cx_put_be16(udp + 6, c ? c : 0xffff);
}

uint32_t frames_build(const struct frames *f, uint32_t n, uint8_t *out)
{
	unsigned family = family_of(f, n);
	uint32_t len = length_of(f, n, family), ip_len = family == 4 ? IP4 : IP6;
	uint8_t *ip = out + ETH;

	memset(out, 0, ETH + IP6 + UDP + NAME);
	memcpy(out, f->conf.dmac, 6);
	memcpy(out + 6, f->conf.smac, 6);
	cx_put_be16(out + 12, family == 4 ? 0x0800 : 0x86dd);
	if (family == 4)
		fill_ip4(f, n, len, ip);
	else
		fill_ip6(f, n, len, ip);
	fill_udp(f, n, ip, ip_len, ip + ip_len, len - ETH - ip_len);
	return len;
}

/* The frame's name: behind the UDP header of an IPv4 packet without options or an IPv6 packet. */
static const uint8_t *name_of(const uint8_t *data, uint32_t len)
{
	const uint8_t *name;

	if (len < ETH + IP4 + UDP + NAME)
		return NULL;
	name = data + ETH + (cx_be16(data + 12) == 0x86dd ? IP6 : IP4) + UDP;
	if (name + NAME > data + len || cx_be16(name) != FRAMES_MAGIC)
		return NULL;
	return name;
}

int frames_set(const uint8_t *data, uint32_t len)
{
	const uint8_t *name = name_of(data, len);

	return name ? name[2] : -1;
}

static void expect(const struct frames *f, uint32_t n, uint8_t *frame)
{
	const struct address *a = listed(f, n, family_of(f, n));
	uint8_t mac[6], *ip = frame + ETH;

	switch (f->conf.check) {
	case FRAMES_MACSWAP:
		memcpy(mac, frame, 6);
		memcpy(frame, frame + 6, 6);
		memcpy(frame + 6, mac, 6);
		break;
	case FRAMES_ROUTED:
		memcpy(frame, a ? a->routed_dmac : f->conf.routed_dmac, 6);
		memcpy(frame + 6, f->conf.routed_smac, 6);
		if (cx_be16(frame + 12) == 0x86dd) {
			ip[7] = (uint8_t)(ip[7] - f->conf.hop);
			break;
		}
		ip[8] = (uint8_t)(ip[8] - f->conf.hop);
		cx_put_be16(ip + 10, 0);
		cx_put_be16(ip + 10, fold(sum(ip, IP4, 0)));
		break;
	case FRAMES_SAME:
	case FRAMES_NONE:
		break;
	}
}

enum frames_verdict frames_verify(const struct frames *f, const uint8_t *data,
				  uint32_t len, uint32_t *n, uint32_t *at)
{
	const uint8_t *name = name_of(data, len);
	uint8_t want[FRAMES_LEN_MAX];
	uint32_t want_len, i;

	if (!name || name[2] != f->conf.set)
		return FRAMES_FOREIGN;
	*n = cx_be32(name + 4);
	if (f->conf.check == FRAMES_NONE)
		return FRAMES_GOOD;
	want_len = frames_build(f, *n, want);
	expect(f, *n, want);
	if (f->conf.check == FRAMES_ROUTED && len > ETH &&
	    (uint8_t)(data[5] - want[5]) < f->conf.legs)
		want[5] = data[5];
	if (f->conf.either_zero && len > ETH + IP4 && !cx_be16(want + ETH + 10) &&
	    cx_be16(data + ETH + 10) == 0xffff && cx_be16(want + 12) == 0x0800)
		cx_put_be16(want + ETH + 10, 0xffff);
	if (len == want_len && !memcmp(want, data, len))
		return FRAMES_GOOD;
	for (i = 0; i < len && i < want_len && want[i] == data[i]; i++)
		;
	*at = i;
	return FRAMES_BAD;
}

static int parse_mac(uint8_t mac[6], const char *text)
{
	unsigned b[6];
	char end;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4],
		   &b[5], &end) != 6)
		return -EINVAL;
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)b[i];
	return 0;
}

/* "ADDRESS" or "ADDRESS MAC" */
static int read_line(struct frames *f, char *line, uint32_t *room)
{
	struct address a = { 0 }, *grown;
	char *mac = strchr(line, ' ');

	memcpy(a.routed_dmac, f->conf.routed_dmac, 6);
	if (mac)
		*mac++ = '\0';
	if (mac && parse_mac(a.routed_dmac, mac) < 0)
		return -EINVAL;
	if (inet_pton(AF_INET, line, a.byte) == 1)
		a.family = 4;
	else if (inet_pton(AF_INET6, line, a.byte) == 1)
		a.family = 6;
	else
		return -EINVAL;
	if (f->n_dst == *room) {
		*room = *room ? 2 * *room : 1024;
		grown = realloc(f->dst, *room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		f->dst = grown;
	}
	f->dst[f->n_dst++] = a;
	return 0;
}

static bool has_family(const struct frames *f, unsigned family)
{
	for (uint32_t i = 0; i < f->n_dst; i++)
		if (f->dst[i].family == family)
			return true;
	return false;
}

static int read_destinations(struct frames *f, char *why, size_t why_size)
{
	const char *path = f->conf.dst_file;
	FILE *file = fopen(path, "r");
	uint32_t room = 0, line_no = 0;
	char line[128];
	int r = 0;

	if (!file) {
		r = -errno;
		snprintf(why, why_size, "dst=%s: %s", path, strerror(-r));
		return r;
	}
	while (!r && fgets(line, sizeof(line), file)) {
		line_no++;
		line[strcspn(line, "\r\n")] = '\0';
		r = read_line(f, line, &room);
		if (r)
			snprintf(why, why_size,
				 "%s:%" PRIu32
				 ": \"%s\" is no IPv4 or IPv6 address, or no MAC "
				 "address follows it",
				 path, line_no, line);
	}
	fclose(file);
	if (r)
		return r;
	if ((f->conf.family != 6 && !has_family(f, 4)) ||
	    (f->conf.family != 4 && !has_family(f, 6))) {
		snprintf(why, why_size, "dst=%s: no address of family %u in it", path,
			 f->conf.family);
		return -EINVAL;
	}
	return 0;
}

static int check_conf(const struct frames_conf *c, char *why, size_t why_size)
{
	if (c->family != 4 && c->family != 6 && c->family != 46)
		snprintf(why, why_size, "family=%u: must be 4, 6 or 46", c->family);
	else if (c->len < 60 || c->len > FRAMES_LEN_MAX || c->len_max > FRAMES_LEN_MAX)
		snprintf(why, why_size, "len: must be 60 to %d", FRAMES_LEN_MAX);
	else if (!c->flows)
		snprintf(why, why_size, "flows=0: at least 1");
	else
		return 0;
	return -EINVAL;
}

int frames_new(const struct frames_conf *conf, char *why, size_t why_size,
	       struct frames **ret)
{
	struct frames *f;
	int r = check_conf(conf, why, why_size);

	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->conf = *conf;
	r = conf->dst_file[0] ? read_destinations(f, why, why_size) : 0;
	if (r < 0) {
		frames_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	free(f->dst);
	free(f);
}

static int option_mac(uint8_t mac[6], const char *key, const char *value, char *why,
		      size_t why_size)
{
	int r = parse_mac(mac, value);

	if (r < 0)
		snprintf(why, why_size, "%s=%s: not a MAC address", key, value);
	return r;
}

static int option_number(uint32_t *to, const char *key, const char *value, char *why,
			 size_t why_size)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(value, &end, 0);
	if (errno || *end || end == value || v > UINT32_MAX) {
		snprintf(why, why_size, "%s=%s: not a number of 32 bits", key, value);
		return -EINVAL;
	}
	*to = (uint32_t)v;
	return 0;
}

static int option_check(enum frames_check *to, const char *value, char *why,
			size_t why_size)
{
	static const char *const name[] = { "same", "macswap", "routed", "none" };

	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		if (!strcmp(value, name[i])) {
			*to = (enum frames_check)i;
			return 0;
		}
	}
	snprintf(why, why_size, "check=%s: must be same, macswap, routed or none", value);
	return -EINVAL;
}

int frames_option(struct frames_conf *c, const char *key, const char *value, char *why,
		  size_t why_size)
{
	const struct {
		const char *key;
		uint32_t *number;
		uint8_t *mac;
	} row[] = {
		{ "family", &c->family, NULL },
		{ "len", &c->len, NULL },
		{ "len_max", &c->len_max, NULL },
		{ "flows", &c->flows, NULL },
		{ "hop", &c->hop, NULL },
		{ "either_zero", &c->either_zero, NULL },
		{ "legs", &c->legs, NULL },
		{ "dmac", NULL, c->dmac },
		{ "smac", NULL, c->smac },
		{ "routed_dmac", NULL, c->routed_dmac },
		{ "routed_smac", NULL, c->routed_smac },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (strcmp(key, row[i].key))
			continue;
		return row[i].mac
			       ? option_mac(row[i].mac, key, value, why, why_size)
			       : option_number(row[i].number, key, value, why, why_size);
	}
	if (!strcmp(key, "check"))
		return option_check(&c->check, value, why, why_size);
	if (!strcmp(key, "dst")) {
		if (snprintf(c->dst_file, sizeof(c->dst_file), "%s", value) <
		    (int)sizeof(c->dst_file))
			return 0;
		snprintf(why, why_size, "dst: path too long");
		return -EINVAL;
	}
	return -ENOENT;
}
