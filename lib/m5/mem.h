/* m5/mem.h - packet memory: one region, registered on every port's device
 *
 * A frame leaves from where it arrived, so the region of a receive queue is known
 * to the devices of all ports; each has its own key for it. A zeroed struct is an
 * unmapped region, and unmapping it does nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../base/be.h"
#include "dev.h"

struct ibv_mr;

struct m5_mem {
	uint8_t *base;
	size_t bytes;
	size_t page_bytes;	  /* 2 MiB, or 4 KiB when there were no huge pages */
	be32_t lkey[M5_DEVS_MAX]; /* by m5_dev_index(), as a data segment wants it */
	struct ibv_mr *mr[M5_DEVS_MAX];
};

/**
 * m5_mem_map() - huge pages on a node; small ones when there are none
 * @numa_node: -1 = anywhere
 * @warn: set to one sentence when small pages had to do ("" otherwise); the caller logs it once
 *
 * Return: 0, -ENOMEM.
 */
int m5_mem_map(struct m5_mem *mem, size_t bytes, int numa_node, struct err *warn);
/* -ENOMEM says the memlock limit and the number of bytes needed. */
int m5_mem_register(struct m5_mem *mem, struct m5_dev *dev, struct err *err);
/* Before anything is made: whether so many bytes may be registered altogether. -ENOMEM: the memlock
 * limit is lower, and @err says which is needed. */
int m5_mem_allowed(size_t bytes, struct err *err);
void m5_mem_unmap(struct m5_mem *mem); /* deregisters everywhere, then unmaps */
