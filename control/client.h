/* control/client.h - the daemon's socket, from outside
 *
 * Functions return 0 or -errno and say what went wrong in @err; what to do about it says
 * ctl_hint().
 */
#pragma once

#include <stdbool.h>

#include "../lib/base/err.h"
#include "../lib/ctl/row.h"

struct ctl_client;

/* @path: NULL = where it is by default, or where readers may come if that one does not permit. */
int ctl_connect(const char *path, unsigned timeout_s, struct err *err,
		struct ctl_client **ret);
void ctl_close(struct ctl_client *c);
void ctl_wait_long(struct ctl_client *c); /* for answers, without a time-out */
/* Sends a request of these words; does not wait. -E2BIG and -EINVAL: it is no request, and
 * nothing was sent. */
int ctl_send(struct ctl_client *c, const char *const words[], int n, struct err *err);
/**
 * ctl_line() - the next row of the replies, as it came
 * @ret:  without its end; valid until the next call
 * @last: true = it ends a reply, and has "status"
 */
int ctl_line(struct ctl_client *c, const char **ret, bool *last, struct err *err);
int ctl_parse(const char *line, struct row **ret,
	      struct err *err); /* @ret is to be freed */
/* Both at once. */
int ctl_reply(struct ctl_client *c, struct row **ret, bool *last, struct err *err);
const char *ctl_hint(int r); /* NULL = none */
