/* daemon/switches.c - involuntary context switches of a thread, from its status in /proc */

#include "switches.h"

#include <inttypes.h>
#include <stdio.h>

#include "../lib/base/err.h"

int switches_of_thread(int tid, uint64_t *ret)
{
	char path[64], line[256];
	int r = -EIO;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return err_errno();
	while (r && fgets(line, sizeof(line), f))
		if (sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, ret) == 1)
			r = 0;
	fclose(f);
	return r;
}
