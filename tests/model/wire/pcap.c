/* wire/pcap.c - a port's wire is a capture file, or two
 *
 *   pcap:IN.pcap[,OUT.pcap][,start=now|ctl|rule][,rate=PPS][,times=N][,retry]
 *
 * The frames of IN arrive at the port, byte for byte; what the port sends is
 * recorded in OUT, byte for byte, with the time in nanoseconds. "-" for IN or
 * OUT is none. IN may be pcap or pcapng.
 *
 *   start=now    at once (default)
 *   start=ctl    when the control socket says: wire PORT start
 *   start=rule   when the first flow rule of a program exists on the port
 *   rate=PPS     paced; else as fast as the device takes them
 *   times=N      N times over (default 1)
 *   retry        a frame that found no receive buffer is offered again, as if the
 *                wire had pause frames; out_of_buffer counts each try
 *
 * Control: wire PORT start | flush | stat. The file is complete after `flush`
 * and when the port is quiet. A full disk is reported, and counted in tx_lost.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "../cxmodel/model.h"
#include "wire.h"

#define MAX_LEN	  65535
#define MAX_BYTES ((size_t)1 << 30) /* of frames in memory */

enum start { START_NOW, START_CTL, START_RULE };

struct conf {
	char in[200], out[200];
	enum start start;
	uint64_t rate_pps, times;
	bool retry;
};

struct rec {
	size_t at;
	uint32_t len;
};

struct file {
	struct wire w;
	struct conf conf;
	uint8_t *bytes;
	size_t used, room;
	struct rec *rec;
	size_t n_rec, room_rec;

	bool started;
	size_t next; /* record to replay */
	uint64_t round, replayed, retries;
	uint64_t start_ns;

	pcap_t *dead; /* libpcap wants one for the link type */
	pcap_dumper_t *dump;
	bool dirty, broken;
	int quiet_fd;
};

/* ---- argument ---- */

static bool number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret;
}

static bool option(struct conf *c, const char *word)
{
	static const char *const starts[] = { "start=now", "start=ctl", "start=rule" };

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(word, starts[i])) {
			c->start = (enum start)i;
			return true;
		}
	if (!strcmp(word, "retry"))
		return c->retry = true;
	if (!strncmp(word, "rate=", 5))
		return number(word + 5, &c->rate_pps);
	return !strncmp(word, "times=", 6) && number(word + 6, &c->times);
}

static bool is_option(const char *word)
{
	return !strcmp(word, "retry") || strchr(word, '=');
}

/* The first word without '=' is IN, the second OUT. */
static bool file_name(struct conf *c, unsigned nth, const char *word)
{
	char *to = nth == 0 ? c->in : c->out;

	if (nth > 1 || strlen(word) >= sizeof(c->in))
		return false;
	if (strcmp(word, "-") != 0)
		snprintf(to, sizeof(c->in), "%s", word);
	return true;
}

