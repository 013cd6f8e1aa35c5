/* daemon/watchdog.h - a worker that no longer turns must not keep its packets
 *
 * Steering rules whose queues nobody serves are a black hole: worse than no router, since
 * the kernel would forward. So a worker that makes no turn for WATCHDOG_STUCK_MS is fenced:
 * transit of every port goes back to the kernel, and the process aborts, to be started
 * anew. The same holds while the control thread waits for it. systemd's watchdog hears from
 * us only while all workers turn, so it catches a control thread that is stuck itself.
 *
 * Time is counted in ticks of the control thread: when all of the process stood still (a
 * debugger, a suspended machine) nobody is to blame. A worker that waits for packets wakes
 * by itself every second (fwd/idle.c), so an idle one turns, too.
 *
 * Context: control thread.
 */
#pragma once

struct router;

enum { WATCHDOG_STUCK_MS = 5000 };

/* Every @ms milliseconds; does not return when a worker is stuck. */
void watchdog_tick(struct router *r, unsigned ms);
/* Pauses a worker, for fwd_worker_resume(); does not return when it is stuck. */
void watchdog_pause(struct router *r, unsigned w);
