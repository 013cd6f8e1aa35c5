/* daemon/log.c - one line a message, to standard error */

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static enum log_level threshold = LOG_LEVEL_INFO;

static const struct {
	const char *name, *priority; /* sd-daemon(3), SD_ERR and so on */
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", "<3>" },	  [LOG_LEVEL_WARNING] = { "warning", "<4>" },
	[LOG_LEVEL_NOTICE] = { "notice", "<5>" }, [LOG_LEVEL_INFO] = { "info", "<6>" },
	[LOG_LEVEL_DEBUG] = { "debug", "<7>" },
};

void log_set_level(enum log_level level) { threshold = level; }

void log_line(enum log_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (level > threshold)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* One call, so that lines of several threads do not mix. */
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "%s%s\n", levels[level].priority, text);
	else
		fprintf(stderr, "mlx5fwd: %s: %s\n", levels[level].name, text);
}
