/* cxmodel/model.h - the device process: ports, one lock, who runs what
 *
 *   main.c      command line, start and stop order
 *   ports.c     port specification -> device, netdev, wire
 *   dir.c       the directory: who owns it, what a killed owner left
 *   poll.c      the poller thread: step every device, poll wires and TAPs, back off
 *   control.c   control socket: one text line in, text out
 *   commands.c  what those lines may say
 *   ctl.c       the other end: `cxmodel ctl DIR COMMAND`
 *   log.c       log lines: kept for `ctl log`, written by a thread of their own
 *   ../uverbs/server.c   clients: one thread per open context
 *
 * One lock guards every device, wire and the port list. A thread that wants it
 * says so in `waiters`, and the poller yields to it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../core/cx.h"
#include "../wire/wire.h"

#define MODEL_PORTS 16

struct model_port {
	struct model *model;
	unsigned index; /* N of uverbsN and mlx5_N */
	struct cx_dev *dev;
	struct wire *wire;
	struct tap *tap;    /* NULL: no kernel side */
	char rdma_name[32]; /* "mlx5_0" */
	char pci[16];	 /* "0000:03:00.0"; ports of one card share the device number */
	char netdev[16]; /* as configured, "eth0" */
	char wire_spec[256];
	uint8_t mac[6];
	uint16_t mtu;
	uint64_t node_guid, sys_image_guid;
	void *server;	  /* uverbs/server.c: what the kernel keeps per device */
	unsigned card;	  /* ports with the same number sit on one card */
	bool admin_up;	  /* the netdev is set up; true without a kernel side */
	bool forced_down; /* `ctl link PORT down` */
};

enum model_poll { MODEL_POLL_NAP, MODEL_POLL_SPIN, MODEL_POLL_FIFO };

struct model {
	char dir[96]; /* sockets and the sysfs tree live here */
	/* Ports come and go at run time: a slot is in use while its dev is set, and keeps its
	 * index for life. Walk 0 .. n_ports and skip empty ones, with the lock held. */
	struct model_port port[MODEL_PORTS];
	unsigned n_ports;
	enum model_poll poll;
	bool verbose;
	bool no_tap;	   /* --notap: ports have no kernel side */
	const char *netns; /* of netdevs without netns= of their own; NULL = ours */
	int lock_fd;	   /* dir.c; held: this process owns the directory */
	bool running;	   /* start is over: what a port refers to may come later */
	pthread_mutex_t lock;
	atomic_uint waiters;
	atomic_bool stop;
	struct poller *poller;	 /* poll.c */
	struct control *control; /* control.c */
	struct server *server;	 /* ../uverbs/server.c */
	struct log_ring *log;	 /* log.c */
};

/* Kernel's name for a port's netdev now ("" = none); renames are followed. Lock held. */
void model_netdev(const struct model_port *port, char name[16]);

void model_lock(struct model *m); /* any thread but the poller */
void model_unlock(struct model *m);

/* Log line of the process: to stderr with the time; also kept in a ring for `ctl log`. */
void model_log(struct model *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Of a trace that was asked for: never left out for being one of many. */
void model_trace(struct model *m, const char *line);
/* The same for the ordinary course of things: on stderr only with -v. */
void model_note(struct model *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* uverbs/server.c: accepts clients on DIR/uverbs.sock in threads of its own. */
struct server;
int server_start(struct model *m, struct server **ret);
void server_stop(struct server *s); /* ends every client, joins every thread */
/* Called with the lock held, from cx_ops.event of a port. */
void server_event(struct model_port *port, const struct cx_event *ev);
/* A port came at run time (after server_start()), or is about to go. Lock held.
 * server_port_del() frees port->server; -EBUSY while a client has the device open. */
int server_port_add(struct model_port *port);
int server_port_del(struct model_port *port);
/* "clients 2 handles 14 mappings 9 bytes 1048576", for `ctl stat` and the leak tests. Lock held. */
struct server_stat {
	unsigned clients, handles, mappings, event_fds;
	uint64_t mapped_bytes;
};
void server_stat(struct model *m, struct server_stat *st);

/* uverbs/sysfs.c: builds DIR/sys and DIR/dev, as the shim shows them to programs. Called
 * again when ports come and go, and over what a killed instance left: replaces what is there. */
int sysfs_build(const struct model *m, char *why, size_t why_size);
void sysfs_remove(const struct model *m);
