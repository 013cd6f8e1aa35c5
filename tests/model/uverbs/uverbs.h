/* uverbs/uverbs.h - inside of the server that plays ib_uverbs and mlx5_ib
 *
 * Private to the server (every file here but shim* and sysfs.c):
 *
 *   server.c    clients come and go: one thread per context, ports, statistics
 *   call.c      one call: messages in and out, by uverbs/proto.h
 *   attr.c      attributes checked as core/uverbs_ioctl.c does; access for handlers
 *   method.c    the tables of methods joined
 *   handle.c    handles of a context and how each is undone
 *   command.c   commands to the device, as the kernel gives them
 *   mem.c       memory of clients, mapped here
 *   uar.c       doorbell pages
 *   evfile.c    descriptors that events are read from
 *   event.c     who wants to know what happened
 *   fs.c fs_rule.c   the kernel's flow steering
 *   allow.c     which commands a program may send itself
 *   m_*.c       methods, one family a file (m_write.c: the older commands)
 *
 * Threads: each context has one thread, which serves its calls one after another.
 * The model's lock is held while a method runs, and let go while it waits for its
 * client (NEED_MEM, NEED_FD). So everything below is guarded by that lock, and a
 * client that stands still holds up nobody but itself.
 *
 * Errors are 0 or -errno inside and the positive errno on the wire.
 *
 * Sources of what a method does: Linux 6.1 drivers/infiniband/core and hw/mlx5,
 * named in each file.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "../cxmodel/model.h"
#include "proto.h"

#define UV_COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define UV_MIN(a, b) ((a) < (b) ? (a) : (b))

/* What every port says of its firmware and make; ports.c chooses the same device id. */
#define UV_FW_MAJOR	  22
#define UV_FW_MINOR	  35
#define UV_FW_SUB	  4506
#define UV_FW_TEXT	  "22.35.4506"
#define UV_VENDOR_PART_ID 0x101d /* ConnectX-6 Dx */
#define UV_VENDOR_ID	  0x02c9 /* QUERY_DEVICE gives the IEEE number, not the PCI one */
#define UV_PAGE		  4096
#define UV_VECTORS	  8 /* completion vectors, each with its own event queue */

struct uv_fs;
struct uv_obj;
struct uv_call;
struct uv_evfile;
struct uv_map;
struct uv_rule;
struct uv_uars;

/* ---- one device ---- */

struct uv_watch; /* event.c, both */
struct uv_sub;
#define UV_BUCKETS 64

struct uv_port { /* what mlx5_ib keeps per device */
	struct model_port *port;
	struct cx_dev *dev;
	uint16_t devx_uid;	  /* asks on behalf of contexts that have none; devx.c */
	uint8_t q_counter;	  /* counter set of receive queues made by verbs */
	uint32_t eqn[UV_VECTORS]; /* event queue of each completion vector */
	uint32_t n_vectors;
	struct uv_fs *fs;
	struct uv_ctx *ctx;    /* open contexts, newest first */
	struct uv_obj *orphan; /* what could not be destroyed when its context closed */
	struct uv_watch *watch[UV_BUCKETS]; /* verbs queues by number */
	struct uv_sub *sub[UV_BUCKETS];	    /* DevX subscriptions by object number */
};

/* ---- one open of a device ---- */

struct uv_ctx {
	struct server *server;
	struct uv_ctx *next, *next_of_port;
	pthread_t thread;
	struct uv_port *port; /* NULL until HELLO */
	int sock;	      /* the program's uverbs descriptor is the other end */
	int wake;	      /* eventfd: stop, or look at event files and memory again */
	int pid;	      /* who opened it; for the log */
	bool open;	      /* GET_CONTEXT was served (there is a ucontext) */
	atomic_bool broken_map; /* a mapping was hit by SIGBUS */
	uint8_t cqe_version;
	uint16_t uid;	     /* 0 = opened without DevX */
	uint32_t tdn;	     /* transport domain of its TISs and TIRs */
	struct uv_obj *self; /* undoes the three above */
	struct uv_obj **handle;
	uint32_t cap_handles, lowest_free;
	struct uv_obj *newest;
	unsigned n_objs, n_maps, n_evfiles;
	uint64_t mapped_bytes;
	struct uv_uars *uars;
	uint8_t *in, *out; /* one message each, CXP_MAX bytes */
	struct uv_evfile *evfile;
	struct uv_evfile *default_async;
	struct uv_map *unmap; /* to be unmapped when the lock is not held */
};

