/* daemon/trace.h - one trace: which packets, what became of them
 *
 *   trace.c         asks workers (fwd/trace.h), collects, ends it
 *   trace_words.c   which packets
 *   trace_show.c    rows
 *
 * There is one trace at a time. It ends by itself, when it has as many packets as it shall or when
 * its time is over; what it has is kept until the next one begins. Whoever started it may be gone.
 *
 * Context: control thread.
 */
#pragma once

#include "../lib/fib/fib.h"
#include "../lib/fwd/trace.h"
#include "../lib/m5/clock.h"
#include "router.h"
#include "trace_words.h"

enum trace_state { TRACE_RUNNING, TRACE_ENDING, TRACE_ENDED };

struct trace_packet {
	struct fwd_traced *record;
	struct fwd_seen seen;
	uint64_t card_ns; /* of the port's clock, if the record has a stamp and it is known */
	unsigned worker;
	bool has_route;
	struct fib_route
		route; /* that led to the record's next hop when it was collected */
};

/* How a port's clock and the time of day hang together. */
struct trace_clock {
	struct m5_clock clock;
	bool known, seen;
	int64_t ahead_ns; /* to be added to a stamp */
};

struct trace {
	uint64_t id; /* no other one has it */
	enum trace_state state;
	const char *ended_by;
	struct trace_ask ask;
	int port;	   /* index, -1 = all */
	char match[512];   /* as it was asked for */
	uint64_t until_ns; /* time_ns() */
	int64_t real_ns;   /* time of day when time_ns() was 0 */
	struct fwd_trace *of[ROUTER_WORKERS_MAX];
	struct fwd_trace_count done; /* of workers that have let go */
	unsigned turn;		     /* worker whose record is taken next */
	struct trace_clock clock[FWD_PORTS_MAX];
	struct trace_packet *packet;
	uint32_t n;
	struct trace *before; /* that workers may still be using; and so on */
};

/* trace_show.c: packet @i as a row. */
struct row *trace_row(const struct router *r, const struct trace *t, uint32_t i);
/* trace_show.c: source (0) or destination (1), as a prefix has it. */
void trace_address(const struct fwd_seen *seen, unsigned end, uint8_t ret[16]);
/* Workers have stopped. */
void trace_close(struct router *r);
