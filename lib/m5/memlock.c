/* m5/memlock.c - why memory could not be registered
 *
 * The kernel counts every registration against the limit, whoever maps the pages, unless the
 * process has CAP_IPC_LOCK. Source: Linux drivers/infiniband/core/umem.c, ib_umem_get;
 * proc(5), VmPin and CapEff.
 */

#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>

#include "inside.h"

/* Kilobytes that this process has registered by now, and whether the limit holds for it. */
static void read_status(unsigned long long *pinned_kb, bool *limited)
{
	unsigned long long caps = 0;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	*pinned_kb = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %llu", pinned_kb) != 1)
			sscanf(line, "CapEff: %llx", &caps);
	if (f)
		fclose(f);
	*limited = !(caps >> CAP_IPC_LOCK & 1);
}

int m5_register_failed(const struct m5_dev *dev, const char *what, size_t bytes, int r,
		       struct err *err)
{
	const char *name = dev->caps.rdma_name;
	unsigned long long pinned_kb, need_kb;
	struct rlimit lim;
	bool limited;

	read_status(&pinned_kb, &limited);
	if (r != -ENOMEM || !limited || getrlimit(RLIMIT_MEMLOCK, &lim) ||
	    lim.rlim_cur == RLIM_INFINITY)
		return err_set(err, r, "%s: registering %zu KiB of %s: %s (%s)", name,
			       bytes >> 10, what, strerror(-r), err_symbol(r));
	need_kb = pinned_kb + (bytes >> 10);
	return err_set(
		err, r,
		"%s: registering %zu KiB of %s: the memlock limit is %llu KiB, and with "
		"this %llu KiB are needed, more with further queues and ports: raise it "
		"(ulimit -l unlimited; LimitMEMLOCK=infinity in the unit)",
		name, bytes >> 10, what, (unsigned long long)lim.rlim_cur >> 10, need_kb);
}
