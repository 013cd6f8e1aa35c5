/* test/coverage.c - every test program says at exit what it exercised
 *
 * With CX_COVERAGE_DIR set, the lines of cx_coverage() go to a file of this
 * process in that directory; tests/run adds them up. Linked into each test.
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

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/test.%ld", dir, (long)getpid());
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return;
	}
	cx_coverage(write_line, out);
	fclose(out);
}
