/* daemon/config_value.c - values of the configuration file, by type */

#include "config_value.h"

#include <string.h>

#include "../lib/base/bits.h"
#include "../lib/base/number.h"
#include "config.h"
#include "listen.h"

CONFIG_VALUE(number)
{
	uint64_t v;

	if (number_parse(value, key->max, &v) < 0 || v < key->min)
		return err_set(why, -EINVAL, "must be %u to %u (%s)", key->min, key->max,
			       key->unit);
	*(uint32_t *)field = (uint32_t)v;
	return 0;
}

CONFIG_VALUE(pow2)
{
	uint64_t v;

	if (number_parse(value, key->max, &v) < 0 || v < key->min || !is_pow2(v))
		return err_set(why, -EINVAL, "must be a power of two, %u to %u (%s)",
			       key->min, key->max, key->unit);
	*(uint32_t *)field = (uint32_t)v;
	return 0;
}

CONFIG_VALUE(flag)
{
	(void)key;
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return err_set(why, -EINVAL, "must be yes or no");
	*(bool *)field = value[0] == 'y';
	return 0;
}

CONFIG_VALUE(text)
{
	size_t n = strlen(value);

	if (n < key->min || n > key->max)
		return err_set(why, -EINVAL, "must have %u to %u %s", key->min, key->max,
			       key->unit);
	memcpy(field, value, n + 1);
	return 0;
}

CONFIG_VALUE(folder)
{
	size_t n = strlen(value);

	if ((strcmp(value, "auto") != 0 && *value != '/') || n > key->max)
		return err_set(why, -EINVAL,
			       "must be auto, or a path that begins with /, of at most "
			       "%u bytes",
			       key->max);
	memcpy(field, value, n + 1);
	return 0;
}

CONFIG_VALUE(listen)
{
	struct listen_address address;

	if (strcmp(value, "off") != 0 &&
	    (strlen(value) > key->max || listen_parse(value, &address) < 0))
		return err_set(why, -EINVAL,
			       "must be ADDRESS:PORT, [ADDRESS]:PORT, a path, or off");
	memcpy(field, value, strlen(value) + 1);
	return 0;
}

/* ---- one word of a list ---- */

static int find_word(const char *value, const char *const words[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(value, words[i]))
			return (int)i;
	return -EINVAL;
}

CONFIG_VALUE(idle)
{
	static const char *const words[] = { [FWD_IDLE_SPIN] = "spin",
					     [FWD_IDLE_PAUSE] = "pause",
					     [FWD_IDLE_SLEEP] = "sleep",
					     [FWD_IDLE_ADAPTIVE] = "adaptive" };
	int i = find_word(value, words, ARRAY_LEN(words));

	(void)key;
	if (i < 0)
		return err_set(why, i, "must be spin, pause, sleep or adaptive");
	*(enum fwd_idle *)field = (enum fwd_idle)i;
	return 0;
}

CONFIG_VALUE(level)
{
	(void)key;
	if (!log_level_parse(value, field))
		return err_set(why, -EINVAL,
			       "must be error, warning, notice, info or debug");
	return 0;
}

CONFIG_VALUE(send)
{
	static const char *const words[] = { [M5_SEND_AUTO] = "auto",
					     [M5_SEND_POINTER] = "pointer",
					     [M5_SEND_COPIED] = "copied",
					     [M5_SEND_MIXED] = "mixed" };
	int i = find_word(value, words, ARRAY_LEN(words));

	(void)key;
	if (i < 0)
		return err_set(why, i, "must be auto, pointer, copied or mixed");
	*(enum m5_send *)field = (enum m5_send)i;
	return 0;
}

CONFIG_VALUE(compression)
{
	static const char *const words[] = { [M5_COMPRESSION_AUTO] = "auto",
					     [M5_COMPRESSION_OFF] = "off",
					     [M5_COMPRESSION_BASIC] = "basic",
					     [M5_COMPRESSION_ENHANCED] = "enhanced" };
	int i = find_word(value, words, ARRAY_LEN(words));

	(void)key;
	if (i < 0)
		return err_set(why, i, "must be auto, off, basic or enhanced");
	*(enum m5_compression *)field = (enum m5_compression)i;
	return 0;
}

CONFIG_VALUE(doorbell)
{
	static const char *const words[] = {
		[M5_DOORBELL_AUTO] = "auto", [M5_DOORBELL_NC] = "nc", [M5_DOORBELL_WC] = "wc"
	};
	int i = find_word(value, words, ARRAY_LEN(words));

	(void)key;
	if (i < 0)
		return err_set(why, i, "must be auto, nc or wc");
	*(enum m5_doorbell *)field = (enum m5_doorbell)i;
	return 0;
}

/* ---- a number, or let us choose ---- */

CONFIG_VALUE(auto_number)
{
	if (!strcmp(value, "auto")) {
		*(uint32_t *)field = 0;
		return 0;
	}
	if (config_number(key, value, field, NULL) < 0)
		return err_set(why, -EINVAL, "must be auto, or %u to %u (%s)", key->min,
			       key->max, key->unit);
	return 0;
}

/* ---- CPU list ---- */

static int add_cpus(struct config_cpus *c, uint64_t first, uint64_t last, struct err *why)
{
	for (uint64_t cpu = first; cpu <= last; cpu++) {
		for (unsigned i = 0; i < c->n; i++)
			if (c->cpu[i] == (int)cpu)
				return err_set(why, -EEXIST, "must not name CPU %d twice",
					       c->cpu[i]);
		if (c->n == CONFIG_CPUS_MAX)
			return err_set(why, -E2BIG, "must not name more than %d CPUs",
				       CONFIG_CPUS_MAX);
		c->cpu[c->n++] = (int)cpu;
	}
	return 0;
}

/* "2-5" or "8", up to the next comma or the end. */
static int take_range(const char **at, uint64_t max, struct config_cpus *c,
		      struct err *why)
{
	uint64_t first = 0, last;
	int r = number_take(at, max, &first);

	last = first;
	if (!r && **at == '-') {
		++*at;
		r = number_take(at, max, &last);
	}
	if (r < 0 || last < first)
		return -EINVAL;
	return add_cpus(c, first, last, why);
}

static int take_ranges(const char *at, uint64_t max, struct config_cpus *c,
		       struct err *why)
{
	int r;

	for (;; at++) {
		at += strspn(at, " \t");
		r = take_range(&at, max, c, why);
		at += strspn(at, " \t");
		if (r < 0 || !*at)
			return r;
		if (*at != ',')
			return -EINVAL;
	}
}

CONFIG_VALUE(cpus)
{
	struct config_cpus c = { .n = 0 };
	int r = strcmp(value, "auto") ? take_ranges(value, key->max, &c, why) : 0;

	if (r == -EINVAL)
		return err_set(why, r,
			       "must be auto or a list such as 2-5,8: CPUs 0 to %u",
			       key->max);
	if (!r)
		*(struct config_cpus *)field = c;
	return r;
}