/* device.c: what the front end needs of the core beyond cx.h */
uint32_t uv_cap(const struct uv_port *port, const char *name); /* "hca.log_max_cq_sz" */
int uv_eqns(struct uv_port *port); /* fills eqn and n_vectors */
uint16_t uv_mtu(const struct uv_port *port);
uint8_t uv_min_inline_mode(const struct uv_port *port); /* of a send queue */

bool uv_stopping(const struct server *s);
bool uv_is_reserve(int fd);	  /* too high a number for what a client may keep open */
void uv_wake(struct uv_ctx *ctx); /* its thread shall look at event files and memory */
void uv_unwake(struct uv_ctx *ctx);

/* ---- handles (handle.c) ---- */

/* One step of undoing an object. Steps are pushed as the object is made and taken back in
 * reverse, so a half-made object, a destroyed one and a closed context run the same code. */
enum uv_undo_kind {
	UV_UNDO_CMD,	 /* 16-byte command: num is the object, opcode the destroyer */
	UV_UNDO_MAILBOX, /* ptr: a whole mailbox, num bytes */
	UV_UNDO_UCTX,	 /* num */
	UV_UNDO_UMEM,	 /* num; ptr: its struct uv_map or NULL */
	UV_UNDO_MKEY,	 /* num */
	UV_UNDO_MAP,	 /* ptr: struct uv_map */
	UV_UNDO_UAR,	 /* num */
	UV_UNDO_RULE,	 /* ptr: struct uv_rule */
	UV_UNDO_USE,	 /* ptr: the object whose use count was raised */
	UV_UNDO_USES,	 /* ptr: an array of num such objects, allocated */
	UV_UNDO_EVFILE,	 /* ptr: the event file that this object reports to */
	UV_UNDO_WATCH,	 /* out of the table of event.c */
	UV_UNDO_KIND_COUNT
};

struct uv_undo {
	uint8_t kind; /* enum uv_undo_kind */
	uint16_t opcode;
	uint32_t num;
	void *ptr;
};
#define UV_UNDO_MAX 16

struct uv_qp { /* the parts of a raw packet QP; 0 entries = no such queue */
	uint32_t tisn, sqn, rqn, tirn;
	uint32_t sq_entries, rq_entries, rq_max_gs;
	uint8_t state; /* enum ib_qp_state */
	uint8_t sq_state, rq_state;
	uint8_t port;
	bool rss, sig_all;
};

struct uv_obj {
	struct uv_obj *older, *newer; /* of its context */
	struct uv_port *port;
	struct uv_ctx *ctx; /* NULL = orphan */
	uint16_t type;	    /* UVERBS_OBJECT_*, MLX5_IB_OBJECT_* */
	uint16_t uid;
	bool live; /* committed */
	uint32_t handle;
	uint32_t uses; /* the kernel's usecnt: destroy fails with EBUSY while it is not 0 */
	uint64_t user_handle;
	uint32_t comp_events, async_events; /* read by the program so far */
	struct uv_evfile *comp, *async;
	struct uv_undo undo[UV_UNDO_MAX];
	unsigned n_undo;
	uint32_t num; /* pdn, key, cqn, rqn of a WQ, rqtn, page of a UAR */
	union {
		struct {
			uint64_t iova, len;
		} mr;
		struct {
			uint32_t entries;
			bool timestamp, real_time;
		} cq;
		struct uv_qp qp;
		struct {
			uint8_t state; /* enum ib_wq_state */
		} wq;
		struct {
			uint8_t log_size;
		} rwq;
		struct {
			uint64_t id; /* creator's opcode and number, as devx.c encodes them */
			uint32_t counter_bulk;
		} devx;
		struct {
			uint32_t index; /* of the context's pages; names it in mmap() */
			uint64_t at;	/* in the context's memfd */
			uint8_t *page;
		} uar;
		struct {
			uint8_t mask[512];
			uint16_t mask_len, priority;
			uint8_t criteria, flow_type, ft_type;
		} matcher;
	};
};

