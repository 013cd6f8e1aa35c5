/* daemon/log.c - one line a message, to the journal or to standard error */

#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/base/hot.h"
#include "notify.h"

static _Atomic enum log_level threshold = LOG_LEVEL_INFO;
static bool to_journal;

static const struct {
	const char *name;
	int priority; /* syslog(3), LOG_ERR and so on */
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", 3 },   [LOG_LEVEL_WARNING] = { "warning", 4 },
	[LOG_LEVEL_NOTICE] = { "notice", 5 }, [LOG_LEVEL_INFO] = { "info", 6 },
	[LOG_LEVEL_DEBUG] = { "debug", 7 },
};

/* $JOURNAL_STREAM is inherited by all below a service; only if standard error is the very stream it
 * names does the journal read it, systemd.exec(5). */
static bool is_journal(const char *stream)
{
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void log_open(enum log_level level)
{
	log_set_level(level);
	to_journal = is_journal(getenv("JOURNAL_STREAM"));
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

enum log_level log_level(void)
{
	return atomic_load_explicit(&threshold, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
	return levels[level].name;
}

bool log_level_parse(const char *name, enum log_level *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		if (strcmp(name, levels[i].name) != 0)
			continue;
		*ret = (enum log_level)i;
		return true;
	}
	return false;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (level > log_level())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* One call, so that lines of several threads do not mix. */
	if (to_journal)
		notify_journal(levels[level].priority, text);
	else
		fprintf(stderr, "mlx5fwd: %s: %s\n", levels[level].name, text);
}
