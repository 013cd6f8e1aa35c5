/* base/crc32.h - the checksum of Ethernet frames and of gzip, over bytes of a file
 *
 * Source: IEEE 802.3, 3.2.9; RFC 1952, 8. Reflected, so a nibble at a time from its low end.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* @crc: of what came before, 0 = nothing. */
static inline uint32_t crc32_add(uint32_t crc, const void *bytes, size_t n)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c
	};
	const uint8_t *b = bytes;

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc = nibble[(crc ^ b[i]) & 15] ^ crc >> 4;
		crc = nibble[(crc ^ b[i] >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}
