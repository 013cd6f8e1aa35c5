/* daemon/config.c - the door to inih: file -> struct config
 *
 * inih tells no line numbers, so lines are counted as it reads them.
 */

#include "config.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/bits.h"
#include "../lib/base/cleanup.h"

struct key {
	const char *section, *name;
	int (*parse)(const struct key *key, const char *value, void *field, struct err *why);
	size_t offset; /* in struct config, or in struct config_port */
	uint32_t min, max;
	const char *def, *unit, *help;
};

struct reader {
	FILE *file;
	const char *path;
	unsigned line;
	struct config *conf;
	struct err *err;
	int r;
	/* Keys seen, to refuse the second: by row and port. */
	bool seen[64][FWD_PORTS_MAX + 1];
};

/* ---- values ---- */

static int parse_number(const struct key *key, const char *value, void *field, struct err *why)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (errno || *end || end == value || value[0] == '-' || v < key->min || v > key->max)
		return err_set(why, -EINVAL, "must be %u to %u (%s)", key->min, key->max, key->unit);
	if (strstr(key->help, "power of two") && !is_pow2(v))
		return err_set(why, -EINVAL, "must be a power of two, %u to %u (%s)", key->min, key->max,
			       key->unit);
	*(uint32_t *)field = (uint32_t)v;
	return 0;
}

static int parse_flag(const struct key *key, const char *value, void *field, struct err *why)
{
	(void)key;
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return err_set(why, -EINVAL, "must be yes or no");
	*(bool *)field = value[0] == 'y';
	return 0;
}

static int parse_text(const struct key *key, const char *value, void *field, struct err *why)
{
	size_t n = strlen(value);

	if (n < key->min || n > key->max)
		return err_set(why, -EINVAL, "must have %u to %u bytes (%s)", key->min, key->max, key->unit);
	memcpy(field, value, n + 1);
	return 0;
}

static int parse_word(const char *value, const char *const *words, unsigned n, const char *list,
		      struct err *why)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(value, words[i]))
			return (int)i;
	return err_set(why, -EINVAL, "must be %s", list);
}

static int parse_idle(const struct key *key, const char *value, void *field, struct err *why)
{
	static const char *const words[] = { "spin", "pause", "sleep", "adaptive" };
	int r = parse_word(value, words, 4, "spin, pause, sleep or adaptive", why);

	(void)key;
	if (r >= 0)
		*(enum fwd_idle *)field = (enum fwd_idle)r;
	return r < 0 ? r : 0;
}

static int parse_level(const struct key *key, const char *value, void *field, struct err *why)
{
	static const char *const words[] = { "error", "warning", "notice", "info", "debug" };
	int r = parse_word(value, words, 5, "error, warning, notice, info or debug", why);

	(void)key;
	if (r >= 0)
		*(enum log_level *)field = (enum log_level)r;
	return r < 0 ? r : 0;
}

static int add_cpus(struct config *c, unsigned long first, unsigned long last)
{
	for (unsigned long cpu = first; cpu <= last; cpu++) {
		if (c->n_cpus == CONFIG_CPUS_MAX)
			return -E2BIG;
		for (unsigned i = 0; i < c->n_cpus; i++)
			if (c->cpus[i] == (int)cpu)
				return -EEXIST;
		c->cpus[c->n_cpus++] = (int)cpu;
	}
	return 0;
}

/* "2-5,8". The field is the array; its count lies in the same struct. */
static int parse_cpus(const struct key *key, const char *value, void *field, struct err *why)
{
	struct config *c = CONTAINER_OF(field, struct config, cpus);
	const char *at = value;

	c->n_cpus = 0;
	if (!strcmp(value, "auto"))
		return 0;
	for (;;) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at || *at == '-' || *at == '+')
			break;
		at = end;
		if (*at == '-') {
			last = strtoul(at + 1, &end, 10);
			if (end == at + 1)
				break;
			at = end;
		}
		if (last < first || last > key->max || add_cpus(c, first, last) < 0)
			break;
		if (!*at)
			return 0;
		if (*at++ != ',')
			break;
	}
	c->n_cpus = 0;
	return err_set(why, -EINVAL, "must be auto or a list such as 2-5,8: CPUs 0 to %u, each once, at most %d",
		       key->max, CONFIG_CPUS_MAX);
}

/* ---- the table ---- */

#define FIELD_daemon(f) offsetof(struct config, f)
#define FIELD_port(f) offsetof(struct config_port, f)
static const struct key keys[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, parse_##type, FIELD_##section(field), min, max, def, unit, help },
#include "config_keys.h"
#undef KEY
};
static_assert(ARRAY_LEN(keys) <= 64, "struct reader.seen has room for them");

