/* pkt/wire.h - how headers lie in a frame: big-endian, on even addresses only */
#pragma once

#include "../base/be.h"

/* A frame starts on an even address and every header in it has even length, so a 32-bit field
 * is 2-aligned at worst. */
#define PKT_WIRE __attribute__((packed, aligned(2)))
