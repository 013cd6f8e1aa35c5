/* etc/man/metrics_page.c - prints mlx5fwd-metrics(7), from the table that the daemon serves */

#include <stdio.h>
#include <stdlib.h>

#include "../../daemon/metrics_inside.h"

static const char before[] =
	".TH MLX5FWD\\-METRICS 7 \"\" \"mlx5fwd " MLX5FWD_VERSION "\"\n"
	".SH NAME\n"
	"mlx5fwd\\-metrics \\- what Prometheus finds at mlx5fwd\n"
	".SH DESCRIPTION\n"
	".BR mlx5fwd (8)\n"
	"answers\n"
	".B GET /metrics\n"
	"where\n"
	".B metrics_listen\n"
	"of\n"
	".BR mlx5fwd.conf (5)\n"
	"or a socket unit says, in the text format 0.0.4 of Prometheus, or in OpenMetrics\n"
	"1.0 when that is asked for.\n"
	".PP\n"
	"Series are there from the first scrape on, at zero. What a device or its driver does\n"
	"not count has none. No series is of a route, and a scrape takes no longer for many.\n"
	"A router of 4 ports and 16 workers has 1,500 at most.\n"
	".PP\n"
	"Counters begin at 0 with the process; with\n"
	".B keep_counters\n"
	"in\n"
	".BR mlx5fwd.conf (5)\n"
	"all but those of the process itself go on where they were.\n"
	".PP\n"
	"All of a queue's labels at once would be too many: what is alike in all queues of a\n"
	"port, or hardly ever happens, is of the port.\n"
	".PP\n"
	"A worker's\n"
	".B mlx5fwd_worker_busy_seconds_total\n"
	"and\n"
	".B mlx5fwd_worker_idle_seconds_total\n"
	"together go on as the clock does, so that the rate of the first is its utilisation,\n"
	"whether it spins or sleeps. A request whose verb is empty has none.\n"
	".PP\n"
	"Pages are sent as they are: compressed ones (gzip) are not served. Nor is TLS, and\n"
	"there are no passwords; a reverse proxy can do all three.\n"
	".SH METRICS\n";

static const char after[] = ".SH SEE ALSO\n"
			    ".BR mlx5fwd (8),\n"
			    ".BR mlx5fwd.conf (5),\n"
			    ".BR mlx5fwdctl (8)\n";

static const struct {
	const char *name, *suffix;
} types[] = {
	[METRIC_COUNTER] = { "counter", "_total" },
	[METRIC_GAUGE] = { "gauge", "" },
	[METRIC_INFO] = { "gauge, always 1; info in OpenMetrics", "_info" },
	[METRIC_HISTOGRAM] = { "histogram", "" },
};

/* Of a router that has one worker, which has never run: what is in the buckets is not looked at. */
static struct router *some_router(void)
{
	static const struct fwd_conf conf = { .cpu = -1,
					      .punt_ring = 8,
					      .punt_bytes = 64 };
	static struct router router;

	if (!router.worker[0] && fwd_worker_new(&conf, &router.worker[0]) < 0)
		exit(EXIT_FAILURE);
	return &router;
}

static void print_bounds(const struct metric *m)
{
	static const unsigned at[METRIC_LABELS_MAX];
	const struct scrape s = { .router = some_router() };
	struct metric_value v;

	if (m->read(&s, m, at, &v))
		exit(EXIT_FAILURE);
	printf("Buckets:");
	for (unsigned i = 0; i < v.histogram.n; i++)
		printf("%s %g", i ? "," : "", v.histogram.bound[i]);
	puts(".");
}

static void print_metric(const struct metric *m)
{
	const char *separator = "";

	printf(".TP\n.B %s%s", m->name, types[m->type].suffix);
	if (m->label && m->label[0]) {
		fputs(" \\fR{", stdout);
		for (unsigned i = 0; m->label[i]; i++, separator = ", ")
			printf("%s%s", separator, m->label[i]->name);
		putchar('}');
	}
	printf("\n%s. (%s)\n", m->help, types[m->type].name);
	if (m->type == METRIC_HISTOGRAM)
		print_bounds(m);
}

int main(void)
{
	fputs(before, stdout);
	for (size_t i = 0; i < metrics_table_rows; i++)
		print_metric(&metrics_table[i]);
	fputs(after, stdout);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
