/* daemon/config.h - the configuration file as one constant struct
 *
 * Keys, units, ranges, defaults and help are rows of config_keys.h; etc/mlx5fwd.conf
 * and mlx5fwd.conf(5) are tested against them. Bad input is an error with file, line,
 * key and what is allowed, and nothing of the file is taken.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../lib/base/err.h"
#include "../lib/fwd/worker.h"
#include "../lib/m5/rxq.h"
#include "../lib/m5/txq.h"
#include "log.h"

#ifndef CONFIG_FILE /* set by the build */
#define CONFIG_FILE "/etc/mlx5fwd/mlx5fwd.conf"
#endif
#define CONFIG_CPUS_MAX 64

struct config_cpus {
	int cpu[CONFIG_CPUS_MAX]; /* of worker n */
	unsigned n;		  /* 0 = choose */
};

struct config_port {
	char name[IF_NAMESIZE]; /* netdev, from "[port eth0]" */
	uint32_t rx_packets, tx_packets;
	bool striding;
	enum m5_compression compression;
	uint32_t prefetch;
	enum m5_send send;
	uint32_t copied_from_queues, copied_up_to_bytes;
	uint32_t send_rings; /* 0 = auto */
	enum m5_doorbell doorbell;
};

struct config {
	/* [daemon] */
	uint32_t workers;
	struct config_cpus cpus;
	enum fwd_idle idle;
	uint32_t idle_spin_us, idle_pause_us;
	uint32_t burst, latency_sample;
	uint32_t punt_rate_pps, punt_burst, punt_ring;
	uint32_t receive_bytes; /* 0 = auto */
	uint32_t max_nexthops;
	char control_socket[108];
	char control_group[32];
	char read_socket[108];
	char readers_group[32];
	char state_directory[108];
	bool keep_routes, keep_counters;
	char metrics_listen[108];
	enum log_level log_level;
	/* [port NAME] */
	struct config_port port[FWD_PORTS_MAX];
	unsigned n_ports;
};

/* @err: "mlx5fwd.conf:12: idle_spin_us = x: must be 0 to 1000000 (microseconds)". */
int config_read(const char *path, struct config *ret, struct err *err);
/* The same from an open file, which @name stands for in errors. */
int config_read_file(FILE *file, const char *name, struct config *ret, struct err *err);
