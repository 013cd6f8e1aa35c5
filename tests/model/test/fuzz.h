/* test/fuzz.h - hostile input for the device, as programs of small steps
 *
 * Each target reads its input as a list of steps: a byte says what, more bytes say how.
 * After every step the device must have kept its promises, and at the end everything
 * that was made can be destroyed again: a lost reference shows as an object that stays.
 *
 *   fuzz_cmd     mailboxes of all commands, good ones with changes, in any order
 *   fuzz_flow    flow tables, groups, entries, and the frames that walk them
 *   fuzz_queue   rings, records, doorbells and completions of live queues; frames; faults
 *   fuzz_text    fault lines
 *   fuzz_parse   frames (fuzz_parse.c)
 *
 * tests/model/fuzz.sh builds them for libFuzzer and runs them; test_fuzz.c runs them over
 * their small corpora, fuzz_*.in, and over noise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "direct.h"

int fuzz_cmd(const uint8_t *data, size_t size);
int fuzz_flow(const uint8_t *data, size_t size);
int fuzz_queue(const uint8_t *data, size_t size);
int fuzz_text(const uint8_t *data, size_t size);
int fuzz_parse(const uint8_t *data, size_t size);

/* At the end of each file: the name that libFuzzer wants. */
#ifdef FUZZ_MAIN
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#define FUZZ_TARGET(target) \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{ \
		return target(data, size); \
	}
#else
#define FUZZ_TARGET(target)
#endif

/* ---- the input ---- */

struct fuzz {
	const uint8_t *p;
	size_t left;
};

/* @bytes (up to 8) as a number, upper first; zeroes after the end. */
static inline uint64_t fuzz_take(struct fuzz *f, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--) {
		v = v << 8 | (f->left ? *f->p : 0);
		if (f->left) {
			f->p++;
			f->left--;
		}
	}
	return v;
}

static inline uint32_t fuzz_below(struct fuzz *f, uint32_t limit)
{
	return limit ? (uint32_t)fuzz_take(f, limit > 256 ? 2 : 1) % limit : 0;
}

static inline void fuzz_fill(struct fuzz *f, uint8_t *to, size_t n)
{
	while (n--)
		*to++ = (uint8_t)fuzz_take(f, 1);
}

/* ---- promises: fuzz.c ---- */

#define FUZZ_MUST(true_thing) \
	do { \
		if (!(true_thing)) \
			fuzz_broken(__FILE__, __LINE__, #true_thing); \
	} while (0)
void fuzz_broken(const char *file, int line, const char *text); /* aborts */

/**
 * fuzz_exec() - a command, with every promise about commands checked
 *
 * In- and output lie in blocks of their own size, so that AddressSanitizer sees one byte
 * too many. The answer's beginning comes back in @out, if not NULL.
 */
enum cx_status fuzz_exec(struct direct *d, const uint8_t *in, size_t in_len,
			 size_t out_len, uint8_t out[64]);
/* The number of the @k-th object of a type, in a circle; 0 when there is none. */
uint32_t fuzz_number(struct direct *d, enum cx_obj_type type, uint32_t k);
/* Destroys all there is, in whatever order that needs. */
void fuzz_drain(struct direct *d);
