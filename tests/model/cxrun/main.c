/* cxrun/main.c - command line, order of things, exit status */
#define _GNU_SOURCE 1
#include "cxrun.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
	"use: cxrun [OPTION]... [--port NAME=WIRE[,OPTION]...]... -- PROGRAM ARGS...\n"
	"\n"
	"Runs PROGRAM on a modelled ConnectX, one port for each --port (cxmodel --help lists\n"
	"wires and options of ports). If a live device has --dir already, joins that one;\n"
	"else starts one, and stops it when the program has ended.\n"
	"\n"
	"  --dir DIR       directory of the device; default: a new one below $TMPDIR\n"
	"  --netns N       network namespace of the program and of the ports' netdevs\n"
	"  --port SPEC     for example eth0=veth0; when joining, the port must exist\n"
	"  --poll MODE     nap, spin or fifo\n"
	"  --trace WHAT    cmd,wqe,cqe,rx: on stderr\n"
	"  --script FILE   control lines for the device that is started: faults, for example\n"
	"  --notap         ports have no netdev\n"
	"  --preload LIB   library to preload before libcxshim.so. A program built with\n"
	"                  -fsanitize=address wants its runtime first:\n"
	"                  --preload \"$(gcc -print-file-name=libasan.so)\"\n"
	"  --keep          leave the device running afterwards\n"
	"  -v, --verbose   say what is done\n"
	"\n"
	"Exit status: that of the program, 128 + n if signal n ended it; 125 cxrun failed,\n"
	"126 the program cannot be run, 127 it does not exist.\n"
	"$CXMODEL_BIN and $CXSHIM name cxmodel and libcxshim.so if they are not beside cxrun.\n";

int beside(const char *name, const char *env, char path[4096])
{
	const char *set = getenv(env);
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 64);
	char *slash;

	if (set && *set) {
		snprintf(path, PATH_MAX, "%s", set);
	} else if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		snprintf(slash + 1, 64, "%s", name);
	}
	if (access(path, R_OK) == 0)
		return 0;
	fprintf(stderr, "cxrun: %s is not at %s; build it, or say where it is in %s\n",
		name, path, env);
	return -ENOENT;
}

static bool take_option(struct run *r, int c, const char *v)
{
	switch (c) {
	case 'd':
		r->dir = v;
		break;
	case 'N':
		r->netns = v;
		break;
	case 'p':
		if (r->n_ports == RUN_PORTS)
			return false;
		r->port[r->n_ports++] = v;
		break;
	case 'm':
		r->poll = v;
		break;
	case 't':
		r->trace = v;
		break;
	case 's':
		r->script = v;
		break;
	case 'n':
		r->notap = true;
		break;
	case 'l':
		r->preload = v;
		break;
	case 'k':
		r->keep = true;
		break;
	case 'v':
		r->verbose = true;
		break;
	default:
		return false;
	}
	return true;
}

static bool parse(struct run *r, int argc, char **argv)
{
	static const struct option known[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "netns", required_argument, NULL, 'N' },
		{ "port", required_argument, NULL, 'p' },
		{ "poll", required_argument, NULL, 'm' },
		{ "trace", required_argument, NULL, 't' },
		{ "script", required_argument, NULL, 's' },
		{ "notap", no_argument, NULL, 'n' },
		{ "preload", required_argument, NULL, 'l' },
		{ "keep", no_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	/* +: the program's own options are not ours, with or without "--" before it. */
	while ((c = getopt_long(argc, argv, "+d:vh", known, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage_text, stdout);
			exit(0);
		}
		if (!take_option(r, c, optarg))
			return false;
	}
	r->program = argv + optind;
	if (optind < argc)
		return true;
	fprintf(stderr,
		"cxrun: no program given; use: cxrun --port eth0=veth0 -- PROGRAM\n");
	return false;
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	struct device dev = { 0 };
	int status = STATUS_FAILED;

	if (!parse(&run, argc, argv)) {
		fprintf(stderr, "cxrun: see cxrun --help\n");
		return STATUS_FAILED;
	}
	program_block_signals();
	if (device_open(&run, &dev) < 0)
		return STATUS_FAILED;
	status = program_run(&run, &dev);
	device_close(&run, &dev);
	return status;
}
