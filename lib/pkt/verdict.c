/* pkt/verdict.c - the tables behind verdict.h */

#include "verdict.h"

const struct pkt_reason pkt_drop_reason[PKT_DROP_COUNT] = {
#define X(sym, name, help) { name, help },
	PKT_DROP_REASONS(X)
#undef X
};

const struct pkt_reason pkt_punt_reason[PKT_PUNT_COUNT] = {
#define X(sym, name, help) { name, help },
	PKT_PUNT_REASONS(X)
#undef X
};
