/* bench/fib/table.c - the routes that are measured with, and the answers they give */

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/base/bits.h"
#include "../../../lib/base/hot.h"

__attribute__((noreturn)) static void stop(const char *path, uint32_t line,
					   const char *why)
{
	fprintf(stderr, "%s:%u: %s\n", path, line, why);
	exit(2);
}

void *bench_alloc(size_t bytes)
{
	void *p = aligned_alloc(CACHE_LINE, align_up(bytes ? bytes : 1, CACHE_LINE));

	if (!p) {
		fprintf(stderr, "no memory: %zu bytes\n", bytes);
		exit(2);
	}
	return p;
}

uint64_t bench_rand(void) /* xorshift64* */
{
	static uint64_t x = UINT64_C(88172645463325252);

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return x * UINT64_C(2685821657736338717);
}

/* ---- routes ---- */

static int by_prefix(const void *a, const void *b)
{
	const struct bench_route *x = a, *y = b;

	return fib_prefix_compare(&x->prefix, &y->prefix);
}

/* Sorted; of equal prefixes one stays. */
static void tidy(struct bench_table *t)
{
	uint32_t n = 0;

	qsort(t->route, t->n, sizeof(t->route[0]), by_prefix);
	for (uint32_t i = 0; i < t->n; i++)
		if (!n || by_prefix(&t->route[n - 1], &t->route[i]))
			t->route[n++] = t->route[i];
	t->n = n;
}

static void resize(struct bench_table *t, uint32_t n)
{
	struct bench_route *p = realloc(t->route, (size_t)n * sizeof(*p));

	if (!p)
		stop("table", n, "no memory");
	t->route = p;
}

static void read_line(struct bench_table *t, const char *path, char *text)
{
	char *blank = strchr(text, ' '), *end = NULL, why[128] = "no next hop";
	struct bench_route *r = &t->route[t->n];
	unsigned long nh = 0;

	if (blank) {
		*blank = '\0';
		nh = strtoul(blank + 1, &end, 10);
	}
	if (!nh || nh > UINT16_MAX || *end != '\n' ||
	    fib_prefix_parse(text, 4, &r->prefix, why, sizeof(why)) < 0)
		stop(path, t->n + 1, why);
	r->nh = (uint32_t)nh;
	t->max_nh = r->nh > t->max_nh ? r->nh : t->max_nh;
	t->n++;
}

void bench_table_read(struct bench_table *t, const char *path)
{
	FILE *file = fopen(path, "r");
	uint32_t room = 0;
	char text[128];

	*t = (struct bench_table){ 0 };
	if (!file)
		stop(path, 0, "cannot be read");
	while (fgets(text, sizeof(text), file)) {
		if (t->n == room)
			resize(t, room = room ? room * 2 : 1024);
		read_line(t, path, text);
	}
	fclose(file);
	if (!t->n)
		stop(path, 0, "no routes");
	t->family = t->route[0].prefix.family;
	tidy(t);
}

void bench_table_free(struct bench_table *t)
{
	free(t->route);
	*t = (struct bench_table){ 0 };
}

void bench_table_shuffle_nh(struct bench_table *t, uint32_t n)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->route[i].nh = 1 + bench_below(n);
	t->max_nh = n;
}

static struct bench_route host_in(const struct bench_route *in, uint32_t max_nh)
{
	struct bench_route host = *in;
	uint32_t random = (uint32_t)bench_rand();

	for (unsigned bit = host.prefix.len; bit < 32; bit++)
		host.prefix.addr[bit / 8] |= random >> (31 - bit) & 1 ? 0x80 >> bit % 8
								      : 0;
	host.prefix.len = 32;
	host.nh = 1 + bench_below(max_nh);
	return host;
}

void bench_table_add_hosts(struct bench_table *t, uint32_t n)
{
	enum { CROWD = 100 };
	uint32_t routes = t->n;
	struct bench_route around = t->route[0];

	resize(t, t->n + n);
	for (uint32_t i = 0; i < n; i++) {
		if (i % CROWD == 0) {
			do
				around = t->route[bench_below(routes)];
			while (around.prefix.len > 24);
			around = host_in(&around, t->max_nh);
			around.prefix.len = 24;
			around.prefix.addr[3] = 0;
		}
		t->route[t->n++] = host_in(
			i < n / 2 ? &around : &t->route[bench_below(routes)], t->max_nh);
	}
	tidy(t);
}

/* ---- reference ---- */

static struct bench_key last_of(const struct fib_prefix *p)
{
	struct bench_key k = bench_key6(p->addr);

	if (p->len < 64)
		return (struct bench_key){ k.hi | UINT64_MAX >> p->len, UINT64_MAX };
	if (p->len < 128)
		k.lo |= UINT64_MAX >> (p->len - 64);
	return k;
}

static bool is_less(struct bench_key a, struct bench_key b)
{
	return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

/* A later stretch with the same start replaces the one before. */
static void begin(struct bench_ref *ref, struct bench_key first, uint32_t nh)
{
	const struct bench_stretch *end = &ref->stretch[ref->n];

	if (ref->n && end[-1].first.hi == first.hi && end[-1].first.lo == first.lo) {
		ref->n--;
		end--;
	}
	if (ref->n && end[-1].nh == nh)
		return;
	ref->stretch[ref->n++] = (struct bench_stretch){ first, nh };
}

/* Takes routes that end before @next off the stack: what is below them goes on. */
static unsigned leave(struct bench_ref *ref, const struct bench_route *stack[],
		      unsigned depth, const struct bench_key *next)
{
	while (depth) {
		struct bench_key last = last_of(&stack[depth - 1]->prefix);

		if (next && !is_less(last, *next))
			break;
		depth--;
		if (++last.lo == 0 && ++last.hi == 0)
			break; /* the end of all addresses */
		begin(ref, last, depth ? stack[depth - 1]->nh : 0);
	}
	return depth;
}

void bench_ref_make(struct bench_ref *ref, const struct bench_table *t)
{
	const struct bench_route *stack[130];
	unsigned depth = 0;

	ref->n = 0;
	ref->stretch = bench_alloc(((size_t)t->n * 2 + 1) * sizeof(ref->stretch[0]));
	begin(ref, (struct bench_key){ 0, 0 }, 0);
	for (uint32_t i = 0; i < t->n; i++) {
		struct bench_key first = bench_key6(t->route[i].prefix.addr);

		depth = leave(ref, stack, depth, &first);
		begin(ref, first, t->route[i].nh);
		stack[depth++] = &t->route[i];
	}
	leave(ref, stack, depth, NULL);
}

void bench_ref_free(struct bench_ref *ref)
{
	free(ref->stretch);
	*ref = (struct bench_ref){ 0 };
}

uint32_t bench_ref_answer(const struct bench_ref *ref, struct bench_key key)
{
	uint32_t low = 0, high = ref->n - 1;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (is_less(key, ref->stretch[middle].first))
			high = middle - 1;
		else
			low = middle;
	}
	return ref->stretch[low].nh;
}
