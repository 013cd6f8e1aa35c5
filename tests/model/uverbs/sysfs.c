/* uverbs/sysfs.c - the tree that programs see as /sys and /dev
 *
 *   DIR/sys/devices/pci0000:00/BDF/           the card: PCI files
 *     infiniband/mlx5_N/                        RDMA device
 *     infiniband_verbs/uverbsN/                 its character device
 *     net/IF -> /sys/class/net/IF               its netdev: the kernel's own files
 *   DIR/sys/class/infiniband{,_verbs}/        links
 *   DIR/sys/class/net/IF/device               link; the kernel has none for a TAP
 *   DIR/sys/bus/pci/devices/                  links, to the machine's own devices as well
 *   DIR/dev/infiniband/uverbsN                empty files; what opens is DIR/uverbs.sock
 *
 * Only what does not change while a device lives is here. Link state, rate and counters are
 * left out: programs get the true ones by verbs, and a file would lie after the first change.
 *
 * A tree is built beside the present one and then takes its place, so that a program
 * never sees half of it.
 *
 * Source of names and formats: Documentation/ABI/stable/sysfs-class-infiniband of the kernel,
 * drivers/infiniband/core/{sysfs,uverbs_main}.c, drivers/pci/pci-sysfs.c.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uverbs.h"

#define UVERBS_MAJOR 231u /* drivers/infiniband/core/uverbs_main.c; also in shim.h */
#define UVERBS_MINOR 192u

struct tree {
	char root[128]; /* DIR/sys.new or DIR/dev.new */
	int rc;		/* the first failure; nothing more is tried */
	char *why;
	size_t why_size;
};

static void fail(struct tree *t, int rc, const char *what)
{
	if (t->rc)
		return;
	t->rc = rc;
	snprintf(t->why, t->why_size, "%s: %s: %s; is the folder writable and not full?",
		 t->root, what, strerror(-rc));
}

/* ---- pieces ---- */

/* Makes every folder on the way to @path. The caller's umask does not matter: programs of any
 * user read the tree. */
static void make_dirs(struct tree *t, char *path)
{
	for (char *p = path + strlen(t->root); p && !t->rc; p = strchr(p + 1, '/')) {
		char c = *p;

		*p = '\0';
		if (!mkdir(path, 0755))
			chmod(path, 0755);
		else if (errno != EEXIST)
			fail(t, -errno, path);
		*p = c;
	}
}

static bool place(struct tree *t, char *path, size_t size, const char *fmt, va_list args)
{
	size_t n = strlen(t->root);

	memcpy(path, t->root, n);
	if (!t->rc && (size_t)vsnprintf(path + n, size - n, fmt, args) >= size - n)
		fail(t, -ENAMETOOLONG, path);
	if (!t->rc)
		make_dirs(t, path);
	return !t->rc;
}

static void write_file(struct tree *t, const char *path, const void *data, size_t len,
		       mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || fchmod(fd, mode))
		fail(t, errno ? -errno : -EIO, path);
	if (fd >= 0)
		close(fd);
}

