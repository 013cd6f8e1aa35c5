/* uverbs/shim_path.c - which paths lie in the fake tree
 *
 * The tree of sysfs.c has a folder DIR/sys and a folder DIR/dev. A path below one of
 * `rows` is looked up there:
 *
 *   ALWAYS  the real place is hidden. /sys/bus/pci/devices of the tree also has links
 *           to the machine's own devices, so that a bus scan sees both.
 *   GAPS    only where the real tree has nothing: /sys/class/net/eth0 stays the kernel's,
 *           but /sys/class/net/eth0/device leads to our card.
 *
 * One limit: a path relative to an open folder is resolved by the kernel. Inside the
 * tree that is right except for the uverbs node, which there is an empty file.
 */
#include "shim.h"

#include <fcntl.h>
#include <string.h>

enum mode { ALWAYS, GAPS };

static const struct row {
	const char *prefix;
	enum mode mode;
} rows[] = {
	{ "/sys/class/infiniband", ALWAYS },
	{ "/sys/class/infiniband_verbs", ALWAYS },
	{ "/sys/class/infiniband_mad", ALWAYS },
	{ "/sys/bus/pci/devices", ALWAYS },
	{ "/sys/bus/pci/drivers/mlx5_core", ALWAYS },
	{ "/sys/devices", GAPS },
	{ "/sys/class/net", GAPS },
	{ "/dev/infiniband", ALWAYS },
	{ "/dev/char", GAPS },
};

static bool below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return !strncmp(path, prefix, n) && (path[n] == '\0' || path[n] == '/');
}

/* Copies @path without doubled slashes and "/./"; ".." is the kernel's affair. */
static bool tidy(const char *path, char *out, size_t size)
{
	size_t n = 0;

	for (const char *p = path; *p; p++) {
		if (p[0] == '/' && p[1] == '/')
			continue;
		if (p[0] == '/' && p[1] == '.' && (p[2] == '/' || p[2] == '\0')) {
			p++;
			continue;
		}
		if (n + 1 >= size)
			return false;
		out[n++] = *p;
	}
	out[n] = '\0';
	return true;
}

static bool parse_number(const char *s, unsigned *ret)
{
	unsigned v = 0;

	if (*s == '\0')
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > 100000)
			return false;
		v = v * 10 + (unsigned)(*s - '0');
	}
	*ret = v;
	return true;
}

static int uverbs_node(const char *path)
{
	static const char by_name[] = "/dev/infiniband/uverbs",
			  by_number[] = "/dev/char/231:";
	unsigned n;

	if (!strncmp(path, by_name, sizeof(by_name) - 1) &&
	    parse_number(path + sizeof(by_name) - 1, &n))
		return (int)n;
	if (!strncmp(path, by_number, sizeof(by_number) - 1) &&
	    parse_number(path + sizeof(by_number) - 1, &n) && n >= SHIM_UVERBS_MINOR)
		return (int)(n - SHIM_UVERBS_MINOR);
	return -1;
}

static bool exists(const char *path)
{
	struct {
		uint64_t v[32];
	} st; /* larger than any struct stat */

	return !shim_sys_failed(
		SYS(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW));
}

static const struct row *find_row(const char *path)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (below(path, rows[i].prefix))
			return &rows[i];
	}
	return NULL;
}

/* Only a path that starts so is looked at more closely. */
static bool candidate(const char *path)
{
	if (!shim_dir || !path || path[0] != '/')
		return false;
	while (path[1] == '/')
		path++;
	return !strncmp(path, "/sys/", 5) || !strncmp(path, "/dev/", 5);
}

const char *shim_path(struct shim_path *p, const char *path)
{
	const struct row *row;
	char *real; /* the tidy path is the tail of buf, behind DIR */
	size_t dir_len;

	p->use = path;
	p->uverbs = -1;
	if (!candidate(path))
		return path;
	dir_len = strlen(shim_dir);
	real = p->buf + dir_len;
	memcpy(p->buf, shim_dir, dir_len);
	if (!tidy(path, real, sizeof(p->buf) - dir_len))
		return path;
	row = find_row(real);
	if (!row)
		return path;
	if (row->mode == GAPS && (!exists(p->buf) || exists(real)))
		return path;
	p->use = p->buf;
	if (exists(p->buf)) /* a missing node is ENOENT like any file */
		p->uverbs = uverbs_node(real);
	shim_trace("path %s", real);
	return p->use;
}

char *shim_path_back(char *path)
{
	size_t n;

	if (!path || !shim_dir)
		return path;
	n = strlen(shim_dir);
	if (!strncmp(path, shim_dir, n) &&
	    (below(path + n, "/sys") || below(path + n, "/dev")))
		memmove(path, path + n, strlen(path + n) + 1);
	return path;
}
