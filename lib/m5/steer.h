/* m5/steer.h - which packets come to us, and which stay with the kernel
 *
 * Rules of one port, best first:
 *
 *   local     destination is one of the host's own addresses     -> kernel (default miss)
 *   kernel    multicast, broadcast, fragments, TTL 0 and 1 where the card can match them -> kernel
 *   transit   destination MAC is the port's, IPv4 or IPv6        -> our queues, by traffic type
 *   the rest  never touched
 *
 * Transit rules exist only while m5_steer_transit() is on, and are the last to come
 * and the first to go. All vanish with the process. Source: design.md, data path 6.
 *
 * Context: control thread, sleeps.
 */
#pragma once

#include "dev.h"
#include "rxq.h"

struct m5_steer;

struct m5_steer_conf {
	uint8_t mac[6];
	struct m5_rxq *const *rxq; /* the port's queues, one per worker */
	unsigned n_rxq;
};

/* What rules and hash look at; the port's MAC is its destination. */
struct m5_flow {
	uint8_t family, proto, ttl; /* 4 or 6; IP protocol; or hop limit */
	uint8_t src[16], dst[16];   /* IPv4 in the first four */
	uint16_t sport, dport;	    /* TCP and UDP */
};

enum { M5_STEER_KERNEL = -1 };

/* Makes RQT and one TIR per traffic type, and the kernel rules. Nothing is taken yet. */
int m5_steer_open(struct m5_dev *dev, const struct m5_steer_conf *conf, struct err *err,
		  struct m5_steer **ret);
void m5_steer_close(struct m5_steer *s); /* transit off first */
int m5_steer_transit(struct m5_steer *s, bool on, struct err *err);
/* @family 4 or 6. Adding what is there, or deleting what is not, is no error. */
int m5_steer_local_add(struct m5_steer *s, uint8_t family, const uint8_t addr[16],
		       struct err *err);
int m5_steer_local_del(struct m5_steer *s, uint8_t family, const uint8_t addr[16],
		       struct err *err);
/* The netdev's MAC changed: rules follow, new before old. */
int m5_steer_mac_set(struct m5_steer *s, const uint8_t mac[6], struct err *err);

/**
 * m5_steer_queue() - where packets of a flow arrive
 * @f: whole and untagged packets
 *
 * What rules and TIRs make the card do, in software: nothing is asked of it.
 *
 * Return: index in conf->rxq, or M5_STEER_KERNEL: rules leave them with the kernel.
 */
int m5_steer_queue(struct m5_steer *s, const struct m5_flow *f);