static int parse(const char *args, struct conf *c, char *why, size_t why_size)
{
	char buf[256], *save, *word;
	unsigned nth = 0;

	memset(c, 0, sizeof(*c));
	c->times = 1;
	snprintf(buf, sizeof(buf), "%s", args);
	for (word = strtok_r(buf, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (is_option(word) ? option(c, word) : file_name(c, nth++, word))
			continue;
		snprintf(
			why, why_size,
			"wire pcap:%s: '%s' is not understood; use: "
			"pcap:IN[,OUT][,start=now|ctl|rule][,rate=PPS][,times=N][,retry]",
			args, word);
		return -EINVAL;
	}
	if (c->in[0] || c->out[0])
		return 0;
	snprintf(why, why_size,
		 "wire pcap: no file; use: pcap:IN.pcap or pcap:-,OUT.pcap");
	return -EINVAL;
}

/* ---- files ---- */

static int grow(void **p, size_t *room, size_t need, size_t size)
{
	size_t n = *room ? *room : 4096;
	void *q;

	if (need <= *room)
		return 0;
	while (n < need)
		n *= 2;
	q = realloc(*p, n * size);
	if (!q)
		return -ENOMEM;
	*p = q;
	*room = n;
	return 0;
}

static int keep(struct file *f, const struct pcap_pkthdr *h, const u_char *bytes)
{
	void *b = f->bytes, *r = f->rec;

	if (h->caplen != h->len || h->len < 14 || h->len > MAX_LEN)
		return -EBADMSG;
	if (f->used + h->len > MAX_BYTES)
		return -EFBIG;
	if (grow(&b, &f->room, f->used + h->len, 1) < 0 ||
	    grow(&r, &f->room_rec, f->n_rec + 1, sizeof(*f->rec)) < 0) {
		f->bytes = b;
		return -ENOMEM;
	}
	f->bytes = b;
	f->rec = r;
	memcpy(f->bytes + f->used, bytes, h->len);
	f->rec[f->n_rec++] = (struct rec){ f->used, h->len };
	f->used += h->len;
	return 0;
}

static const char *advice(int r)
{
	switch (-r) {
	case EBADMSG:
		return "is cut short, or no Ethernet frame; capture again with snaplen 0";
	case EFBIG:
		return "is over 1 GiB of frames; split it (editcap -c)";
	default:
		return "does not fit in memory";
	}
}

static int load(struct file *f, char *why, size_t why_size)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(f->conf.in, text);
	struct pcap_pkthdr *h;
	const u_char *bytes;
	int r = 0, got = 0;

	if (!p) {
		snprintf(why, why_size, "wire pcap: %s; give an existing pcap file",
			 text);
		return -ENOENT;
	}
	if (pcap_datalink(p) != DLT_EN10MB)
		r = -EPROTOTYPE;
	while (!r && (got = pcap_next_ex(p, &h, &bytes)) == 1)
		r = keep(f, h, bytes);
	if (r == -EPROTOTYPE)
		snprintf(why, why_size,
			 "wire pcap: %s: link type is not Ethernet; capture on an "
			 "Ethernet interface",
			 f->conf.in);
	else if (r)
		snprintf(why, why_size, "wire pcap: %s: frame %zu %s", f->conf.in,
			 f->n_rec + 1, advice(r));
	else if (got == PCAP_ERROR) {
		snprintf(why, why_size,
			 "wire pcap: %s: after frame %zu: %s; capture again", f->conf.in,
			 f->n_rec, pcap_geterr(p));
		r = -EBADMSG;
	}
	pcap_close(p);
	return r;
}

static int record(struct file *f, char *why, size_t why_size)
{
	f->dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, MAX_LEN,
						       PCAP_TSTAMP_PRECISION_NANO);
	if (!f->dead)
		return -ENOMEM;
	f->dump = pcap_dump_open(f->dead, f->conf.out);
	if (f->dump && pcap_dump_flush(f->dump) == 0)
		return 0;
	snprintf(why, why_size, "wire pcap: %s; give a file in an existing folder",
		 f->dump ? strerror(errno) : pcap_geterr(f->dead));
	return -EIO;
}

static void pcap_wire_close(struct wire *w)
{
	struct file *f = (struct file *)w;

	if (f->dump)
		pcap_dump_close(f->dump);
	if (f->dead)
		pcap_close(f->dead);
	if (f->quiet_fd >= 0)
		close(f->quiet_fd);
	free(f->bytes);
	free(f->rec);
	free(f);
}

static int pcap_wire_open(struct model_port *port, const char *args, char *why,
			  size_t why_size, struct wire **ret)
{
	struct file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->w.class = &wire_pcap;
	f->w.port = port;
	f->w.carrier = true;
	f->quiet_fd = eventfd(0, EFD_CLOEXEC);
	r = f->quiet_fd < 0 ? -errno : parse(args, &f->conf, why, why_size);
	if (!r && f->conf.in[0])
		r = load(f, why, why_size);
	if (!r && f->conf.out[0])
		r = record(f, why, why_size);
	if (r < 0) {
		pcap_wire_close(&f->w);
		return r;
	}
	*ret = &f->w;
	return 0;
}

/* ---- out ---- */

static void complain(struct file *f)
{
	if (!f->broken)
		model_log(f->w.port->model,
			  "%s: wire pcap: %s: cannot write: %s; free some space",
			  f->w.port->netdev, f->conf.out, strerror(errno));
	f->broken = true;
}