const char *uv_obj_type_name(uint16_t type);
/* A new object of this call, with a handle; call->fresh. -EINVAL without a ucontext. */
int uv_obj_new(struct uv_call *call, uint16_t type, struct uv_obj **ret);
/* The end of a call: in the list, or undone. */
void uv_obj_commit(struct uv_obj *obj);
void uv_obj_abort(struct uv_obj *obj);
/* -ENOENT no such handle, -EINVAL another type. @type 0xffff = any. */
int uv_obj_get(struct uv_ctx *ctx, uint16_t type, uint64_t handle, struct uv_obj **ret);
/* Undoes all steps and takes the handle away; the caller frees. -EBUSY, or what the device said. */
int uv_obj_destroy(struct uv_obj *obj);
void uv_obj_free(struct uv_obj *obj);
void uv_undo_push(struct uv_obj *obj, enum uv_undo_kind kind, uint16_t opcode,
		  uint32_t num, void *ptr);
/* Marks @used as in use by @obj for as long as @obj lives. */
void uv_obj_use(struct uv_obj *obj, struct uv_obj *used);
void uv_obj_use_all(struct uv_obj *obj, struct uv_obj **used,
		    uint32_t n);	       /* takes the array */
struct uv_obj *uv_ctx_obj(struct uv_ctx *ctx); /* ctx->self; NULL = no memory */
void uv_ctx_undo(struct uv_ctx *ctx);	       /* undoes and frees ctx->self */
/* Everything a context holds, newest first; what the device keeps becomes an orphan.
 * Takes the lock, and lets others in between. */
void uv_ctx_close(struct uv_ctx *ctx);
/* Tries orphans again; called whenever a context comes or goes. */
void uv_orphans_retry(struct uv_port *port);
/* Keys over memory that its program took away (SIGBUS) stop working. */
void uv_broken_maps(struct uv_ctx *ctx);

/* ---- commands to the device (command.c) ---- */

/* Executes with @uid written into the header. 0, or -errno by status as mlx5_cmd_exec(). */
int uv_exec(struct uv_port *port, uint16_t uid, void *in, size_t in_len, void *out,
	    size_t out_len);
/* As mlx5_cmd_do(): -EREMOTEIO when the device answered with a bad status. */
int uv_exec_raw(struct uv_port *port, uint16_t uid, void *in, size_t in_len, void *out,
		size_t out_len);
/* A 16-byte command without and with a number; the number of the answer into @num. */
int uv_exec_alloc(struct uv_port *port, uint16_t uid, uint16_t opcode, uint32_t *num);
int uv_exec_num(struct uv_port *port, uint16_t uid, uint16_t opcode, uint32_t num);
int uv_exec_uctx_free(struct uv_port *port, uint16_t uid);

/* ---- client memory (mem.c) ---- */

/* One registration: always contiguous here, whatever mappings it has in the client. */
struct uv_map {
	struct uv_map *next;
	uint8_t *at;   /* the byte the client named */
	uint8_t *base; /* whole pages around it */
	size_t len;
	size_t page; /* largest page size in it */
	struct uv_ctx *ctx;
	void *slot; /* for the SIGBUS handler */
};

void uv_mem_init(void); /* installs the SIGBUS handler; once a process */
/**
 * uv_map_client() - ask the client for a range and map it
 * @write: false allows memory that the client itself may only read
 *
 * Lets the lock go meanwhile. Return: 0, -EINVAL (empty, wraps), -EFAULT (not all there),
 * -ENOMEM, what the client's library said, -EPIPE (client gone).
 */
int uv_map_client(struct uv_call *call, uint64_t addr, uint64_t len, bool write,
		  struct uv_map **ret);
