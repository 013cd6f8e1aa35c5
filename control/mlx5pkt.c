/* control/mlx5pkt.c - mlx5pkt: talks to the card, without the daemon
 *
 * Exit status: 0 done, 1 usage, 2 failed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/ctl/row.h"
#include "mlx5pkt.h"

static struct pkt_options options;

/* ---- rows: a JSON array, or text ---- */

static unsigned rows;

static void print_pair(void *arg, const char *name, const char *value)
{
	printf("%s %s%c", name, value, *(const char *)arg);
}

static void print_row(const struct row *row)
{
	char between = options.command == PKT_INFO ? '\n' : ' ';

	if (options.json) {
		fputs(rows++ ? ",\n" : "[\n", stdout);
		row_print(row, stdout, false);
	} else {
		row_each(row, print_pair, &between);
		putchar('\n');
	}
	fflush(stdout);
}

static void print_end(void)
{
	if (options.json)
		fputs(rows ? "\n]\n" : "[]\n", stdout);
}

/* ---- commands ---- */

static int open_ports(struct pkt_port port[], struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < options.n_ports && !r; i++)
		r = pkt_port_open(&port[i], options.port[i], i, err);
	return r;
}

static void info(const struct pkt_port port[])
{
	for (unsigned i = 0; i < options.n_ports; i++) {
		struct row *row = row_new();

		pkt_port_describe(&port[i], row);
		print_row(row);
		row_free(row);
	}
}

static int serve(struct pkt_port port[], struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < options.n_ports && !r; i++)
		r = pkt_port_start(&port[i], &options, err);
	return r ? r : pkt_run(port, &options, print_row, err);
}

int main(int argc, char **argv)
{
	static struct pkt_port port[PKT_PORTS_MAX];
	struct err err = { "" };
	int r = pkt_options_parse(argc, argv, &options);

	if (r >= 0)
		return r;
	r = open_ports(port, &err);
	if (!r && options.command == PKT_INFO)
		info(port);
	else if (!r)
		r = serve(port, &err);
	if (!r)
		print_end();
	else
		fprintf(stderr, "mlx5pkt: %s\n", err.text[0] ? err.text : strerror(-r));
	for (unsigned i = options.n_ports; i-- > 0;)
		pkt_port_close(&port[i]);
	if (!r && (fflush(stdout) || ferror(stdout))) {
		perror("mlx5pkt: standard output");
		return 2;
	}
	return r ? 2 : 0;
}
