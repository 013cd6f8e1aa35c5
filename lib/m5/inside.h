/* m5/inside.h - what the files of m5/ know of each other; not for users */
#pragma once

#include <stdbool.h>

#include "../prm/cmd.h"
#include "cq_hot.h"
#include "dev.h"
#include "rxq.h"
#include "txq.h"
#include "verbs.h"

struct m5_dev {
	unsigned index;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	uint32_t pdn;
	uint32_t eqn;
	struct m5_caps caps;
	/* One transport domain for everything of this device. */
	struct mlx5dv_devx_obj *td;
	uint32_t tdn;
};

/* ---- devx.c ---- */

/* Runs a command that makes no object. "QUERY_HCA_CAP on mlx5_0: bad parameter (...)". */
int m5_devx_command(struct m5_dev *dev, const char *name, const void *in, size_t in_bytes,
		    void *out, size_t out_bytes, struct err *err);
/* Makes an object; @num receives PRM_OUT_NUMBER when not NULL. */
int m5_devx_create(struct m5_dev *dev, const char *name, const void *in, size_t in_bytes,
		   struct err *err, struct mlx5dv_devx_obj **ret, uint32_t *num);
int m5_devx_modify(struct m5_dev *dev, struct mlx5dv_devx_obj *obj, const char *name,
		   const void *in, size_t in_bytes, struct err *err);
int m5_devx_query(struct m5_dev *dev, struct mlx5dv_devx_obj *obj, const char *name,
		  const void *in, size_t in_bytes, void *out, size_t out_bytes,
		  struct err *err);
void m5_devx_destroy(struct mlx5dv_devx_obj **obj); /* NULL is fine; sets it to NULL */

/* caps.c */
int m5_caps_read(struct m5_dev *dev, struct err *err);

/* privilege.c */
int m5_require_raw(const char *netdev, struct err *err); /* -EPERM */
/* The sentence, with the memlock limit if that was it; returns r. */
int m5_register_failed(const struct m5_dev *dev, const char *what, size_t bytes, int r,
		       struct err *err);

/* ---- ring.c: memory of a queue: entries, then its doorbell record, known to the device ---- */

struct m5_ring {
	uint8_t *base;
	size_t bytes, page_bytes;
	be32_t *dbrec; /* two words */
	uint64_t dbrec_offset;
	struct mlx5dv_devx_umem *umem;
};

size_t m5_ring_bytes(size_t entry_bytes); /* all of it */
int m5_ring_map(struct m5_ring *ring, struct m5_dev *dev, size_t entry_bytes,
		bool device_writes, int numa_node, struct err *err);
void m5_ring_unmap(struct m5_ring *ring);

/* ---- cq.c: a completion queue ---- */

struct m5_cq_comp { /* how completions are compressed */
	enum m5_cq_layout layout;
	enum m5_mini mini; /* AUTO when they are not */
	const char *why;
};

struct m5_cq {
	struct m5_ring ring;
	struct mlx5dv_devx_uar *uar; /* for arming; owned by the queue that uses the CQ */
	struct mlx5dv_devx_obj *obj;
	uint32_t num;
	unsigned log_size;
	struct m5_cq_comp comp;
};

/* What the device can do of what is wanted. -EOPNOTSUPP: not this; AUTO never fails. */
int m5_cq_choose(const struct m5_caps *caps, enum m5_compression wanted,
		 enum m5_mini mini, bool striding, struct err *err,
		 struct m5_cq_comp *ret);
const char *m5_cq_layout_name(enum m5_cq_layout layout);
const char *m5_cq_mini_name(enum m5_mini mini); /* NULL for AUTO */

int m5_cq_open(struct m5_cq *cq, struct m5_dev *dev, struct mlx5dv_devx_uar *uar,
	       unsigned log_size, int numa_node, struct err *err, struct m5_cq_hot *hot);
int m5_cq_open_as(struct m5_cq *cq, struct m5_dev *dev, struct mlx5dv_devx_uar *uar,
		  unsigned log_size, const struct m5_cq_comp *comp, int numa_node,
		  struct err *err, struct m5_cq_hot *hot);
/* What is written but not read. */
void m5_cq_drop(struct m5_cq_hot *hot);
void m5_cq_drop_as(struct m5_cq_hot *hot, enum m5_cq_layout layout);
void m5_cq_close(struct m5_cq *cq);
size_t m5_cq_bytes(unsigned log_size);

/* ---- uar.c ---- */
int m5_uar_open(struct m5_dev *dev, struct err *err,
		struct mlx5dv_devx_uar **ret); /* non-cached */
/* @ret_wc: it is write-combining. */
int m5_uar_open_send(struct m5_dev *dev, enum m5_doorbell want, struct err *err,
		     struct mlx5dv_devx_uar **ret, bool *ret_wc);
void m5_uar_close(struct mlx5dv_devx_uar **uar);
