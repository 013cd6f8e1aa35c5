/* place/inside.h - what a plan knows of a CPU; for the files of place/ only */
#pragma once

#include "plan.h"

/* Best first. */
enum place_use { PLACE_ISOLATED, PLACE_TICKLESS, PLACE_ORDINARY, PLACE_KERNEL };

enum place_use place_use(const struct place_topo *t, int cpu);
/* Ports that are known to be on another node. */
unsigned place_far(const struct place_plan *p, int cpu);
