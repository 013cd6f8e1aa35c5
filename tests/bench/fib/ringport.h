/* bench/fib/ringport.h - what fwdwork and the port that it gives l3fwd agree on
 *
 * l3fwd runs with ringport.so preloaded. Its only port is a ring that it receives from and
 * sends to; RINGPORT_FLIGHT packets circulate, with the destinations of RINGPORT_DST in
 * turn. Each byte on RINGPORT_ASK is answered by one struct ringport_state on
 * RINGPORT_TELL. With RINGPORT_IO_ONLY=1 nothing is done with the packets.
 */
#pragma once

#include <stdint.h>

enum { RINGPORT_ASK = 3, RINGPORT_TELL = 4 /* file descriptors */ };

struct ringport_state {
	uint64_t packets; /* received so far */
	uint64_t own_ns;  /* CPU time of the forwarding thread so far */
	uint32_t in_ring; /* packets that are in the ring just now */
};
