/* unit/test_control_pcapng.c - what is written is read back, byte by byte, by the draft's rules */

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../control/pcapng.h"

/* A file in memory, and where its reader is. */
struct file {
	char *bytes;
	size_t n, at;
	FILE *to;
};

static void open_file(struct file *f)
{
	memset(f, 0, sizeof(*f));
	f->to = open_memstream(&f->bytes, &f->n);
	assert_non_null(f->to);
}

static void rewind_file(struct file *f)
{
	assert_false(ferror(f->to));
	assert_int_equal(fclose(f->to), 0);
	assert_int_equal(f->n % 4, 0);
}

static uint32_t u32(struct file *f)
{
	uint32_t v;

	assert_true(f->at + 4 <= f->n);
	memcpy(&v, f->bytes + f->at, 4);
	f->at += 4;
	return v;
}

static uint32_t u16_pair(struct file *f, uint32_t *second)
{
	uint32_t v = u32(f);

	*second = v >> 16;
	return v & 0xffff;
}

static void bytes_are(struct file *f, const void *bytes, size_t n)
{
	static const uint8_t zero[4];

	assert_true(f->at + n <= f->n);
	assert_memory_equal(f->bytes + f->at, bytes, n);
	assert_memory_equal(f->bytes + f->at + n, zero, -n & 3);
	f->at += (n + 3) & ~(size_t)3;
}

static void option_is(struct file *f, uint32_t code, const void *bytes, size_t n)
{
	uint32_t length;

	assert_int_equal(u16_pair(f, &length), code);
	assert_int_equal(length, n);
	bytes_are(f, bytes, n);
}

/* Return: where it ends. */
static size_t block_begins(struct file *f, uint32_t type)
{
	size_t from = f->at;

	assert_int_equal(u32(f), type);
	return from + u32(f);
}

static void block_ends(struct file *f, size_t end)
{
	size_t length;

	option_is(f, 0, NULL, 0);
	assert_int_equal(f->at + 4, end);
	length = u32(f);
	assert_int_equal(
		block_begins(&(struct file){ f->bytes, f->n, end - length, NULL },
			     *(uint32_t *)(void *)(f->bytes + end - length)),
		end);
}

static void a_section_begins_the_file(void **state)
{
	struct file f;
	uint32_t minor;
	size_t end;

	(void)state;
	open_file(&f);
	pcapng_section(f.to, "mlx5fwdctl 1");
	rewind_file(&f);
	end = block_begins(&f, 0x0a0d0d0a);
	assert_int_equal(u32(&f), 0x1a2b3c4d);
	assert_int_equal(u16_pair(&f, &minor), 1);
	assert_int_equal(minor, 0);
	assert_int_equal(u32(&f), UINT32_MAX);
	assert_int_equal(u32(&f), UINT32_MAX);
	option_is(&f, 4, "mlx5fwdctl 1", 12);
	block_ends(&f, end);
	assert_int_equal(f.at, f.n);
	free(f.bytes);
}

static void an_interface_counts_nanoseconds(void **state)
{
	const struct pcapng_interface i = { "eth0", "", "mlx5_0 x", { 2, 0, 0, 0, 0, 1 } };
	uint32_t reserved;
	struct file f;
	size_t end;

	(void)state;
	open_file(&f);
	pcapng_interface(f.to, &i);
	rewind_file(&f);
	end = block_begins(&f, 1);
	assert_int_equal(u16_pair(&f, &reserved), 1);
	assert_int_equal(reserved, 0);
	assert_int_equal(u32(&f), 0);
	option_is(&f, 2, "eth0", 4);
	option_is(&f, 6, i.mac, 6); /* no description: it is empty */
	option_is(&f, 9, "\x09", 1);
	option_is(&f, 15, "mlx5_0 x", 8);
	block_ends(&f, end);
	assert_int_equal(f.at, f.n);
	free(f.bytes);
}

static void packet_is(struct file *f, const struct pcapng_packet *p, size_t comment)
{
	size_t end = block_begins(f, 6);
	const uint32_t flags = 1;

	assert_int_equal(u32(f), p->interface);
	assert_int_equal(u32(f), p->ts_ns >> 32);
	assert_int_equal(u32(f), (uint32_t)p->ts_ns);
	assert_int_equal(u32(f), p->captured);
	assert_int_equal(u32(f), p->bytes);
	bytes_are(f, p->data, p->captured);
	if (comment)
		option_is(f, 1, p->comment, comment);
	option_is(f, 2, &flags, 4);
	if (p->lost)
		option_is(f, 4, &p->lost, 8);
	option_is(f, 5, &p->number, 8);
	option_is(f, 6, &p->queue, 4);
	block_ends(f, end);
}

static void packets_of_any_length_follow_each_other(void **state)
{
	static uint8_t data[PCAPNG_BYTES_MAX];
	struct pcapng_packet p = { .interface = 1,
				   .queue = 3,
				   .ts_ns = UINT64_C(1795997057273921759),
				   .number = UINT64_C(1) << 40,
				   .comment = "drop ttl",
				   .data = data };
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)test_below(256);
	open_file(&f);
	for (p.captured = 0; p.captured < 70; p.captured++) {
		p.bytes = p.captured + 5;
		p.lost = p.captured % 2;
		pcapng_packet(f.to, &p);
	}
	p.captured = p.bytes = sizeof(data);
	pcapng_packet(f.to, &p);
	rewind_file(&f);
	for (p.captured = 0; p.captured < 70; p.captured++) {
		p.bytes = p.captured + 5;
		p.lost = p.captured % 2;
		packet_is(&f, &p, 8);
	}
	p.captured = p.bytes = sizeof(data);
	packet_is(&f, &p, 8);
	assert_int_equal(f.at, f.n);
	free(f.bytes);
}

static void a_long_text_is_cut_and_none_is_left_out(void **state)
{
	static uint8_t data[PCAPNG_BYTES_MAX];
	static char text[3 * PCAPNG_TEXT_MAX];
	struct pcapng_packet p = { .data = data, .captured = sizeof(data), .lost = 1 };
	struct file f;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	open_file(&f);
	pcapng_packet(f.to, &p);
	p.comment = text;
	pcapng_packet(f.to, &p);
	pcapng_section(f.to, text);
	pcapng_interface(f.to, &(struct pcapng_interface){ text, text, text, { 0 } });
	rewind_file(&f);
	packet_is(&f, &p, 0);
	packet_is(&f, &p, PCAPNG_TEXT_MAX);
	f.at = block_begins(&f, 0x0a0d0d0a);
	assert_int_equal(block_begins(&f, 1), f.n);
	free(f.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_begins_the_file),
		cmocka_unit_test(an_interface_counts_nanoseconds),
		cmocka_unit_test(packets_of_any_length_follow_each_other),
		cmocka_unit_test(a_long_text_is_cut_and_none_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
