/* uverbs/mem.c - memory of clients, mapped here
 *
 * The client's library hands over a descriptor for each mapping that a range
 * touches. The pieces are put side by side at addresses that agree with the
 * client's modulo the largest page size, so that huge pages fit:
 *
 *   client    ..|== piece 0 ==|= piece 1 =|==== piece 2 ====|..
 *   here      ..|================== one range ==============|..
 *                     ^ at                        at + len
 *
 * A client may cut its files short under a live registration. The SIGBUS that
 * the device then gets is answered with zeroed pages of our own, and the context
 * is told to look (uv_broken_maps()).
 *
 * Source of the checks: Linux 6.1 core/umem.c, ib_umem_get().
 */
#include "uverbs.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LARGEST_PAGE ((uint64_t)1 << 30)
/* Of one range. A process may have 65530 mappings (vm.max_map_count), and all clients' are
 * ours; a program whose memory is so cut up gets ENOMEM. */
#define MAX_PIECES 16384
#define FUSE_MAGIC 0x65735546 /* not in linux/magic.h of every release */

/* ---- SIGBUS ---- */

/* Slots are written with the model's lock held, by whoever registers; the handler runs in a
 * thread that touches client memory, so that thread holds the lock as well. Chunks stay. */
struct slot {
	_Atomic(uintptr_t) base;
	size_t len, page;
	struct uv_ctx *ctx;
	atomic_bool lost;
};
#define CHUNK 256
static struct chunk {
	struct slot slot[CHUNK];
	_Atomic(struct chunk *) next;
} first_chunk;
static struct sigaction old_action;
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static struct slot *slot_of(uintptr_t addr)
{
	for (struct chunk *c = &first_chunk; c; c = atomic_load(&c->next))
		for (unsigned i = 0; i < CHUNK; i++) {
			struct slot *s = &c->slot[i];
			uintptr_t base = atomic_load(&s->base);

			if (base && addr - base < s->len)
				return s;
		}
	return NULL;
}

