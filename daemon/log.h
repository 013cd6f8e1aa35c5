/* daemon/log.h - one line a message, to the journal or to standard error
 *
 * The journal has it where standard error leads there; it files a message by priority, and one
 * that begins with "port eth0:" or "worker 2:" by that too (notify.c). Elsewhere the line begins
 * with the level's name. Context: any thread.
 */
#pragma once

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

void log_open(enum log_level level);	  /* before any thread starts */
void log_set_level(enum log_level level); /* more than that is not said; any thread */
enum log_level log_level(void);
const char *log_level_name(enum log_level level);
bool log_level_parse(const char *name, enum log_level *ret);
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)	 log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
