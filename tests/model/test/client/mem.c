/* test/client/mem.c - see mem.h */
#include "mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct rig rig;
bool privileged, want_huge;

bool mem_start(int argc, char **argv)
{
	unsigned device = 0;
	bool nobody = false;
	struct ibv_context *ctx;

	for (int i = 1; i < argc; i++) {
		nobody |= !strcmp(argv[i], "--nobody");
		want_huge |= !strcmp(argv[i], "--hugepages");
		if (!strcmp(argv[i], "--device") && i + 1 < argc)
			device = (unsigned)atoi(argv[++i]);
	}
	privileged = geteuid() == 0;
	ctx = rig_open_device(device);
	if (!check(ctx, "open device %u", device) ||
	    !check(!rig_open(&rig, ctx, 2), "queues: %s", rig.why))
		return false;
	privileged = privileged && !nobody;
	return !nobody || check_become_nobody();
}

int mem_end(void)
{
	struct ibv_context *ctx = rig.ctx;

	check(rig_close(&rig) == 0, "every object is destroyed");
	check(!ibv_close_device(ctx), "close the device");
	return check_end();
}

struct ibv_mr *reg(void *p, size_t len)
{
	return ibv_reg_mr(rig.pd, p, len, IBV_ACCESS_LOCAL_WRITE);
}

char *pages(size_t n)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

bool same(const struct ibv_mr *mr, void *p)
{
	uint8_t text[64], seen[64];

	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)rand();
	memcpy(p, text, sizeof(text));
	if (rig_peek(&rig, mr, p, seen, sizeof(seen)) ||
	    memcmp(seen, text, sizeof(text)) != 0)
		return false;
	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] ^= (uint8_t)(0x55 + i);
	return !rig_poke(&rig, mr, p, text, sizeof(text)) &&
	       !memcmp(p, text, sizeof(text));
}

unsigned kept(uint64_t *bytes, int *lowest)
{
	unsigned n = 0;

	*bytes = 0;
	for (int fd = 3; fd < 65536; fd++) {
		char path[64], target[64] = "";
		struct stat st;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0 &&
		    strstr(target, "memfd:cxmodel") && !fstat(fd, &st)) {
			*bytes += (uint64_t)st.st_blocks * 512;
			if (!n++)
				*lowest = fd;
		}
	}
	return n;
}

int status_of(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
