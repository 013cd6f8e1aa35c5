/* control/client.h - the daemon's socket, from outside
 *
 * Functions return 0 or -errno and say what went wrong in @err.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "../lib/base/err.h"

struct ctl_client;

int ctl_connect(const char *path, unsigned timeout_s, struct err *err, struct ctl_client **ret);
void ctl_close(struct ctl_client *c);
/* Sends a request of these words; does not wait. */
int ctl_send(struct ctl_client *c, const char *const words[], int n, struct err *err);
/**
 * ctl_reply() - the next object of the replies
 * @ret:  the object, to be freed by json_decref(); for the last one of a reply:
 * @last: true, and it has "status"
 */
int ctl_reply(struct ctl_client *c, json_t **ret, bool *last, struct err *err);
