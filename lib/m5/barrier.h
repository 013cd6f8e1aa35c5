/* m5/barrier.h - the four orderings between us and the device, by name
 *
 *   m5_rmb_completion  entry seen valid      -> the rest of it, and the packet
 *   m5_wmb_entries     work entries written  -> doorbell record
 *   m5_wmb_doorbell    doorbell record       -> doorbell register
 *   m5_wmb_consumed    entries read          -> consumer index given back
 *
 * Source: rdma-core util/udma_barrier.h, with the reasons why; the register page is
 * mapped non-cached, so no flush follows it.
 */
#pragma once

#if defined(__x86_64__)
/* Loads are not reordered with loads, nor stores with stores, on write-back memory. */
#define m5_rmb_completion() __asm__ volatile("" : : : "memory")
#define m5_wmb_entries()    __asm__ volatile("" : : : "memory")
#define m5_wmb_doorbell()   __asm__ volatile("sfence" : : : "memory")
#define m5_wmb_consumed()   __asm__ volatile("" : : : "memory")
#elif defined(__aarch64__)
#define m5_rmb_completion() __asm__ volatile("dmb oshld" : : : "memory")
#define m5_wmb_entries()    __asm__ volatile("dmb oshst" : : : "memory")
#define m5_wmb_doorbell()   __asm__ volatile("dsb st" : : : "memory")
#define m5_wmb_consumed()   __asm__ volatile("dmb osh" : : : "memory")
#else
#error "m5/barrier.h: say here what orders memory against a device on this architecture"
#endif