/* A file with a line of text. */
static void put(struct tree *t, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put(struct tree *t, const char *text, const char *fmt, ...)
{
	char path[512], line[512];
	va_list args;

	va_start(args, fmt);
	if (place(t, path, sizeof(path), fmt, args)) {
		int n = snprintf(line, sizeof(line), "%s\n", text);

		write_file(t, path, line, (size_t)n, 0444);
	}
	va_end(args);
}

static void put_link(struct tree *t, const char *target, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put_link(struct tree *t, const char *target, const char *fmt, ...)
{
	char path[512];
	va_list args;

	va_start(args, fmt);
	if (place(t, path, sizeof(path), fmt, args) && symlink(target, path))
		fail(t, -errno, path);
	va_end(args);
}

/* ---- the PCI function ---- */

static const struct {
	const char *name, *text;
} pci_files[] = {
	{ "vendor", "0x15b3" },
	{ "device", "0x101d" },
	{ "subsystem_vendor", "0x15b3" },
	{ "subsystem_device", "0x0016" },
	{ "class", "0x020000" },
	{ "revision", "0x00" },
	{ "irq", "0" },
	{ "enable", "1" },
	{ "numa_node", "-1" },
	{ "max_link_speed", "16.0 GT/s PCIe" },
	{ "max_link_width", "16" },
	{ "sriov_totalvfs", "0" },
	{ "sriov_numvfs", "0" },
	{ "max_vfs", "0" }, /* DPDK's bus scan reads this old name */
	{ "modalias", "pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00" },
	/* one line a region: start, end, flags; only the first is used, 32 MiB */
	{ "resource", "0x00000000a0000000 0x00000000a1ffffff 0x000000000014220c\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		      "0x0000000000000000 0x0000000000000000 0x0000000000000000" },
};

/* Standard header of configuration space, for lspci. PCI Local Bus 3.0, figure 6-1. */
static void put_config(struct tree *t, const char *bdf)
{
	uint8_t c[64] = {
		[0x00] = 0xb3, 0x15, 0x1d, 0x10, /* vendor, device */
		[0x04] = 0x06, 0x04, 0x00, 0x00, /* command: memory, master, no INTx */
		[0x0a] = 0x00, 0x02,		 /* class: Ethernet */
		[0x10] = 0x0c, 0x00, 0x00, 0xa0, /* region 0: 64 bits, prefetchable */
		[0x2c] = 0xb3, 0x15, 0x16, 0x00, /* subsystem */
	};
	char path[512];

	if (t->rc)
		return;
	snprintf(path, sizeof(path), "%s/devices/pci0000:00/%s/config", t->root, bdf);
	write_file(t, path, c, sizeof(c), 0444);
}

static void put_pci(struct tree *t, const char *bdf)
{
	char text[256];

	for (size_t i = 0; i < UV_COUNT(pci_files); i++)
		put(t, pci_files[i].text, "/devices/pci0000:00/%s/%s", bdf,
		    pci_files[i].name);
	put_config(t, bdf);
	snprintf(
		text, sizeof(text),
		"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:101D\nPCI_SUBSYS_ID=15B3:0016\n"
		"PCI_SLOT_NAME=%s\nMODALIAS=pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00",
		bdf);
	put(t, text, "/devices/pci0000:00/%s/uevent", bdf);
	put_link(t, "../../../bus/pci", "/devices/pci0000:00/%s/subsystem", bdf);
	put_link(t, "../../../bus/pci/drivers/mlx5_core", "/devices/pci0000:00/%s/driver",
		 bdf);
	snprintf(text, sizeof(text), "../../../../devices/pci0000:00/%s", bdf);
	put_link(t, text, "/bus/pci/drivers/mlx5_core/%s", bdf);
	put_link(t, text + 3, "/bus/pci/devices/%s", bdf);
}

/* ---- the RDMA device and its port ---- */

static const struct {
	const char *name, *text;
} rdma_files[] = {
	{ "node_type", "1: CA" },
	{ "node_desc", "device model" },
	{ "fw_ver", UV_FW_TEXT },
	{ "hca_type", "MT4125" },
	{ "hw_rev", "0" },
	{ "board_id", "MT_0000000359" },
	{ "ports/1/link_layer", "Ethernet" },
	{ "ports/1/lid", "0x0" },
	{ "ports/1/sm_lid", "0x0" },
	{ "ports/1/sm_sl", "0" },
	{ "ports/1/lid_mask_count", "0" },
	{ "ports/1/pkeys/0", "0xffff" },
	{ "ports/1/gid_attrs/types/0", "IB/RoCE v1" },
	{ "ports/1/gid_attrs/types/1", "RoCE v2" },
};

static void put_guid(struct tree *t, uint64_t guid, const char *path, const char *name)
{
	char text[32];

	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48),
		 (unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
		 (unsigned)guid & 0xffff);
	put(t, text, "%s/%s", path, name);
}

/* The port's default GIDs: link-local, of the MAC; RFC 4291, appendix A. */
static void put_gids(struct tree *t, const uint8_t mac[6], const char *path)
{
	char text[64];

	snprintf(text, sizeof(text),
		 "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x", mac[0] ^ 2,
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	put(t, text, "%s/ports/1/gids/0", path);
	put(t, text, "%s/ports/1/gids/1", path);
}

static void put_rdma(struct tree *t, const struct model_port *p)
{
	char path[128], link[160];

	snprintf(path, sizeof(path), "/devices/pci0000:00/%s/infiniband/%s", p->pci,
		 p->rdma_name);
	for (size_t i = 0; i < UV_COUNT(rdma_files); i++)
		put(t, rdma_files[i].text, "%s/%s", path, rdma_files[i].name);
	put_guid(t, p->node_guid, path, "node_guid");
	put_guid(t, p->sys_image_guid, path, "sys_image_guid");
	put_gids(t, p->mac, path);
	put_link(t, "../..", "%s/device", path);
	put_link(t, "../../../../../class/infiniband", "%s/subsystem", path);
	snprintf(link, sizeof(link), "../..%s", path);
	put_link(t, link, "/class/infiniband/%s", p->rdma_name);
}

static void put_uverbs(struct tree *t, const struct model_port *p)
{
	char path[128], text[160];

	snprintf(path, sizeof(path), "/devices/pci0000:00/%s/infiniband_verbs/uverbs%u",
		 p->pci, p->index);
	snprintf(text, sizeof(text), "%u:%u", UVERBS_MAJOR, UVERBS_MINOR + p->index);
	put(t, text, "%s/dev", path);
	put(t, p->rdma_name, "%s/ibdev", path);
	put(t, "1", "%s/abi_version", path); /* of mlx5 */
	put_link(t, "../..", "%s/device", path);
	put_link(t, "../../../../../class/infiniband_verbs", "%s/subsystem", path);
	snprintf(text, sizeof(text), "../..%s", path);
	put_link(t, text, "/class/infiniband_verbs/uverbs%u", p->index);
}

static void put_netdev(struct tree *t, const struct model_port *p)
{
	char name[16], text[128];

	model_netdev(p, name);
	if (name[0] == '\0')
		return;
	snprintf(text, sizeof(text), "/sys/class/net/%s", name);
	put_link(t, text, "/devices/pci0000:00/%s/net/%s", p->pci, name);
	snprintf(text, sizeof(text), "../../../devices/pci0000:00/%s", p->pci);
	put_link(t, text, "/class/net/%s/device", name);
	for (unsigned i = 0; i < 2; i++)
		put(t, name,
		    "/devices/pci0000:00/%s/infiniband/%s/ports/1/gid_attrs/ndevs/%u",
		    p->pci, p->rdma_name, i);
}

/* ---- beside the machine's own ---- */

/* The bus of the tree hides the real one, so it lists the real devices, too. */
static void link_real_pci(struct tree *t)
{
	static const char dir[] = "/sys/bus/pci/devices";
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return; /* a machine without PCI */
	while ((e = readdir(d))) {
		char path[sizeof(dir) + sizeof(e->d_name)];
		char *real;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		real = realpath(path, NULL);
		if (real)
			put_link(t, real, "/bus/pci/devices/%s", e->d_name);
		free(real);
	}
	closedir(d);
}

/* Two functions of one port's address cannot be told apart by any program. */
static void check_free(struct tree *t, const struct model_port *p)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", p->pci);
	if (t->rc || access(path, F_OK))
		return;
	t->rc = -EEXIST;
	snprintf(
		t->why, t->why_size,
		"%s: this machine has a PCI device of that address; give the port another card=",
		p->pci);
}

/* ---- both trees ---- */

static void build_sys(struct tree *t, const struct model *m)
{
	put(t, "6", "/class/infiniband_verbs/abi_version"); /* of uverbs itself */
	put(t, "device model",
	    "/class/infiniband/.model"); /* so that the folder exists */
	link_real_pci(t);
	for (unsigned i = 0; i < m->n_ports && !t->rc; i++) {
		const struct model_port *p = &m->port[i];

		check_free(t, p);
		put_pci(t, p->pci);
		put_rdma(t, p);
		put_uverbs(t, p);
		put_netdev(t, p);
	}
}

static void build_dev(struct tree *t, const struct model *m)
{
	put(t, "device model", "/infiniband/.model");
	for (unsigned i = 0; i < m->n_ports && !t->rc; i++) {
		unsigned n = m->port[i].index;
		char path[192], target[32];

		snprintf(target, sizeof(target), "../infiniband/uverbs%u", n);
		put_link(t, target, "/char/%u:%u", UVERBS_MAJOR, UVERBS_MINOR + n);
		snprintf(path, sizeof(path), "%s/infiniband/uverbs%u", t->root, n);
		write_file(t, path, "", 0, 0666);
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The new tree takes the old one's name in one step. */
static void swap(struct tree *t, const char *path)
{
	if (t->rc)
		return;
	if (renameat2(AT_FDCWD, t->root, AT_FDCWD, path, RENAME_EXCHANGE) &&
	    rename(t->root, path))
		fail(t, -errno, path);
}

static int build(const struct model *m, const char *name,
		 void (*fill)(struct tree *t, const struct model *m), char *why,
		 size_t why_size)
{
	struct tree t = { .why = why, .why_size = why_size };
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	snprintf(t.root, sizeof(t.root), "%s/%s.new", m->dir, name);
	remove_tree(t.root);
	fill(&t, m);
	swap(&t, path);
	remove_tree(t.root);
	return t.rc;
}

int sysfs_build(const struct model *m, char *why, size_t why_size)
{
	int rc = build(m, "sys", build_sys, why, why_size);

	return rc ? rc : build(m, "dev", build_dev, why, why_size);
}

void sysfs_remove(const struct model *m)
{
	static const char *const names[] = { "sys", "sys.new", "dev", "dev.new" };
	char path[128];

	for (size_t i = 0; i < UV_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", m->dir, names[i]);
		remove_tree(path);
	}
}
