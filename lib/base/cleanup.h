/* base/cleanup.h - locals that release what they hold when their scope ends
 *
 *   SCOPED_FREE char *text = NULL;     SCOPED_CLOSE int fd = -1;
 *
 * take_fd() hands the thing on and leaves nothing to release.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define SCOPED_FREE  __attribute__((cleanup(cleanup_free)))
#define SCOPED_CLOSE __attribute__((cleanup(cleanup_close)))
#define SCOPED_FILE  __attribute__((cleanup(cleanup_fclose)))

static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}
