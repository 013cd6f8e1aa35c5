/* pkt/csum.h - Internet checksum; source: RFC 1071 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/be.h"

/* Sum of 16-bit words in memory order, not folded. An odd last byte counts as a high byte. */
uint64_t csum_add(uint64_t sum, const void *data, size_t bytes);

static inline uint16_t csum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Checksum of a whole range whose checksum field is zero. */
static inline be16_t csum_of(const void *data, size_t bytes)
{
	return (be16_t){ (uint16_t)~csum_fold(csum_add(0, data, bytes)) };
}

/* 20 bytes, the checksum field included, sum to -0 (RFC 1071): true when right. Both forms of
 * zero are accepted in the field. */
static inline _Bool csum_ip4_ok(const void *hdr)
{
	uint64_t a, b;
	uint32_t c;
	uint64_t sum;

	memcpy(&a, hdr, 8);
	memcpy(&b, (const uint8_t *)hdr + 8, 8);
	memcpy(&c, (const uint8_t *)hdr + 16, 4);
	sum = (a >> 32) + (a & UINT32_MAX) + (b >> 32) + (b & UINT32_MAX) + c;
	return csum_fold(sum) == 0xffff;
}
