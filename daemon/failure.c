/* daemon/failure.c - why a queue failed */

#include "failure.h"

#include "../lib/base/hot.h"

/* Source of numbers: lib/prm/cqe.c. */
static const struct {
	unsigned syndrome;
	const char *name;
} failures[FAILURE_COUNT] = {
	[FAILURE_LOCAL_LENGTH] = { 0x01, "local_length" },
	[FAILURE_LOCAL_OPERATION] = { 0x02, "local_operation" },
	[FAILURE_LOCAL_PROTECTION] = { 0x04, "local_protection" },
	[FAILURE_FLUSHED] = { 0x05, "flushed" },
	[FAILURE_BAD_RESPONSE] = { 0x10, "bad_response" },
	[FAILURE_LOCAL_ACCESS] = { 0x11, "local_access" },
	[FAILURE_OTHER] = { 0, "other" },
	[FAILURE_OUT_OF_STEP] = { 0, "out_of_step" },
};

const char *failure_name(enum failure failure)
{
	return failures[failure].name;
}

enum failure failure_of(unsigned syndrome)
{
	unsigned i = 0;

	while (i < FAILURE_OTHER && failures[i].syndrome != syndrome)
		i++;
	return (enum failure)i;
}
