/* control/trace.c - packets of a trace: as text, and in a file
 *
 * The file is written here and not by the daemon, which may write nowhere.
 */

#include "trace.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../lib/ctl/version.h"
#include "pcapng.h"

/* ---- text ---- */

static void print_text(const struct row *row, const char *before, const char *key)
{
	if (row_has(row, key))
		printf("%s%s", before, row_text(row, key));
}

static void print_number(const struct row *row, const char *before, const char *key)
{
	if (row_has(row, key))
		printf("%s%" PRId64, before, row_number(row, key));
}

static void print_headers(const struct row *row)
{
	if (!row_number(row, "family")) {
		print_text(row, "\t", "eth_src");
		print_text(row, " > ", "eth_dst");
		if (row_has(row, "eth_type"))
			printf(" type 0x%04x", (unsigned)row_number(row, "eth_type"));
		putchar('\n');
		return;
	}
	print_text(row, "\t", "src");
	print_number(row, " sport ", "sport");
	print_text(row, " > ", "dst");
	print_number(row, " dport ", "dport");
	print_text(row, " proto ", "proto");
	print_number(row, " ttl ", "ttl");
	putchar('\n');
}

static void print_way(const struct row *row)
{
	struct row *route = row_inner(row, "route"), *hop = row_inner(row, "hop");

	if (route) {
		print_text(route, "\troute ", "prefix");
		print_text(route, " type ", "type");
		print_text(route, " proto ", "protocol");
		putchar('\n');
	}
	if (hop) {
		print_text(hop, "\thop lladdr ", "lladdr");
		print_text(hop, " src ", "src_lladdr");
		print_text(hop, " dev ", "dev");
		print_number(hop, " vlan ", "vlan");
		print_number(hop, " mtu ", "mtu");
		putchar('\n');
	}
	row_free(hop);
	row_free(route);
}

static void print_verdict(const struct row *row)
{
	print_text(row, "\t", "verdict");
	print_text(row, " reason ", "reason");
	print_text(row, ": ", "why");
	print_text(row, " port ", "out");
	print_number(row, " queue ", "out_queue");
	print_number(row, " bytes ", "out_bytes");
	putchar('\n');
}

static void print_data(const char *digits)
{
	for (unsigned at = 0; *digits; at += 16) {
		printf("\t%04x ", at);
		for (unsigned i = 0; i < 16 && *digits; i++, digits += 2)
			printf("%s%.2s", i == 8 ? "  " : " ", digits);
		putchar('\n');
	}
}

void print_trace(const struct print *p, const struct row *row)
{
	printf("%" PRId64 ": %s %s", row_number(row, "number"), row_text(row, "ts"),
	       row_text(row, "port"));
	print_number(row, " queue ", "queue");
	print_number(row, " bytes ", "bytes");
	print_text(row, " clock ", "clock");
	print_text(row, " look ", "look");
	if (row_number(row, "lost"))
		print_number(row, " lost ", "lost");
	putchar('\n');
	print_headers(row);
	print_way(row);
	print_verdict(row);
	if (p->details)
		print_data(row_text(row, "data"));
}

/* ---- a file ---- */

enum { PORTS_MAX = 64, WORKERS_MAX = 256 };

struct saved_port {
	char name[64], hardware[120];
	uint8_t mac[6];
};

struct saving {
	const char *path;
	FILE *to; /* NULL: nothing was written yet */
	int failed;
	struct saved_port port[PORTS_MAX]; /* in the order of interfaces */
	unsigned n_ports;
	uint64_t packets, lost[WORKERS_MAX]; /* of each worker, until now */
	bool wrong;			     /* the daemon's rows make no sense */
};

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Pairs of hex digits, with or without colons between them. Return: how many, -1 = it is none, or
 * more than @max. */
static int take_bytes(const char *text, uint8_t *to, int max)
{
	int n = 0;

	while (*text) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);

		if (low < 0 || n == max)
			return -1;
		to[n++] = (uint8_t)(high << 4 | low);
		text += 2;
		text += *text == ':' && text[1];
	}
	return n;
}

static void keep_port(void *arg, const struct row *row)
{
	struct saving *s = arg;
	struct saved_port *p = &s->port[s->n_ports];

	if (s->n_ports == PORTS_MAX || take_bytes(row_text(row, "address"), p->mac,
						  sizeof(p->mac)) != sizeof(p->mac)) {
		s->wrong = true;
		return;
	}
	snprintf(p->name, sizeof(p->name), "%s", row_text(row, "port"));
	snprintf(p->hardware, sizeof(p->hardware), "%s %s", row_text(row, "rdma_device"),
		 row_text(row, "pci"));
	s->n_ports++;
}

static int open_file(const char *path, FILE **ret)
{
	bool std = !strcmp(path, "-");

	if (std && isatty(STDOUT_FILENO))
		return -ENOTTY;
	*ret = std ? stdout : fopen(path, "we");
	return *ret ? 0 : -errno;
}

/* Not before there is something to be saved: until then a file of this name stays as it is. */
static void begin_file(struct saving *s)
{
	if (s->to || s->failed)
		return;
	s->failed = open_file(s->path, &s->to);
	if (s->failed)
		return;
	pcapng_section(s->to, "mlx5fwdctl " MLX5FWD_VERSION);
	for (unsigned i = 0; i < s->n_ports; i++) {
		struct pcapng_interface port = {
			.name = s->port[i].name,
			.description = "port of mlx5fwd, frames as received",
			.hardware = s->port[i].hardware
		};

		memcpy(port.mac, s->port[i].mac, sizeof(port.mac));
		pcapng_interface(s->to, &port);
	}
}

