/* cxmodel/ports.c - port specification -> device, netdev, wire
 *
 *   NAME=WIRE[,mac=M][,mtu=N][,netns=N][,card=N][,up=yes|no][,inline=N][,cap=GROUP.FIELD=N]...
 *
 * NAME is the netdev's. The words above are the port's, any other goes to the
 * wire, whose own argument may have commas: eth0=pcap:in.pcap,out.pcap,mtu=9000
 *
 * Link of a port = its wire has carrier, and its netdev is set up, and nobody forced
 * it down. Source for the middle one: kernel mlx5e opens and closes the port with the
 * netdev (mlx5_set_port_admin_status() in mlx5e_open() and mlx5e_close()).
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inside.h"

enum {
	MTU_MIN = 68,	/* RFC 791 */
	MTU_MAX = 9978, /* what ip -d link says of a ConnectX: maxmtu */
	CARDS = 32,
	FIRST_BUS = 3,
	CAPS_MAX = 32,
	DEVICE_ID = 0x101d, /* ConnectX-6 Dx; pci.ids */
};

struct spec {
	char text[512]; /* cut up; the pointers below point into it */
	char wire[256];
	const char *name, *netns;
	const char *caps[CAPS_MAX + 1];
	unsigned n_caps, card;
	uint16_t mtu;
	uint8_t mac[6];
	uint8_t inline_mode;
	bool has_mac, has_card, down;
};

/* ---- parsing ---- */

static bool parse_mac(struct spec *s, const char *v)
{
	unsigned b[6];
	char end;

	if (sscanf(v, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3], &b[4],
		   &b[5], &end) != 6 ||
	    b[0] & 1)
		return false;
	for (unsigned i = 0; i < 6; i++)
		s->mac[i] = (uint8_t)b[i];
	return s->has_mac = true;
}

static bool number(const char *v, unsigned min, unsigned max, unsigned *ret)
{
	char *end;
	unsigned long n = strtoul(v, &end, 10);

	*ret = (unsigned)n;
	return isdigit((unsigned char)*v) && !*end && n >= min && n <= max;
}

static bool parse_mtu(struct spec *s, const char *v)
{
	unsigned n;
	bool ok = number(v, MTU_MIN, MTU_MAX, &n);

	s->mtu = (uint16_t)n;
	return ok;
}

static bool parse_netns(struct spec *s, const char *v)
{
	s->netns = v;
	return *v;
}

static bool parse_card(struct spec *s, const char *v)
{
	return s->has_card = number(v, 0, CARDS - 1, &s->card);
}

static bool parse_up(struct spec *s, const char *v)
{
	s->down = !strcmp(v, "no");
	return s->down || !strcmp(v, "yes");
}

static bool parse_inline(struct spec *s, const char *v)
{
	unsigned n;
	bool ok = number(v, 0, 7, &n);

	s->inline_mode = (uint8_t)n;
	return ok;
}

static bool parse_cap(struct spec *s, const char *v)
{
	if (!strchr(v, '.') || !strchr(v, '=') || s->n_caps == CAPS_MAX)
		return false;
	s->caps[s->n_caps++] = v;
	return true;
}

static const struct {
	const char *key;
	bool (*parse)(struct spec *s, const char *value);
	const char *use;
} keys[] = {
	{ "mac=", parse_mac, "mac=0c:42:a1:00:00:01, not a multicast address" },
	{ "mtu=", parse_mtu, "mtu=68 to mtu=9978" },
	{ "netns=", parse_netns, "netns=NAME, as `ip netns` lists it" },
	{ "card=", parse_card, "card=0 to card=31" },
	{ "up=", parse_up, "up=yes or up=no" },
	{ "inline=", parse_inline,
	  "inline=0 to inline=7, for cap=eth.wqe_inline_mode=1: what sends must hold" },
	{ "cap=", parse_cap,
	  "cap=GROUP.FIELD=NUMBER, for example cap=hca.cqe_compression=0" },
};

/* Return: 1 = a port's word, 0 = not, -EINVAL. */
static int parse_word(struct spec *s, const char *word, char *why, size_t why_size)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = strlen(keys[i].key);

		if (strncmp(word, keys[i].key, len) != 0)
			continue;
		if (keys[i].parse(s, word + len))
			return 1;
		snprintf(why, why_size, "port %s: '%s' is not right; use: %s", s->name,
			 word, keys[i].use);
		return -EINVAL;
	}
	return 0;
}

