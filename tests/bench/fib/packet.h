/* bench/fib/packet.h - the frames that circulate: 60 bytes or a little more, UDP */
#pragma once

#include <stdint.h>
#include <string.h>

enum { PACKET_L2 = 14, PACKET_BYTES4 = 60, PACKET_BYTES6 = 62, PACKET_ROOM = 2176 + 64 };

static inline void packet_csum4(uint8_t ip[20])
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* The frame for a destination in network order; addresses of the link are left alone.
 * Return: its bytes. */
static inline uint16_t packet_make(uint8_t *frame, unsigned family, const uint8_t dst[16],
				   uint8_t ttl)
{
	uint8_t *ip = frame + PACKET_L2;

	memset(frame + 12, 0, PACKET_BYTES6 - 12);
	if (family == 4) {
		const uint8_t head[16] = { 0x45, 0,  0, PACKET_BYTES4 - PACKET_L2,
					   0,	 0,  0, 0,
					   ttl,	 17, 0, 0,
					   10,	 0,  0, 1 };

		frame[12] = 0x08;
		memcpy(ip, head, sizeof(head));
		memcpy(ip + 16, dst, 4);
		packet_csum4(ip);
		return PACKET_BYTES4;
	}
	frame[12] = 0x86;
	frame[13] = 0xdd;
	ip[0] = 0x60;
	ip[5] = PACKET_BYTES6 - PACKET_L2 - 40;
	ip[6] = 17;
	ip[7] = ttl;
	ip[8] = 0x20; /* source 2001:: */
	ip[9] = 0x01;
	memcpy(ip + 24, dst, 16);
	return PACKET_BYTES6;
}