static unsigned port_of(const struct saving *s, const char *name)
{
	unsigned i = 0;

	while (i < s->n_ports && strcmp(s->port[i].name, name) != 0)
		i++;
	return i;
}

static size_t append(char *text, size_t size, const struct row *row, const char *before,
		     const char *key)
{
	return row_has(row, key)
		       ? (size_t)snprintf(text, size, "%s%s", before, row_text(row, key))
		       : 0;
}

/* "drop blackhole: route says drop silently; route 192.0.2.0/24" */
static void comment(const struct row *row, char *text, size_t size)
{
	struct row *route = row_inner(row, "route"), *hop = row_inner(row, "hop");
	size_t n = 0;

	n += append(text + n, size - n, row, "", "verdict");
	n += append(text + n, size - n, row, " ", "reason");
	n += append(text + n, size - n, row, ": ", "why");
	n += append(text + n, size - n, row, " ", "out");
	n += append(text + n, size - n, route, "; route ", "prefix");
	append(text + n, size - n, hop, "; lladdr ", "lladdr");
	row_free(hop);
	row_free(route);
}

/* What the worker has lost since its packet before. */
static uint64_t newly_lost(struct saving *s, const struct row *row)
{
	uint64_t worker = (uint64_t)row_number(row, "worker"), was;
	uint64_t is = (uint64_t)row_number(row, "lost");

	if (worker >= WORKERS_MAX)
		return 0;
	was = s->lost[worker];
	s->lost[worker] = is;
	return is - was;
}

static void save_packet(void *arg, const struct row *row)
{
	static uint8_t data[PCAPNG_BYTES_MAX];
	struct saving *s = arg;
	char text[PCAPNG_TEXT_MAX] = "";
	int n = take_bytes(row_text(row, "data"), data, sizeof(data));
	struct pcapng_packet p = { .interface = port_of(s, row_text(row, "port")),
				   .queue = (uint32_t)row_number(row, "queue"),
				   .ts_ns = (uint64_t)row_number(row, "ts_ns"),
				   .number = (uint64_t)row_number(row, "number"),
				   .lost = newly_lost(s, row),
				   .bytes = (uint32_t)row_number(row, "bytes"),
				   .captured = (uint32_t)n,
				   .data = data,
				   .comment = text };

	if (n < 0 || p.interface == s->n_ports) {
		s->wrong = true;
		return;
	}
	comment(row, text, sizeof(text));
	begin_file(s);
	if (s->to)
		pcapng_packet(s->to, &p);
	s->packets++;
}

/* ---- what the daemon has ---- */

/* Each row of a reply to @fn, that stops nobody. @error: of its end, to be freed. */
static int each_row(struct ctl_client *c, const char *const words[2],
		    void (*fn)(void *arg, const struct row *row), void *arg,
		    struct row **error, struct err *err)
{
	int r = ctl_send(c, words, 2, err);
	bool last = false;

	while (!r && !last) {
		struct row *row = NULL;

		r = ctl_reply(c, &row, &last, err);
		if (!r && last)
			*error = row_inner(row, "error");
		else if (!r)
			fn(arg, row);
		row_free(row);
	}
	return r;
}

static enum status ask(struct ctl_client *c, const char *const words[2],
		       void (*fn)(void *arg, const struct row *row), struct saving *s,
		       struct print *p)
{
	struct row *error = NULL;
	struct err err = { "" };
	int r = each_row(c, words, fn, s, &error, &err);

	if (!r && s->wrong)
		r = err_set(&err, -EPROTO, "the daemon's answer makes no sense");
	if (r < 0)
		print_failure(p, r, ctl_hint(r), "%s", err.text);
	else if (error)
		print_error(p, error);
	row_free(error);
	return r < 0 ? STATUS_NO_DAEMON : error ? STATUS_REFUSED : STATUS_DONE;
}

static void print_saved(const struct command *cmd, const struct saving *s,
			struct print *p)
{
	struct row *row = row_new();
	uint64_t lost = 0;

	for (unsigned w = 0; w < WORKERS_MAX; w++)
		lost += s->lost[w];
	row_set_count(row, "packets", s->packets);
	row_set_count(row, "lost", lost);
	print_begin(p);
	print_one(p, row, cmd->text, NULL);
	print_end(p);
	row_free(row);
}

/* Standard output is left to main(). Return: 0 or what went wrong with the file. */
static int end_file(struct saving *s)
{
	bool bad;

	begin_file(s);
	if (!s->to || s->to == stdout)
		return s->failed;
	bad = ferror(s->to);
	if (fclose(s->to))
		return -errno;
	return bad ? -EIO : 0;
}

enum status trace_save(struct ctl_client *c, const struct command *cmd, const char *path,
		       struct print *p)
{
	static const char *const ports[2] = { "port", "show" };
	static const char *const packets[2] = { "trace", "show" };
	static struct saving s;
	enum status status;
	int r;

	s.path = path;
	status = ask(c, ports, keep_port, &s, p);
	if (!status)
		status = ask(c, packets, save_packet, &s, p);
	if (status) {
		if (s.to && s.to != stdout)
			fclose(s.to);
		return status;
	}
	r = end_file(&s);
	if (r < 0) {
		print_failure(p, r, r == -ENOTTY ? "name a file, or use a pipe" : NULL,
			      "trace save %s: %s", path,
			      r == -ENOTTY ? "this is a terminal" : strerror(-r));
		return STATUS_USAGE;
	}
	if (s.to != stdout)
		print_saved(cmd, &s, p);
	return STATUS_DONE;
}