void uv_map_put(struct uv_map *map); /* unmapped at the end of the call */
void uv_map_orphan(
	struct uv_map *map); /* gives the client's pages back, keeps the addresses */
void uv_unmap_now(struct uv_ctx *ctx); /* lock not held */
/* Did the client take pages of it away? True once for each time. */
bool uv_map_lost(struct uv_map *map);

/* ---- doorbell pages (uar.c) ---- */

int uv_uar_new(struct uv_obj *obj); /* obj->num and obj->uar */
int uv_uar_free(struct uv_obj *obj);
void uv_uar_forget(struct uv_obj *obj); /* the device itself is about to go */
uint64_t uv_uar_mmap_offset(const struct uv_obj *obj);
/* Answers mmap(): the descriptor to map and where in it. */
int uv_uar_mmap(struct uv_call *call, const struct cxp_mmap *m, uint64_t *offset,
		int *fd);
void uv_uars_close(struct uv_ctx *ctx);

/* ---- event files (evfile.c) ---- */

enum uv_ev_kind { UV_EV_COMP, UV_EV_ASYNC, UV_EV_DEVX, UV_EV_CMD };

struct uv_ev;
struct uv_evfile {
	struct uv_evfile *next;
	struct uv_ctx *ctx;
	enum uv_ev_kind kind;
	bool omit_data;	   /* DevX: cookies only, at most one unread per subscription */
	int fd;		   /* our end; -1 = closed by the client */
	uint64_t dev, ino; /* of the client's end, however it is numbered there */
	unsigned refs;
	size_t record;			/* bytes of each record; 0 = they differ */
	struct uv_ev *sent, **sent_end; /* in the pipe, not known to be read */
	struct uv_ev *wait, **wait_end; /* not yet in the pipe */
	unsigned n_sent, n_wait;
	size_t wait_bytes;
};

/* @client_fd is the end for the client; the caller passes it on and closes it. */
int uv_evfile_new(struct uv_ctx *ctx, enum uv_ev_kind kind, bool omit_data,
		  struct uv_evfile **ret, int *client_fd);
void uv_evfile_omit(struct uv_evfile *ef, bool omit_data); /* before the first record */
void uv_evfile_close(struct uv_evfile *ef);
/* Which of this context's files is the client's descriptor @fd? Lets the lock go meanwhile. */
int uv_evfile_find(struct uv_call *call, int64_t fd, enum uv_ev_kind kind,
		   struct uv_evfile **ret);
void uv_evfile_get(struct uv_evfile *ef);
void uv_evfile_put(struct uv_evfile *ef);
/* A record of @owner; @counter goes up when it is read. Never blocks. */
void uv_evfile_push(struct uv_evfile *ef, const void *owner, uint32_t *counter,
		    const void *data, size_t len);
bool uv_evfile_pending(struct uv_evfile *ef, const void *owner); /* one not yet read? */
void uv_evfile_forget(struct uv_evfile *ef,
		      const void *owner); /* takes unread ones back */
void uv_evfile_disown(struct uv_evfile *ef, const void *owner); /* lets them be read */
void uv_evfile_flush(struct uv_evfile *ef);
size_t uv_evfile_bytes(struct uv_evfile *ef); /* in use, for the kernel's limits */

/* ---- events (event.c) ---- */

/* Events of queue @num of @type (CX_CQ, CX_SQ, CX_RQ) are for @obj, until it is undone. */
int uv_watch_add(struct uv_obj *obj, enum cx_obj_type type, uint32_t num);
void uv_watch_del(struct uv_obj *obj);

struct uv_sub_conf {
	struct uv_obj *obj; /* NULL = device-wide */
	uint16_t event, obj_type;
	uint32_t num;
	uint64_t cookie;
	int eventfd; /* instead of the cookie; -1 = none; each subscription has a copy */
};
/* All of @n or none; they differ in the event. */
int uv_subs_add(struct uv_evfile *ef, const struct uv_sub_conf *conf, unsigned n);
void uv_subs_del_obj(const struct uv_obj *obj);
void uv_subs_del_file(const struct uv_evfile *ef);

