/* wire/wire.h - what a port of the model is plugged into
 *
 * A wire carries frames between a port's device and the world. Every call is
 * made with the model's lock held, by one thread at a time.
 *
 *   tx    the device sends: take the frame (copy it; the pointer dies on return)
 *   poll  bring up to budget frames in by cx_rx(); return how many
 *
 * Kinds (argument after the name, see each file):
 *   veth:IF[@NETNS]        AF_PACKET on an existing interface   wire/veth.c
 *   pcap:IN.pcap[,OUT.pcap] replay at start, record             wire/pcap.c
 *   pair:PORT              the other port of this model, by netdev name  wire/pair.c
 *   loop                   what is sent comes back              wire/pair.c
 *   none                   nothing connected, link down
 *   gen:...                generator and checking sink          wire/gen.c
 *   drain:...              burst drain                          wire/drain.c
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cx_dev;
struct model;
struct model_port;
struct wire;

struct wire_class {
	const char *name; /* "veth" */
	const char *args; /* "IF[@NETNS]", for usage */
	const char *help; /* one line */
	/* @why receives "what, where, what to do" on failure. Return 0 or -errno. */
	int (*open)(struct model_port *port, const char *args, char *why, size_t why_size,
		    struct wire **ret);
	/* After every port is open (a pair needs both); may be NULL. */
	int (*start)(struct wire *w, char *why, size_t why_size);
	void (*tx)(struct wire *w, const void *frame, uint32_t len);
	unsigned (*poll)(struct wire *w, unsigned budget);
	/* Readable when poll() would find something, -1 = must be polled. */
	int (*fd)(const struct wire *w);
	/* Control line "wire PORT ..." without the first two words; answer into @reply.
	 * May be NULL. */
	int (*ctl)(struct wire *w, const char *line, char *reply, size_t reply_size);
	void (*close)(struct wire *w); /* also a half-open one */
	/* admin_up or forced_down of the own port changed: for the other end. May be NULL. */
	void (*port_state)(struct wire *w);
};

struct wire { /* first member of every kind */
	const struct wire_class *class;
	struct model_port *port;
	uint64_t tx_frames, rx_frames, tx_lost;
	/* Is there a live other end? Set it in open() or start() and when it changes, then call
	 * port_link_update() (cxmodel/ports.c); the port's link and the netdev's carrier follow. */
	bool carrier;
	uint64_t rx_lost; /* frames that the wire itself could not take in */
};

/* cxmodel/ports.c: link = wire's carrier and netdev set up and not forced down. Lock held. */
void port_link_update(struct model_port *port);

extern const struct wire_class wire_veth, wire_pcap, wire_pair, wire_loop, wire_none,
	wire_gen, wire_drain;

/* "veth:veth0@hostA" -> class and argument; a bare "veth0" means veth. */
int wire_open(struct model_port *port, const char *spec, char *why, size_t why_size,
	      struct wire **ret);

/* The kinds, for usage texts; NULL past the last one. */
const struct wire_class *wire_class_nth(unsigned n);

/* The kernel side of a port: a TAP device that is the port's netdev (wire/tap.c).
 * The model owns the descriptor, so the netdev outlives every client. */
struct tap;
struct tap_conf {
	const char *name;  /* "eth0" */
	const char *netns; /* NULL = the caller's */
	uint8_t mac[6];
	uint16_t mtu;
};
int tap_open(const struct tap_conf *conf, char *why, size_t why_size, struct tap **ret);
void tap_close(struct tap *t);
int tap_fd(const struct tap *t);
/* The netdev's present name (it may have been renamed), "" on failure. */
void tap_name(const struct tap *t, char name[16]);
/* Device -> kernel; counts what the kernel refused (interface down). */
void tap_give(struct tap *t, const void *frame, uint32_t len);
/* Kernel -> device: up to @budget frames by cx_kernel_tx(). */
unsigned tap_poll(struct tap *t, struct cx_dev *dev, unsigned budget);
void tap_carrier(struct tap *t, bool up); /* link state shown by the netdev */
/* Follow what the administrator set on the netdev: MTU, up or down, MAC. */
void tap_follow(struct tap *t, struct cx_dev *dev);
bool tap_admin_up(const struct tap *t); /* as of the last tap_follow() */
int tap_set_up(struct tap *t);		/* what `ip link set up` does */
struct tap_stat {
	uint64_t given, refused; /* to the kernel */
	uint64_t taken;		 /* from the kernel */
};
void tap_stat(const struct tap *t, struct tap_stat *st);
