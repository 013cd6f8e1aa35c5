/* pkt/plain.c - first octets of addresses that need a closer look */

#include "plain_hot.h"

#define NONE16 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define NONE96 NONE16, NONE16, NONE16, NONE16, NONE16, NONE16
#define ALL16  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
#define FIRST  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define LAST   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
#define LAST2  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1

CACHE_ALIGNED const uint8_t pkt_odd_octet4[256] = { FIRST,  NONE96, LAST,
						    NONE96, ALL16,  ALL16 };
CACHE_ALIGNED const uint8_t pkt_odd_octet6[256] = { FIRST,  NONE96, NONE16,
						    NONE96, NONE16, LAST2 };
