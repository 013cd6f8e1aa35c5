/* fib/prefix.c - prefixes as text: what ip(8) reads, refused where ip(8) refuses */

#include "prefix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static unsigned width(uint8_t family)
{
	return family == 4 ? 32 : 128;
}

/* Clears the bits past len. Return: whether any was set. */
static bool clear_host_bits(struct fib_prefix *p)
{
	bool set = false;

	for (unsigned bit = p->len; bit < width(p->family); bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		set |= p->addr[bit / 8] & mask;
		p->addr[bit / 8] &= (uint8_t)~mask;
	}
	return set;
}

/* "10", "10.1" and so on, as ip(8) completes them with zeroes; inet_pton() would refuse. */
static bool parse_short_ip4(const char *text, uint8_t addr[16])
{
	unsigned byte = 0, digits = 0, value = 0;

	for (; byte < 4; text++) {
		if (*text >= '0' && *text <= '9' && digits < 3) {
			value = value * 10 + (unsigned)(*text - '0');
			digits++;
			continue;
		}
		if (!digits || value > 255 || (*text && *text != '.'))
			return false;
		addr[byte++] = (uint8_t)value;
		digits = value = 0;
		if (!*text)
			return true;
	}
	return false;
}

static int parse_address(const char *text, struct fib_prefix *p)
{
	if (strchr(text, ':')) {
		p->family = 6;
		return inet_pton(AF_INET6, text, p->addr) == 1 ? 0 : -EINVAL;
	}
	p->family = 4;
	return parse_short_ip4(text, p->addr) ? 0 : -EINVAL;
}

/* Decimal, no sign, no leading zero but "0" itself. */
static int parse_length(const char *text, unsigned max, uint8_t *ret)
{
	unsigned v = 0;

	if (!*text || strlen(text) > 3 || (text[0] == '0' && text[1]))
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		v = v * 10 + (unsigned)(*text - '0');
	}
	if (v > max)
		return -EINVAL;
	*ret = (uint8_t)v;
	return 0;
}

static int refuse_host_bits(const struct fib_prefix *masked, const char *text, char *why,
			    size_t why_size)
{
	char hint[FIB_PREFIX_TEXT];

	snprintf(why, why_size,
		 "%s: bits are set past the prefix length, did you mean %s?", text,
		 fib_prefix_text(masked, hint));
	return -EINVAL;
}

int fib_prefix_parse(const char *text, uint8_t def_family, struct fib_prefix *ret,
		     char *why, size_t why_size)
{
	struct fib_prefix p = { 0 };
	char addr[FIB_PREFIX_TEXT];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);

	if (!strcmp(text, "default")) {
		ret->family = def_family;
		ret->len = 0;
		memset(ret->addr, 0, sizeof(ret->addr));
		return 0;
	}
	if (n >= sizeof(addr)) {
		snprintf(why, why_size, "address too long");
		return -EINVAL;
	}
	memcpy(addr, text, n);
	addr[n] = '\0';
	if (parse_address(addr, &p) < 0) {
		snprintf(why, why_size, "%s: not an IPv4 or IPv6 prefix", text);
		return -EINVAL;
	}
	p.len = (uint8_t)width(p.family);
	if (slash && parse_length(slash + 1, width(p.family), &p.len) < 0) {
		snprintf(why, why_size, "%s: prefix length must be 0 to %u", text,
			 width(p.family));
		return -EINVAL;
	}
	if (clear_host_bits(&p))
		return refuse_host_bits(&p, text, why, why_size);
	*ret = p;
	return 0;
}

char *fib_prefix_text(const struct fib_prefix *p, char text[FIB_PREFIX_TEXT])
{
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(p->family == 4 ? AF_INET : AF_INET6, p->addr, addr, sizeof(addr));
	snprintf(text, FIB_PREFIX_TEXT, "%s/%u", addr, p->len);
	return text;
}

int fib_prefix_compare(const struct fib_prefix *a, const struct fib_prefix *b)
{
	int c;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	c = memcmp(a->addr, b->addr, sizeof(a->addr));
	if (c)
		return c;
	return (a->len > b->len) - (a->len < b->len);
}

bool fib_prefix_covers(const struct fib_prefix *p, const uint8_t addr[16])
{
	unsigned whole = p->len / 8, rest = p->len % 8;

	if (memcmp(p->addr, addr, whole))
		return false;
	return !rest || !((p->addr[whole] ^ addr[whole]) >> (8 - rest));
}