static bool good_name(const char *name)
{
	size_t len = strlen(name);

	for (const char *c = name; *c; c++)
		if (!isgraph((unsigned char)*c) || *c == '/' || *c == ':' || *c == '%')
			return false;
	return len > 0 && len < 16 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int add_to_wire(struct spec *s, const char *word, char *why, size_t why_size)
{
	size_t at = strlen(s->wire);

	if (at + strlen(word) + 2 > sizeof(s->wire)) {
		snprintf(why, why_size,
			 "port %s: wire is over %zu bytes long; use shorter paths",
			 s->name, sizeof(s->wire) - 1);
		return -ENAMETOOLONG;
	}
	snprintf(s->wire + at, sizeof(s->wire) - at, "%s%s", at ? "," : "", word);
	return 0;
}

static int parse(struct spec *s, const char *text, char *why, size_t why_size)
{
	char *eq, *save, *word;

	memset(s, 0, sizeof(*s));
	s->mtu = 1500;
	snprintf(s->text, sizeof(s->text), "%s", text);
	eq = strchr(s->text, '=');
	if (eq)
		*eq = 0;
	s->name = s->text;
	if (!eq || !good_name(s->text) || strlen(text) >= sizeof(s->text)) {
		snprintf(why, why_size,
			 "port '%.60s': not NAME=WIRE with a name of 1 to 15 "
			 "letters; use for example: eth0=veth0",
			 text);
		return -EINVAL;
	}
	for (word = strtok_r(eq + 1, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		int r = parse_word(s, word, why, why_size);

		if (!r)
			r = add_to_wire(s, word, why, why_size);
		if (r < 0)
			return r;
	}
	if (s->wire[0])
		return 0;
	snprintf(why, why_size, "port %s: no wire; use for example: %s=none", s->name,
		 s->name);
	return -EINVAL;
}

/* ---- what a port is called ---- */

/* Stable for a directory and a port, different between directories: two instances may
 * share a network. 0c:42:a1 is the manufacturer's. */
static void default_mac(const struct model *m, unsigned index, uint8_t mac[6])
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (const char *c = m->dir; *c; c++)
		h = (h ^ (uint8_t)*c) * 16777619u;
	memcpy(mac,
	       (const uint8_t[]){ 0x0c, 0x42, 0xa1, (uint8_t)(h >> 8), (uint8_t)h,
				  (uint8_t)index },
	       6);
}

/* As on the card: first half of the MAC, 03 00, second half. */
static uint64_t guid(const uint8_t mac[6])
{
	uint64_t g = 0;

	for (unsigned i = 0; i < 3; i++)
		g = g << 8 | mac[i];
	g = g << 16 | 0x0300;
	for (unsigned i = 3; i < 6; i++)
		g = g << 8 | mac[i];
	return g;
}

static unsigned functions_on(const struct model *m, unsigned card,
			     const struct model_port **first)
{
	unsigned n = 0;

	*first = NULL;
	for (unsigned i = 0; i < m->n_ports; i++) {
		if (!m->port[i].dev || m->port[i].card != card)
			continue;
		if (!n++)
			*first = &m->port[i];
	}
	return n;
}

static unsigned free_card(const struct model *m)
{
	const struct model_port *first;
	unsigned card = 0;

	while (functions_on(m, card, &first))
		card++;
	return card;
}

static bool pci_taken(const struct model *m, const char *pci)
{
	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev && !strcmp(m->port[i].pci, pci))
			return true;
	return false;
}

static int place(struct model_port *p, const struct spec *s, char *why, size_t why_size)
{
	const struct model_port *first;
	unsigned fn = 0;

	p->card = s->has_card ? s->card : free_card(p->model);
	functions_on(p->model, p->card, &first);
	p->node_guid = guid(p->mac);
	p->sys_image_guid = first ? first->sys_image_guid : p->node_guid;
	do {
		snprintf(p->pci, sizeof(p->pci), "0000:%02x:00.%u", FIRST_BUS + p->card,
			 fn);
	} while (pci_taken(p->model, p->pci) && ++fn < 2);
	if (fn < 2)
		return 0;
	snprintf(why, why_size,
		 "port %s: card=%u has two ports already; use another card", s->name,
		 p->card);
	return -ENOSPC;
}

