/* m5/privilege.c - what this process may do, and how much memory it may register */

#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inside.h"
#include "mem.h"

static bool has_capability(unsigned cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &head, data) == 0 &&
	       (data[cap / 32].effective >> cap % 32 & 1);
}

/* Without it the device would refuse the send queue as a bad parameter, and the kernel the
 * rules. Source: Linux drivers/infiniband/hw/mlx5/devx.c, mlx5_ib_devx_create, and fs.c. */
int m5_require_raw(const char *netdev, struct err *err)
{
	if (has_capability(CAP_NET_RAW))
		return 0;
	return err_set(
		err, -EPERM,
		"%s: not permitted: DevX queues for raw frames and flow rules need CAP_NET_RAW "
		"(run as root, or AmbientCapabilities=CAP_NET_RAW in the unit)",
		netdev);
}

/* ---- the memlock limit ----
 *
 * The kernel counts every registration against it, whoever mapped the pages, unless the
 * process has CAP_IPC_LOCK. Source: Linux drivers/infiniband/core/umem.c, ib_umem_get. */

/* Source: proc(5), VmPin. */
static unsigned long long pinned_kb(void)
{
	unsigned long long kb = 0;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %llu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static bool has_limit(struct rlimit *ret)
{
	return !has_capability(CAP_IPC_LOCK) && !getrlimit(RLIMIT_MEMLOCK, ret) &&
	       ret->rlim_cur != RLIM_INFINITY;
}

int m5_mem_allowed(size_t bytes, struct err *err)
{
	struct rlimit lim;

	if (!has_limit(&lim) || bytes <= lim.rlim_cur)
		return 0;
	return err_set(
		err, -ENOMEM,
		"the memlock limit is %llu KiB, and packet memory and queues need %zu "
		"KiB: raise it (ulimit -l unlimited; LimitMEMLOCK=infinity in the unit)",
		(unsigned long long)lim.rlim_cur >> 10, bytes >> 10);
}

int m5_register_failed(const struct m5_dev *dev, const char *what, size_t bytes, int r,
		       struct err *err)
{
	const char *name = dev->caps.rdma_name;
	struct rlimit lim;

	if (r != -ENOMEM || !has_limit(&lim))
		return err_set(err, r, "%s: registering %zu KiB of %s: %s (%s)", name,
			       bytes >> 10, what, strerror(-r), err_symbol(r));
	return err_set(
		err, r,
		"%s: registering %zu KiB of %s: the memlock limit is %llu KiB, and with "
		"this %llu KiB are needed, more with further queues and ports: raise it "
		"(ulimit -l unlimited; LimitMEMLOCK=infinity in the unit)",
		name, bytes >> 10, what, (unsigned long long)lim.rlim_cur >> 10,
		pinned_kb() + (bytes >> 10));
}
