/* unit/fib_fuzz.h - a table fed with changes that bytes stand for
 *
 * A step is an action byte (bits 0..2 what, bit 3 family, bit 4 origin, bits 5..7 which
 * address the prefix is cut from), a length and a next hop; "address" takes bytes for a
 * new address. Whatever the steps are: after each commit every kept address and its
 * neighbours get what a list of routes searched in full says, groups have the flows that
 * their legs' weights ask for (fib_fuzz_group.h), and no step may crash.
 *
 * One table serves all inputs. It is emptied after each, which must leave nothing in use.
 */
#pragma once

#include "fib_model.h"

#include "../../lib/fib/memory.h"

enum { FUZZ_HOPS = 16, FUZZ_ADDRS = 8, FUZZ_GROUPS = 4, FUZZ_LEGS = 4 };

enum fuzz_what {
	FUZZ_ADD,
	FUZZ_REPLACE,
	FUZZ_DEL,
	FUZZ_COMMIT,
	FUZZ_ABORT,
	FUZZ_ADDRESS,
	FUZZ_REFUSE, /* memory, to what comes next */
	FUZZ_OTHER,  /* bits 3..4: enum fuzz_other; bits 5..6: which group */
};

enum fuzz_other { FUZZ_RECLAIM, FUZZ_GROUP_GET, FUZZ_GROUP_SET, FUZZ_GROUP_PUT };

struct fuzz_group {
	uint32_t index; /* 0 = none */
	struct fib_leg leg[FUZZ_LEGS];
	uint32_t n_legs;
};

struct fuzz {
	struct model *m;
	const uint8_t *at, *end;
	uint8_t addr[FUZZ_ADDRS][16];
	struct fuzz_group group[FUZZ_GROUPS];
};

static inline uint8_t fuzz_byte(struct fuzz *z)
{
	return z->at < z->end ? *z->at++ : 0;
}

#include "fib_fuzz_group.h"

static inline void fuzz_look(struct fuzz *z, uint8_t family, const uint8_t addr[16])
{
	const struct fib_tables *t = *fib_live(z->m->fib);
	uint8_t one[1][16];
	uint32_t host, nh;

	memcpy(one[0], addr, 16);
	memcpy(&host, addr, 4);
	host = __builtin_bswap32(host);
	if (family == 4)
		fib_lookup4(t, &host, &nh, 1);
	else
		fib_lookup6(t, (const uint8_t(*)[16])one, &nh, 1);
	assert_int_equal(nh, model_lookup(z->m, family, addr));
}

static inline void fuzz_check(struct fuzz *z)
{
	for (unsigned i = 0; i < FUZZ_ADDRS; i++)
		for (uint8_t family = 4; family <= 6; family += 2) {
			fuzz_look(z, family, z->addr[i]);
			for (unsigned bit = 0; bit < model_width(family); bit += 3) {
				model_flip(z->addr[i], bit);
				fuzz_look(z, family, z->addr[i]);
				model_flip(z->addr[i], bit);
			}
		}
}

/* A change may be refused for want of memory; then it has not happened. */
static inline void fuzz_change(struct fuzz *z, uint8_t action)
{
	uint8_t family = action & 8 ? 6 : 4;
	enum fib_origin origin = action & 16 ? FIB_KERNEL : FIB_STATIC;
	unsigned len = fuzz_byte(z) % (model_width(family) + 1);
	uint32_t nh = fuzz_hop(z);
	struct fib_prefix p = model_prefix(family, z->addr[action >> 5], len);
	struct model_route *is = model_find(z->m, &p, origin);
	int r;

	if ((action & 7) == FUZZ_DEL) {
		r = fib_route_del(z->m->fib, &p, origin);
		assert_true(r == (is ? 0 : -ESRCH) || r == -ENOMEM);
		if (!r)
			*is = z->m->route[--z->m->n];
		return;
	}
	if (z->m->n == MODEL_MAX)
		return;
	fib_nh_ref(z->m->fib, nh);
	if ((action & 7) == FUZZ_ADD) {
		r = fib_route_add(z->m->fib, &p, origin, nh, 0);
		assert_true(r == (is ? -EEXIST : 0) || r == -ENOMEM);
	} else {
		r = fib_route_replace(z->m->fib, &p, origin, nh, 0);
		assert_true(r == 0 || r == -ENOMEM);
	}
	if (r < 0) {
		fib_nh_put(z->m->fib, nh);
		return;
	}
	if (!is)
		is = &z->m->route[z->m->n++];
	*is = (struct model_route){ p, origin, nh, 0 };
}

static inline void fuzz_commit(struct fuzz *z)
{
	int r = fib_commit(z->m->fib);

	fib_mem_refuse = 0;
	assert_true(r == 0 || r == -ENOMEM);
	if (r == 0)
		model_settle(z->m);
	else
		model_undo(z->m);
	fuzz_check(z);
	fuzz_check_groups(z);
	model_check_walk(z->m);
}

static inline void fuzz_step(struct fuzz *z)
{
	uint8_t action = fuzz_byte(z);

	switch ((enum fuzz_what)(action & 7)) {
	case FUZZ_ADD:
	case FUZZ_REPLACE:
	case FUZZ_DEL:
		fuzz_change(z, action);
		break;
	case FUZZ_COMMIT:
		fuzz_commit(z);
		break;
	case FUZZ_ABORT:
		model_abort(z->m);
		break;
	case FUZZ_ADDRESS:
		for (unsigned i = 0; i < 16; i++)
			z->addr[action >> 5][i] = fuzz_byte(z);
		break;
	case FUZZ_REFUSE:
		fib_mem_refuse = fuzz_byte(z);
		break;
	case FUZZ_OTHER:
		fuzz_other(z, action);
		break;
	}
}

static inline struct model *fuzz_open(void)
{
	const struct fib_conf conf = { .max_nexthops = FUZZ_HOPS + 6,
				       .max_groups = 5,
				       .max_group_bytes = 8192 };

	return model_open(&conf, FUZZ_HOPS);
}

static inline void fuzz_empty(struct fuzz *z)
{
	struct fib_sizes s;

	while (z->m->n)
		model_del(z->m, &z->m->route[0].prefix, z->m->route[0].origin);
	for (unsigned i = 0; i < FUZZ_GROUPS; i++)
		fuzz_group_put(z, &z->group[i]);
	fuzz_commit(z);
	fib_reclaim(z->m->fib);
	fib_sizes(z->m->fib, &s);
	assert_int_equal(s.nexthops, FUZZ_HOPS);
	assert_int_equal(s.groups, 0);
	assert_int_equal(s.group_bytes, 0);
}

static inline void fuzz_one(struct model *m, const uint8_t *data, size_t size)
{
	struct fuzz z = { .m = m, .at = data, .end = data + size };

	while (z.at < z.end)
		fuzz_step(&z);
	fuzz_commit(&z);
	fuzz_empty(&z);
}
