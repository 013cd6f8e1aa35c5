/* daemon/config_value.h - values of the configuration file, by type */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../lib/base/err.h"

struct config_key { /* a row of config_keys.h */
	const char *section, *name;
	int (*parse)(const struct config_key *key, const char *value, void *field,
		     struct err *why);
	size_t offset; /* in struct config, or in struct config_port */
	uint32_t min, max;
	const char *def, *unit, *help;
};

/* Return: 0, or -EINVAL with what is allowed in @why; @field is written only on success. */
#define CONFIG_VALUE(type) \
	int config_##type(const struct config_key *key, const char *value, void *field, \
			  struct err *why)
CONFIG_VALUE(number);	   /* uint32_t, min to max */
CONFIG_VALUE(pow2);	   /* the same, and a power of two */
CONFIG_VALUE(flag);	   /* bool, yes or no */
CONFIG_VALUE(text);	   /* char[], min to max bytes */
CONFIG_VALUE(folder);	   /* char[] of max bytes: "auto", or a path that begins with / */
CONFIG_VALUE(cpus);	   /* struct config_cpus, CPUs 0 to max */
CONFIG_VALUE(idle);	   /* enum fwd_idle */
CONFIG_VALUE(level);	   /* enum log_level */
CONFIG_VALUE(send);	   /* enum m5_send */
CONFIG_VALUE(doorbell);	   /* enum m5_doorbell */
CONFIG_VALUE(compression); /* enum m5_compression */
CONFIG_VALUE(auto_number); /* uint32_t, min to max; auto = 0 */
CONFIG_VALUE(listen);	   /* char[] of max bytes: "off", or what listen_parse() reads */
