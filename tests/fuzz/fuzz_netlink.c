/* fuzz/fuzz_netlink.c - notifications of links and addresses, as bytes
 *
 * What the mirror reports must be a difference each time: an address comes and goes by
 * turns, and those that stay are the ones it lists at the end.
 */

#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/mirror/mirror.h"

enum { REPORTS_MAX = 4096 };

static struct report {
	uint8_t family, addr[16];
	int there;
} report[REPORTS_MAX];
static unsigned n_reports;

static struct report *find(uint8_t family, const uint8_t addr[16])
{
	struct report *r = report;

	while (r < report + n_reports &&
	       (r->family != family || memcmp(r->addr, addr, 16) != 0))
		r++;
	assert(r < report + REPORTS_MAX);
	if (r == report + n_reports) {
		n_reports++;
		*r = (struct report){ .family = family };
		memcpy(r->addr, addr, 16);
	}
	return r;
}

static void on_link(void *arg, const struct mirror_link *link, bool gone)
{
	(void)arg;
	(void)gone;
	assert(strlen(link->name) < sizeof(link->name));
}

static void on_addr(void *arg, uint8_t family, const uint8_t addr[16], bool added)
{
	struct report *r = find(family, addr);

	(void)arg;
	assert(family == 4 || family == 6);
	assert(r->there == !added);
	r->there = added;
}

static void on_listed(void *arg, uint8_t family, const uint8_t addr[16])
{
	struct report *r = find(family, addr);

	(void)arg;
	assert(r->there == 1);
	r->there = 2; /* once each */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mirror_ops ops = { NULL, on_link, on_addr };
	size_t padded = (size + 3) & ~(size_t)3;
	uint8_t *bytes = calloc(1, padded + 4);
	struct mirror *m;

	if (!bytes || size > 8192 || mirror_new(&ops, &m) < 0) {
		free(bytes);
		return 0;
	}
	n_reports = 0;
	if (size)
		memcpy(bytes, data, size);
	mirror_feed(m, bytes, size);
	mirror_addr_each(m, on_listed, NULL);
	for (unsigned i = 0; i < n_reports; i++)
		assert(report[i].there != 1);
	mirror_close(m);
	free(bytes);
	return 0;
}
