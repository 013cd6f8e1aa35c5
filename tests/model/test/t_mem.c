/* test/t_mem.c - program and device see the same bytes, whatever the memory is
 *
 * Each case registers memory of some kind and lets the device read and write it. Options:
 * client/mem.h.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/mem.h"

/* ---- kinds of memory ---- */

static void heap(void)
{
	char *big = malloc(10000), *small = malloc(100);
	struct ibv_mr *mr;

	memset(big, 1, 10000);
	snprintf(small, 100, "neighbour");
	mr = reg(big + 100, 5000);
	check(mr && same(mr, big + 100) && same(mr, big + 5000),
	      "unaligned part of a block");
	check(!strcmp(small, "neighbour") && big[99] == 1 && big[5100] == 1 &&
		      big[9999] == 1,
	      "its neighbours are untouched");
	check(mr && !ibv_dereg_mr(mr), "deregister");
	free(big);
	free(small);
}

static void overlap(void)
{
	char *p = pages(64);
	struct ibv_mr *a = reg(p, 4 * PAGE), *b = reg(p + 2 * PAGE, 8 * PAGE);
	struct ibv_mr *all = reg(p, 64 * PAGE), *again = reg(p, 64 * PAGE);
	char *common = p + 3 * PAGE;
	uint8_t seen[3][64];

	check(a && b && all && again && same(a, common) && same(b, common) &&
		      same(all, common) && same(again, common) && same(b, p + 9 * PAGE) &&
		      same(all, p + 63 * PAGE),
	      "four registrations that overlap");
	memset(common, 7, 64);
	check(!rig_peek(&rig, a, common, seen[0], 64) &&
		      !rig_peek(&rig, b, common, seen[1], 64) &&
		      !rig_peek(&rig, all, common, seen[2], 64) && seen[0][5] == 7 &&
		      seen[1][5] == 7 && seen[2][5] == 7,
	      "one store, seen through three keys");
	ibv_dereg_mr(a);
	ibv_dereg_mr(again);
	check(same(b, common) && same(all, p), "the others outlive a deregistration");
	ibv_dereg_mr(b);
	ibv_dereg_mr(all);
	a = reg(p, 64 * PAGE);
	check(a && same(a, p) && same(a, common), "registered once more");
	ibv_dereg_mr(a);
	munmap(p, 64 * PAGE);
}

