/* bench/fib/eal.h - what the files of DPDK peers share */
#pragma once

#include <rte_malloc.h>

static inline double eal_heap_mib(void)
{
	struct rte_malloc_socket_stats s;

	if (rte_malloc_get_socket_stats(0, &s) < 0)
		return 0;
	return (double)s.heap_allocsz_bytes / (1 << 20);
}
