/* daemon/main.c - start order and stop order, nothing else
 *
 *   configuration -> loop and signals -> kernel's links and addresses -> tables ->
 *   devices and queues -> what was kept -> workers -> control socket, metrics -> steering -> READY
 *
 * Steering comes last: until then every packet is the kernel's. It goes first when
 * stopping; then what was received is forwarded, then the rest goes in reverse.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "../lib/base/time.h"
#include "control.h"
#include "events.h"
#include "keep.h"
#include "metrics.h"
#include "notify.h"
#include "options.h"
#include "reload.h"
#include "router.h"
#include "trace.h"
#include "watchdog.h"

enum { TICK_MS = 100 };

static void on_hangup(struct router *r)
{
	struct err err = { "no memory" };

	if (reload(r, NULL, &err) < 0)
		log_error("reload: %s", err.text);
	else
		log_notice("SIGHUP: reloaded %s", r->config_path);
}

static void on_signal(void *arg, int signal)
{
	struct router *r = arg;
	bool stops = signal == SIGTERM || signal == SIGINT;

	if (signal == SIGHUP) {
		on_hangup(r);
		return;
	}
	log_notice("SIG%s: %s", sigabbrev_np(signal),
		   stops ? "stopping" : "means nothing to this program");
	if (stops)
		event_stop(r->loop);
}

static void on_tick(void *arg)
{
	struct router *r = arg;

	follow_tick(r);
	recover_tick(r);
	events_tick(r);
	fib_reclaim(r->fib);
	metrics_tick(r);
	keep_tick(r);
	watchdog_tick(r, TICK_MS);
}

static int start_loop(struct router *r, struct err *err)
{
	/* The last three would end it on the spot; a router should not die of a lost terminal. */
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
	int ret = event_loop_new(&r->loop);

	if (!ret)
		ret = event_signals(r->loop, signals, ARRAY_LEN(signals), on_signal, r);
	if (!ret)
		ret = event_tick(r->loop, TICK_MS, on_tick, r);
	return ret < 0 ? err_set(err, ret, "event loop: %s", strerror(-ret)) : 0;
}

/* Of this host and no other, and the same after a restart, so that flows keep their legs:
 * machine-id(5). Without it all such hosts are alike. */
static uint64_t flow_seed(void)
{
	FILE *f = fopen("/etc/machine-id", "re");
	uint64_t seed = 0;
	bool known = f && fscanf(f, "%16" SCNx64, &seed) == 1;

	if (f)
		fclose(f);
	if (!known)
		log_info("no /etc/machine-id: routers in a row may spread flows alike");
	return seed;
}

static int start_fib(struct router *r, struct err *err)
{
	struct fib_conf conf = { .max_nexthops = r->conf.max_nexthops,
				 .flow_seed = flow_seed() };
	int ret = fib_new(&conf, &r->fib);

	return ret < 0 ? err_set(err, ret, "forwarding tables: %s", strerror(-ret)) : 0;
}

/* In order; what a step made is taken apart by stop(), also after a failure half way. */
static int (*const steps[])(struct router *r, struct err *err) = {
	start_loop, events_open,   follow_open,	 start_fib,    ports_open,  workers_open,
	keep_open,  workers_start, control_open, metrics_open, ports_steer,
};

static int start(struct router *r, struct err *err)
{
	int ret = 0;

	r->n_workers = r->conf.workers;
	r->started_ns = time_ns();
	reload_note(r, true);
	for (size_t i = 0; i < ARRAY_LEN(steps) && !ret; i++)
		ret = steps[i](r, err);
	return ret;
}

static void stop(struct router *r)
{
	ports_release(r);
	metrics_close(r);
	control_close(r);
	events_close(r);
	workers_stop(r);
	keep_close(r);
	trace_close(r);
	workers_close(r);
	ports_close(r);
	follow_close(r);
	fib_free(r->fib);
	event_loop_free(r->loop);
	config_said_free(r->said);
}

static int run(struct router *r)
{
	struct err err = { "" };
	char status[80];
	int ret = start(r, &err);

	if (ret < 0) {
		log_error("%s", err.text[0] ? err.text : strerror(-ret));
		stop(r);
		return EXIT_FAILURE;
	}
	snprintf(status, sizeof(status), "forwarding on %u port%s with %u worker%s",
		 r->n_ports, r->n_ports == 1 ? "" : "s", r->n_workers,
		 r->n_workers == 1 ? "" : "s");
	log_notice("%s", status);
	notify_ready(status);
	ret = event_loop_run(r->loop);
	notify_stopping();
	stop(r);
	log_notice("stopped; the kernel has all ports");
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct router router;
	struct options options;
	struct err err = { "" };
	int ret = options_parse(argc, argv, &options);

	if (ret >= 0)
		return ret;
	router.config_path = options.config;
	if (config_read_said(options.config, &router.conf, &router.said, &err) < 0) {
		fprintf(stderr, "mlx5fwd: %s\n", err.text);
		return EXIT_FAILURE;
	}
	if (options.check)
		return EXIT_SUCCESS;
	log_open(router.conf.log_level);
	signal(SIGPIPE, SIG_IGN);
	return run(&router);
}
