/* daemon/router.h - everything the daemon has, and who starts and stops it
 *
 *   main.c        start order and stop order
 *   claim.c       one daemon a port
 *   ports.c       devices, queues, steering
 *   follow.c      links, addresses and device events while it runs
 *   legs.c        groups of next hops follow their ports
 *   recover.c     queues in error
 *   placement.c   which CPU each worker has
 *   workers.c     threads and the exception path
 *   control.c     Unix socket; client.c requests.c and what they call
 *   metrics.c     what Prometheus reads
 *   keep.c        routes and counters outlive it
 *   watchdog.c    a worker that is stuck
 *   trace.c       what becomes of some packets
 *
 * All of it belongs to the control thread.
 */
#pragma once

#include "../lib/exc/punt.h"
#include "../lib/fib/fib.h"
#include "../lib/fwd/worker.h"
#include "../lib/m5/clock.h"
#include "../lib/m5/dev.h"
#include "../lib/m5/rxq.h"
#include "../lib/m5/steer.h"
#include "../lib/m5/txq.h"
#include "../lib/mirror/mirror.h"
#include "../lib/place/plan.h"
#include "config.h"
#include "event.h"
#include "failure.h"
#include "requested.h"

#define ROUTER_WORKERS_MAX 64

enum direction { RECEIVE, TRANSMIT, DIRECTIONS };

struct client;
struct config_said;
struct events;
struct keep;
struct restore;
struct row;
struct trace;

struct port {
	struct router *router;
	const struct config_port *conf;
	unsigned index;
	struct mirror_link link; /* as the kernel says; ifindex 0 = gone */
	uint32_t opened_mtu;	 /* what the queues were made for */
	struct m5_dev *dev;
	struct m5_rxq *rxq[ROUTER_WORKERS_MAX];
	struct m5_txq *txq[ROUTER_WORKERS_MAX];
	struct m5_steer *steer;
	struct m5_clock clock; /* of received packets; read by workers */
	struct event_source *events;
	int claim_fd; /* -1 = none */
	uint64_t carrier_changes;
	uint64_t recoveries[DIRECTIONS][2]; /* queues reset: well, and in vain */
	uint64_t failures[DIRECTIONS][FAILURE_COUNT];
	uint64_t out_of_step[ROUTER_WORKERS_MAX]; /* of receive queues, as recover.c knows */
	struct row *base,
		*drop_base; /* counters at their last reset, show.c; NULL = none */
	bool lost;	    /* device-fatal: the kernel has the port until a restart */
};

/* Counts of an earlier run that have no place among those of this one, keep_counters.c. What is
 * told of a port has them in it. */
struct kept {
	struct fwd_port_count count; /* of workers that are no more */
	struct histogram latency;
	uint64_t receive_errors, transmit_errors, doorbells, compressed, full;
	uint64_t out_of_buffer;
	uint64_t out_of_buffer_told; /* the whole of it, when it was last asked for */
};

struct kept_worker {
	uint64_t switches, switches_told; /* as out_of_buffer */
};

struct worker_watch { /* watchdog.c */
	uint64_t turns;
	unsigned still_ms; /* since they were seen to move */
};

struct router {
	struct config conf;
	struct config_said *said; /* as it was written */
	const char *config_path;
	struct event_loop *loop;
	struct mirror *mirror;
	struct event_source *mirror_events;
	bool mirror_fails;
	struct fib *fib;
	struct port port[FWD_PORTS_MAX];
	unsigned n_ports;
	struct place_plan place;
	struct fwd_worker *worker[ROUTER_WORKERS_MAX];
	unsigned n_workers;
	struct worker_watch watch[ROUTER_WORKERS_MAX];
	unsigned unfed_ms; /* systemd's watchdog */
	struct exc *exc;
	struct control *control;
	struct metrics *metrics;    /* NULL: off */
	struct client *batch_owner; /* batch.c; NULL: no batch is open */
	struct events *events;	    /* events.c */
	struct restore *restore;    /* what it shall lead to; NULL: just changes */
	struct requested requested; /* how requests ended */
	struct keep *keep;	    /* keep.c; NULL: nothing is kept */
	struct kept kept[FWD_PORTS_MAX];
	struct kept_worker kept_worker[ROUTER_WORKERS_MAX];
	struct fib_sizes kept_sizes; /* counters only */
	uint64_t kept_overruns;
	uint64_t started_ns;
	bool forwarding;     /* transit is ours */
	struct trace *trace; /* trace.c; NULL: there was none */
	struct event_source *trace_ticks;
	int trace_timer; /* -1 or what ticks */
	struct {
		bool refused;  /* the last time that it was to be read again */
		double read_s; /* when what runs was read, since the epoch */
	} configured;
};

/* claim.c: one daemon a port. Held as long as the descriptor is open, so never stale. */
int claim_port(const char *netdev, struct err *err, int *ret_fd);

/* ports.c */
int ports_open(struct router *r,
	       struct err *err); /* devices and queues; no packet comes yet */
int ports_steer(struct router *r, struct err *err); /* from here on transit is ours */
void ports_release(struct router *r);		    /* transit back to the kernel */
void ports_close(struct router *r);
struct port *port_by_name(struct router *r, const char *name);
/* What a next hop takes from its port: source MAC and MTU. */
void port_set_nexthop(const struct port *p, struct fib_nh *nh);
/* The device is gone for good; the rest goes on. */
void port_give_up(struct port *p);

/* follow.c */
int follow_open(struct router *r,
		struct err *err); /* asks the kernel for links and addresses */
void follow_close(struct router *r);
int follow_device(struct port *p, struct err *err);
void follow_tick(struct router *r);

/* legs.c */
bool leg_is_down(const struct router *r, const struct fib_nh *nh);
void legs_follow(struct router *r);

/* recover.c */
void recover_tick(struct router *r);
uint64_t recover_count(const struct port *p); /* queues that were reset */

/* placement.c */
/* Before anything is made for a worker; the ports' devices are open. */
int placement_choose(struct router *r, struct err *err);
void placement_log(const struct router *r); /* once, when the queues are there */
void placement_show(struct row *row, const struct router *r, unsigned worker);

/* workers.c */
int workers_open(struct router *r, struct err *err);
int workers_start(struct router *r, struct err *err);
/* After ports_release(): returns when nothing is under way. */
void workers_stop(struct router *r);
void workers_close(struct router *r);
/* Bursts, idling and samples as r->conf has them now; each worker pauses for a moment. */
void workers_tune(struct router *r);
/* A port's queues, MAC or state as every worker shall see it. */
void workers_set_port(struct router *r, const struct port *p);
/* The worker is paused or stopped: what it handed to the devices leaves, while @until_ns allows. */
void workers_flush(struct router *r, unsigned worker, uint64_t until_ns);
