/* ctl/saved.c - a route as the command that makes it */

#include "saved.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add(struct saved *s, const char *text)
{
	size_t at = strlen(s->line), n = strlen(text);

	if (at + n + 1 > sizeof(s->line))
		s->r = -E2BIG;
	else
		memcpy(s->line + at, text, n + 1);
}

/* Names of interfaces may have quotes and the like. */
static void add_word(struct saved *s, const char *word)
{
	int r = 0;

	if (strpbrk(word, "\"'\\#")) {
		r = ctl_quote(s->line, sizeof(s->line), word);
	} else {
		add(s, " ");
		add(s, word);
	}
	s->r = r ? r : s->r;
}

static void add_number(struct saved *s, const char *what, uint32_t v)
{
	char text[40];

	snprintf(text, sizeof(text), " %s %u", what, v);
	add(s, text);
}

void saved_begin(struct saved *s, const char *dst)
{
	*s->line = '\0';
	s->r = 0;
	add(s, "route add");
	add_word(s, dst);
}

void saved_type(struct saved *s, const char *type)
{
	add_word(s, type);
}

void saved_hop(struct saved *s, const struct saved_hop *h)
{
	if (h->weight)
		add(s, " nexthop");
	add_word(s, h->mac);
	add(s, " dev");
	add_word(s, h->dev);
	if (h->vlan)
		add_number(s, "vlan", h->vlan);
	if (h->weight)
		add_number(s, "weight", h->weight);
}

void saved_end(struct saved *s, uint32_t metric)
{
	if (metric)
		add_number(s, "metric", metric);
}
