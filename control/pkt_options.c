/* control/pkt_options.c - command line of mlx5pkt: one table makes parsing and help */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/base/number.h"
#include "../lib/ctl/version.h"
#include "mlx5pkt.h"

static const struct {
	const char *name, *does;
} commands[] = {
	[PKT_INFO] = { "info", "what the device behind a port is and can do" },
	[PKT_DROP] = { "drop", "receive packets, count them, and let them go" },
	[PKT_REFLECT] = { "reflect",
			  "send packets back, source and destination MAC exchanged" },
};

static const char *const send_words[] = { [M5_SEND_AUTO] = "auto",
					  [M5_SEND_POINTER] = "pointer",
					  [M5_SEND_COPIED] = "copied",
					  [M5_SEND_MIXED] = "mixed",
					  NULL };
static const char *const doorbell_words[] = {
	[M5_DOORBELL_AUTO] = "auto", [M5_DOORBELL_NC] = "nc", [M5_DOORBELL_WC] = "wc", NULL
};
static const char *const compression_words[] = { [M5_COMPRESSION_AUTO] = "auto",
						 [M5_COMPRESSION_OFF] = "off",
						 [M5_COMPRESSION_BASIC] = "basic",
						 [M5_COMPRESSION_ENHANCED] = "enhanced",
						 NULL };
static const char *const yes_no[] = { "no", "yes", NULL };

/* A number, a power of two, or one of some words, whose index counts. */
static const struct option {
	const char *name, *value;
	size_t field; /* uint32_t in struct pkt_options */
	uint32_t min, max;
	bool pow2;
	const char *const *words;
	const char *help;
} options[] = {
#define FIELD(f) offsetof(struct pkt_options, f)
	{ "queues", "N", FIELD(queues), 1, PKT_QUEUES_MAX, false, NULL,
	  "receive queues of each port, and threads, each of which serves one queue of\n"
	  "every port (default 1)" },
	{ "packets", "N", FIELD(packets), 64, 32768, true, NULL,
	  "depth of each queue, a power of two (default 1024)" },
	{ "striding", "yes|no", FIELD(striding), 0, 0, false, yes_no,
	  "many packets to a receive buffer, where the device can (default yes)" },
	{ "compression", "auto|off|basic|enhanced", FIELD(compression), 0, 0, false,
	  compression_words, "of completions (default auto: what the device can)" },
	{ "send", "auto|pointer|copied|mixed", FIELD(send), 0, 0, false, send_words,
	  "reflect: frames by pointer, or copied into send entries (default auto)" },
	{ "rings", "N", FIELD(rings), 1, M5_TX_RINGS_MAX, false, NULL,
	  "reflect: hardware rings of a queue that copies (default: what is usual)" },
	{ "doorbell", "auto|nc|wc", FIELD(doorbell), 0, 0, false, doorbell_words,
	  "reflect: non-cached or write-combining doorbell page (default auto)" },
	{ "interval", "SECONDS", FIELD(interval_s), 0, 86400, false, NULL,
	  "time between two rows of rates, 0 = none (default 1)" },
	{ "seconds", "SECONDS", FIELD(seconds), 1, 31536000, false, NULL,
	  "end after that time (default: at a signal)" },
#undef FIELD
};

/* ---- help ---- */

static void print_options(FILE *to)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		fprintf(to, "  --%s %s\n        ", options[i].name, options[i].value);
		for (const char *c = options[i].help; *c; c++)
			fputs(*c == '\n' ? "\n        " : (char[]){ *c, '\0' }, to);
		fputc('\n', to);
	}
}

static void usage(FILE *to)
{
	fputs("Usage: mlx5pkt COMMAND [OPTIONS] PORT...\n\n"
	      "Talks to ConnectX ports without the daemon. PORT is a network interface; the\n"
	      "kernel keeps it, and with it all that is for an address of this host. Needs\n"
	      "CAP_NET_RAW, and a port that no mlx5fwd has.\n\n",
	      to);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].does);
	fputs("\nOptions:\n\n", to);
	print_options(to);
	fputs("  --cpus LIST\n"
	      "        a CPU for each thread, such as 2-5,8 (default: chosen)\n"
	      "  -j, --json\n"
	      "        an array of objects\n"
	      "  -h, --help, -V, --version\n\n"
	      "SIGINT or SIGTERM: packets go to the kernel again, what is under way is\n"
	      "finished, sums are printed. Exit status: 0 done, 1 usage, 2 failed.\n",
	      to);
}

static int wrong(const char *what, const char *why)
{
	fprintf(stderr, "mlx5pkt: %s: %s; see mlx5pkt --help\n", what, why);
	return 1;
}

/* ---- values ---- */

