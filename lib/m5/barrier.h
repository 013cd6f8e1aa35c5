/* m5/barrier.h - the orderings between us and the device, by name
 *
 *   m5_rmb_completion   entry seen valid      -> the rest of it, and the packet
 *   m5_wmb_entries      work entries written  -> doorbell record
 *   m5_wmb_doorbell     doorbell record       -> doorbell register
 *   m5_flush_doorbell   doorbell register     -> on its way now; mapped write-combining only
 *   m5_wmb_consumed     entries, frames read  -> given back to be written again
 *
 * A write-combining register is written through a buffer that no other store waits for: on
 * both sides of it stands a fence, or a doorbell is seen before its record, or late, or two
 * of them become one. On x86 a store to non-cached memory is itself ordered behind all
 * ordinary stores; that the page is what was asked for is not ours to see, and both drivers
 * named below have the fence there too. On Arm device memory and ordinary memory are two
 * observers' worlds: the completion barrier, as rdma-core has it.
 *
 * Source: rdma-core util/udma_barrier.h, with the reasons why; DPDK mlx5_common.h,
 * mlx5_doorbell_ring (flush only when write-combining); Intel SDM 3A 11.3, 9.2.2.
 */
#pragma once

#if defined(__x86_64__)
/* Loads are not reordered with loads, nor stores with stores, on write-back memory. */
#define m5_rmb_completion() __asm__ volatile("" : : : "memory")
#define m5_wmb_entries()    __asm__ volatile("" : : : "memory")
#define m5_wmb_doorbell()   __asm__ volatile("sfence" : : : "memory")
#define m5_flush_doorbell() __asm__ volatile("sfence" : : : "memory")
#define m5_wmb_consumed()   __asm__ volatile("" : : : "memory")
#elif defined(__aarch64__)
#define m5_rmb_completion() __asm__ volatile("dmb oshld" : : : "memory")
#define m5_wmb_entries()    __asm__ volatile("dmb oshst" : : : "memory")
#define m5_wmb_doorbell()   __asm__ volatile("dsb st" : : : "memory")
#define m5_flush_doorbell() __asm__ volatile("dsb st" : : : "memory")
#define m5_wmb_consumed()   __asm__ volatile("dmb osh" : : : "memory")
#else
#error "m5/barrier.h: say here what orders memory against a device on this architecture"
#endif
