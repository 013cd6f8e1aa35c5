/* uverbs/shim_maps.c - which mappings does this process have
 *
 * Asked afresh each time, so munmap(), mremap() and MAP_FIXED of the program need no
 * watching. Linux 6.11 answers one question by the PROCMAP_QUERY ioctl; before that the
 * text of /proc/self/maps is read once per snapshot, and smaps (slow: it walks page
 * tables) only for a mapping that may consist of huge pages.
 *
 * CXMODEL_MAPS=text makes a new kernel behave like an old one, for tests.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL_PAGE 4096

/* ---- PROCMAP_QUERY; source: include/uapi/linux/fs.h of Linux 6.11 ---- */

struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
enum {
	QUERY_READABLE = 0x01,
	QUERY_WRITABLE = 0x02,
	QUERY_EXECUTABLE = 0x04,
	QUERY_SHARED = 0x08,
	QUERY_COVERING_OR_NEXT = 0x10,
};
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)

static int query(int fd, uint64_t addr, struct procmap_query *q, char *name, size_t size)
{
	*q = (struct procmap_query){ .size = sizeof(*q),
				     .query_flags = QUERY_COVERING_OR_NEXT,
				     .query_addr = addr };
	q->vma_name_addr = (uintptr_t)name;
	q->vma_name_size = (uint32_t)size;
	return (int)SYS(SYS_ioctl, fd, PROCMAP_QUERY, q);
}

static int next_by_query(int fd, uint64_t addr, struct shim_vma *v)
{
	struct procmap_query q;
	int ret = query(fd, addr, &q, NULL, 0);

	if (ret)
		return ret;
	*v = (struct shim_vma){
		.start = q.vma_start,
		.end = q.vma_end,
		.offset = q.vma_offset,
		.inode = q.inode,
		.page_bytes = q.vma_page_size,
		.dev_major = q.dev_major,
		.dev_minor = q.dev_minor,
		.prot = (q.vma_flags & QUERY_READABLE ? PROT_READ : 0) |
			(q.vma_flags & QUERY_WRITABLE ? PROT_WRITE : 0) |
			(q.vma_flags & QUERY_EXECUTABLE ? PROT_EXEC : 0),
		.shared = q.vma_flags & QUERY_SHARED,
	};
	return 0;
}

/* ---- text ---- */

