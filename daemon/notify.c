/* daemon/notify.c - what systemd is told, and what it hands over */

#include "notify.h"

#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

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