static void flush(struct file *f)
{
	if (f->dirty && pcap_dump_flush(f->dump) != 0)
		complain(f);
	f->dirty = false;
}

static void pcap_wire_tx(struct wire *w, const void *frame, uint32_t len)
{
	struct file *f = (struct file *)w;
	struct pcap_pkthdr h = { .caplen = len, .len = len };
	struct timespec ts;

	if (!f->dump || f->broken) {
		w->tx_lost += f->broken;
		w->tx_frames += !f->broken;
		return;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	h.ts.tv_sec = ts.tv_sec;
	h.ts.tv_usec = ts.tv_nsec; /* nanoseconds: the precision asked for above */
	pcap_dump((u_char *)f->dump, &h, frame);
	if (ferror(pcap_dump_file(f->dump))) {
		complain(f);
		w->tx_lost++;
		return;
	}
	w->tx_frames++;
	f->dirty = true;
}

/* ---- in ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool over(const struct file *f)
{
	return f->round == f->conf.times || !f->n_rec;
}

static bool may_start(struct file *f)
{
	if (f->started)
		return true;
	if (f->conf.start == START_CTL || !f->w.port->model->running ||
	    (f->conf.start == START_RULE && !cx_obj_count(f->w.port->dev, CX_FTE)))
		return false;
	f->started = true;
	f->start_ns = now_ns();
	return true;
}

/* Frames that the rate allows by now. */
static uint64_t due(const struct file *f, unsigned budget)
{
	uint64_t ns, all;

	if (!f->conf.rate_pps)
		return budget;
	ns = now_ns() - f->start_ns;
	all = (uint64_t)((double)ns * (double)f->conf.rate_pps / 1e9);
	return all - f->replayed < budget ? all - f->replayed : budget;
}

static bool replay_one(struct file *f)
{
	const struct rec *r = &f->rec[f->next];
	enum cx_rx_verdict v = cx_rx(f->w.port->dev, f->bytes + r->at, r->len);

	if (v == CX_RX_NO_BUFFER && f->conf.retry) {
		f->retries++;
		return false;
	}
	f->w.rx_frames++;
	f->replayed++;
	if (++f->next == f->n_rec) {
		f->next = 0;
		f->round++;
	}
	return true;
}

static unsigned pcap_wire_poll(struct wire *w, unsigned budget)
{
	struct file *f = (struct file *)w;
	unsigned n = 0;
	uint64_t may;

	if (!over(f) && may_start(f))
		for (may = due(f, budget); n < may && !over(f) && replay_one(f);)
			n++;
	if (!n)
		flush(f);
	return n;
}

static int pcap_wire_fd(const struct wire *w)
{
	const struct file *f = (const struct file *)w;
	bool waits = f->conf.start == START_CTL && !f->started;

	return over(f) || waits ? f->quiet_fd : -1;
}

static int pcap_wire_ctl(struct wire *w, const char *line, char *reply, size_t reply_size)
{
	struct file *f = (struct file *)w;

	if (!strcmp(line, "start")) {
		if (f->started)
			f->next = f->round = f->replayed = 0;
		f->started = true;
		f->start_ns = now_ns();
		return 0;
	}
	if (!strcmp(line, "flush")) {
		flush(f);
		return f->broken ? -EIO : 0;
	}
	if (strcmp(line, "stat") != 0) {
		snprintf(reply, reply_size,
			 "'%s' is not known; use: start, flush or stat", line);
		return -EINVAL;
	}
	snprintf(reply, reply_size,
		 "frames %zu\nreplayed %llu\nround %llu\nretries %llu\nover %d\n",
		 f->n_rec, (unsigned long long)f->replayed, (unsigned long long)f->round,
		 (unsigned long long)f->retries, over(f));
	return 0;
}

const struct wire_class wire_pcap = {
	.name = "pcap",
	.args = "IN[,OUT][,start=now|ctl|rule][,rate=PPS][,times=N][,retry]",
	.help = "replay a capture file, record another",
	.open = pcap_wire_open,
	.tx = pcap_wire_tx,
	.poll = pcap_wire_poll,
	.fd = pcap_wire_fd,
	.ctl = pcap_wire_ctl,
	.close = pcap_wire_close,
};