static bool name_taken(const struct model *m, const char *name)
{
	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev && !strcmp(m->port[i].netdev, name))
			return true;
	return false;
}

static struct model_port *free_slot(struct model *m, const char *name, char *why,
				    size_t why_size)
{
	if (name_taken(m, name)) {
		snprintf(why, why_size, "port %s: there is one of that name; use another",
			 name);
		return NULL;
	}
	for (unsigned i = 0; i < MODEL_PORTS; i++)
		if (!m->port[i].dev)
			return &m->port[i];
	snprintf(why, why_size, "port %s: %d ports is the limit; remove one first", name,
		 MODEL_PORTS);
	return NULL;
}

static void name_all(struct model_port *p, struct model *m, const struct spec *s)
{
	unsigned index = (unsigned)(p - m->port);

	memset(p, 0, sizeof(*p));
	p->model = m;
	p->index = index;
	p->mtu = s->mtu;
	p->admin_up = true;
	snprintf(p->rdma_name, sizeof(p->rdma_name), "mlx5_%u", index);
	snprintf(p->netdev, sizeof(p->netdev), "%s", s->name);
	memcpy(p->wire_spec, s->wire, sizeof(p->wire_spec));
	if (s->has_mac)
		memcpy(p->mac, s->mac, 6);
	else
		default_mac(m, index, p->mac);
}

/* ---- what the device calls ---- */

static void on_wire_tx(void *arg, const void *frame, uint32_t len)
{
	struct model_port *p = arg;

	p->wire->class->tx(p->wire, frame, len);
}

static void on_kernel_rx(void *arg, const void *frame, uint32_t len)
{
	struct model_port *p = arg;

	if (p->tap)
		tap_give(p->tap, frame, len);
}

static void on_event(void *arg, const struct cx_event *ev)
{
	struct model_port *p = arg;

	if (ev->type == CX_EVENT_PORT_CHANGE && p->tap)
		tap_carrier(p->tap, cx_link_up(p->dev));
	if (p->server)
		server_event(p, ev);
}

static void on_log(void *arg, const char *line)
{
	struct model_port *p = arg;

	model_log(p->model, "%s", line);
}

static void on_trace(void *arg, const char *line)
{
	struct model_port *p = arg;

	model_trace(p->model, line);
}

