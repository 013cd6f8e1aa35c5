/* wire/drain_cache.c - whose cache the lines of a round are in
 *
 * A card writes frames and completions into the cache near the program's core.
 * Here the generator wrote them from its own core, so a thread on the program's
 * core takes every line over (prefetch for writing, then a locked no-op write)
 * before the clock starts.
 */

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain.h"

enum { LINE = 64 };

struct drain_puller {
	pthread_t thread;
	sem_t go, done;
	const struct drain_lines *lines; /* NULL: end */
	struct drain_conf conf;
};

static uint8_t *line_of(const volatile void *p)
{
	return (uint8_t *)((uintptr_t)p & ~(uintptr_t)(LINE - 1));
}

static void for_each_line(const struct drain_lines *l, void (*fn)(uint8_t *line))
{
	for (unsigned i = 0; i < l->n_ranges; i++)
		for (size_t o = 0; o < l->range[i].bytes; o += LINE)
			fn(l->range[i].at + o);
	for (uint32_t i = 0; i < l->n_frames; i++)
		fn(l->frame[i]);
}

static void prefetch(uint8_t *line)
{
	__builtin_prefetch(line, 1);
}

#ifdef __x86_64__
#include <immintrin.h>
/* Not __atomic_fetch_or(line, 0): clang makes that a fence and a load. */
static void take(uint8_t *line)
{
	__asm__ volatile("lock; orb $0, %0" : "+m"(*line));
}
__attribute__((target("clflushopt"))) static void evict(uint8_t *line)
{
	_mm_clflushopt(line);
}
#else
static void take(uint8_t *line)
{
	__atomic_fetch_or(line, 0, __ATOMIC_SEQ_CST);
}
static void evict(uint8_t *line)
{
	__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}
#endif

void drain_evict(const struct drain_lines *lines)
{
	for_each_line(lines, evict);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void drain_pin_self(unsigned core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void fifo(pthread_t thread, unsigned priority)
{
	struct sched_param p = { .sched_priority = (int)priority };

	pthread_setschedparam(thread, priority ? SCHED_FIFO : SCHED_OTHER, &p);
}

void drain_fifo_self(const struct drain_conf *conf, bool on)
{
	if (conf->fifo)
		fifo(pthread_self(), on ? conf->fifo : 0);
}

static void *puller_main(void *arg)
{
	struct drain_puller *p = arg;

	drain_pin_self(p->conf.program_core);
	if (p->conf.fifo)
		fifo(pthread_self(), p->conf.fifo + 1);
	for (;;) {
		while (sem_wait(&p->go) && errno == EINTR)
			;
		if (!p->lines)
			return NULL;
		for_each_line(p->lines, prefetch);
		for_each_line(p->lines, take);
		sem_post(&p->done);
	}
}

int drain_puller_start(const struct drain_conf *conf, struct drain_puller **ret)
{
	struct drain_puller *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->conf = *conf;
	sem_init(&p->go, 0, 0);
	sem_init(&p->done, 0, 0);
	r = pthread_create(&p->thread, NULL, puller_main, p);
	if (r) {
		free(p);
		return -r;
	}
	*ret = p;
	return 0;
}

void drain_puller_stop(struct drain_puller *p)
{
	if (!p)
		return;
	p->lines = NULL;
	sem_post(&p->go);
	pthread_join(p->thread, NULL);
	sem_destroy(&p->go);
	sem_destroy(&p->done);
	free(p);
}

void drain_pull(struct drain_puller *p, struct drain_lines *lines)
{
	p->lines = lines;
	sem_post(&p->go);
	while (sem_wait(&p->done) && errno == EINTR)
		;
}

void drain_lines_clear(struct drain_lines *l)
{
	l->n_ranges = 0;
	l->n_frames = 0;
}

void drain_lines_free(struct drain_lines *l)
{
	free(l->frame);
	memset(l, 0, sizeof(*l));
}

void drain_lines_add(struct drain_lines *l, const volatile void *at, size_t bytes)
{
	uint8_t *first = line_of(at);

	if (!at || l->n_ranges == sizeof(l->range) / sizeof(l->range[0]))
		return;
	l->range[l->n_ranges].at = first;
	l->range[l->n_ranges++].bytes =
		(size_t)((const volatile uint8_t *)at + bytes - first);
}

void drain_lines_ring(struct drain_lines *l, uint8_t *ring, size_t entry_bytes,
		      unsigned log_size, uint32_t from, uint32_t count)
{
	uint32_t size = UINT32_C(1) << log_size, start = from & (size - 1), head;

	if (count > size)
		count = size;
	head = count < size - start ? count : size - start;
	if (head)
		drain_lines_add(l, ring + start * entry_bytes, head * entry_bytes);
	if (count > head)
		drain_lines_add(l, ring, (count - head) * entry_bytes);
}

void drain_lines_frame(struct drain_lines *l, uint8_t *at, uint32_t bytes)
{
	uint8_t *end = at + bytes, **grown;

	for (uint8_t *p = line_of(at); p < end; p += LINE) {
		if (l->n_frames == l->room) {
			l->room = l->room ? 2 * l->room : 4096;
			grown = realloc(l->frame, l->room * sizeof(*grown));
			if (!grown) {
				l->room = l->n_frames;
				return;
			}
			l->frame = grown;
		}
		l->frame[l->n_frames++] = p;
	}
}

/* Threads that may run only on the program's core; others (control threads) are left alone. */
static bool pinned_there(int tid, unsigned core)
{
	cpu_set_t set;

	return !sched_getaffinity(tid, sizeof(set), &set) && CPU_COUNT(&set) == 1 &&
	       CPU_ISSET(core, &set);
}

unsigned drain_fifo_program(const struct drain_conf *conf)
{
	struct sched_param p = { .sched_priority = (int)conf->fifo };
	struct dirent *e;
	unsigned n = 0;
	char path[64];
	DIR *dir;

	if (!conf->pid || !conf->fifo)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task", conf->pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		int tid = atoi(e->d_name);

		if (tid > 0 && pinned_there(tid, conf->program_core))
			n += !sched_setscheduler(tid, SCHED_FIFO, &p);
	}
	if (dir)
		closedir(dir);
	return n;
}
