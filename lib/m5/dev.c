/* m5/dev.c - find the RDMA device of a netdev, open it, hear its events */

#include "dev.h"

#include <assert.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"

/* What the kernel allows (dev_valid_name), so that it can be part of a path. */
static bool is_name(const char *netdev)
{
	return netdev[0] && strlen(netdev) < IFNAMSIZ && !strchr(netdev, '/') &&
	       strcmp(netdev, ".") && strcmp(netdev, "..");
}

/* "/sys/class/infiniband/mlx5_0/device/net/eth0" exists when mlx5_0 is behind eth0. */
static bool is_behind(const struct ibv_device *ibdev, const char *netdev)
{
	char path[IBV_SYSFS_PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/device/net/%s", ibdev->ibdev_path, netdev);
	return access(path, F_OK) == 0;
}

static int no_device(const char *netdev, int n_devices, struct err *err)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%.64s", netdev);
	if (!is_name(netdev) || access(path, F_OK))
		return err_set(err, -ENODEV,
			       "%s: there is no such network interface here", netdev);
	if (access("/dev/infiniband", F_OK))
		return err_set(
			err, -ENODEV,
			"%s: there is no /dev/infiniband: load the driver (modprobe mlx5_ib) and "
			"install rdma-core",
			netdev);
	if (!n_devices)
		return err_set(
			err, -ENODEV,
			"%s: rdma-core finds no RDMA device: load the driver (modprobe mlx5_ib) "
			"and install its library (ibverbs-providers)",
			netdev);
	return err_set(err, -ENODEV,
		       "%s: none of the %d RDMA devices is behind this interface; "
		       "`rdma link` shows which interface each has",
		       netdev, n_devices);
}

static int open_failed(const struct ibv_device *ibdev, int r, struct err *err)
{
	const char *name = ibdev->name;

	switch (r) {
	case -EACCES:
	case -EPERM:
		return err_set(
			err, r,
			"%s: may not open /dev/infiniband/%s: run as root, or as a user "
			"that it belongs to",
			name, ibdev->dev_name);
	case -EOPNOTSUPP:
	case -EINVAL: /* as mlx5_ib answers when the firmware knows no user contexts (devx.c) */
		return err_set(
			err, -EOPNOTSUPP,
			"%s: has no DevX: Linux 5.10 or newer with mlx5_ib is "
			"needed, and a ConnectX-5 or newer with its firmware up to date",
			name);
	case -ENOMEM:
		return err_set(
			err, r,
			"%s: no memory to open the device: is the memlock limit too low "
			"(ulimit -l; LimitMEMLOCK=infinity in the unit)?",
			name);
	}
	return err_set(err, r, "%s: cannot open with DevX: %s (%s)", name, strerror(-r),
		       err_symbol(r));
}

static int open_device(struct m5_dev *dev, struct ibv_device *ibdev, const char *netdev,
		       struct err *err)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	int r;

	if (!mlx5dv_is_supported(ibdev))
		return err_set(err, -EOPNOTSUPP, "%s: %s is not driven by mlx5", netdev,
			       ibdev->name);
	r = m5_require_raw(netdev, err);
	if (r < 0)
		return r;
	errno = 0;
	dev->ctx = mlx5dv_open_device(ibdev, &attr);
	return dev->ctx ? 0 : open_failed(ibdev, verbs_errno(), err);
}

static int open_context(struct m5_dev *dev, const char *netdev, struct err *err)
{
	struct ibv_device **list;
	int n = 0, i, r;

	list = ibv_get_device_list(&n);
	if (!list)
		return no_device(netdev, 0, err);
	if (!is_name(netdev))
		n = 0;
	for (i = 0; i < n && !is_behind(list[i], netdev); i++)
		;
	r = i < n ? open_device(dev, list[i], netdev, err) : no_device(netdev, n, err);
	ibv_free_device_list(list);
	return r;
}

static void read_pci(struct m5_dev *dev)
{
	char path[IBV_SYSFS_PATH_MAX + 32], *real, *name;
	FILE *file;
	int node = -1;

	snprintf(path, sizeof(path), "%s/device", dev->ctx->device->ibdev_path);
	real = realpath(path, NULL);
	name = real ? strrchr(real, '/') : NULL;
	if (name)
		snprintf(dev->caps.pci, sizeof(dev->caps.pci), "%s", name + 1);
	free(real);
	snprintf(path, sizeof(path), "%s/device/numa_node", dev->ctx->device->ibdev_path);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &node) != 1)
		node = -1;
	if (file)
		fclose(file);
	dev->caps.numa_node = node;
}

