/* cxmodel/log.c - log lines of the process
 *
 * Threads that log hold the model's lock more often than not, so none of them
 * waits for whoever reads stderr: lines go to a ring, and a thread writes them.
 * If it falls behind by a whole ring, the oldest lines are counted, not written.
 *
 * Clients cause most lines, and stderr may be a file: LOG_BURST_LINES are written at
 * once, then LOG_LINES_A_S for ever; the others are kept for `ctl log`, and counted. Lines of a
 * trace were asked for, and are written all.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

enum { RING_LINES = 8192, LINE_MAX_BYTES = 4096 };
enum kind { LINE, NOTE, TRACE };

struct log_ring {
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_t thread;
	bool stop;
	struct timespec start;
	char *line[RING_LINES];
	bool note[RING_LINES]; /* kept, but not written */
	uint64_t next;	       /* number of the line to come */
	uint64_t written;      /* lines given to stderr, or lost */
	/* A program that errs in a loop errs in the same words. */
	char last[LINE_MAX_BYTES];
	uint64_t repeats;
	uint64_t spent;	   /* lines written, less those that time made good */
	uint64_t withheld; /* lines that were not written since the last that was */
	uint64_t tell;	   /* of them, what the next line to stderr says */
	long paid_us;	   /* till when time has made good */
};

static long now_us(const struct log_ring *l)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - l->start.tv_sec) * 1000000 +
	       (now.tv_nsec - l->start.tv_nsec) / 1000;
}

static void store(struct log_ring *l, long us, const char *text, bool note)
{
	char **slot = &l->line[l->next % RING_LINES];

	free(*slot);
	if (asprintf(slot, "%ld.%06ld %s", us / 1000000, us % 1000000, text) < 0)
		*slot = NULL;
	l->note[l->next % RING_LINES] = note;
	l->next++;
	pthread_cond_signal(&l->more);
}

/* May one more line be written? */
static bool spend(struct log_ring *l, long us)
{
	uint64_t good = (uint64_t)(us - l->paid_us) * LOG_LINES_A_S / 1000000;

	l->paid_us += (long)(good * 1000000 / LOG_LINES_A_S);
	l->spent -= good < l->spent ? good : l->spent;
	if (l->spent >= LOG_BURST_LINES) {
		l->withheld++;
		return false;
	}
	l->spent++;
	return true;
}

/* Not by a line of the ring, which goes round. */
static void tell_withheld(struct log_ring *l)
{
	l->tell += l->withheld;
	l->withheld = 0;
}

static void put(struct log_ring *l, const char *text, enum kind kind)
{
	long us = now_us(l);
	bool write = kind == TRACE || (kind == LINE && spend(l, us));

	if (write && kind == LINE)
		tell_withheld(l);
	store(l, us, text, !write);
}

static void put_repeats(struct log_ring *l)
{
	char text[64];

	if (!l->repeats)
		return;
	snprintf(text, sizeof(text), "last line came %llu times more",
		 (unsigned long long)l->repeats);
	l->repeats = 0;
	put(l, text, LINE);
}

static void add(struct model *m, enum kind kind, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void add(struct model *m, enum kind kind, const char *fmt, va_list ap)
{
	char text[LINE_MAX_BYTES];

	if (!m->log)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	pthread_mutex_lock(&m->log->lock);
	if (!strcmp(text, m->log->last)) {
		m->log->repeats++;
	} else {
		put_repeats(m->log);
		put(m->log, text, kind);
		memcpy(m->log->last, text, strlen(text) + 1);
	}
	pthread_mutex_unlock(&m->log->lock);
}

void model_log(struct model *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(m, LINE, fmt, ap);
	va_end(ap);
}

void model_trace(struct model *m, const char *line)
{
	if (!m->log)
		return;
	pthread_mutex_lock(&m->log->lock);
	put_repeats(m->log);
	put(m->log, line, TRACE);
	m->log->last[0] = 0;
	pthread_mutex_unlock(&m->log->lock);
}

void model_note(struct model *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(m, m->verbose ? LINE : NOTE, fmt, ap);
	va_end(ap);
}

/* Copies the next line out; "" when there is none. Lock held. */
static void take(struct log_ring *l, char text[LINE_MAX_BYTES + 64])
{
	uint64_t oldest = l->next > RING_LINES ? l->next - RING_LINES : 0;
	const char *line;

	text[0] = 0;
	if (l->tell) {
		snprintf(text, LINE_MAX_BYTES,
			 "(%llu lines not written: over %d a second)\n",
			 (unsigned long long)l->tell, LOG_LINES_A_S);
		l->tell = 0;
		return;
	}
	if (l->written < oldest) {
		snprintf(text, LINE_MAX_BYTES,
			 "(%llu lines not written: stderr is slow)\n",
			 (unsigned long long)(oldest - l->written));
		l->written = oldest;
		return;
	}
	line = l->note[l->written % RING_LINES] ? NULL : l->line[l->written % RING_LINES];
	l->written++;
	if (line)
		snprintf(text, LINE_MAX_BYTES + 64, "%s\n", line);
}

static void *writer(void *arg)
{
	static char text[LINE_MAX_BYTES + 64];
	struct log_ring *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->stop || l->written < l->next || l->tell) {
		if (l->written == l->next && !l->tell) {
			pthread_cond_wait(&l->more, &l->lock);
			continue;
		}
		take(l, text);
		pthread_mutex_unlock(&l->lock);
		fputs(text, stderr);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int log_start(struct model *m)
{
	struct log_ring *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->more, NULL);
	clock_gettime(CLOCK_MONOTONIC, &l->start);
	r = pthread_create(&l->thread, NULL, writer, l);
	if (r) {
		free(l);
		return -r;
	}
	m->log = l;
	return 0;
}

void log_stop(struct model *m)
{
	struct log_ring *l = m->log;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	put_repeats(l);
	tell_withheld(l);
	l->stop = true;
	pthread_cond_signal(&l->more);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	m->log = NULL;
	for (unsigned i = 0; i < RING_LINES; i++)
		free(l->line[i]);
	pthread_cond_destroy(&l->more);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void log_each(struct model *m, unsigned last, void (*line)(void *arg, const char *text),
	      void *arg)
{
	struct log_ring *l = m->log;
	uint64_t i;

	pthread_mutex_lock(&l->lock);
	put_repeats(l);
	i = l->next > RING_LINES ? l->next - RING_LINES : 0;
	if (last && l->next - i > last)
		i = l->next - last;
	for (; i < l->next; i++)
		if (l->line[i % RING_LINES])
			line(arg, l->line[i % RING_LINES]);
	pthread_mutex_unlock(&l->lock);
}
