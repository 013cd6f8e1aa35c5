/* fwd/watch.h - waiting until a word of memory changes, the way this processor can
 *
 *   umwait   x86 with WAITPKG: the core rests in C0.1 until somebody writes to the line
 *   mwaitx   AMD's form of the same
 *   pause    all others: look, pause, look again
 *
 * A device's write ends such a rest like that of another core: it takes the line away.
 * 64-bit Arm pauses, too ("yield"): its wfe ends by the event stream of Linux, every 100 us,
 * or when the exclusive monitor is cleared, and nothing promises that a device's write does.
 *
 * Source: Intel SDM vol. 2, UMONITOR, UMWAIT; AMD APM vol. 3, MONITORX, MWAITX; completions
 * watched like this: DPDK drivers/net/mlx5/mlx5_rx.c, mlx5_get_monitor_addr().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fwd_watch { FWD_WATCH_PAUSE, FWD_WATCH_UMWAIT, FWD_WATCH_MWAITX, FWD_WATCH_COUNT };

/* Returns when *@word is no longer @seen, after about @ticks (base/time.h), or before. */
typedef void fwd_watch_fn(const uint64_t *word, uint64_t seen, uint64_t ticks);

/* NULL where this build has none. */
extern fwd_watch_fn *const fwd_watch_by[FWD_WATCH_COUNT];

/* Does this processor have the instructions, and does whoever runs it let us use them? */
bool fwd_watch_works(enum fwd_watch way);
enum fwd_watch fwd_watch_best(void);
const char *fwd_watch_name(enum fwd_watch way);
