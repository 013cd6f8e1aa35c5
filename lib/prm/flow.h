/* prm/flow.h - what a flow rule can match on: outer headers
 *
 * Source: Linux include/linux/mlx5/mlx5_ifc.h, fte_match_set_lyr_2_4. The whole match
 * parameter starts with the outer headers; we send only these.
 */
#pragma once

#include "bits.h"

enum { PRM_MATCH_BYTES = 64, PRM_MATCH_CRITERIA_OUTER = 1 };

#define PRM_MATCH_ETHERTYPE   PRM_FIELD(0x30, 16)
#define PRM_MATCH_DMAC_47_16  PRM_FIELD(0x40, 32)
#define PRM_MATCH_DMAC_15_0   PRM_FIELD(0x60, 16)
#define PRM_MATCH_IP_PROTOCOL PRM_FIELD(0x80, 8)
#define PRM_MATCH_CVLAN	      PRM_FIELD(0x90, 1)
#define PRM_MATCH_SVLAN	      PRM_FIELD(0x91, 1)
#define PRM_MATCH_FRAG	      PRM_FIELD(0x92, 1)
#define PRM_MATCH_IP_VERSION  PRM_FIELD(0x93, 4)
#define PRM_MATCH_TTL	      PRM_FIELD(0xd8, 8)
#define PRM_MATCH_DST_IP      0x180 /* bit; 16 bytes */
#define PRM_MATCH_DST_IPV4    0x1e0 /* bit; the last four of them */