static void address_reused(void)
{
	char *p = pages(64), *q;
	struct ibv_mr *mr = reg(p, 64 * PAGE);

	ibv_dereg_mr(mr);
	memset(p, 9, 64 * PAGE);
	munmap(p, 64 * PAGE);
	q = mmap(p, 64 * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	check(q == p && p[0] == 0, "a new mapping at an old address is empty");
	mr = reg(p, 64 * PAGE);
	check(mr && same(mr, p), "and can be registered");
	ibv_dereg_mr(mr);
	munmap(p + 8 * PAGE, PAGE);
	errno = 0;
	check(!reg(p, 16 * PAGE) && errno == EFAULT, "a hole is EFAULT");
	mprotect(p + 2 * PAGE, PAGE, PROT_NONE);
	errno = 0;
	check(!reg(p, 4 * PAGE) && errno == EFAULT, "an unreadable page is EFAULT");
	mprotect(p + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	mr = reg(p, 4 * PAGE);
	check(mr && same(mr, p + 2 * PAGE), "pieces of several mappings");
	ibv_dereg_mr(mr);
	munmap(p, 64 * PAGE);
}

static char bss[3000], data[3000] = "initialised";

static void statics(void)
{
	struct ibv_mr *a = reg(bss, sizeof(bss)), *b = reg(data, sizeof(data));

	check(!strcmp(data, "initialised"), ".data keeps its contents");
	check(a && same(a, bss) && same(a, bss + 2900), ".bss");
	check(b && same(b, data) && same(b, data + 2900), ".data");
	ibv_dereg_mr(a);
	ibv_dereg_mr(b);
}

static void huge(void)
{
	const size_t size = 2 * MIB;
	struct ibv_mr *mr;
	char *p;

	if (!want_huge)
		return;
	p = mmap(NULL, 4 * size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (!check(p != MAP_FAILED, "8 MiB of huge pages"))
		return;
	memset(p, 9, 4 * size);
	mr = reg(p + PAGE, 3 * size);
	check(mr && same(mr, p + PAGE) && same(mr, p + 3 * size), "private huge pages");
	check(p[0] == 9 && p[4 * size - 1] == 9, "and what is beside the range");
	if (mr)
		ibv_dereg_mr(mr);
	munmap(p, 4 * size);
}

/* Shared memory without a descriptor needs a privilege that this process may lack. */
static void expect_shared(const char *what, char *p, size_t len)
{
	struct ibv_mr *mr;

	memset(p, 1, len);
	errno = 0;
	mr = reg(p + 100, len - 200);
	if (privileged)
		check(mr && same(mr, p + 100) && same(mr, p + len - 200), "%s", what);
	else
		check(!mr && errno == EFAULT, "%s is EFAULT without privilege", what);
	if (mr)
		ibv_dereg_mr(mr);
}

static void shared_without_fd(void)
{
	int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
	char *p = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	if (check(p != (char *)-1, "shmat")) {
		expect_shared("SysV shared memory", p, MIB);
		shmdt(p);
	}
	p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect_shared("anonymous shared memory", p, MIB);
	munmap(p, MIB);
}

static void shared_files(void)
{
	char name[] = "/dev/shm/t_mem.XXXXXX";
	int fd = memfd_create("t_mem", 0), file = mkstemp(name), other;
	struct ibv_mr *mr;
	char *p, *q;

	check(fd >= 0 && !ftruncate(fd, MIB) && file >= 0 && !ftruncate(file, MIB),
	      "files");
	p = mmap(NULL, MIB / 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MIB / 4);
	q = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	mr = reg(p + 100, MIB / 4);
	check(mr && same(mr, p + 100), "part of a memfd, not from its start");
	check(!memcmp(p + 100, q + MIB / 4 + 100, 64),
	      "seen through another mapping of it");
	ibv_dereg_mr(mr);
	munmap(q, MIB);
	munmap(p, MIB / 2);
	close(fd);

	p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	other = open(name, O_RDONLY | O_CLOEXEC);
	close(file);
	mr = reg(p, MIB);
	check(mr && same(mr, p + 5000), "a file with a read-only descriptor left");
	ibv_dereg_mr(mr);
	close(other);
	mr = reg(p, MIB);
	check(mr && same(mr, p + 5000), "a file known by its name only");
	ibv_dereg_mr(mr);
	unlink(name);
	munmap(p, MIB);
}

/* ---- madvise, realloc, munmap ---- */

static void advice(void)
{
	char *p = pages(8);
	struct ibv_mr *mr = reg(p, 8 * PAGE);

	memset(p, 5, 8 * PAGE);
	check(!madvise(p + 2 * PAGE, 3 * PAGE, MADV_DONTNEED), "MADV_DONTNEED");
	check(p[2 * PAGE] == 0 && p[5 * PAGE - 1] == 0 && p[2 * PAGE - 1] == 5 &&
		      p[5 * PAGE] == 5,
	      "leaves zeroes, there and only there");
	check(mr && same(mr, p + 3 * PAGE), "and the device sees the new page");
	mprotect(p, PAGE, PROT_READ);
	check(!madvise(p, PAGE, MADV_DONTNEED) && p[0] == 0, "on a read-only page, too");
	check(!madvise(p, 8 * PAGE, MADV_FREE), "MADV_FREE is taken");
	ibv_dereg_mr(mr);
	munmap(p, 8 * PAGE);
}

static void grow(void)
{
	char *p = malloc(MIB), *q;
	struct ibv_mr *mr = reg(p, MIB);

	memset(p, 3, MIB);
	q = realloc(p, 8 * MIB);
	if (!q) {
		check(false, "realloc()");
		free(p);
		return;
	}
	check(q[0] == 3 && q[MIB - 1] == 3, "realloc() keeps the contents");
	memset(q, 4, 8 * MIB);
	check(q[8 * MIB - 1] == 4, "and its new part can be used");
	ibv_dereg_mr(mr);
	mr = reg(q, 8 * MIB);
	check(mr && same(mr, q) && same(mr, q + 8 * MIB - 64), "and registered");
	ibv_dereg_mr(mr);
	free(q);
}

static void given_back(void)
{
	uint64_t before, after;
	int lowest;
	unsigned n_before = kept(&before, &lowest), n_after;

	for (unsigned i = 0; i < 40; i++) {
		char *p = pages(16 * MIB / PAGE);
		struct ibv_mr *mr = reg(p, 16 * MIB);

		if (!mr)
			check(false, "register 16 MiB, round %u", i);
		else
			ibv_dereg_mr(mr);
		munmap(p, 16 * MIB);
	}
	n_after = kept(&after, &lowest);
	check(after <= before + 80 * MIB && n_after <= n_before + 6,
	      "40 x 16 MiB unmapped: %u descriptors more, %llu MiB more",
	      n_after - n_before, (unsigned long long)(after - before) / MIB);
	for (unsigned i = 0; i < 400; i++) {
		char *p = malloc(200 * 1024);
		struct ibv_mr *mr = reg(p, 100);

		if (!mr)
			check(false, "register a small block, round %u", i);
		else
			ibv_dereg_mr(mr);
		free(p);
	}
	if (SANITIZED)
		return;
	n_after = kept(&after, &lowest);
	check(n_after <= n_before + 70, "400 small blocks: %u descriptors more",
	      n_after - n_before);
}

/* ---- limits and lost descriptors ---- */

/* With MCL_FUTURE the limit counts old and new pages while one replaces the other. */
static void locked(void)
{
	struct rlimit six = { 6 * MIB, 6 * MIB };
	struct ibv_mr *mr;
	char *p;

	if (!privileged)
		setrlimit(RLIMIT_MEMLOCK, &six);
	check(!mlockall(privileged ? MCL_CURRENT | MCL_FUTURE : MCL_FUTURE),
	      "mlockall()");
	p = pages(4 * MIB / PAGE);
	if (check(p, "4 MiB of locked memory")) {
		memset(p, 1, 4 * MIB);
		mr = reg(p, 4 * MIB);
		check(mr && same(mr, p + 3 * MIB), "is registered");
		if (mr)
			ibv_dereg_mr(mr);
		munmap(p, 4 * MIB);
	}
	munlockall();
}

/* The library keeps a descriptor per range: one too many is an error, not the end. */
static void descriptors_used_up(void)
{
	struct rlimit old, few = { 40, 40 };
	struct ibv_mr *mr[64] = { 0 };
	char *p[64];
	unsigned n = 0;

	getrlimit(RLIMIT_NOFILE, &old);
	few.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	do {
		p[n] = pages(2);
		mr[n] = reg(p[n], PAGE);
	} while (mr[n] && ++n < 64);
	if (!check(n > 0 && n < 64 && errno == EMFILE,
		   "range %u has no descriptor: EMFILE", n))
		return;
	for (unsigned i = 0; i < n; i++) {
		ibv_dereg_mr(mr[i]);
		munmap(p[i], 2 * PAGE);
	}
	mr[0] = reg(p[n], PAGE);
	check(mr[0] && same(mr[0], p[n]), "what was unmapped makes room at once");
	if (mr[0])
		ibv_dereg_mr(mr[0]);
	munmap(p[n], 2 * PAGE);
	setrlimit(RLIMIT_NOFILE, &old);
}

/* The library's descriptors survive what closes all. */
static void descriptors_kept(void)
{
	char *p = pages(8);
	struct ibv_mr *a = reg(p, 8 * PAGE), *b;
	uint64_t bytes;
	int lowest = -1, first = open("/dev/null", O_RDONLY), high;
	unsigned n = kept(&bytes, &lowest);

	high = dup2(first, lowest - 1);
	check(n > 0 && !close_range((unsigned)high, ~0U, 0) && fcntl(high, F_GETFD) < 0,
	      "close_range()");
	check(kept(&bytes, &lowest) == n, "spares what the library keeps");
	high = dup2(first, lowest - 1);
	closefrom(high);
	check(kept(&bytes, &lowest) == n && fcntl(high, F_GETFD) < 0,
	      "so does closefrom()");
	for (int fd = high; fd < 65536; fd++)
		close(fd);
	check(kept(&bytes, &lowest) == n, "and close() of every number");
	b = reg(p + PAGE, 2 * PAGE);
	check(a && b && same(b, p + PAGE) && same(a, p + PAGE),
	      "a range can be registered anew");
	ibv_dereg_mr(a);
	if (b)
		ibv_dereg_mr(b);
	munmap(p, 8 * PAGE);
	close(first);
}

/* Closes what the library keeps and lets other files have these numbers. */
static unsigned take_over(int *fd, unsigned max)
{
	unsigned n = 0;

	for (int i = 3; i < 65536 && n < max; i++) {
		char path[64], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		if (readlink(path, target, sizeof(target) - 1) > 0 &&
		    strstr(target, "memfd:cxmodel") && dup2(STDOUT_FILENO, i) == i)
			fd[n++] = i;
	}
	return n;
}

static void descriptors_taken(void)
{
	static int fd[4096];
	char *p = pages(8);
	struct ibv_mr *a = reg(p, 8 * PAGE), *b;
	unsigned n = take_over(fd, 4096), alive = 0;
	struct stat out;

	errno = 0;
	b = reg(p + PAGE, 2 * PAGE);
	if (privileged)
		check(b && same(b, p + PAGE) && same(a, p + PAGE), "the same pages anew");
	else
		check(!b && errno == EFAULT, "without privilege EFAULT");
	if (b)
		ibv_dereg_mr(b);
	ibv_dereg_mr(a);
	munmap(p, 8 * PAGE);
	for (unsigned i = 0; i < 300;
	     i++) { /* time to look for memory no longer mapped */
		char *q = pages(1);
		struct ibv_mr *mr = reg(q, PAGE);

		if (mr)
			ibv_dereg_mr(mr);
		munmap(q, PAGE);
	}
	fstat(STDOUT_FILENO, &out);
	for (unsigned i = 0; i < n; i++) {
		struct stat st;

		alive += !fstat(fd[i], &st) && st.st_ino == out.st_ino;
		close(fd[i]);
	}
	check(n > 0 && alive == n, "%u descriptors with reused numbers: %u untouched", n,
	      alive);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "heap", heap },
	{ "overlap", overlap },
	{ "addresses", address_reused },
	{ "static data", statics },
	{ "huge pages", huge },
	{ "shared, with a file", shared_files },
	{ "shared, without", shared_without_fd },
	{ "madvise", advice },
	{ "realloc", grow },
	{ "given back", given_back },
	{ "mlockall", locked },
	{ "descriptors", descriptors_used_up },
	{ "closefrom", descriptors_kept },
	{ "dup2", descriptors_taken },
};

int main(int argc, char **argv)
{
	if (!mem_start(argc, argv))
		return check_end();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		printf("-- %s\n", cases[i].name);
		cases[i].run();
	}
	return mem_end();
}
