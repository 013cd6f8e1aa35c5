/* daemon/log.h - one line a message, to standard error
 *
 * To the journal each line carries its priority (sd-daemon(3)), so that it is filed right;
 * elsewhere the level's name. Context: any thread.
 */
#pragma once

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

void log_open(
	enum log_level level); /* before any thread starts; more than that is not said */
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)	 log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
