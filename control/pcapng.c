/* control/pcapng.c - packets in a file that Wireshark opens */

#include "pcapng.h"

#include <assert.h>
#include <string.h>

/* Block types; options are those of the block. */
enum { SECTION = 0x0a0d0d0a, INTERFACE = 1, PACKET = 6 };
enum { END_OF_OPTIONS = 0, COMMENT = 1 };
enum { SECTION_APPLICATION = 4 };
enum {
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_MAC = 6,
	INTERFACE_TSRESOL = 9,
	INTERFACE_HARDWARE = 15,
};
enum { PACKET_FLAGS = 2, PACKET_DROPCOUNT = 4, PACKET_ID = 5, PACKET_QUEUE = 6 };

enum {
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	VERSION_MAJOR = 1,
	VERSION_MINOR = 0,
	ETHERNET = 1,	  /* LINKTYPE_ETHERNET */
	NANOSECONDS = 9,  /* 10^-9 */
	FLAG_INBOUND = 1, /* bits 0 and 1 */
};

/* Everything stands at multiples of four. */
enum { ALIGN = 4, TEXTS = 3, OPTIONS = 8, FIXED = 64 };

struct block {
	uint32_t n;
	uint8_t bytes[PCAPNG_BYTES_MAX + TEXTS * PCAPNG_TEXT_MAX + OPTIONS * 12 + FIXED];
};

/* ---- pieces ---- */

static void put(struct block *b, const void *bytes, uint32_t n)
{
	uint32_t padded = (n + ALIGN - 1) & ~(uint32_t)(ALIGN - 1);

	assert(b->n + padded <= sizeof(b->bytes));
	memset(b->bytes + b->n, 0, padded);
	if (n)
		memcpy(b->bytes + b->n, bytes, n);
	b->n += padded;
}

static void put_u32(struct block *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_u16s(struct block *b, uint16_t first, uint16_t second)
{
	const uint16_t both[2] = { first, second };

	put(b, both, sizeof(both));
}

static void put_option(struct block *b, uint16_t code, const void *bytes, size_t n)
{
	put_u16s(b, code, (uint16_t)n);
	put(b, bytes, (uint32_t)n);
}

/* Nothing, if there is nothing to be said. */
static void put_text(struct block *b, uint16_t code, const char *text)
{
	size_t n = text ? strnlen(text, PCAPNG_TEXT_MAX) : 0;

	if (n)
		put_option(b, code, text, n);
}

static void put_u64(struct block *b, uint16_t code, uint64_t v)
{
	put_option(b, code, &v, sizeof(v));
}

/* Its length stands before and behind it, so that a file can be read from either end. */
static void finish(FILE *to, struct block *b, uint32_t type)
{
	const uint32_t length = b->n + 4 + 3 * (uint32_t)sizeof(uint32_t);
	const uint32_t head[2] = { type, length };

	put_u16s(b, END_OF_OPTIONS, 0);
	fwrite(head, sizeof(head), 1, to);
	fwrite(b->bytes, 1, b->n, to);
	fwrite(&length, sizeof(length), 1, to);
}

static struct block *begin(void)
{
	static struct block block;

	block.n = 0;
	return &block;
}

/* ---- blocks ---- */

void pcapng_section(FILE *to, const char *application)
{
	struct block *b = begin();

	put_u32(b, BYTE_ORDER_MAGIC);
	put_u16s(b, VERSION_MAJOR, VERSION_MINOR);
	put_u32(b, UINT32_MAX); /* of unknown length, 64 bits */
	put_u32(b, UINT32_MAX);
	put_text(b, SECTION_APPLICATION, application);
	finish(to, b, SECTION);
}

void pcapng_interface(FILE *to, const struct pcapng_interface *i)
{
	const uint8_t resolution = NANOSECONDS;
	struct block *b = begin();

	put_u16s(b, ETHERNET, 0);
	put_u32(b, 0); /* what is captured of a frame may be of any length */
	put_text(b, INTERFACE_NAME, i->name);
	put_text(b, INTERFACE_DESCRIPTION, i->description);
	put_option(b, INTERFACE_MAC, i->mac, sizeof(i->mac));
	put_option(b, INTERFACE_TSRESOL, &resolution, sizeof(resolution));
	put_text(b, INTERFACE_HARDWARE, i->hardware);
	finish(to, b, INTERFACE);
}

void pcapng_packet(FILE *to, const struct pcapng_packet *p)
{
	const uint32_t flags = FLAG_INBOUND;
	struct block *b = begin();

	put_u32(b, p->interface);
	put_u32(b, (uint32_t)(p->ts_ns >> 32));
	put_u32(b, (uint32_t)p->ts_ns);
	put_u32(b, p->captured);
	put_u32(b, p->bytes);
	put(b, p->data, p->captured);
	put_text(b, COMMENT, p->comment);
	put_option(b, PACKET_FLAGS, &flags, sizeof(flags));
	if (p->lost)
		put_u64(b, PACKET_DROPCOUNT, p->lost);
	put_u64(b, PACKET_ID, p->number);
	put_option(b, PACKET_QUEUE, &p->queue, sizeof(p->queue));
	finish(to, b, PACKET);
}