/* ---- flow steering (fs.c) ---- */

enum { /* flow context actions; mlx5_ifc.h MLX5_FLOW_CONTEXT_ACTION_* */
       UV_ACT_ALLOW = 0x1,
       UV_ACT_DROP = 0x2,
       UV_ACT_FWD = 0x4,
       UV_ACT_COUNT = 0x8,
       /* the kernel's own, never in a mailbox; linux/mlx5/fs.h */
       UV_ACT_NEXT_PRIO = 0x10000,
       UV_ACT_NEXT_NS = 0x20000,
};

enum { UV_DEST_TABLE = 1, UV_DEST_TIR = 2, UV_DEST_COUNTER = 0x100 };

struct uv_flow_spec { /* struct mlx5_flow_spec and mlx5_flow_act */
	uint8_t mask[512], value[512];
	uint8_t criteria;
	bool has_tag;
	uint32_t tag, action;
	unsigned n_dests;
	struct {
		uint32_t type, id;
	} dest[3];
};

/* Priorities of tables: 0 .. 31 as ib_prio_to_core_prio(), then these. */
enum {
	UV_PRIO_MCAST = 32,
	UV_PRIO_KERNEL,
	UV_PRIO_LEFTOVERS,
	UV_PRIO_END,
	UV_PRIO_COUNT
};
#define UV_LAST_USER_PRIO 15

int uv_fs_new(struct uv_port *port);
void uv_fs_free(struct uv_port *port);
/* -EEXIST, -ENOSPC, -EINVAL, -EOPNOTSUPP as the kernel; @why says what for the log. */
int uv_rule_add(struct uv_port *port, unsigned prio, const struct uv_flow_spec *spec,
		const char **why, struct uv_rule **ret);
int uv_rule_del(struct uv_port *port, struct uv_rule *rule);

/* ---- what a program may send (allow.c) ---- */

enum uv_cmd_class {
	UV_CMD_CREATE = 1,
	UV_CMD_MODIFY = 2,
	UV_CMD_QUERY = 4,
	UV_CMD_GENERAL = 8
};
bool uv_allowed(const uint8_t *in, size_t in_len, enum uv_cmd_class class);
/* May a context without DevX ask this? */
bool uv_allowed_without_uid(const uint8_t *in);
/* The object a MODIFY or QUERY mailbox names, encoded; 0 = none. */
uint64_t uv_cmd_obj(const uint8_t *in, size_t in_len);
uint64_t uv_obj_code(uint32_t opcode, uint32_t num);
/* After a create: the number made, and the mailbox (at least 64 bytes) that undoes it. */
uint32_t uv_created(const uint8_t *in, size_t in_len, const uint8_t *out, size_t out_len,
		    uint8_t *destroy, size_t *destroy_len);
uint32_t uv_creator_code(const uint8_t *in); /* of a create mailbox, for uv_obj_code() */
/* What the kernel sets in a program's mailbox: *_umem_valid. */
void uv_set_umem_valid(uint8_t *in, size_t in_len);

/* ---- one call ---- */

enum uv_attr_kind { UV_IN, UV_OUT, UV_ENUM, UV_IDR, UV_FD, UV_RAW_FD, UV_IDRS };
enum uv_access { UV_READ, UV_NEW, UV_DESTROY };
enum { UV_OPTIONAL = 0, UV_MANDATORY = 1, UV_ZERO_TAIL = 2 };
#define UV_ANY_OBJECT 0xffff

/* One attribute of a method, as core/uverbs_ioctl.h describes it. */
struct uv_spec {
	uint16_t id;
	uint8_t kind;		       /* enum uv_attr_kind */
	uint8_t access;		       /* objects */
	uint8_t flags;		       /* UV_MANDATORY, UV_ZERO_TAIL */
	uint16_t min, max;	       /* bytes; IDRS: objects */
	uint16_t obj;		       /* type; FD: enum uv_ev_kind */
	const struct uv_spec *variant; /* ENUM: one per value */
	uint8_t n_variants;
};

