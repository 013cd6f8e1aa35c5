/* uverbs/proto.h - what the preload library and the device process say to each other
 *
 * The program's uverbs descriptor *is* a SOCK_SEQPACKET connection to the device
 * (the library fakes only fstat() for it). So dup, fork and SCM_RIGHTS need no
 * tables: the context ends when the last copy is closed, however that happens.
 *
 *   open     connect; HELLO ->  <- HELLO (rc)
 *   ioctl    CALL + one end of a fresh socket pair -> ; everything about this call
 *            goes over that pair, so threads and forked processes never mix:
 *              IOCTL ->
 *              <- NEED_MEM   MEM.. MEM(last) ->     any number of times
 *              <- NEED_FD    FD ->                  any number of times
 *              <- REPLY
 *   mmap     CALL + pair; MMAP ->  <- MAPPED (rc, offset) + descriptor
 *   list     on a connection of its own: LIST ->  <- PORT.. PORT(last)
 *
 * One message is one packet, at most CXP_MAX bytes. Numbers are in host order;
 * both sides run on one machine. Descriptors travel as SCM_RIGHTS.
 *
 * The library knows no verb and no attribute: it copies every attribute longer
 * than 8 bytes in, and the device marks what to copy back.
 */
#pragma once

#include <stdint.h>

#define CXP_VERSION 1
#define CXP_MAX	    131072
#define CXP_ATTRS   64 /* more attributes in one ioctl: E2BIG */
#define CXP_FDS	    8  /* descriptors in one message */

/* clang-format off */
enum cxp_type {
	CXP_HELLO = 1, CXP_LIST, CXP_PORT, CXP_CALL, CXP_IOCTL, CXP_REPLY, CXP_NEED_MEM, CXP_MEM,
	CXP_NEED_FD, CXP_FD, CXP_MMAP, CXP_MAPPED,
};
/* clang-format on */

struct cxp_hello {
	uint32_t type, version;
	uint32_t uverbs; /* N of /dev/infiniband/uverbsN */
	int32_t rc;	 /* answer: 0 or errno */
};

struct cxp_list {
	uint32_t type;
};

/* one per RDMA device */
struct cxp_port {
	uint32_t type, last; /* last = 1: no device in this message, the list is over */
	uint32_t uverbs;
	uint32_t link_up;
	uint64_t node_guid, sys_image_guid; /* host order */
	char rdma_name[32];		    /* "mlx5_0" */
	char netdev[16]; /* current name of the port's netdev, "" = none */
	char pci[16];	 /* "0000:03:00.0" */
	char fw_ver[16]; /* "22.35.4506" */
	uint32_t vendor_part_id, reserved;
};

/* + 1 descriptor */
struct cxp_call {
	uint32_t type;
};

/* + attributes (16 bytes each, struct ib_uverbs_attr)
 * + bytes of each attribute with len > 8 */
struct cxp_ioctl {
	uint32_t type, n_attrs;
	uint32_t pid; /* whose memory and descriptors NEED_* speak of */
	uint32_t reserved;
	uint8_t hdr[24]; /* struct ib_uverbs_ioctl_hdr */
};

/* one per attribute in the reply */
struct cxp_out {
	uint8_t blob; /* 1: len bytes of this attribute follow the array; copy them back */
	uint8_t handle; /* 1: attr.data is a new handle or value; copy it back */
	uint8_t fd;	/* 1: install the next descriptor and put its number in attr.data;
			   2: put its number into the blob at fd_off */
	uint8_t reserved;
	uint32_t fd_off;
};

/* + attributes + cxp_out each + blobs; + descriptors */
struct cxp_reply {
	uint32_t type;
	int32_t rc; /* 0 or errno */
	uint32_t n_attrs, n_fds;
};

struct cxp_need_mem {
	uint32_t type, reserved;
	uint64_t addr, len;
};

/* one per mapping of the client, in address order; + 1 descriptor unless last */
struct cxp_mem {
	uint32_t type;
	int32_t rc; /* of the last one: 0 or errno */
	uint32_t last;
	uint32_t page_bytes; /* of the mapping: 4096 or a huge page */
	uint64_t addr, len;  /* whole pages */
	uint64_t offset;     /* into the descriptor */
};

struct cxp_need_fd {
	uint32_t type;
	int32_t fd;
};
/* + 1 descriptor when rc is 0 */
struct cxp_fd {
	uint32_t type;
	int32_t rc;
};

struct cxp_mmap {
	uint32_t type, prot;
	uint64_t offset, len;
};
/* + 1 descriptor when rc is 0 */
struct cxp_mapped {
	uint32_t type;
	int32_t rc;
	uint64_t offset;
};