static int grow(struct shim_maps *m)
{
	size_t size = m->text_size ? 2 * m->text_size : 256 * 1024;
	long p = SYS(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (shim_sys_failed(p))
		return (int)p;
	if (m->text) {
		memcpy((void *)p, m->text, m->text_len);
		SYS(SYS_munmap, m->text, m->text_size);
	}
	m->text = (void *)p;
	m->text_size = size;
	return 0;
}

static int read_text(struct shim_maps *m)
{
	long n;

	m->text_len = 0;
	m->cursor = NULL;
	do {
		if (m->text_len + 1 >= m->text_size && grow(m))
			return -ENOMEM;
		n = SYS(SYS_read, m->fd, m->text + m->text_len,
			m->text_size - m->text_len - 1);
		if (n > 0)
			m->text_len += (size_t)n;
	} while (n > 0 || n == -EINTR);
	m->text[m->text_len] = '\0';
	return (int)n;
}

/* "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0    [heap]"; source: proc(5). Not by
 * sscanf(), which looks for the end of the whole text first, once a line. */
static bool parse_line(const char *line, struct shim_vma *v)
{
	char *at;
	const char *prot;

	*v = (struct shim_vma){ .page_bytes = SMALL_PAGE };
	v->start = strtoul(line, &at, 16);
	if (*at != '-')
		return false;
	v->end = strtoul(at + 1, &at, 16);
	prot = at + 1;
	v->prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
		  (prot[2] == 'x' ? PROT_EXEC : 0);
	v->shared = prot[3] == 's';
	v->offset = strtoul(prot + 4, &at, 16);
	v->dev_major = (uint32_t)strtoul(at, &at, 16);
	if (*at != ':')
		return false;
	v->dev_minor = (uint32_t)strtoul(at + 1, &at, 16);
	v->inode = strtoul(at, &at, 10);
	return true;
}

/* The line of the first mapping ending after @addr, or NULL. Goes on from the last answer,
 * so that a walk over all mappings reads each line once. */
static const char *find_line(struct shim_maps *m, uint64_t addr, struct shim_vma *v)
{
	const char *line = addr >= m->cursor_start && m->cursor ? m->cursor : m->text;

	while (*line && parse_line(line, v)) {
		if (v->end > addr) {
			m->cursor = line;
			m->cursor_start = v->start;
			return line;
		}
		line = strchr(line, '\n');
		if (!line)
			break;
		line++;
	}
	return NULL;
}

static uint64_t page_bytes_by_smaps(const struct shim_vma *v)
{
	struct shim_maps smaps = { .fd = (int)SYS(SYS_openat, AT_FDCWD,
						  "/proc/self/smaps",
						  O_RDONLY | O_CLOEXEC) };
	uint64_t bytes = SMALL_PAGE;
	char start[32];
	const char *line;

	if (smaps.fd < 0)
		return bytes;
	snprintf(start, sizeof(start), "%lx-%lx ", (long)v->start, (long)v->end);
	if (!read_text(&smaps)) {
		line = strstr(smaps.text, start);
		line = line ? strstr(line, "KernelPageSize:") : NULL;
		if (line)
			bytes = strtoull(line + sizeof("KernelPageSize:") - 1, NULL, 10) *
				1024;
	}
	shim_maps_close(&smaps);
	return bytes;
}

static int next_by_text(struct shim_maps *m, uint64_t addr, struct shim_vma *v)
{
	if (!find_line(m, addr, v))
		return -ENOENT;
	/* hugetlbfs lies on a device without a disk, and huge mappings start on 2 MiB. */
	if (v->inode && v->dev_major == 0 && !(v->start & 0x1fffff))
		v->page_bytes = page_bytes_by_smaps(v);
	return 0;
}

/* ---- both ---- */

int shim_maps_open(struct shim_maps *m)
{
	const char *how = getenv("CXMODEL_MAPS");
	struct shim_vma v;
	int ret;

	*m = (struct shim_maps){ 0 };
	m->fd = (int)SYS(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0) {
		shim_log("/proc/self/maps: %s; registering memory needs it",
			 shim_strerror(m->fd));
		return m->fd;
	}
	ret = how && !strcmp(how, "text") ? -ENOTTY : next_by_query(m->fd, 0, &v);
	if (ret == -ENOTTY)
		ret = read_text(m);
	if (ret)
		shim_maps_close(m);
	return ret;
}

int shim_maps_again(struct shim_maps *m)
{
	if (!m->text)
		return 0;
	SYS(SYS_lseek, m->fd, 0, SEEK_SET);
	return read_text(m);
}

void shim_maps_close(struct shim_maps *m)
{
	SYS(SYS_close, m->fd);
	if (m->text)
		SYS(SYS_munmap, m->text, m->text_size);
}

int shim_maps_next(struct shim_maps *m, uint64_t addr, struct shim_vma *v)
{
	return m->text ? next_by_text(m, addr, v) : next_by_query(m->fd, addr, v);
}

void shim_maps_name(struct shim_maps *m, const struct shim_vma *v, char *name,
		    size_t size)
{
	struct procmap_query q;
	struct shim_vma same;
	const char *line, *end;

	name[0] = '\0';
	if (!m->text) {
		if (query(m->fd, v->start, &q, name, size) || q.vma_name_size == 0)
			name[0] = '\0';
		return;
	}
	line = find_line(m, v->start, &same);
	end = line ? strchr(line, '\n') : NULL;
	line = line ? strchr(line, '/') : NULL;
	if (line && end && line < end && (size_t)(end - line) < size) {
		memcpy(name, line, (size_t)(end - line));
		name[end - line] = '\0';
	}
}
