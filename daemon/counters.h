/* daemon/counters.h - all counters of a router in one struct, and as lines of a file
 *
 *   boot 6f1b2c...                which start of the machine the numbers are of
 *   closed yes                    they are final: the daemon stopped in order
 *   router fib_ipv4.add 12
 *   port eth0 delivered.ttl 3
 *   worker 0 turns 812345
 *   queue eth0 1 dropped.blackhole 7
 *   gone eth0 received 99         of workers that the port no longer has
 *
 * counters.c has the table of names, so files outlive changes of the structs: a name that is not
 * known is passed over, and one that is missing is 0, as are those that are 0.
 */
#pragma once

#include "router.h"

#define COUNTERS_BOOT_TEXT 64

struct counters_queue {
	struct fwd_port_count count;
	struct histogram latency;
	uint64_t receive_errors, transmit_errors;
};

struct counters_port {
	char name[IF_NAMESIZE];
	uint64_t carrier_changes, out_of_buffer, doorbells, compressed, full;
	uint64_t recoveries[DIRECTIONS][2], failures[DIRECTIONS][FAILURE_COUNT];
	struct exc_port_count punts;
	struct counters_queue gone;
};

struct counters_worker {
	uint64_t turns, empty_turns, sleeps, switches;
	uint64_t busy_ns, idle_ns; /* whose ticks are not those of another start */
	uint64_t bursts[FWD_BURST_SIZES];
};

struct counters_router {
	uint64_t commits; /* this and the next two are of struct fib_sizes */
	uint64_t updates[2][FIB_OPERATION_COUNT], refused[2][FIB_REFUSAL_COUNT];
	uint64_t overruns;
	uint64_t requests[REQUEST_KINDS_MAX][REQUEST_RESULTS];
	uint64_t commit_times[COMMIT_BOUNDS + 1], commit_ns;
};

struct counters {
	char boot[COUNTERS_BOOT_TEXT]; /* "" = not known */
	bool closed;
	struct counters_router router;
	unsigned n_ports;
	struct counters_port port[FWD_PORTS_MAX];
	struct counters_worker worker[ROUTER_WORKERS_MAX];
	struct counters_queue queue[FWD_PORTS_MAX][ROUTER_WORKERS_MAX];
};

struct counters *
counters_new(void); /* of zeros, to be freed with free(); NULL: no memory */
/* Adds as uint64_t after uint64_t; but the longest time of a histogram is the longer one. */
void counters_add(struct counters_queue *to, const struct counters_queue *from);

/* Each line but zeros; workers below @n_workers. */
void counters_print(const struct counters *c, unsigned n_workers,
		    void (*line)(void *arg, const char *line), void *arg);
/* Takes one of these lines. Return: 0, or -EBADMSG with @err. */
int counters_take(struct counters *c, char *line, struct err *err);
