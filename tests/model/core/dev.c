/* core/dev.c - the device as a whole: life, link, log, events, figures */
#include "dev.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- life ---- */

/* Largest message the capabilities allow (64 KiB) and one VLAN tag put in by the device. */
#define TX_FRAME_BYTES (65536 + 64)

static void configure(struct cx_dev *dev, const struct cx_conf *conf,
		      const struct cx_ops *ops)
{
	snprintf(dev->name, sizeof(dev->name), "%s", conf->name ? conf->name : "cx");
	memcpy(dev->mac, conf->mac, sizeof(dev->mac));
	dev->mtu = conf->mtu ? conf->mtu : 1500;
	dev->device_id = conf->device_id ? conf->device_id : 0x101d;
	dev->port_inline_mode = conf->min_inline_mode;
	dev->system_image_guid = conf->system_image_guid;
	if (ops)
		dev->ops = *ops;
}

static int start_parts(struct cx_dev *dev, const struct cx_conf *conf)
{
	int rc = cx_caps_new(dev, conf->caps);

	if (!rc)
		rc = cx_objs_new(dev);
	if (!rc)
		rc = cx_eqs_new(dev);
	if (!rc)
		rc = cx_steering_new(dev);
	return rc;
}

int cx_dev_new(const struct cx_conf *conf, const struct cx_ops *ops, struct cx_dev **ret)
{
	struct cx_dev *dev = calloc(1, sizeof(*dev));
	int rc;

	if (!dev)
		return -ENOMEM;
	configure(dev, conf, ops);
	dev->tx_frame = malloc(TX_FRAME_BYTES);
	rc = dev->tx_frame ? start_parts(dev, conf) : -ENOMEM;
	if (rc) {
		cx_dev_free(dev);
		return rc;
	}
	*ret = dev;
	return 0;
}

void cx_dev_free(struct cx_dev *dev)
{
	if (!dev)
		return;
	cx_faults_free(dev);
	cx_steering_free(dev);
	cx_objs_free(dev);
	cx_caps_free(dev);
	free(dev->uars);
	free(dev->sqs);
	free(dev->comp_cqs);
	free(dev->tx_frame);
	free(dev);
}

/* ---- port ---- */

/* Source: port state subtypes 1 down, 4 active: kernel include/linux/mlx5/device.h. */
void cx_link_set(struct cx_dev *dev, bool up)
{
	if (dev->up == up)
		return;
	dev->up = up;
	cx_event(dev, CX_EVENT_PORT_CHANGE, up ? 4 : 1, NULL);
}

bool cx_link_up(const struct cx_dev *dev)
{
	return dev->up;
}

void cx_mtu_set(struct cx_dev *dev, uint16_t mtu)
{
	dev->mtu = mtu;
}

void cx_mac_get(const struct cx_dev *dev, uint8_t mac[6])
{
	memcpy(mac, dev->mac, 6);
}

void cx_mac_set(struct cx_dev *dev, const uint8_t mac[6])
{
	memcpy(dev->mac, mac, 6);
}

/* ---- log and events ---- */

void cx_log(struct cx_dev *dev, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	if (!dev->ops.log)
		return;
	n = snprintf(line, sizeof(line), "%s: ", dev->name);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	dev->ops.log(dev->ops.arg, line);
}

void cx_event(struct cx_dev *dev, uint8_t type, uint8_t subtype, const struct cx_obj *obj)
{
	struct cx_event ev = { .type = type, .subtype = subtype };

	if (obj) {
		ev.obj_type = (uint8_t)obj->type;
		ev.obj_num = obj->num;
		ev.uid = obj->uid;
	}
	if (dev->ops.event)
		dev->ops.event(dev->ops.arg, &ev);
}

/* ---- figures ---- */

const struct cx_stats *cx_stats(const struct cx_dev *dev)
{
	return &dev->stats;
}
