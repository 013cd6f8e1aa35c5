/* daemon/options.c - command line of mlx5fwd */

#include "options.h"

#include <getopt.h>
#include <stdio.h>

#include "../lib/ctl/version.h"
#include "config.h"
#include "manual.h"

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: mlx5fwd [-c FILE] [--check]\n"
		"Forward packets between ConnectX ports; stays in the foreground.\n\n"
		"  -c, --config FILE  configuration, default " CONFIG_FILE "\n"
		"      --check        read the configuration, say what is wrong, and exit\n"
		"  -h, --help         this text\n"
		"  -V, --version      version\n"
		"      --manual       print mlx5fwd.conf(5), as man(7) source\n\n"
		"SIGTERM or SIGINT: hand traffic back to the kernel, finish what is under\n"
		"way, exit. SIGHUP: read the configuration again.\n");
}

int options_parse(int argc, char **argv, struct options *ret)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "manual", no_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*ret = (struct options){ .config = CONFIG_FILE };
	while ((c = getopt_long(argc, argv, "c:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'k':
			ret->check = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("mlx5fwd %s\n", MLX5FWD_VERSION);
			return 0;
		case 'm':
			manual_print(stdout);
			return 0;
		default:
			usage(stderr);
			return 1;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "mlx5fwd: %s: unexpected argument\n", argv[optind]);
	usage(stderr);
	return 1;
}
