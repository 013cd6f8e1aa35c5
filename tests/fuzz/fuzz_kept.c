/* fuzz/fuzz_kept.c - a file that an earlier run left: refused with a reason, or understood
 *
 * Each input is read as it is, and once more as the lines of a file whose head and checksum are
 * right: else nearly all of them would be refused for that. What is understood is written as lines
 * that mean the same.
 */

#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/counters.h"
#include "../../daemon/state.h"
#include "../../lib/base/crc32.h"

static int take(void *arg, char *line, struct err *err)
{
	return counters_take(arg, line, err);
}

static int read_text(const char *text, size_t n, struct counters *c)
{
	static const struct state_kind kind = { "counters", 1 };
	const struct state_reader reader = { &kind, take, c };
	FILE *file = n ? fmemopen((void *)(uintptr_t)text, n, "r") : NULL;
	struct err err = { "" };
	int r;

	if (!file)
		return -1;
	r = state_read_file(file, "f", &reader, &err);
	assert(!r || !strncmp(err.text, "f:", 2));
	fclose(file);
	return r;
}

static void check(const struct counters *c)
{
	assert(c->n_ports <= FWD_PORTS_MAX);
	assert(memchr(c->boot, '\0', sizeof(c->boot)));
	for (unsigned i = 0; i < c->n_ports; i++)
		assert(*c->port[i].name &&
		       memchr(c->port[i].name, '\0', sizeof(c->port[i].name)));
}

/* Much of it is never touched. */
static void reset(struct counters *c)
{
	size_t ports = c->n_ports;

	memset(c->queue, 0, ports * sizeof(c->queue[0]));
	memset(c, 0, offsetof(struct counters, queue));
}

static void take_again(void *arg, const char *line)
{
	char copy[300];
	struct err err = { "" };

	snprintf(copy, sizeof(copy), "%s", line);
	assert(counters_take(arg, copy, &err) == 0);
}

static void put(void *arg, const char *line)
{
	fprintf(arg, "%s\n", line);
}

static char *text_of(const struct counters *c)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert(to);
	counters_print(c, ROUTER_WORKERS_MAX, put, to);
	assert(!fclose(to));
	return text;
}

static void check_again(const struct counters *c, struct counters *again)
{
	char *was = text_of(c), *is;

	reset(again);
	counters_print(c, ROUTER_WORKERS_MAX, take_again, again);
	is = text_of(again);
	assert(!strcmp(was, is));
	free(is);
	free(was);
}

/* Lines between a right head and a right end. */
static char *in_a_file(const uint8_t *data, size_t size, size_t *ret)
{
	static const char head[] = "# mlx5fwd counters 1\n";
	size_t n = sizeof(head) - 1, lines = 0;
	char *text = malloc(n + size + 80);

	assert(text);
	memcpy(text, head, n);
	if (size)
		memcpy(text + n, data, size);
	n += size;
	if (text[n - 1] != '\n')
		text[n++] = '\n';
	for (size_t i = sizeof(head) - 1; i < n; i++)
		lines += text[i] == '\n';
	*ret = n + (size_t)sprintf(text + n, "# end %zu %08x\n", lines,
				   crc32_add(0, text, n));
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct counters here, there;
	struct counters *c = &here, *again = &there;
	size_t n;
	char *text = in_a_file(data, size, &n);

	reset(c);
	read_text((const char *)data, size, c);
	check(c);
	reset(c);
	if (read_text(text, n, c) == 0)
		check_again(c, again);
	check(c);
	free(text);
	return 0;
}