static uint64_t on_now(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- life ---- */

static int make_device(struct model_port *p, const struct spec *s, char *why,
		       size_t why_size)
{
	struct cx_ops ops = { .arg = p,
			      .wire_tx = on_wire_tx,
			      .kernel_rx = on_kernel_rx,
			      .event = on_event,
			      .log = on_log,
			      .trace = on_trace,
			      .now_ns = on_now };
	struct cx_conf conf = { .name = p->rdma_name,
				.mtu = s->mtu,
				.device_id = DEVICE_ID,
				.min_inline_mode = s->inline_mode,
				.caps = s->caps };
	int r;

	memcpy(conf.mac, p->mac, 6);
	r = cx_dev_new(&conf, &ops, &p->dev);
	if (r < 0)
		snprintf(why, why_size, "port %s: device: %s%s", s->name, strerror(-r),
			 s->n_caps ? "; is each cap= a field of caps.def?" : "");
	return r;
}

static int make_netdev(struct model_port *p, const struct spec *s, char *why,
		       size_t why_size)
{
	struct tap_conf conf = { .name = s->name,
				 .mtu = s->mtu,
				 .netns = s->netns ? s->netns : p->model->netns };

	if (p->model->no_tap)
		return 0;
	memcpy(conf.mac, p->mac, 6);
	p->admin_up = !s->down;
	return tap_open(&conf, why, why_size, &p->tap);
}

static void count_ports(struct model *m)
{
	m->n_ports = 0;
	for (unsigned i = 0; i < MODEL_PORTS; i++)
		if (m->port[i].dev)
			m->n_ports = i + 1;
}

int port_open(struct model *m, const char *text, char *why, size_t why_size,
	      struct model_port **ret)
{
	struct spec s;
	struct model_port *p;
	int r = parse(&s, text, why, why_size);

	if (r < 0)
		return r;
	p = free_slot(m, s.name, why, why_size);
	if (!p)
		return -ENOSPC;
	name_all(p, m, &s);
	r = place(p, &s, why, why_size);
	if (!r)
		r = make_device(p, &s, why, why_size);
	if (!r)
		r = make_netdev(p, &s, why, why_size);
	if (!r)
		r = wire_open(p, s.wire, why, why_size, &p->wire);
	if (r < 0) {
		port_close(p);
		return r;
	}
	count_ports(m);
	*ret = p;
	return 0;
}

int port_begin(struct model_port *p, char *why, size_t why_size)
{
	int r = 0;

	if (p->tap && p->admin_up)
		r = tap_set_up(p->tap);
	if (r < 0) {
		snprintf(why, why_size,
			 "port %s: cannot set the netdev up: %s; use up=no", p->netdev,
			 strerror(-r));
		return r;
	}
	if (p->wire->class->start)
		r = p->wire->class->start(p->wire, why, why_size);
	if (r < 0)
		return r;
	port_link_update(p);
	if (p->tap)
		tap_carrier(p->tap, cx_link_up(p->dev));
	return 0;
}

void port_close(struct model_port *p)
{
	if (p->wire)
		p->wire->class->close(p->wire);
	tap_close(p->tap);
	if (p->dev)
		cx_dev_free(p->dev);
	p->wire = NULL;
	p->tap = NULL;
	p->dev = NULL;
	count_ports(p->model);
}

int port_plug(struct model *m, const char *spec, char *why, size_t why_size)
{
	struct model_port *p;
	int r = port_open(m, spec, why, why_size, &p);

	if (r < 0)
		return r;
	r = port_begin(p, why, why_size);
	if (!r) {
		r = server_port_add(p);
		if (r < 0)
			snprintf(why, why_size, "port %s: front end: %s", p->netdev,
				 strerror(-r));
	}
	if (!r)
		r = sysfs_build(m, why, why_size);
	if (r < 0) {
		server_port_del(p);
		port_close(p);
	}
	return r;
}

int port_unplug(struct model_port *p, char *why, size_t why_size)
{
	struct model *m = p->model;
	int r = server_port_del(p);

	if (r < 0) {
		snprintf(why, why_size, "port %s: %s", p->netdev,
			 r == -EBUSY ? "a program has it open; end the program first"
				     : strerror(-r));
		return r;
	}
	port_close(p);
	return sysfs_build(m, why, why_size);
}

struct model_port *port_find(struct model *m, const char *name)
{
	char now[16];

	for (unsigned i = 0; i < m->n_ports; i++) {
		struct model_port *p = &m->port[i];

		if (!p->dev)
			continue;
		model_netdev(p, now);
		if (!strcmp(p->rdma_name, name) || !strcmp(p->netdev, name) ||
		    !strcmp(now, name))
			return p;
	}
	return NULL;
}

void model_netdev(const struct model_port *p, char name[16])
{
	name[0] = 0;
	if (p->tap)
		tap_name(p->tap, name);
}

/* ---- link ---- */

void port_link_update(struct model_port *p)
{
	bool up = p->wire && p->wire->carrier && p->admin_up && !p->forced_down;

	if (!p->dev || cx_link_up(p->dev) == up)
		return;
	model_note(p->model, "%s: %s: link %s", p->rdma_name, p->netdev,
		   up ? "up" : "down");
	cx_link_set(p->dev, up);
}

static void state_changed(struct model_port *p)
{
	if (p->wire->class->port_state)
		p->wire->class->port_state(p->wire);
	port_link_update(p);
}

void port_force_down(struct model_port *p, bool down)
{
	if (p->forced_down == down)
		return;
	p->forced_down = down;
	state_changed(p);
}

void port_follow(struct model_port *p)
{
	char now[16];

	tap_follow(p->tap, p->dev);
	if (tap_admin_up(p->tap) == p->admin_up)
		return;
	p->admin_up = !p->admin_up;
	model_netdev(p, now);
	if (!now[0])
		model_log(
			p->model,
			"%s: the netdev %s was removed; remove the port and add it again",
			p->rdma_name, p->netdev);
	state_changed(p);
}
