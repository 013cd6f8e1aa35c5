/* test/uvclient.h - a client of the uverbs server, without the preload library
 *
 * What shim*.c does for a program, by hand: one struct is one ioctl().
 *
 *   int ctx = uvc_open(0);
 *   struct uvc c;
 *   uvc_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
 *   uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_CQE, 15);
 *   uvc_out(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, 4);
 *   assert_int_equal(uvc_run(ctx, &c), 0);      errno, not negative
 *
 * Memory for registrations comes from uvc_mem(), so that its descriptor is known when
 * the server asks for it.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "../uverbs/proto.h"

/* Where the server listens; set by uvrig.c. */
extern char uvc_path[108];

/* ---- connections ---- */

int uvc_connect(void);	       /* no HELLO yet */
int uvc_open(unsigned uverbs); /* asserts success; close() ends the context */
int uvc_hello(int sock, unsigned uverbs, unsigned version);  /* errno of the answer */
int uvc_send(int sock, const void *buf, size_t len, int fd); /* fd -1 = none; 0 or -1 */
/* One message; -1 and errno at the end. @fd gets a descriptor that came along, or -1. */
long uvc_recv(int sock, void *buf, size_t size, int *fd);
/* CALL with a fresh pair; our end of it. */
int uvc_begin_call(int ctx);

/* ---- memory ---- */

void *uvc_mem(size_t len); /* whole pages, zero */
int uvc_mem_fd(const void *p);
void uvc_mem_alias(void *p, void *at); /* the same memory is mapped at @at as well */
void uvc_mem_free_all(void);

/* Takes the place of our answers to NEED_MEM; false = answer as usual. */
extern bool (*uvc_on_need_mem)(int pair, const struct cxp_need_mem *need);
void uvc_give_memory(int pair, const struct cxp_need_mem *need); /* the usual answer */

/* ---- calls ---- */

/* Sees each IOCTL message before it is sent. */
extern void (*uvc_on_message)(const uint8_t *msg, size_t len);

#define UVC_ATTRS 24

struct uvc {
	struct uvc_hdr { /* ib_uverbs_ioctl_hdr, which ends in a list */
		uint16_t length, object_id, method_id, num_attrs;
		uint64_t reserved1;
		uint32_t driver_id, reserved2;
	} hdr; /* length and num_attrs: 0 = as it is */
	unsigned n;
	struct uvc_attr {
		struct ib_uverbs_attr a;
		const void *in;
		void *out;
	} attr[UVC_ATTRS];
	int fd; /* descriptor that the last call gave us, -1 = none */
	unsigned replies;
};

void uvc_begin(struct uvc *c, uint16_t object, uint16_t method);
struct uvc_attr *uvc_in(struct uvc *c, uint16_t id, const void *p, size_t len);
struct uvc_attr *uvc_u32(struct uvc *c, uint16_t id, uint32_t v);
struct uvc_attr *uvc_u64(struct uvc *c, uint16_t id, uint64_t v);
struct uvc_attr *uvc_out(struct uvc *c, uint16_t id, void *p, size_t len);
/* A handle or a descriptor; of a new one the number comes back by uvc_value(). */
struct uvc_attr *uvc_handle(struct uvc *c, uint16_t id, uint64_t handle);
uint64_t uvc_value(const struct uvc *c, uint16_t id);
int uvc_run(int ctx, struct uvc *c); /* 0 or errno; -1 = the server hung up */

/* An older command through INVOKE_WRITE; any pointer may be NULL. */
struct uvc_write {
	uint32_t cmd;
	const void *in, *drv_in;
	void *out, *drv_out;
	size_t in_len, out_len, drv_in_len, drv_out_len;
};
int uvc_write(int ctx, struct uvc *c, const struct uvc_write *w);

/* mmap(): the server's descriptor and offset. 0 or errno. */
int uvc_map(int ctx, uint64_t offset, uint64_t len, int *fd, uint64_t *at);
