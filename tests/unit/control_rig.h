/* unit/control_rig.h - the daemon's control socket, and clients for it
 *
 * The daemon's own files with tables and two ports, eth0 and eth1, but no device and no
 * worker, on a thread; clients are the test itself, or a child where the user matters.
 */
#pragma once

#include "../test.h"

#include <string.h>

#include "../../daemon/router.h"

#define MAC "02:00:00:00:0a:02"
#define OK  "{\"status\":\"ok\"}"

struct rig {
	struct router router;
	char folder[64]; /* its sockets are in there: s, and r for readers */
};
extern struct rig rig;

/* Everything but the sockets; for tests that open them themselves. @group: of both. */
void rig_make(const char *group);
void rig_unmake(void); /* nothing must be left in the folder */

/* Setup and teardown of a test: the socket is served. */
int rig_started(void **state);
int rig_started_for_users(void **state); /* control_group and readers_group = users */
int rig_stopped(void **state);
#define served(f) cmocka_unit_test_setup_teardown(f, rig_started, rig_stopped)

/* ---- clients; what does not come within 20 s fails the test ---- */

int dial(void);
void dial_with(int fd);		       /* an unconnected socket */
int dial_at(int fd, const char *name); /* the same, to either socket; 0 or -errno */
void say_bytes(int fd, const void *bytes, size_t n);
void say(int fd, const char *text);
const char *hear(int fd); /* one line, without its end; "" when the daemon closed */
const char *ask(int fd, const char *text);
void assert_has(const char *text, const char *part);
void assert_still_serves(void);
/* 10.0.0.0/24, 10.0.1.0/24 and so on, in one batch. */
void add_routes(int fd, unsigned n);
