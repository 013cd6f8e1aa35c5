/* test/client/check.c - see check.h */
#define _GNU_SOURCE 1
#include "check.h"

#include <grp.h>
#include <unistd.h>

static unsigned count, failures;

bool check(bool ok, const char *fmt, ...)
{
	int saved = errno;
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	count++;
	failures += !ok;
	printf("%s %s", ok ? "ok  " : "FAIL", what);
	if (!ok)
		printf(" (errno %d, %s)", saved, strerror(saved));
	printf("\n");
	fflush(stdout);
	errno = saved;
	return ok;
}

bool check_become_nobody(void)
{
	const unsigned nobody = 65534;

	return check(!setgroups(0, NULL) && !setresgid(nobody, nobody, nobody) &&
			     !setresuid(nobody, nobody, nobody),
		     "become nobody");
}

int check_end(void)
{
	printf("%s: %u checks, %u failed\n", failures ? "SOME FAILED" : "ALL OK", count,
	       failures);
	fflush(stdout);
	return failures || !count;
}
