/* daemon/notify.h - what systemd is told, and what it hands over; the door to libsystemd
 *
 * Nothing happens when the daemon was not started by systemd.
 */
#pragma once

void notify_ready(const char *status);
void notify_stopping(void);
void notify_status(const char *status);
void notify_alive(void); /* for WatchdogSec= */
/* One entry of the journal; @priority as syslog(3) has it. */
void notify_journal(int priority, const char *text);
/* The listening socket of that name (FileDescriptorName=), or -1. */
int notify_socket(const char *name);
