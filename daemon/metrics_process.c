/* daemon/metrics_process.c - what the kernel says of this process; source: proc(5) */

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../lib/base/time.h"
#include "metrics_inside.h"

static double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / NS_PER_S;
}

/* Found once: two readings of two clocks never agree to the last digit, and a start that moves
 * would look like a restart. */
static double started_s(uint64_t ticks_after_boot, double ticks_per_s)
{
	static double started;

	if (started == 0.0)
		started = clock_s(CLOCK_REALTIME) - clock_s(CLOCK_BOOTTIME) +
			  (double)ticks_after_boot / ticks_per_s;
	return started;
}

static int read_stat(char *line, int size)
{
	FILE *f = fopen("/proc/self/stat", "re");
	int r = f && fgets(line, size, f) ? 0 : -EIO;

	if (f)
		fclose(f);
	return r;
}

static int look_at_stat(struct process_facts *ret)
{
	uint64_t user, system, start, virtual, resident;
	double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
	char line[1024], *rest;

	rest = read_stat(line, sizeof(line)) ? NULL : strrchr(line, ')');
	/* After the name fields 3 to 24; some are negative. */
	if (!rest ||
	    sscanf(rest,
		   ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %*d %*d %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &user, &system, &start, &virtual, &resident) != 5)
		return -EIO;
	ret->started_s = started_s(start, ticks_per_s);
	ret->cpu_s = (double)(user + system) / ticks_per_s;
	ret->virtual_bytes = virtual;
	ret->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

static int count_descriptors(uint64_t *ret)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	uint64_t n = 0;

	if (!dir)
		return err_errno();
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	*ret = n - 1; /* but that of the folder */
	return 0;
}

int process_look(struct process_facts *ret)
{
	struct rlimit limit;
	int r = look_at_stat(ret);

	if (!r)
		r = count_descriptors(&ret->open_fds);
	if (!r && getrlimit(RLIMIT_NOFILE, &limit))
		r = err_errno();
	if (!r)
		ret->max_fds = limit.rlim_cur;
	return r;
}
