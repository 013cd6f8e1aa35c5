/* wire/wire.c - the kinds of wire, by name */
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct wire_class *const classes[] = {
	&wire_veth, &wire_pcap, &wire_pair,  &wire_loop,
	&wire_none, &wire_gen,	&wire_drain,
};
#define N_CLASSES (sizeof(classes) / sizeof(classes[0]))

const struct wire_class *wire_class_nth(unsigned n)
{
	return n < N_CLASSES ? classes[n] : NULL;
}

static const struct wire_class *find(const char *name, size_t len)
{
	for (size_t i = 0; i < N_CLASSES; i++)
		if (strlen(classes[i]->name) == len &&
		    !strncmp(classes[i]->name, name, len))
			return classes[i];
	return NULL;
}

int wire_open(struct model_port *port, const char *spec, char *why, size_t why_size,
	      struct wire **ret)
{
	const char *colon = strchr(spec, ':');
	const struct wire_class *c =
		find(spec, colon ? (size_t)(colon - spec) : strlen(spec));
	const char *args = colon ? colon + 1 : "";
	size_t at;

	if (!c && !colon) {
		c = &wire_veth;
		args = spec;
	}
	if (c)
		return c->open(port, args, why, why_size, ret);
	at = (size_t)snprintf(why, why_size, "wire %s: unknown kind; use one of:", spec);
	for (size_t i = 0; i < N_CLASSES && at < why_size; i++)
		at += (size_t)snprintf(why + at, why_size - at, " %s", classes[i]->name);
	return -EINVAL;
}
