/* test/wire_bench.h - a model of a few ports for tests of wires
 *
 * The ports are real devices without rules or netdevs: what arrives by the wire
 * is recorded as given to the kernel; what bench_send() sends leaves by the wire.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cxmodel/model.h"

struct bench_frames {
	uint8_t *bytes;
	size_t used;
	uint32_t *len;
	unsigned n;
};

struct bench {
	struct model m;
	struct bench_frames got[MODEL_PORTS]; /* by port, in order of arrival */
	char why[512];
};

void bench_open(struct bench *b);
void bench_close(struct bench *b);
/* A port with that wire; asserts success. Links are made by bench_start(). */
struct model_port *bench_port(struct bench *b, const char *name, const char *wire);
/* The same, to be refused: returns the error, and b->why tells. */
int bench_refused(struct bench *b, const char *name, const char *wire);
void bench_start(struct bench *b);
void bench_send(struct model_port *p, const void *frame, uint32_t len);
/* Polls every wire until none has anything. Return: frames that came in. */
unsigned bench_run(struct bench *b);
const uint8_t *bench_frame(const struct bench *b, const struct model_port *p,
			   unsigned nth, uint32_t *len);
void bench_forget(struct bench *b);
