/* daemon/notify.c - what systemd is told, and what it hands over */

#include "notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#include "../lib/base/hot.h"

void notify_ready(const char *status)
{
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}
void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=draining");
}
void notify_status(const char *status)
{
	sd_notifyf(0, "STATUS=%s", status);
}

void notify_alive(void)
{
	if (sd_watchdog_enabled(0, NULL) > 0)
		sd_notify(0, "WATCHDOG=1");
}

/* What a message may begin with, and the field that has it then: journalctl MLX5FWD_PORT=eth0 */
static const struct {
	const char *start, *field;
} subjects[] = {
	{ "port ", "MLX5FWD_PORT" },
	{ "worker ", "MLX5FWD_WORKER" },
};

static void set_subject(const char *text, char *field, size_t size)
{
	*field = '\0';
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		size_t n = strlen(subjects[i].start), end;

		if (strncmp(text, subjects[i].start, n) != 0)
			continue;
		end = strcspn(text + n, " :");
		if (end && text[n + end] == ':')
			snprintf(field, size, "%s=%.*s", subjects[i].field, (int)end,
				 text + n);
	}
}

static struct iovec whole(char *text)
{
	return (struct iovec){ text, strlen(text) };
}

void notify_journal(int priority, const char *text)
{
	char message[1100], level[16], who[] = "SYSLOG_IDENTIFIER=mlx5fwd", subject[64];
	struct iovec field[4];

	snprintf(message, sizeof(message), "MESSAGE=%s", text);
	snprintf(level, sizeof(level), "PRIORITY=%d", priority);
	set_subject(text, subject, sizeof(subject));
	field[0] = whole(message);
	field[1] = whole(level);
	field[2] = whole(who);
	field[3] = whole(subject);
	sd_journal_sendv(field, *subject ? 4 : 3);
}

int notify_socket(const char *name)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(0, &names), fd = -1;

	for (int i = 0; i < n; i++) {
		if (fd < 0 && !strcmp(names[i], name) &&
		    sd_is_socket(SD_LISTEN_FDS_START + i, 0, 0, 1) > 0)
			fd = SD_LISTEN_FDS_START + i;
		free(names[i]);
	}
	free(names);
	return fd;
}
