/* base/rcu.h - the door to liburcu, QSBR flavour
 *
 * A worker is a reader: it registers once, reads published pointers freely within
 * a turn of its loop, and ends every turn with rcu_turn(). Nothing it read may be
 * used after that. The control thread publishes with rcu_publish() and frees what
 * it replaced after rcu_wait(), when every worker has ended a turn since.
 *
 * A reader that blocks (sleeps in the kernel) goes offline first, so that nobody
 * waits for it.
 */
#pragma once

#include <stdint.h>

#include "hot.h"

#ifndef BUILT_FOR_TSAN
#define _LGPL_SOURCE 1 /* inline read side; allowed for any licence (urcu/static) */
#endif
#include <urcu-qsbr.h>

/* ThreadSanitizer does not see what liburcu does: it is told that the end of a turn comes
 * before the end of a later wait, and that publishing is atomic. */
#ifdef BUILT_FOR_TSAN
void __tsan_acquire(void *at);
void __tsan_release(void *at);
#define RCU_TELL(what)	  __tsan_##what((void *)(uintptr_t)&rcu_flavor)
#define rcu_read(p)	  __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_publish(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#else
#define RCU_TELL(what)	  ((void)0)
#define rcu_read(p)	  rcu_dereference(p)
#define rcu_publish(p, v) rcu_assign_pointer(p, v)
#endif

static inline void rcu_reader_start(void)
{
	rcu_register_thread();
}
static inline void rcu_reader_stop(void)
{
	RCU_TELL(release);
	rcu_unregister_thread();
}
static inline void rcu_turn(void)
{
	RCU_TELL(release);
	rcu_quiescent_state();
}
static inline void rcu_offline(void)
{
	RCU_TELL(release);
	rcu_thread_offline();
}
static inline void rcu_online(void)
{
	rcu_thread_online();
}
static inline void rcu_wait(void)
{
	synchronize_rcu();
	RCU_TELL(acquire);
}
