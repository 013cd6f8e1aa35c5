/* wire/frames.h - test frames that say who they are
 *
 * A set of frames is a function of a sequence number: frame n can be built, and
 * built again when it comes back, so a sink compares every byte without having
 * kept any. The last eight bytes of the UDP header's payload name the set and n:
 *
 *   Ethernet | IPv4 or IPv6 | UDP | 0xc7 0xf4 set 0 | n (32 bits) | n-dependent filler
 *
 * All checksums are right on the way out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_LEN_MAX 9216
#define FRAMES_MAGIC   0xc7f4

enum frames_check { /* what the program under test must have made of a frame */
		    FRAMES_SAME,    /* not a bit changed: io forwarding */
		    FRAMES_MACSWAP, /* the two MAC addresses exchanged */
		    FRAMES_ROUTED, /* MACs rewritten, TTL less hop, IPv4 checksum right */
		    FRAMES_NONE,   /* not looked at */
};

struct frames_conf {
	uint8_t set;	  /* number of this set, unique in the process */
	unsigned family;  /* 4, 6, or 46: by turns */
	uint32_t len;	  /* without FCS; at least 60 (IPv4) or 70 (IPv6) */
	uint32_t len_max; /* sizes cycle from len to len_max; 0 = all len */
	uint32_t flows;	  /* source address and port take this many values */
	uint8_t dmac[6], smac[6];
	/* One address a line, after which routed_dmac may stand for this destination; "" =
	 * 198.18.0.0/15, 2001:2::/48. */
	char dst_file[192];
	enum frames_check check;
	uint8_t routed_dmac[6]; /* FRAMES_ROUTED: next hop and egress port */
	uint8_t routed_smac[6];
	unsigned hop; /* FRAMES_ROUTED: what is taken off the TTL, normally 1 */
	/* FRAMES_ROUTED: 0xffff passes where the IPv4 checksum is 0. Both sum to the same, and an
	 * update by RFC 1141, as DPDK l3fwd does it, gives the former (RFC 1624, 3). */
	unsigned either_zero;
	unsigned legs; /* FRAMES_ROUTED: so many next hops will do, routed_dmac the first */
};

struct frames;

/* Small IPv4 frames of 64 flows to @dmac, forwarded unchanged. */
struct frames_conf frames_defaults(uint8_t set, const uint8_t dmac[6]);

/* @why says what is wrong with the configuration or the file. Return 0 or -errno. */
int frames_new(const struct frames_conf *conf, char *why, size_t why_size,
	       struct frames **ret);
void frames_free(struct frames *f);

/* Builds frame @n into @out (FRAMES_LEN_MAX bytes). Return: its length. */
uint32_t frames_build(const struct frames *f, uint32_t n, uint8_t *out);

enum frames_verdict { FRAMES_GOOD, FRAMES_BAD, FRAMES_FOREIGN };
/* Is @data what must have become of one of the frames? FOREIGN: it names no set and number.
 * @n receives the number unless foreign; @at the first wrong byte when bad. */
enum frames_verdict frames_verify(const struct frames *f, const uint8_t *data,
				  uint32_t len, uint32_t *n, uint32_t *at);
/* The set a frame names, -1 = none. */
int frames_set(const uint8_t *data, uint32_t len);

const struct frames_conf *frames_conf(const struct frames *f);

/* "key=value" of frames_conf: family len len_max flows dmac smac dst check routed_dmac
 * routed_smac hop either_zero legs. Return 0, -ENOENT (not one of these keys), or -EINVAL with
 * the reason in @why. */
int frames_option(struct frames_conf *conf, const char *key, const char *value, char *why,
		  size_t why_size);
