/* uverbs/device.c - what the front end needs of the core beyond cx.h
 *
 * The kernel reads capabilities by QUERY_HCA_CAP and makes its event queues by
 * CREATE_EQ; here the core is asked for the first by name and has the second
 * from the start. Nothing else of the server looks inside the core.
 */
#include "uverbs.h"

#include <errno.h>

#include "../core/dev.h"

uint32_t uv_cap(const struct uv_port *port, const char *name)
{
	return cx_cap(port->dev, name);
}

int uv_eqns(struct uv_port *port)
{
	uint32_t eqn;

	for (unsigned i = 0; i < UV_VECTORS && (eqn = cx_eqn(port->dev, i)); i++)
		port->eqn[port->n_vectors++] = eqn;
	return port->n_vectors ? 0 : -ENODEV;
}

/* As the netdev has it now; the core follows its changes. */
uint8_t uv_min_inline_mode(const struct uv_port *port)
{
	return port->dev->lim.min_inline_mode;
}

uint16_t uv_mtu(const struct uv_port *port)
{
	return port->dev->mtu;
}
