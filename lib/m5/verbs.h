/* m5/verbs.h - the door to rdma-core, and its three error styles turned into -errno
 *
 * rdma-core reports a failure as a NULL pointer with errno set, as -1 with errno
 * set, or as a positive errno value, and a few functions as a negative one. Nothing
 * but this header includes <infiniband/...>.
 */
#pragma once

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

/* After a NULL result. Never 0: a library that forgot to set errno must not look like success. */
static inline int verbs_errno(void)
{
	return errno ? -errno : -EIO;
}

/* For functions that return 0, -1 with errno, or an errno value of either sign. */
static inline int verbs_result(int r)
{
	if (r == 0)
		return 0;
	if (r == -1)
		return verbs_errno();
	return r < 0 ? r : -r;
}