static bool replace_page(struct slot *s, uintptr_t addr)
{
	uintptr_t base = atomic_load(&s->base), page = addr - (addr & (s->page - 1));

	if (page < base)
		page = base;
	return mmap((void *)page, UV_MIN(s->page, base + s->len - page),
		    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	struct slot *s = slot_of((uintptr_t)info->si_addr);

	if (s && replace_page(s, (uintptr_t)info->si_addr)) {
		atomic_store(&s->lost, true);
		if (s->ctx) {
			atomic_store(&s->ctx->broken_map, true);
			uv_wake(s->ctx);
		}
		errno = saved;
		return;
	}
	errno = saved;
	if (old_action.sa_flags & SA_SIGINFO) {
		old_action.sa_sigaction(sig, info, context);
		return;
	}
	sigaction(SIGBUS, &old_action, NULL); /* happens again, and is then not caught */
}

void uv_mem_init(void)
{
	static bool done;
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	pthread_mutex_lock(&slots_lock);
	if (!done && !sigaction(SIGBUS, &sa, &old_action))
		done = true;
	pthread_mutex_unlock(&slots_lock);
}

static struct slot *free_slot(void)
{
	struct chunk *c = &first_chunk;

	for (;;) {
		for (unsigned i = 0; i < CHUNK; i++)
			if (!atomic_load(&c->slot[i].base))
				return &c->slot[i];
		if (!atomic_load(&c->next)) {
			struct chunk *more = calloc(1, sizeof(*more));

			if (!more)
				return NULL;
			atomic_store(&c->next, more);
		}
		c = atomic_load(&c->next);
	}
}

static bool take_slot(struct uv_map *map)
{
	struct slot *s;

	pthread_mutex_lock(&slots_lock);
	s = free_slot();
	if (s) {
		s->len = map->len;
		s->page = map->page;
		s->ctx = map->ctx;
		atomic_store(&s->lost, false);
		atomic_store(&s->base, (uintptr_t)map->base);
	}
	pthread_mutex_unlock(&slots_lock);
	map->slot = s;
	return s;
}

static void drop_slot(struct uv_map *map)
{
	pthread_mutex_lock(&slots_lock);
	if (map->slot)
		atomic_store(&((struct slot *)map->slot)->base, 0);
	map->slot = NULL;
	pthread_mutex_unlock(&slots_lock);
}

bool uv_map_lost(struct uv_map *map)
{
	return map->slot && atomic_exchange(&((struct slot *)map->slot)->lost, false);
}

/* ---- pieces ---- */

/* A range being put together. Addresses of the client are uint64_t, ours are pointers. */
struct build {
	uint64_t lo, hi; /* window of the client's addresses, whole largest pages */
	uint8_t *room;	 /* reserved; the client's lo is at room + shift */
	size_t room_bytes, shift;
	uint64_t from, to; /* mapped so far; empty when equal */
	size_t page;
	bool write;
};

static uint8_t *here(const struct build *b, uint64_t addr)
{
	return b->room + b->shift + (addr - b->lo);
}

static int reserve(struct build *b, uint64_t addr, uint64_t len)
{
	b->lo = addr & ~(LARGEST_PAGE - 1);
	b->hi = (addr + len + LARGEST_PAGE - 1) & ~(LARGEST_PAGE - 1);
	if (b->hi <= b->lo || b->hi - b->lo > SIZE_MAX / 2)
		return -ENOMEM;
	b->room_bytes = (size_t)(b->hi - b->lo + LARGEST_PAGE);
	b->room = mmap(NULL, b->room_bytes, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->room == MAP_FAILED)
		return -ENOMEM;
	b->shift = (size_t)(-(uintptr_t)b->room & (LARGEST_PAGE - 1));
	b->page = UV_PAGE;
	return 0;
}

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* Only memory and files of this machine: a page fault on others could hold up the device. */
static bool may_map(int fd, const struct cxp_mem *m)
{
	struct statfs fs;
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && !fstatfs(fd, &fs) &&
	       (unsigned long)fs.f_type != FUSE_MAGIC && fs.f_type != NFS_SUPER_MAGIC &&
	       (uint64_t)st.st_size >= m->offset &&
	       (uint64_t)st.st_size - m->offset >= m->len;
}

static bool piece_fits(const struct build *b, const struct cxp_mem *m)
{
	if (!power_of_two(m->page_bytes) || m->page_bytes < UV_PAGE ||
	    m->page_bytes > LARGEST_PAGE || !m->len)
		return false;
	if (m->addr % m->page_bytes || m->len % m->page_bytes ||
	    m->offset % m->page_bytes)
		return false;
	if (m->addr < b->lo || m->addr > b->hi || m->len > b->hi - m->addr)
		return false;
	return b->from == b->to || m->addr == b->to;
}

static int map_piece(struct build *b, const struct cxp_mem *m, int fd)
{
	int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
	uint8_t *at;

	if (!piece_fits(b, m) || !may_map(fd, m))
		return -EFAULT;
	at = here(b, m->addr);
	if (mmap(at, m->len, PROT_READ | PROT_WRITE, flags, fd, (off_t)m->offset) ==
		    MAP_FAILED &&
	    (b->write || errno != EACCES ||
	     mmap(at, m->len, PROT_READ, flags, fd, (off_t)m->offset) == MAP_FAILED))
		return errno == ENOMEM ? -ENOMEM : -EFAULT;
	if (b->from == b->to)
		b->from = m->addr;
	b->to = m->addr + m->len;
	if (m->page_bytes > b->page)
		b->page = m->page_bytes;
	return 0;
}

/* What of the reserved room no piece took. */
static void trim(const struct build *b, uint64_t from, uint64_t to)
{
	uint8_t *lo = here(b, from), *hi = here(b, to);

	if (lo > b->room)
		munmap(b->room, (size_t)(lo - b->room));
	if (hi < b->room + b->room_bytes)
		munmap(hi, (size_t)(b->room + b->room_bytes - hi));
}

/* ---- the conversation ---- */

static int bad_piece(struct uv_call *call)
{
	call->lost = true;
	return -EPIPE;
}

/* Return: 1 = another piece may follow, 0 = that was the last, or -errno. A piece that does
 * not fit is remembered in @err; the rest must still be heard. */
static int next_piece(struct uv_call *call, struct build *b, int *err)
{
	struct cxp_mem m;
	size_t len;
	int fd, rc = uv_recv(call, &m, sizeof(m), &len, &fd);

	if (rc)
		return rc;
	if (len != sizeof(m) || m.type != CXP_MEM || (fd >= 0) != !m.last) {
		if (fd >= 0)
			close(fd);
		return bad_piece(call);
	}
	if (m.last) {
		if (m.rc)
			*err = m.rc > 0 && m.rc < UV_PAGE ? -m.rc : -EFAULT;
		return 0;
	}
	if (!*err)
		*err = map_piece(b, &m, fd);
	close(fd);
	return 1;
}

static int collect(struct uv_call *call, struct build *b, uint64_t addr, uint64_t len)
{
	struct cxp_need_mem need = { .type = CXP_NEED_MEM, .addr = addr, .len = len };
	int rc = uv_send(call->sock, &need, sizeof(need), NULL, 0), err = 0;

	if (rc)
		return bad_piece(call);
	for (unsigned n = 0; (rc = next_piece(call, b, &err)) > 0; n++) {
		if (n >= MAX_PIECES && !err)
			err = -ENOMEM;
		if (n >= 8 * MAX_PIECES) /* more than any program can have */
			return bad_piece(call);
	}
	if (rc || err)
		return rc ? rc : err;
	return b->from <= addr && b->to >= addr + len ? 0 : -EFAULT;
}

static int build_map(struct uv_call *call, struct uv_map *map, uint64_t addr,
		     uint64_t len, bool write)
{
	struct build b = { .write = write };
	int rc = reserve(&b, addr, len);

	if (rc)
		return rc;
	rc = collect(call, &b, addr, len);
	if (rc) {
		munmap(b.room, b.room_bytes);
		return rc;
	}
	trim(&b, b.from, b.to);
	map->base = here(&b, b.from);
	map->at = here(&b, addr);
	map->len = (size_t)(b.to - b.from);
	map->page = b.page;
	return 0;
}

/* ---- life of a mapping ---- */

int uv_map_client(struct uv_call *call, uint64_t addr, uint64_t len, bool write,
		  struct uv_map **ret)
{
	struct model *m = call->port->port->model;
	struct uv_map *map;
	int rc;

	if (!len || len > UINT64_MAX - UV_PAGE || addr > UINT64_MAX - UV_PAGE - len)
		return -EINVAL;
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->ctx = call->ctx;
	model_unlock(m);
	rc = build_map(call, map, addr, len, write);
	model_lock(m);
	if (!rc && !take_slot(map)) {
		munmap(map->base, map->len);
		rc = -ENOMEM;
	}
	if (rc) {
		free(map);
		return rc;
	}
	call->ctx->n_maps++;
	call->ctx->mapped_bytes += map->len;
	*ret = map;
	return 0;
}

static void unmap(struct uv_map *map)
{
	drop_slot(map);
	munmap(map->base, map->len);
	free(map);
}

/* Large ranges take a while: not under the lock, when there is a context to do it later. */
void uv_map_put(struct uv_map *map)
{
	struct uv_ctx *ctx = map->ctx;

	if (!ctx) {
		unmap(map);
		return;
	}
	map->next = ctx->unmap;
	ctx->unmap = map;
	ctx->n_maps--;
	ctx->mapped_bytes -= map->len;
}

void uv_unmap_now(struct uv_ctx *ctx)
{
	struct uv_map *map;

	while ((map = ctx->unmap)) {
		ctx->unmap = map->next;
		unmap(map);
	}
}

/* An object of the device still points here. */
void uv_map_orphan(struct uv_map *map)
{
	struct slot *s = map->slot;

	if (!map->ctx)
		return;
	if (s)
		s->ctx = NULL;
	/* Over a mapping that is there, so it cannot fail for want of address space. */
	if (mmap(map->base, map->len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
		 0) == MAP_FAILED)
		abort();
	map->ctx->n_maps--;
	map->ctx->mapped_bytes -= map->len;
	map->ctx = NULL;
}
