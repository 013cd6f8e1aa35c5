/* m5/mem.c - packet memory and its keys */

#include "mem.h"

#include <string.h>
#include <sys/resource.h>

#include "../place/huge.h"
#include "inside.h"

int m5_mem_map(struct m5_mem *mem, size_t bytes, int numa_node, struct err *warn)
{
	memset(mem, 0, sizeof(*mem));
	if (warn)
		warn->text[0] = '\0';
	mem->base = place_huge_map(bytes, numa_node, &mem->page_bytes);
	if (!mem->base)
		return -ENOMEM;
	mem->bytes = bytes;
	if (mem->page_bytes < (size_t)2 << 20)
		err_set(warn, 0, "no huge pages free for %zu MiB of packet memory: using small pages, which "
			"costs speed; set vm.nr_hugepages to at least %zu", bytes >> 20,
			(bytes + ((size_t)2 << 20) - 1) >> 21);
	return 0;
}

static int register_failed(const struct m5_mem *mem, const char *name, int r, struct err *err)
{
	struct rlimit lim;

	if (r == -ENOMEM && !getrlimit(RLIMIT_MEMLOCK, &lim) && lim.rlim_cur != RLIM_INFINITY)
		return err_set(err, r, "%s: registering %zu bytes of packet memory: the memlock limit is "
			       "%llu bytes; raise it to at least that for every port (ulimit -l unlimited, "
			       "or LimitMEMLOCK=infinity in the unit)", name, mem->bytes,
			       (unsigned long long)lim.rlim_cur);
	return err_set(err, r, "%s: registering %zu bytes of packet memory: %s (%s)", name, mem->bytes,
		       strerror(-r), err_symbol(r));
}

int m5_mem_register(struct m5_mem *mem, struct m5_dev *dev, struct err *err)
{
	struct ibv_mr **mr = &mem->mr[dev->index];

	errno = 0;
	*mr = ibv_reg_mr(dev->pd, mem->base, mem->bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!*mr)
		return register_failed(mem, dev->caps.rdma_name, verbs_errno(), err);
	mem->lkey[dev->index] = to_be32((*mr)->lkey);
	return 0;
}

void m5_mem_unmap(struct m5_mem *mem)
{
	for (unsigned i = 0; i < M5_DEVS_MAX; i++)
		if (mem->mr[i])
			ibv_dereg_mr(mem->mr[i]);
	place_huge_unmap(mem->base, mem->bytes, mem->page_bytes);
	memset(mem, 0, sizeof(*mem));
}
