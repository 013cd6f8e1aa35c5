/* pkt/csum.c - Internet checksum of any range */

#include "csum.h"

uint64_t csum_add(uint64_t sum, const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint32_t word;
	uint16_t half = 0;

	for (; bytes >= 4; bytes -= 4, p += 4) {
		memcpy(&word, p, 4);
		sum += word;
	}
	if (bytes >= 2) {
		memcpy(&half, p, 2);
		sum += half;
		p += 2;
	}
	if (bytes & 1) {
		half = 0;
		memcpy(&half, p, 1);
		sum += half;
	}
	return sum;
}
