/* daemon/notify.c - what systemd is told */

#include "notify.h"

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
