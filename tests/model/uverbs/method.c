/* uverbs/method.c - every method, of all families */
#include "uverbs.h"

static const struct uv_method *const tables[] = {
	uv_methods_device, uv_methods_verbs,   uv_methods_qp,	uv_methods_wq,
	uv_methods_devx,   uv_methods_devx_ev, uv_methods_flow,
};

const struct uv_method *uv_method_find(uint16_t object, uint16_t method)
{
	for (size_t i = 0; i < UV_COUNT(tables); i++)
		for (const struct uv_method *m = tables[i]; m->name; m++)
			if (m->object == object && m->method == method)
				return m;
	return NULL;
}