struct uv_method {
	uint16_t object, method;
	bool udata; /* driver data: UHW */
	const char *name;
	const struct uv_spec *attr;
	size_t n_attrs;
	/* Lock held. 0 or -errno; refusals through uv_refuse(). */
	int (*run)(struct uv_call *call);
};

#define UV_ATTRS(...) \
	.attr = (const struct uv_spec[]){ __VA_ARGS__ }, \
	.n_attrs = \
		sizeof((const struct uv_spec[]){ __VA_ARGS__ }) / sizeof(struct uv_spec)
#define UV_END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define UV_IN_RANGE(i, lo, hi, f) \
	{ \
		.id = (i), .kind = UV_IN, .min = (lo), .max = (hi), .flags = (f) \
	}
#define UV_IN_TYPE(i, type, f) UV_IN_RANGE(i, sizeof(type), sizeof(type), f)
#define UV_IN_MIN(i, lo, f)    UV_IN_RANGE(i, lo, UINT16_MAX, f)
#define UV_IN_STRUCT(i, type, last, f) \
	UV_IN_RANGE(i, UV_END_OF(type, last), sizeof(type), (f) | UV_ZERO_TAIL)
#define UV_CONST_IN(i, f) UV_IN_RANGE(i, 8, 8, f)
#define UV_FLAGS_IN(i, f) UV_IN_RANGE(i, 4, 8, f)
#define UV_OUT_RANGE(i, lo, hi, f) \
	{ \
		.id = (i), .kind = UV_OUT, .min = (lo), .max = (hi), .flags = (f) \
	}
#define UV_OUT_TYPE(i, type, f) UV_OUT_RANGE(i, sizeof(type), sizeof(type), f)
#define UV_OUT_MIN(i, lo, f)	UV_OUT_RANGE(i, lo, UINT16_MAX, f)
#define UV_OUT_STRUCT(i, type, last, f) \
	UV_OUT_RANGE(i, UV_END_OF(type, last), sizeof(type), (f) | UV_ZERO_TAIL)
#define UV_OBJ(i, type, acc, f) \
	{ \
		.id = (i), .kind = UV_IDR, .obj = (type), .access = (acc), .flags = (f) \
	}
#define UV_OBJS(i, type, lo, hi, f) \
	{ \
		.id = (i), .kind = UV_IDRS, .obj = (type), .min = (lo), .max = (hi), \
		.flags = (f) \
	}
#define UV_EVFD(i, evkind, acc, f) \
	{ \
		.id = (i), .kind = UV_FD, .obj = (evkind), .access = (acc), .flags = (f) \
	}
#define UV_UHW \
	UV_IN_MIN(UVERBS_ATTR_UHW_IN, 0, UV_OPTIONAL), \
		UV_OUT_MIN(UVERBS_ATTR_UHW_OUT, 0, UV_OPTIONAL)

struct uv_attr {
	struct ib_uverbs_attr u;    /* as it came; handles and flags change */
	const struct uv_spec *spec; /* NULL = unknown and optional */
	uint8_t *bytes;		    /* content: in the message, or small[] */
	uint8_t small[8];
	struct cxp_out out;
	struct uv_obj *obj;	  /* IDR */
	struct uv_evfile *evfile; /* FD */
	struct uv_obj **objs;	  /* IDRS */
	unsigned n_objs;
};

struct uv_call {
	struct uv_ctx *ctx;
	struct uv_port *port; /* ctx->port */
	int sock;	      /* the pair of this call */
	int pidfd;	      /* of the caller, when it was ever waited for; -1 */
	struct ucred cred;    /* of the caller, by the kernel's word */
	const char *name;     /* "CQ_CREATE", for the log */
	uint8_t hdr[sizeof(struct ib_uverbs_ioctl_hdr)];
	const struct uv_method *method;
	struct uv_attr attr[CXP_ATTRS];
	unsigned n_attrs;
	struct uv_obj *fresh; /* object that this call makes */
	struct uv_obj *gone;  /* object that this call destroyed */
	struct uv_evfile *fresh_file;
	int fd[CXP_FDS]; /* for the client */
	unsigned n_fds;
	bool lost; /* the client is gone or talks nonsense: no reply */
};

