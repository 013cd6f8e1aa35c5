/* daemon/requested.h - how requests of the control socket ended, and how long changes took
 *
 * The kinds are those of the table in requests.c, and one more for what is none of them, so
 * there are no more series than that, whatever clients say.
 *
 * Context: control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum request_result {
	REQUEST_OK,
	REQUEST_REFUSED, /* not understood, not allowed, or not as things are */
	REQUEST_ERROR, /* the daemon lacked something: memory, room in a table, the kernel */
	REQUEST_RESULTS
};

enum { REQUEST_KINDS_MAX = 64 };

/* From a request's arrival to tables that show every worker what it asked for. */
enum { COMMIT_BOUNDS = 11 };
extern const uint64_t commit_bound_ns[COMMIT_BOUNDS];

struct requested {
	uint64_t count[REQUEST_KINDS_MAX][REQUEST_RESULTS];
	uint64_t commits[COMMIT_BOUNDS + 1], commits_ns;
	uint64_t arrived_ns; /* of the request at work */
};

unsigned request_kinds(void);
const char *request_object(unsigned kind);
const char *request_verb(unsigned kind); /* "" = none */

const char *request_result_name(enum request_result result); /* "ok" */

/* @r: 0 or -errno */
void requested_ended(struct requested *q, unsigned kind, int r);
void requested_commit(struct requested *q, uint64_t ns);
