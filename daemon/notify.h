/* daemon/notify.h - what systemd is told; the door to libsystemd
 *
 * Nothing happens when the daemon was not started by systemd.
 */
#pragma once

void notify_ready(const char *status);
void notify_stopping(void);
void notify_status(const char *status);
