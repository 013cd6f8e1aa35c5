/* wire/offload.h - what the kernel left for the hardware to do, done
 *
 * A frame that a local stack hands to a veth may be half made: its VLAN tag
 * beside it, its checksum only started, several segments in one. A frame on a
 * real wire is none of this.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct virtio_net_hdr;

#define WIRE_MIN_FRAME 60 /* without FCS; shorter frames are padded by every sender */

struct offload {
	const struct virtio_net_hdr *hdr; /* NULL: nothing left to do but the tag */
	uint16_t vlan_tpid, vlan_tci;	  /* host order; tpid 0: no tag was taken out */
	void (*emit)(void *arg, const uint8_t *frame, uint32_t len);
	void *arg;
};

/**
 * offload_finish() - give each frame that would be on the wire to emit()
 * @frame: changed in place; OFFLOAD_ROOM writable bytes before it
 * Return: 0, or -EINVAL when the header does not fit the frame (nothing was emitted).
 */
#define OFFLOAD_ROOM 4
int offload_finish(const struct offload *o, uint8_t *frame, uint32_t len);
