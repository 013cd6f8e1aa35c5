/* control/pcapng.h - packets in a file that Wireshark opens
 *
 *   section | interface ... | packet | packet | ...
 *
 * Numbers are in this machine's byte order, as the format allows. Times are nanoseconds since
 * 1970. Texts longer than PCAPNG_TEXT_MAX are cut. Whether all was written says ferror(3).
 *
 * Source: draft-ietf-opsawg-pcapng-01, sections 3 (blocks, options) and 4.1 to 4.3.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { PCAPNG_TEXT_MAX = 1000, PCAPNG_BYTES_MAX = 65535 };

struct pcapng_interface { /* an Ethernet port */
	const char *name, *description, *hardware;
	uint8_t mac[6];
};

struct pcapng_packet {	    /* received */
	uint32_t interface; /* as they were written, from 0 */
	uint32_t queue;
	uint64_t ts_ns;
	uint64_t number;   /* no other one has it */
	uint64_t lost;	   /* packets between the last one of the interface and this */
	uint32_t bytes;	   /* of the frame */
	uint32_t captured; /* of them in @data, at most PCAPNG_BYTES_MAX */
	const uint8_t *data;
	const char *comment;
};

void pcapng_section(FILE *to, const char *application);
void pcapng_interface(FILE *to, const struct pcapng_interface *i);
void pcapng_packet(FILE *to, const struct pcapng_packet *p);