static int take_word(const struct option *option, const char *value, uint32_t *field)
{
	for (uint32_t i = 0; option->words[i]; i++) {
		if (!strcmp(value, option->words[i])) {
			*field = i;
			return -1;
		}
	}
	fprintf(stderr, "mlx5pkt: --%s %s: must be %s\n", option->name, value,
		option->value);
	return 1;
}

static int take_number(const struct option *option, const char *value, uint32_t *field)
{
	uint64_t v;

	if (number_parse(value, option->max, &v) || v < option->min ||
	    (option->pow2 && (v & (v - 1)))) {
		fprintf(stderr, "mlx5pkt: --%s %s: must be %s%u to %u\n", option->name,
			value, option->pow2 ? "a power of two, " : "", option->min,
			option->max);
		return 1;
	}
	*field = (uint32_t)v;
	return -1;
}

static int add_cpu(int cpu, struct pkt_options *o)
{
	for (unsigned i = 0; i < o->n_cpus; i++)
		if (o->cpu[i] == cpu)
			return -EEXIST;
	if (o->n_cpus == PKT_CPUS_MAX)
		return -E2BIG;
	o->cpu[o->n_cpus++] = cpu;
	return 0;
}

/* "2-5,8", in this order. */
static int take_cpus(const char *at, struct pkt_options *o)
{
	uint64_t first, last;

	for (o->n_cpus = 0;; at++) {
		if (number_take(&at, 1023, &first))
			return -EINVAL;
		last = first;
		if (*at == '-' && (at++, number_take(&at, 1023, &last)))
			return -EINVAL;
		if (last < first)
			return -EINVAL;
		for (; first <= last; first++)
			if (add_cpu((int)first, o))
				return -EINVAL;
		if (*at != ',')
			return *at ? -EINVAL : 0;
	}
}

static int take_value(const char *name, const char *value, struct pkt_options *o)
{
	if (!strcmp(name, "cpus"))
		return take_cpus(value, o)
			       ? wrong(value, "--cpus: must be a list of CPUs "
					      "such as 2-5,8, each once")
			       : -1;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		uint32_t *field = (uint32_t *)((char *)o + options[i].field);

		if (!strcmp(name, options[i].name))
			return options[i].words ? take_word(&options[i], value, field)
						: take_number(&options[i], value, field);
	}
	return wrong(name, "unknown option");
}

/* ---- words ---- */

static bool is(const char *arg, const char *brief, const char *full)
{
	return !strcmp(arg, brief) || !strcmp(arg, full);
}

static int take_option(char **argv, int *i, struct pkt_options *o)
{
	const char *arg = argv[*i];

	if (is(arg, "-h", "--help")) {
		usage(stdout);
		return 0;
	}
	if (is(arg, "-V", "--version")) {
		printf("mlx5pkt %s\n", MLX5FWD_VERSION);
		return 0;
	}
	if (is(arg, "-j", "--json")) {
		o->json = true;
		return -1;
	}
	if (strncmp(arg, "--", 2) != 0)
		return wrong(arg, "unknown option");
	if (!argv[*i + 1])
		return wrong(arg, "its value is missing");
	return take_value(arg + 2, argv[++*i], o);
}

static int take_command(const char *word, struct pkt_options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (!strcmp(word, commands[i].name)) {
			o->command = (enum pkt_command)i;
			return -1;
		}
	}
	return wrong(word, "there is no such command");
}

static int take_port(const char *word, struct pkt_options *o)
{
	for (unsigned i = 0; i < o->n_ports; i++)
		if (!strcmp(word, o->port[i]))
			return wrong(word, "named twice");
	if (o->n_ports == PKT_PORTS_MAX)
		return wrong(word, "too many ports");
	o->port[o->n_ports++] = word;
	return -1;
}

/* What one option alone cannot tell. */
static int check(const struct pkt_options *o, bool command)
{
	if (!command || !o->n_ports) {
		usage(stderr);
		return 1;
	}
	if (o->n_cpus && o->n_cpus < o->queues)
		return wrong("--cpus", "fewer CPUs than queues");
	return -1;
}

int pkt_options_parse(int argc, char **argv, struct pkt_options *ret)
{
	struct pkt_options o = {
		.queues = 1, .packets = 1024, .striding = 1, .interval_s = 1
	};
	bool command = false;
	int r = -1;

	for (int i = 1; i < argc && r < 0; i++) {
		if (argv[i][0] == '-') {
			r = take_option(argv, &i, &o);
		} else if (!command) {
			command = true;
			r = take_command(argv[i], &o);
		} else {
			r = take_port(argv[i], &o);
		}
	}
	if (r < 0)
		r = check(&o, command);
	if (r < 0)
		*ret = o;
	return r;
}
