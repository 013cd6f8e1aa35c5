/* uverbs/cred.c - what the kernel's capable() would say of a caller
 *
 * The pair of a call carries the identity of the process that made it, told by the
 * kernel and not by the client. Capabilities count in the server's user namespace,
 * which stands for the initial one.
 */
#include "uverbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_user_ns(int pid)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return !stat("/proc/self/ns/user", &own) && !stat(path, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool effective(int pid, uint64_t *caps)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		if (!strncmp(line, "CapEff:", 7)) {
			*caps = strtoull(line + 7, NULL, 16);
			found = true;
		}
	fclose(f);
	return found;
}

bool uv_capable(struct uv_call *call, int capability)
{
	uint64_t caps;

	return call->cred.pid > 0 && effective(call->cred.pid, &caps) &&
	       caps >> capability & 1 && same_user_ns(call->cred.pid);
}
