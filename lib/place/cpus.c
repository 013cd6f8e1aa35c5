/* place/cpus.c - sets of CPUs as lists */

#include "cpus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/number.h"

/* "2-5" or "8", up to the next comma or the end. */
static int take_range(const char **at, cpu_set_t *set)
{
	uint64_t first, last;
	int r = number_take(at, UINT32_MAX, &first);

	if (r < 0)
		return r;
	last = first;
	if (**at == '-') {
		++*at;
		r = number_take(at, UINT32_MAX, &last);
	}
	if (r < 0 || last < first)
		return r < 0 ? r : -EINVAL;
	for (uint64_t cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, set);
	return 0;
}

static bool is_end(const char *at)
{
	return !*at || !strcmp(at, "\n");
}

int place_cpus_parse(const char *text, cpu_set_t *ret)
{
	cpu_set_t set;
	int r = 0;

	CPU_ZERO(&set);
	for (const char *at = text; !r && !is_end(at); at++) {
		r = take_range(&at, &set);
		if (r < 0 || is_end(at))
			break;
		if (*at != ',' || is_end(at + 1))
			r = -EINVAL;
	}
	if (!r)
		*ret = set;
	return r;
}

static int end_of_range(const cpu_set_t *set, int first)
{
	int last = first;

	while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
		last++;
	return last;
}

const char *place_cpus_text(const cpu_set_t *set, char *text, size_t size)
{
	static const char more[] = "...";
	size_t at = 0;
	int n, last;

	*text = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu = last + 1) {
		char range[16];

		last = cpu;
		if (!CPU_ISSET(cpu, set))
			continue;
		last = end_of_range(set, cpu);
		n = snprintf(range, sizeof(range), last > cpu ? "%s%d-%d" : "%s%d",
			     at ? "," : "", cpu, last);
		if (at + (size_t)n + sizeof(more) > size) {
			snprintf(text + at, size - at, "%s", more);
			break;
		}
		memcpy(text + at, range, (size_t)n + 1);
		at += (size_t)n;
	}
	return text;
}

int place_cpus_first(const cpu_set_t *set)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			return cpu;
	return -1;
}
