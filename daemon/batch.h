/* daemon/batch.h - several changes as one
 *
 * `begin` takes the tables for one client until `commit` or `abort`; meanwhile others are told
 * EBUSY. `begin restore` opens a batch that says what all static routes shall be (restore.h).
 * `commit --dry-run` does everything but change something.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>

struct client;
struct fib_prefix;
struct request;
struct router;

/* The tables are not this client's to change: says so. A batch whose owner sleeps is given up. */
bool batch_of_others(struct request *req);
/* A change was staged. In a batch it waits for `commit`, else it is committed. Return: 0 or -errno,
 * and nothing has changed. */
int batch_changed(struct router *r);
void batch_give_up(struct router *r); /* what is staged */
bool batch_restores(const struct router *r);
extern const char batch_restore_takes[]; /* said of other changes in such a batch */
/* A route that shall be; was it there, and the same? Return: 0 or -ENOMEM. */
int batch_put(struct router *r, const struct fib_prefix *p, bool was_there, bool same);
