/* core/caps.c - the capability groups, made from the rows of caps.def
 *
 * A group is 4096 bytes, as QUERY_HCA_CAP hands it out. The current and the largest
 * values are the same: nothing here can be turned down by SET_HCA_CAP.
 */
#include "dev.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the rows ---- */

enum mark { ASSUMED, DOCUMENTED };

enum group_number {
#define CX_GROUP(group, number, gate) GROUP_##group = (number),
#define CX_CAP(group, field, offset, width, value, mark, source)
#include "caps.def"
#undef CX_GROUP
#undef CX_CAP
	GROUP_COUNT /* one more than the last row's */
};

static const struct group {
	unsigned number;
	const char *gate; /* without this capability it is unknown; NULL = always there */
} groups[] = {
#define CX_GROUP(group, number, gate) { (number), (gate) },
#define CX_CAP(group, field, offset, width, value, mark, source)
#include "caps.def"
#undef CX_GROUP
#undef CX_CAP
};

static const struct cap {
	const char *name; /* "hca.log_max_cq_sz" */
	unsigned group;
	cx_field field;
	uint64_t value;
	enum mark mark;
	const char *source;
} caps[] = {
#define CX_GROUP(group, number, gate)
/* clang-format off */
#define CX_CAP(group, field, offset, width, value, mark, source)                         \
	{ #group "." #field, GROUP_##group, CX_PACK(offset, width), (value), (mark), (source) },
/* clang-format on */
#include "caps.def"
#undef CX_GROUP
#undef CX_CAP
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct cap *find_cap(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(caps); i++)
		if (!strncmp(caps[i].name, name, len) && !caps[i].name[len])
			return &caps[i];
	return NULL;
}

/* ---- values ---- */

static uint64_t value_of(const struct cx_dev *dev, const struct cap *cap)
{
	return cx_get(dev->cap[cap->group], cap->field);
}

uint32_t cx_cap(const struct cx_dev *dev, const char *name)
{
	const struct cap *cap = find_cap(name, strlen(name));

	assert(cap); /* a name that caps.def does not have is our own mistake */
	return cap ? (uint32_t)value_of(dev, cap) : 0;
}

const uint8_t *cx_cap_group(const struct cx_dev *dev, unsigned number)
{
	for (size_t i = 0; i < COUNT(groups); i++) {
		if (groups[i].number != number)
			continue;
		if (groups[i].gate && !cx_cap(dev, groups[i].gate))
			return NULL;
		return dev->cap[number];
	}
	return NULL;
}

void cx_caps_dump(const struct cx_dev *dev, void (*line)(void *arg, const char *text),
		  void *arg)
{
	char text[256];

	for (size_t i = 0; i < COUNT(caps); i++) {
		snprintf(text, sizeof(text), "%s=%llu %s%s%s", caps[i].name,
			 (unsigned long long)value_of(dev, &caps[i]),
			 caps[i].mark == DOCUMENTED ? "documented" : "assumed",
			 *caps[i].source ? ": " : "", caps[i].source);
		line(arg, text);
	}
}

/* ---- overrides: "hca.cqe_compression=0" ---- */

static int bad_override(struct cx_dev *dev, const char *text, const char *why)
{
	cx_log(dev, "capability %s: %s", text, why);
	return -EINVAL;
}

static int override(struct cx_dev *dev, const char *text)
{
	const char *eq = strchr(text, '=');
	const struct cap *cap = eq ? find_cap(text, (size_t)(eq - text)) : NULL;
	uint32_t width;
	uint64_t value;
	char *end;

	if (!eq)
		return bad_override(dev, text, "must be NAME=NUMBER");
	if (!cap)
		return bad_override(dev, text, "there is no such capability");
	errno = 0;
	value = strtoull(eq + 1, &end, 0);
	if (!eq[1] || eq[1] == '-' || *end || errno)
		return bad_override(dev, text, "the value is not a number");
	width = cx_field_width(cap->field);
	if (width < 64 && value >> width)
		return bad_override(dev, text, "the value is too large for the field");
	cx_set(dev->cap[cap->group], cap->field, value);
	return 0;
}

/* ---- what engines read often ---- */

/* Stride sizes and numbers: kernel include/linux/mlx5/mlx5_ifc.h has no field for them; the
 * limits are those of drivers/infiniband/hw/mlx5/mlx5_ib.h, MLX5_*_SINGLE_*. */
static void derive_striding(struct cx_dev *dev, struct cx_limits *lim)
{
	lim->striding_rq = cx_cap(dev, "hca.striding_rq");
	lim->ext_stride_range = cx_cap(dev, "hca.ext_stride_num_range");
	lim->log_min_stride_bytes = 6;
	lim->log_max_stride_bytes = 13;
	lim->log_min_strides = lim->ext_stride_range ? 3 : 9;
	lim->log_max_strides = 16;
	lim->log_min_stride_wqe = (uint8_t)cx_cap(dev, "hca2.log_min_stride_wqe_sz");
}

/* Segments of 16 bytes in a send WQE. The field of the control segment has six bits, so 63 is the
 * end (DPDK mlx5_prm.h, MLX5_DSEG_MAX; kernel en.h, mlx5e_get_max_sq_aligned_wqebbs: 64 "overflows"
 * it), however large the WQE may be. That drivers stop at 60 is their own wish: whole blocks. */
static uint8_t max_send_segs(const struct cx_dev *dev)
{
	uint32_t n = cx_cap(dev, "hca.max_wqe_sz_sq") / 16;

	return (uint8_t)(n < 63 ? n : 63);
}

/* wqe_inline_mode: 0 layer 2 always, 1 as the port's context says, 2 not required; source:
 * kernel include/linux/mlx5/vport.h. */
static uint8_t min_inline_mode(const struct cx_dev *dev)
{
	switch (cx_cap(dev, "eth.wqe_inline_mode")) {
	case 0:
		return 1;
	case 1:
		return dev->port_inline_mode;
	default:
		return 0;
	}
}

static void derive_limits(struct cx_dev *dev)
{
	struct cx_limits *lim = &dev->lim;

	lim->log_max_cq_size = (uint8_t)cx_cap(dev, "hca.log_max_cq_sz");
	lim->log_max_wq_size = (uint8_t)cx_cap(dev, "hca.log_max_wq_sz");
	lim->log_max_rqt_size = (uint8_t)cx_cap(dev, "hca.log_max_rqt_size");
	lim->log_max_rmp = (uint8_t)cx_cap(dev, "hca.log_max_rmp");
	lim->max_send_segs = max_send_segs(dev);
	lim->min_inline_mode = min_inline_mode(dev);
	lim->cqe_compression = cx_cap(dev, "hca.cqe_compression");
	lim->enhanced_compression = lim->cqe_compression &&
				    cx_cap(dev, "hca.enhanced_cqe_compression");
	lim->mini_l34 = lim->cqe_compression &&
			cx_cap(dev, "hca.mini_cqe_resp_l3_l4_tag");
	lim->csum_full = cx_cap(dev, "eth.cqe_checksum_full");
	lim->vlan_insert = cx_cap(dev, "eth.wqe_vlan_insert");
	lim->multi_pkt_send = cx_cap(dev, "eth.enhanced_multi_pkt_send_wqe");
	lim->symmetric_hash = true; /* no capability tells it; DPDK sets it unasked */
	lim->ts_real_time = cx_cap(dev, "hca.rq_ts_format") != 0;
	lim->match_ttl = cx_cap(dev, "ft.rx_outer_ipv4_ttl");
	derive_striding(dev, lim);
}

/* ---- life ---- */

int cx_caps_new(struct cx_dev *dev, const char *const *overrides)
{
	dev->cap = calloc(GROUP_COUNT, sizeof(*dev->cap));
	if (!dev->cap)
		return -ENOMEM;
	for (size_t i = 0; i < COUNT(caps); i++)
		cx_set(dev->cap[caps[i].group], caps[i].field, caps[i].value);
	for (; overrides && *overrides; overrides++) {
		int rc = override(dev, *overrides);

		if (rc)
			return rc;
	}
	derive_limits(dev);
	return 0;
}

void cx_caps_free(struct cx_dev *dev)
{
	free(dev->cap);
	dev->cap = NULL;
}
