/* m5/mem.c - packet memory and its keys */

#include "mem.h"

#include <string.h>

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
	if (bytes >= PLACE_HUGE_MIN_BYTES && mem->page_bytes < PLACE_HUGE_PAGE_BYTES)
		err_set(warn, 0,
			"no huge pages free for %zu MiB of packet memory: using small pages, which "
			"costs speed; this queue wants %zu of 2 MiB "
			"(vm.nr_hugepages)",
			bytes >> 20,
			(bytes + PLACE_HUGE_PAGE_BYTES - 1) / PLACE_HUGE_PAGE_BYTES);
	return 0;
}

int m5_mem_register(struct m5_mem *mem, struct m5_dev *dev, struct err *err)
{
	struct ibv_mr **mr = &mem->mr[dev->index];

	errno = 0;
	*mr = ibv_reg_mr(dev->pd, mem->base, mem->bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!*mr)
		return m5_register_failed(dev, "packet memory", mem->bytes, verbs_errno(),
					  err);
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
