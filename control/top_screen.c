/* control/top_screen.c - text of one screen of top: what happens a second, between two samples */

#include <inttypes.h>
#include <string.h>

#include "../lib/base/time.h"
#include "top.h"

enum { NUMBER = 16 };

/* 950, 1.23k, 45.6M, 789G: three digits. */
static const char *scaled(double v, char text[NUMBER])
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	for (; v >= 999.5 && units[unit + 1]; unit++)
		v /= 1000;
	snprintf(text, NUMBER, "%.*f%.1s",
		 !unit || v >= 99.95 ? 0
		 : v >= 9.995	     ? 1
				     : 2,
		 v, unit ? &units[unit] : "");
	return text;
}

struct span {
	const struct row *now, *before;
	double seconds;
};

/* Of a counter; nothing when it has begun anew. */
static double rate(const struct span *s, const char *key)
{
	int64_t more = row_number(s->now, key) - row_number(s->before, key);

	return more > 0 && s->seconds > 0 ? (double)more / s->seconds : 0;
}

static const char *state(const struct row *port)
{
	if (strcmp(row_text(port, "state"), "forwarding") != 0)
		return row_text(port, "state");
	return !row_flag(port, "up")	   ? "down"
	       : row_flag(port, "carrier") ? "up"
					   : "no link";
}

static void put_status(FILE *to, const struct row *s)
{
	int64_t up = row_number(s, "uptime_seconds");

	fprintf(to,
		"mlx5fwd %s, up %" PRId64 "d %02d:%02d:%02d; ports %" PRId64
		" of %" PRId64 " up, workers %" PRId64 "; routes %" PRId64
		" IPv4, %" PRId64 " IPv6; next hops %" PRId64 "\n\n",
		row_text(s, "state"), up / 86400, (int)(up / 3600 % 24),
		(int)(up / 60 % 60), (int)(up % 60), row_number(s, "ports_up"),
		row_number(s, "ports"), row_number(s, "workers"),
		row_number(s, "routes_ipv4"), row_number(s, "routes_ipv6"),
		row_number(s, "nexthops"));
}

static void put_latency(FILE *to, const struct row *port)
{
	static const char *const keys[] = { "p50_ns", "p99_ns", "max_ns" };
	struct row *latency = row_inner(port, "latency");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double us = (double)row_number(latency, keys[i]) / 1000;

		if (row_number(latency, "samples"))
			fprintf(to, " %8.*f", us < 1e5 ? 1 : 0, us);
		else
			fprintf(to, " %8s", "-");
	}
	fputc('\n', to);
	row_free(latency);
}

static void put_port(FILE *to, const struct span *s)
{
	static const struct {
		const char *key;
		double times;
	} columns[] = { { "received", 1 },     { "received_bytes", 8 }, { "egress", 1 },
			{ "egress_bytes", 8 }, { "punted", 1 },		{ "dropped", 1 } };
	char text[NUMBER];

	fprintf(to, "%-15s %-8s", row_text(s->now, "port"), state(s->now));
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(to, " %8s",
			scaled(columns[i].times * rate(s, columns[i].key), text));
	put_latency(to, s->now);
}

static void put_worker(FILE *to, const struct span *s)
{
	double turns = rate(s, "turns"), empty = rate(s, "empty_turns");
	char a[NUMBER], b[NUMBER], c[NUMBER];

	fprintf(to, "%-6" PRId64 " %4" PRId64 " %8s %8s %8s %7.1f%%\n",
		row_number(s->now, "worker"), row_number(s->now, "cpu"),
		scaled(rate(s, "received"), a), scaled(rate(s, "forwarded"), b),
		scaled(turns, c), turns > 0 ? 100 * (turns - empty) / turns : 0);
}

struct reasons {
	FILE *to;
	const char *port, *what;
	const struct row *before;
	double seconds;
};

/* Those that have ever happened. */
static void put_reason(void *arg, const char *name, const char *value)
{
	const struct reasons *r = arg;
	struct row *now = row_new();
	char a[NUMBER];

	if (strcmp(value, "0") != 0) {
		long long v = 0;

		sscanf(value, "%lld", &v);
		row_set_number(now, name, v);
		fprintf(r->to, "%-15s %-5s %-20s %8s %20s\n", r->port, r->what, name,
			scaled(rate(&(struct span){ now, r->before, r->seconds }, name),
			       a),
			value);
	}
	row_free(now);
}

static void put_reasons(FILE *to, const struct span *s, const char *key, const char *what)
{
	struct row *now = row_inner(s->now, key), *before = row_inner(s->before, key);
	struct reasons r = { to, row_text(s->now, "port"), what, before, s->seconds };

	row_each(now, put_reason, &r);
	row_free(now);
	row_free(before);
}

void top_screen(FILE *to, const struct top_sample *now, const struct top_sample *before)
{
	struct span s = { .seconds = (double)(now->ns - before->ns) / NS_PER_S };

	put_status(to, now->status);
	fprintf(to, "%-15s %-8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "PORT", "STATE",
		"RX pps", "RX bps", "TX pps", "TX bps", "PUNT/s", "DROP/s", "p50 us",
		"p99 us", "max us");
	for (unsigned i = 0; i < now->n_ports && i < before->n_ports; i++) {
		s.now = now->port[i];
		s.before = before->port[i];
		put_port(to, &s);
	}
	fprintf(to, "\n%-6s %4s %8s %8s %8s %8s\n", "WORKER", "CPU", "RX pps", "FWD pps",
		"TURNS/s", "USEFUL");
	for (unsigned i = 0; i < now->n_workers && i < before->n_workers; i++) {
		s.now = now->worker[i];
		s.before = before->worker[i];
		put_worker(to, &s);
	}
	fprintf(to, "\n%-15s %-5s %-20s %8s %20s\n", "PORT", "WHAT", "REASON", "PER S",
		"PACKETS");
	for (unsigned i = 0; i < now->n_drops && i < before->n_drops; i++) {
		s.now = now->drop[i];
		s.before = before->drop[i];
		put_reasons(to, &s, "dropped", "drop");
		put_reasons(to, &s, "punted", "punt");
	}
}