/* call.c: talk to the client during a call; the lock is let go meanwhile. */
int uv_ask_fd(struct uv_call *call, int64_t number, int *fd);
/* Message of at least @size bytes into @buf; a descriptor into @fd (-1 = none came).
 * Waits for the client, its death, or the server's end. Lock not held. */
int uv_recv(struct uv_call *call, void *buf, size_t size, size_t *len, int *fd);
/* One message without waiting: -EAGAIN none, -EPIPE over. @fd: -1 = none came with it. */
int uv_recvmsg(int sock, void *buf, size_t size, size_t *len, int *fd);
int uv_send(int sock, const void *buf, size_t len, const int *fds, unsigned n_fds);
void uv_serve_call(struct uv_ctx *ctx, int pair);

/* The one way to refuse a call: "mlx5_0 pid 4711: CQ_CREATE: comp_vector: 9 of 8". */
int uv_refuse(struct uv_call *call, int err, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* method.c */
const struct uv_method *uv_method_find(uint16_t object, uint16_t method);
/* Each ended by a row with name NULL. */
extern const struct uv_method uv_methods_device[], uv_methods_verbs[], uv_methods_qp[],
	uv_methods_wq[], uv_methods_devx[], uv_methods_devx_ev[], uv_methods_flow[];

/* attr.c: checks and binds, in the order of the client's attributes */
int uv_attrs_bind(struct uv_call *call);
struct uv_attr *uv_attr(struct uv_call *call, uint16_t id); /* NULL = not given */
/* Copies out of an attribute: -ENOENT absent, -EINVAL when it is longer than @size. */
int uv_in(struct uv_call *call, uint16_t id, void *to, size_t size);
uint32_t uv_in32(struct uv_call *call, uint16_t id); /* mandatory ones of this size */
uint64_t uv_in64(struct uv_call *call, uint16_t id);
int uv_const(struct uv_call *call, uint16_t id, uint64_t max, uint64_t *ret);
int uv_flags(struct uv_call *call, uint16_t id, uint64_t allowed, uint32_t *ret);
int uv_out(struct uv_call *call, uint16_t id, const void *from, size_t size);
int uv_out_or_zero(struct uv_call *call, uint16_t id, const void *from, size_t size);
void uv_out_if(struct uv_call *call, uint16_t id, const void *from, size_t size);
struct uv_obj *uv_in_obj(struct uv_call *call, uint16_t id);
struct uv_evfile *uv_in_evfile(struct uv_call *call, uint16_t id);
/* Driver data: bytes given (NULL and 0 without), and the answer cut to what fits. */
const uint8_t *uv_uhw(struct uv_call *call, size_t *len);
size_t uv_uhw_out_len(struct uv_call *call);
void uv_uhw_out(struct uv_call *call, const void *from, size_t size);
/* Copies driver data of at least @min bytes into a zeroed struct; what follows must be zero. */
int uv_uhw_in(struct uv_call *call, void *to, size_t size, size_t min);
bool uv_is_zero(const uint8_t *p, size_t len);
void uv_pass_fd(struct uv_call *call, struct uv_attr *a, uint8_t how, uint32_t off,
		int fd);

/* m_write.c: struct uverbs_request and _response of core/uverbs_cmd.c */
int uv_req(struct uv_call *call, void *req, size_t size);
const uint8_t *uv_req_bytes(struct uv_call *call, size_t *len);
int uv_resp(struct uv_call *call, const void *resp, size_t size);
uint32_t uv_resp_len(struct uv_call *call, size_t size);
/* An object of the context by its handle; @field is for the log. */
int uv_get(struct uv_call *call, uint16_t type, uint32_t handle, const char *field,
	   struct uv_obj **ret);
int uv_new(struct uv_call *call, uint16_t type,
	   struct uv_obj **ret); /* uv_obj_new(), logged */
int uv_destroy(struct uv_call *call, uint16_t type, uint32_t handle, struct uv_obj **ret);
int uv_need_context(struct uv_call *call); /* -EINVAL before GET_CONTEXT */
int uv_invoke_write(struct uv_call *call);
#define UV_EX(cmd) (IB_USER_VERBS_EX_CMD_##cmd | IB_USER_VERBS_CMD_FLAG_EXTENDED)
struct uv_write {
	uint32_t cmd; /* IB_USER_VERBS_CMD_*, or UV_EX() */
	const char *name;
	uint16_t req, resp; /* least bytes */
	int (*run)(struct uv_call *call);
};
extern const struct uv_write uv_writes_device[], uv_writes_verbs[], uv_writes_qp[],
	uv_writes_wq[], uv_writes_flow[];

/* cred.c: does the caller have this capability in the server's user namespace? */
bool uv_capable(struct uv_call *call, int capability);
#define UV_CAP_NET_RAW	 13
#define UV_CAP_SYS_RAWIO 17

/* shared by method files */
int uv_check_access(struct uv_call *call, uint32_t flags); /* ib_check_mr_access() */
/* A range of client memory as a umem of the device; both undone with @obj. */
int uv_umem_of(struct uv_call *call, struct uv_obj *obj, uint64_t addr, uint64_t len,
	       uint32_t access, uint32_t *umem);
/* @obj reports asynchronous events to @ef, or where its context does without one. */
void uv_report_async(struct uv_obj *obj, struct uv_evfile *ef);
/* The uid that @in goes with, written into it. -EINVAL, -EOPNOTSUPP as devx_get_uid(). */
int uv_devx_uid(struct uv_call *call, const uint8_t *in, uint16_t *uid);
/* A MODIFY or QUERY: is it for the object of the handle? */
int uv_devx_check(struct uv_call *call, const struct uv_obj *obj, const uint8_t *in,
		  size_t in_len, enum uv_cmd_class class);
int uv_query_device(struct uv_call *call); /* the old command and the extended one */
int uv_ex_query_device(struct uv_call *call);

/* ---- queues that verbs make (queue.c) ---- */

enum {
	UV_Q_RST = 0,
	UV_Q_RDY = 1,
	UV_Q_ERR = 3
}; /* MLX5_SQC_STATE_*, MLX5_RQC_STATE_* */

struct uv_ring {
	uint32_t pdn, ring, record; /* protection domain, and umems of the memory */
	unsigned log_stride, log_size;
};
void uv_fill_wq(uint8_t *wq, const struct uv_ring *r);
int uv_ring_umem(struct uv_call *call, struct uv_obj *obj, const char *field,
		 uint64_t addr, uint64_t len, uint32_t *umem);
/* A create command; what it made is undone with @obj by @destroyer. */
int uv_create(struct uv_call *call, struct uv_obj *obj, uint8_t *in, size_t len,
	      const char *name, uint16_t destroyer, uint32_t *num);
int uv_sq_to(struct uv_call *call, const struct uv_obj *obj, uint32_t sqn, uint8_t from,
	     uint8_t to);
/* Which fields of @rqc change is in @mask; the state always does. */
int uv_rq_to(struct uv_call *call, const struct uv_obj *obj, uint32_t rqn, uint8_t from,
	     uint8_t to, uint64_t mask, const uint8_t *rqc);
#define UV_RQ_VSD     (1 << 1) /* MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_* */
#define UV_RQ_COUNTER (1 << 3)
/* The state that the device has it in. */
int uv_sq_ask(struct uv_call *call, const struct uv_obj *obj, uint32_t sqn,
	      uint8_t *state);
int uv_rq_ask(struct uv_call *call, const struct uv_obj *obj, uint32_t rqn,
	      uint8_t *state);
/* Timestamp format of a queue that reports to @cq; qp.c get_ts_format(). */
int uv_ts_format(struct uv_call *call, const struct uv_obj *cq, const char *cap,
		 uint8_t *ret);
