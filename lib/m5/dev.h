/* m5/dev.h - an open device: the RDMA function behind a netdev
 *
 * Everything in m5/ belongs to one struct m5_dev, which is one port of the card.
 * Opening it takes nothing from the kernel: the netdev goes on as before.
 *
 * Context: control thread; sleeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../base/err.h"

#define M5_DEVS_MAX 16 /* ports of one process */

struct m5_dev;

/* What this device can do, read once at open. */
struct m5_caps {
	char rdma_name[64]; /* "mlx5_0" */
	char pci[16];	    /* "0000:03:00.0" */
	char fw_ver[64];
	uint32_t device_id; /* 0x101d = ConnectX-6 Dx */
	int numa_node;	    /* -1 = unknown */
	bool striding_rq, ext_stride_range, enhanced_mpw;
	bool match_ttl, match_hop_limit; /* in flow rules: IPv4, IPv6 */
	bool cqe_compression, enhanced_cqe_compression, ts_real_time;
	bool mini_stride, mini_type_stride; /* formats of compressed completions */
	uint8_t rq_ts_format, sq_ts_format; /* for the contexts of queues */
	uint8_t log_max_cq_size, log_max_wq_size, log_max_rqt_size;
	uint8_t log_min_stride_bytes, log_max_stride_bytes; /* striding RQ */
	uint8_t log_min_strides, log_max_strides;	    /* per WQE */
	uint8_t log_min_stride_wqe_bytes;
	uint8_t inline_mode; /* PRM_MIN_INLINE_*: headers a send must hold, none on newer cards */
	uint8_t min_inline; /* that is so many bytes at least */
	uint32_t clock_khz;
};

/**
 * m5_dev_open() - open the RDMA device of a netdev
 * @netdev: "eth0", in the caller's network namespace
 * @index:  0 .. M5_DEVS_MAX - 1, unique in the process; names this device's key in m5_mem
 * @err:    what failed and what to do: no such netdev, no RDMA device (mlx5_ib not loaded, no
 *          /dev/infiniband), DevX not permitted, a missing capability by name, memlock limit
 *
 * Return: 0, -EINVAL, -ENODEV, -EACCES, -EPERM, -EOPNOTSUPP, -ENOMEM, or what the library returned.
 */
int m5_dev_open(const char *netdev, unsigned index, struct err *err, struct m5_dev **ret);
void m5_dev_close(struct m5_dev *dev);

const struct m5_caps *m5_dev_caps(const struct m5_dev *dev);
unsigned m5_dev_index(const struct m5_dev *dev);

enum m5_event_type {
	M5_EVENT_LINK_UP,
	M5_EVENT_LINK_DOWN,
	M5_EVENT_FATAL, /* the device is lost: close and open again */
	M5_EVENT_OTHER,
};
struct m5_event {
	enum m5_event_type type;
};
/* Readable when m5_dev_next_event() has something; for epoll. */
int m5_dev_event_fd(const struct m5_dev *dev);
/* Does not sleep. Return: false when there is none. */
bool m5_dev_next_event(struct m5_dev *dev, struct m5_event *ret);
