/* test/coverage.c - every test program, and cxmodel, says at exit what it exercised
 *
 * With CX_COVERAGE_DIR set, the lines of cx_coverage() go to a file of its own in that
 * directory; tests/run adds them up. Nothing else happens here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../core/cx.h"

static void write_line(void *arg, const char *text)
{
	fprintf(arg, "%s\n", text);
}

__attribute__((destructor)) static void write_coverage(void)
{
	const char *dir = getenv("CX_COVERAGE_DIR");
	char path[512];
	FILE *out;
	int fd;

	if (!dir)
		return;
	/* Not the process number: tests run in namespaces where it repeats. */
	snprintf(path, sizeof(path), "%s/XXXXXX", dir);
	fd = mkstemp(path);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		perror(path);
		return;
	}
	cx_coverage(write_line, out);
	fclose(out);
}