static int identify(struct m5_dev *dev, struct err *err)
{
	struct ibv_device_attr attr;
	int r;

	assert(dev->ctx);
	r = verbs_result(ibv_query_device(dev->ctx, &attr));

	snprintf(dev->caps.rdma_name, sizeof(dev->caps.rdma_name), "%s",
		 dev->ctx->device->name);
	if (r < 0)
		return err_set(err, r, "%s: QUERY_DEVICE: %s", dev->caps.rdma_name,
			       strerror(-r));
	snprintf(dev->caps.fw_ver, sizeof(dev->caps.fw_ver), "%s", attr.fw_ver);
	dev->caps.device_id = attr.vendor_part_id;
	read_pci(dev);
	return 0;
}

static int open_pd(struct m5_dev *dev, struct err *err)
{
	struct mlx5dv_pd dv = { 0 };
	struct mlx5dv_obj obj = { 0 };
	int r;

	errno = 0;
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd) {
		r = verbs_errno();
		return err_set(err, r, "%s: ALLOC_PD: %s", dev->caps.rdma_name,
			       strerror(-r));
	}
	obj.pd.in = dev->pd;
	obj.pd.out = &dv;
	r = verbs_result(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
	if (r < 0)
		return err_set(err, r, "%s: number of the protection domain: %s",
			       dev->caps.rdma_name, strerror(-r));
	dev->pdn = dv.pdn;
	r = verbs_result(mlx5dv_devx_query_eqn(dev->ctx, 0, &dev->eqn));
	if (r < 0)
		return err_set(err, r, "%s: number of the event queue: %s",
			       dev->caps.rdma_name, strerror(-r));
	return 0;
}

static int open_td(struct m5_dev *dev, struct err *err)
{
	uint32_t in[PRM_ALLOC_TD_IN_BYTES / 4] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_ALLOC_TRANSPORT_DOMAIN);
	return m5_devx_create(dev, "ALLOC_TRANSPORT_DOMAIN", in, sizeof(in), err,
			      &dev->td, &dev->tdn);
}

int m5_dev_open(const char *netdev, unsigned index, struct err *err, struct m5_dev **ret)
{
	struct m5_dev *dev;
	int r;

	if (index >= M5_DEVS_MAX)
		return err_set(err, -EINVAL, "%s: more than %d ports", netdev,
			       M5_DEVS_MAX);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return err_set(err, -ENOMEM, "%s: no memory", netdev);
	dev->index = index;
	r = open_context(dev, netdev, err);
	if (r < 0)
		goto fail;
	r = identify(dev, err);
	if (r < 0)
		goto fail;
	r = m5_caps_read(dev, err);
	if (r < 0)
		goto fail;
	r = open_pd(dev, err);
	if (r < 0)
		goto fail;
	r = open_td(dev, err);
	if (r < 0)
		goto fail;
	/* Events are read from an epoll loop. */
	fcntl(dev->ctx->async_fd, F_SETFL,
	      fcntl(dev->ctx->async_fd, F_GETFL) | O_NONBLOCK);
	*ret = dev;
	return 0;
fail:
	m5_dev_close(dev);
	return r;
}

void m5_dev_close(struct m5_dev *dev)
{
	if (!dev)
		return;
	m5_devx_destroy(&dev->td);
	if (dev->pd)
		ibv_dealloc_pd(dev->pd);
	if (dev->ctx)
		ibv_close_device(dev->ctx);
	free(dev);
}

const struct m5_caps *m5_dev_caps(const struct m5_dev *dev)
{
	return &dev->caps;
}
unsigned m5_dev_index(const struct m5_dev *dev)
{
	return dev->index;
}
int m5_dev_event_fd(const struct m5_dev *dev)
{
	return dev->ctx->async_fd;
}

bool m5_dev_next_event(struct m5_dev *dev, struct m5_event *ret)
{
	struct ibv_async_event ev;

	if (ibv_get_async_event(dev->ctx, &ev))
		return false;
	switch (ev.event_type) {
	case IBV_EVENT_PORT_ACTIVE:
		ret->type = M5_EVENT_LINK_UP;
		break;
	case IBV_EVENT_PORT_ERR:
		ret->type = M5_EVENT_LINK_DOWN;
		break;
	case IBV_EVENT_DEVICE_FATAL:
		ret->type = M5_EVENT_FATAL;
		break;
	default:
		ret->type = M5_EVENT_OTHER;
	}
	ibv_ack_async_event(&ev);
	return true;
}
