/* daemon/requested.c - how requests ended, and how long changes took */

#include "requested.h"

#include <errno.h>

#include "../lib/base/hot.h"
#include "../lib/base/time.h"

const uint64_t commit_bound_ns[COMMIT_BOUNDS] = {
	10 * NS_PER_US,	 20 * NS_PER_US, 50 * NS_PER_US, 100 * NS_PER_US,
	200 * NS_PER_US, NS_PER_MS,	 10 * NS_PER_MS, 100 * NS_PER_MS,
	NS_PER_S / 2,	 NS_PER_S,	 10 * NS_PER_S,
};

const char *request_result_name(enum request_result result)
{
	static const char *const names[REQUEST_RESULTS] = {
		[REQUEST_OK] = "ok",
		[REQUEST_REFUSED] = "refused",
		[REQUEST_ERROR] = "error",
	};

	return names[result];
}

/* What a client can do something about; all else is the daemon's, or its host's. */
static const int refusals[] = {
	EINVAL, EACCES,	  EPERM, EEXIST, ESRCH,	     ENOENT, ENODEV,
	EBUSY,	EALREADY, E2BIG, ENOSYS, EOPNOTSUPP, ERANGE,
};

static enum request_result result_of(int r)
{
	if (!r)
		return REQUEST_OK;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		if (r == -refusals[i])
			return REQUEST_REFUSED;
	return REQUEST_ERROR;
}

void requested_ended(struct requested *q, unsigned kind, int r)
{
	q->count[kind][result_of(r)]++;
}

void requested_commit(struct requested *q, uint64_t ns)
{
	unsigned i = 0;

	while (i < COMMIT_BOUNDS && ns > commit_bound_ns[i])
		i++;
	q->commits[i]++;
	q->commits_ns += ns;
}
