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
}

int main(void)
{
	fputs(before, stdout);
	for (size_t i = 0; i < metrics_table_rows; i++)
		print_metric(&metrics_table[i]);
	fputs(after, stdout);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
