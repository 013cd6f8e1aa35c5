/* daemon/config_said.h - what a configuration file says, key by key, as text
 *
 * struct config (config.h) is what it means. The text is kept to be shown, and to find what a
 * changed file would change. Texts that mean the same are the same: " 050" is 50.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>

#include "../lib/base/err.h"

struct config;
struct config_key;
struct config_said;

struct config_line {
	const char *section; /* "daemon" or "port" */
	const char *port;    /* of a port, else "" */
	const struct config_key *key;
	const char *value; /* what it has: said, or the default */
	bool said;
};

/* As config_read(), and *ret is to be freed. */
int config_read_said(const char *path, struct config *conf, struct config_said **ret,
		     struct err *err);
void config_said_free(struct config_said *s);
/* Every key of [daemon], then every key of every port, in order. */
void config_said_each(const struct config_said *s,
		      void (*fn)(void *arg, const struct config_line *line), void *arg);
bool config_said_has_port(const struct config_said *s, const char *port);
/* The same key elsewhere. Return: false if there is no such port. */
bool config_said_find(const struct config_said *s, const struct config_line *line,
		      struct config_line *ret);
bool config_same_value(const struct config_line *a, const struct config_line *b);
