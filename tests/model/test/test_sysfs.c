/* test/test_sysfs.c - the tree of uverbs/sysfs.c: contents, rights, rebuilding, refusals */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cxmodel/model.h"

static struct model model;
static char why[256];

static void add_port(const char *pci)
{
	struct model_port *p = &model.port[model.n_ports];

	*p = (struct model_port){ .model = &model,
				  .index = model.n_ports,
				  .mac = { 2, 0, 0, 0, 0, (uint8_t)model.n_ports },
				  .node_guid = 0x0c42a10300123400 + model.n_ports,
				  .sys_image_guid = 0x0c42a10300123400 };
	snprintf(p->rdma_name, sizeof(p->rdma_name), "mlx5_%u", model.n_ports);
	snprintf(p->pci, sizeof(p->pci), "%s", pci);
	model.n_ports++;
}

static int set_up(void **state)
{
	(void)state;
	memset(&model, 0, sizeof(model));
	snprintf(model.dir, sizeof(model.dir), "/tmp/test_sysfs.XXXXXX");
	if (!mkdtemp(model.dir))
		return -1;
	/* Addresses that no machine has. */
	add_port("0000:f3:1e.6");
	add_port("0000:f3:1e.7");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sysfs_remove(&model);
	return rmdir(model.dir); /* fails if anything is left */
}

static const char *full(const char *path)
{
	static char buf[PATH_MAX];

	snprintf(buf, sizeof(buf), "%s/%s", model.dir, path);
	return buf;
}

static void assert_file(const char *path, const char *text)
{
	char got[256] = "";
	FILE *f = fopen(full(path), "r");

	assert_non_null(f);
	assert_true(fread(got, 1, sizeof(got) - 1, f) > 0);
	fclose(f);
	assert_string_equal(got, text);
}

static bool there(const char *path)
{
	struct stat st;

	return !lstat(full(path), &st);
}

static void test_two_ports(void **state)
{
	(void)state;
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), 0);
	assert_file("sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:0012:3400\n");
	assert_file("sys/class/infiniband/mlx5_1/node_guid", "0c42:a103:0012:3401\n");
	assert_file("sys/class/infiniband/mlx5_1/sys_image_guid",
		    "0c42:a103:0012:3400\n");
	assert_file("sys/class/infiniband/mlx5_1/ports/1/gids/0",
		    "fe80:0000:0000:0000:0000:00ff:fe00:0001\n");
	assert_file("sys/class/infiniband_verbs/uverbs1/dev", "231:193\n");
	assert_file("sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
	assert_file("sys/class/infiniband_verbs/abi_version", "6\n");
	assert_file("sys/bus/pci/devices/0000:f3:1e.7/device", "0x101d\n");
	assert_file("sys/bus/pci/devices/0000:f3:1e.7/infiniband/mlx5_1/node_type",
		    "1: CA\n");
	assert_file("sys/bus/pci/drivers/mlx5_core/0000:f3:1e.6/vendor", "0x15b3\n");
	/* from one device to the other, through links only */
	assert_file("sys/class/infiniband/mlx5_0/device/driver/0000:f3:1e.7/class",
		    "0x020000\n");
	assert_true(there("dev/infiniband/uverbs0") && there("dev/infiniband/uverbs1"));
	assert_true(there("dev/char/231:192"));
}

/* What changes while a device lives must not be told by a file. */
static void test_nothing_that_changes(void **state)
{
	(void)state;
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), 0);
	assert_false(there("sys/class/infiniband/mlx5_0/ports/1/state"));
	assert_false(there("sys/class/infiniband/mlx5_0/ports/1/hw_counters"));
	assert_false(there("sys/class/infiniband/mlx5_0/ports/1/counters"));
}

static void assert_open(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(stat(full(path), &st), 0);
	assert_int_equal(st.st_mode & 0777, mode);
}

static void test_any_user_may_read(void **state)
{
	mode_t old = umask(077);

	(void)state;
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), 0);
	umask(old);
	assert_open("sys", 0755);
	assert_open("sys/devices/pci0000:00/0000:f3:1e.6/infiniband/mlx5_0/ports/1",
		    0755);
	assert_open("sys/class/infiniband/mlx5_0/node_type", 0444);
	assert_open("dev/infiniband", 0755);
	assert_open("dev/infiniband/uverbs0", 0666);
}

static unsigned entries(const char *path)
{
	DIR *d = opendir(full(path));
	unsigned n = 0;
	struct dirent *e;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void test_rebuilt_when_a_port_goes(void **state)
{
	DIR *open_before;

	(void)state;
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), 0);
	assert_int_equal(entries("sys/class/infiniband"), 2);
	open_before = opendir(full("sys/class/infiniband"));
	assert_non_null(open_before);
	model.n_ports = 1;
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), 0);
	assert_int_equal(entries("sys/class/infiniband"), 1);
	assert_int_equal(entries("dev/infiniband"), 1);
	assert_false(there("sys.new"));
	assert_false(there("dev.new"));
	closedir(open_before);
}

static void test_an_address_of_the_machine(void **state)
{
	DIR *d = opendir("/sys/bus/pci/devices");
	struct dirent *e = NULL;

	(void)state;
	while (d && (e = readdir(d)) && e->d_name[0] == '.')
		;
	if (e) {
		snprintf(model.port[1].pci, sizeof(model.port[1].pci), "%.12s",
			 e->d_name);
		assert_int_equal(sysfs_build(&model, why, sizeof(why)), -EEXIST);
		assert_non_null(strstr(why, model.port[1].pci));
		assert_non_null(strstr(why, "card="));
		assert_false(there("sys"));
	}
	if (d)
		closedir(d);
}

static void test_a_folder_that_is_not_there(void **state)
{
	char dir[sizeof(model.dir)];

	(void)state;
	memcpy(dir, model.dir, sizeof(dir));
	snprintf(model.dir, sizeof(model.dir), "/nowhere/at/all");
	assert_int_equal(sysfs_build(&model, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/nowhere/at/all"));
	memcpy(model.dir, dir, sizeof(dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_ports, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_that_changes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_any_user_may_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_rebuilt_when_a_port_goes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_address_of_the_machine, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_folder_that_is_not_there, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