static const struct key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static void set_defaults(const char *section, void *base)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].section, section))
			keys[i].parse(&keys[i], keys[i].def, (char *)base + keys[i].offset, NULL);
}

/* ---- the file ---- */

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *rd, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rd->r = err_set(rd->err, -EINVAL, "%s:%u: %s", rd->path, rd->line, text);
	return 0; /* inih: stop */
}

/* inih reads by this; a line that does not fit its buffer would be cut in two silently. */
static char *read_line(char *to, int size, void *arg)
{
	struct reader *rd = arg;
	size_t n;

	if (rd->r || !fgets(to, size, rd->file))
		return NULL;
	rd->line++;
	n = strlen(to);
	if (n + 1 == (size_t)size && to[n - 1] != '\n') {
		refuse(rd, "line of more than %d characters", size - 2);
		return NULL;
	}
	return to;
}

static struct config_port *find_port(struct reader *rd, const char *name)
{
	struct config *c = rd->conf;
	struct config_port *p;

	for (unsigned i = 0; i < c->n_ports; i++)
		if (!strcmp(c->port[i].name, name))
			return &c->port[i];
	if (!*name || strlen(name) >= sizeof(p->name)) {
		refuse(rd, "[port %s]: must name a network interface, 1 to %zu characters", name,
		       sizeof(p->name) - 1);
		return NULL;
	}
	if (c->n_ports == FWD_PORTS_MAX) {
		refuse(rd, "[port %s]: more than %d ports", name, FWD_PORTS_MAX);
		return NULL;
	}
	p = &c->port[c->n_ports++];
	memcpy(p->name, name, strlen(name) + 1);
	set_defaults("port", p);
	return p;
}

static int take(struct reader *rd, const struct key *key, void *base, unsigned slot, const char *value)
{
	struct err why = { "" };

	if (rd->seen[key - keys][slot])
		return refuse(rd, "%s: given twice", key->name);
	rd->seen[key - keys][slot] = true;
	if (key->parse(key, value, (char *)base + key->offset, &why) < 0)
		return refuse(rd, "%s = %s: %s", key->name, value, why.text);
	return 1;
}

static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct reader *rd = user;
	bool is_port = !strncmp(section, "port ", 5);
	const struct key *key = find_key(is_port ? "port" : section, name);
	struct config_port *p;

	if (!*section)
		return refuse(rd, "%s: before the first section; there are [daemon] and [port NAME]", name);
	if (!key)
		return refuse(rd, "%s: unknown key in [%s]", name, section);
	if (!is_port)
		return take(rd, key, rd->conf, 0, value);
	p = find_port(rd, section + 5);
	return p ? take(rd, key, p, 1 + (unsigned)(p - rd->conf->port), value) : 0;
}

/* inih says nothing of a section without keys, but "[port eth0]" alone means something and an
 * unknown section is an error, so section lines are looked at as they are read. */
static void note_section(struct reader *rd, const char *line)
{
	char name[80];

	line += strspn(line, " \t");
	if (sscanf(line, "[%79[^]]]", name) != 1)
		return;
	if (!strncmp(name, "port ", 5))
		find_port(rd, name + 5);
	else if (strcmp(name, "daemon"))
		refuse(rd, "[%s]: unknown section; there are [daemon] and [port NAME]", name);
}

static char *read_and_note(char *to, int size, void *arg)
{
	char *line = read_line(to, size, arg);

	if (line)
		note_section(arg, line);
	return line;
}

static int check_whole(const struct config *c, const char *path, struct err *err)
{
	if (!c->n_ports)
		return err_set(err, -EINVAL, "%s: no port: add a section such as [port eth0]", path);
	if (c->n_cpus && c->n_cpus < c->workers)
		return err_set(err, -EINVAL, "%s: cpus: names %u CPUs for %u workers", path, c->n_cpus,
			       c->workers);
	return 0;
}

int config_read(const char *path, struct config *ret, struct err *err)
{
	SCOPED_FREE struct config *c = calloc(1, sizeof(*c));
	SCOPED_FREE struct reader *rd = calloc(1, sizeof(*rd));
	SCOPED_FILE FILE *file = fopen(path, "re");
	int r;

	if (!c || !rd)
		return -ENOMEM;
	if (!file)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	*rd = (struct reader){ .file = file, .path = path, .conf = c, .err = err };
	set_defaults("daemon", c);
	r = ini_parse_stream(read_and_note, rd, on_key, rd);
	if (rd->r)
		return rd->r;
	if (r > 0)
		return err_set(err, -EINVAL, "%s:%d: neither [section] nor key = value", path, r);
	if (r < 0 || ferror(file))
		return err_set(err, -EIO, "%s: cannot be read", path);
	r = check_whole(c, path, err);
	if (!r)
		*ret = *c;
	return r;
}
