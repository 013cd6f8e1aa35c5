/* daemon/router.h - everything the daemon has, and who starts and stops it
 *
 *   main.c     start order and stop order
 *   ports.c    devices, queues, steering; follows links and addresses
 *   workers.c  threads and the exception path
 *   routes.c   requests about routes -> fib
 *   control.c requests.c   Unix socket
 *
 * All of it belongs to the control thread.
 */
#pragma once

#include "../lib/exc/punt.h"
#include "../lib/fib/fib.h"
#include "../lib/fwd/worker.h"
#include "../lib/m5/dev.h"
#include "../lib/m5/rxq.h"
#include "../lib/m5/steer.h"
#include "../lib/m5/txq.h"
#include "../lib/mirror/mirror.h"
#include "config.h"
#include "event.h"

#define ROUTER_WORKERS_MAX 64

struct port {
	struct router *router;
	const struct config_port *conf;
	unsigned index;
	struct mirror_link link; /* as the kernel says; ifindex 0 = gone */
	struct m5_dev *dev;
	struct m5_rxq *rxq[ROUTER_WORKERS_MAX];
	struct m5_txq *txq[ROUTER_WORKERS_MAX];
	struct m5_steer *steer;
	struct event_source *events;
	int claim_fd; /* claim.c; -1 = none */
	uint64_t carrier_changes, recoveries;
	bool lost; /* device-fatal: the kernel has the port until a restart */
};

struct router {
	struct config conf;
	struct event_loop *loop;
	struct mirror *mirror;
	struct event_source *mirror_events;
	struct fib *fib;
	struct port port[FWD_PORTS_MAX];
	unsigned n_ports;
	struct fwd_worker *worker[ROUTER_WORKERS_MAX];
	unsigned n_workers;
	struct exc *exc;
	struct control *control;
	uint64_t started_ns;
	bool forwarding; /* transit is ours */
};

/* claim.c: one daemon a port. Held as long as the descriptor is open, so never stale. */
int claim_port(const char *netdev, struct err *err, int *ret_fd);

/* ports.c */
int ports_open(struct router *r, struct err *err);  /* devices and queues; no packet comes yet */
int ports_steer(struct router *r, struct err *err); /* from here on transit is ours */
void ports_release(struct router *r);		    /* transit back to the kernel */
void ports_close(struct router *r);
void ports_on_link(struct router *r, const struct mirror_link *link, bool gone);
void ports_on_addr(struct router *r, uint8_t family, const uint8_t addr[16], bool added);
void ports_recover(struct router *r); /* every tick: queues in error are reset */
struct port *port_by_name(struct router *r, const char *name);

/* workers.c */
int workers_open(struct router *r, struct err *err);
int workers_start(struct router *r, struct err *err);
void workers_drain(struct router *r); /* after ports_release(): until nothing is under way */
void workers_stop(struct router *r);
void workers_close(struct router *r);
/* A port's queues, MAC or state as every worker shall see it. */
void workers_set_port(struct router *r, const struct port *p);
