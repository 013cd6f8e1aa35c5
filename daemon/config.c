/* daemon/config.c - the door to inih: file -> struct config
 *
 * inih says nothing of where a key stands, of a section without keys, or of a line that
 * is longer than its buffer, so every line is looked at as it is read.
 */

#include "config.h"
#include "config_said.h"

#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/base/cleanup.h"
#include "config_value.h"

struct reader {
	FILE *file;
	const char *name;
	unsigned line;
	struct config *conf;
	struct err *err;
	struct config_said *said; /* NULL: nobody wants to know */
	int r;			  /* once an error is found nothing more is read */
	/* Keys seen, to refuse the second: a bit a row; of [daemon], then of each port. */
	uint64_t seen[FWD_PORTS_MAX + 1];
};

#define FIELD_daemon(f) offsetof(struct config, f)
#define FIELD_port(f)	offsetof(struct config_port, f)
static const struct config_key keys[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, config_##type, FIELD_##section(field), min, max, \
	  def,	    unit,  help },
#include "config_keys.h"
#undef KEY
};
static_assert(ARRAY_LEN(keys) <= 64, "struct reader.seen has room for them");

#define SECTIONS "there are [daemon] and [port NAME]"

static const struct config_key *find_key(const char *section, const char *name)
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
			keys[i].parse(&keys[i], keys[i].def,
				      (char *)base + keys[i].offset, NULL);
}

__attribute__((format(printf, 2, 3))) static void refuse(struct reader *rd,
							 const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rd->r = err_set(rd->err, -EINVAL, "%s:%u: %s", rd->name, rd->line, text);
}

/* ---- what was said ---- */

struct config_said {
	unsigned n_ports;
	char port[FWD_PORTS_MAX][IF_NAMESIZE];
	char *value[FWD_PORTS_MAX + 1]
		   [ARRAY_LEN(keys)]; /* of [daemon], then of each port */
};

static int keep_value(struct config_said *s, size_t section, const struct config_key *key,
		      const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(s->value[section][key - keys]);
	s->value[section][key - keys] = copy;
	return 0;
}

void config_said_free(struct config_said *s)
{
	if (!s)
		return;
	for (size_t i = 0; i <= FWD_PORTS_MAX; i++)
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			free(s->value[i][k]);
	free(s);
}

static struct config_line line_of(const struct config_said *s, size_t section, size_t k)
{
	const char *value = s->value[section][k];

	return (struct config_line){ .section = keys[k].section,
				     .port = section ? s->port[section - 1] : "",
				     .key = &keys[k],
				     .value = value ? value : keys[k].def,
				     .said = value };
}

void config_said_each(const struct config_said *s,
		      void (*fn)(void *arg, const struct config_line *line), void *arg)
{
	for (size_t i = 0; i <= s->n_ports; i++) {
		for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
			struct config_line line = line_of(s, i, k);

			if (!strcmp(keys[k].section, i ? "port" : "daemon"))
				fn(arg, &line);
		}
	}
}

/* Return: its section's number, 0 = there is no such port. */
static size_t find_section(const struct config_said *s, const char *port)
{
	for (size_t i = 0; i < s->n_ports; i++)
		if (!strcmp(s->port[i], port))
			return i + 1;
	return 0;
}

bool config_said_has_port(const struct config_said *s, const char *port)
{
	return find_section(s, port);
}

bool config_said_find(const struct config_said *s, const struct config_line *line,
		      struct config_line *ret)
{
	size_t section = *line->port ? find_section(s, line->port) : 0;

	if (*line->port && !section)
		return false;
	*ret = line_of(s, section, (size_t)(line->key - keys));
	return true;
}

/* As bytes of the field: whatever type it has, and however it was written. */
bool config_same_value(const struct config_line *a, const struct config_line *b)
{
	static struct config x, y;
	char *of_a = (char *)&x, *of_b = (char *)&y;

	memset(&x, 0, sizeof(x));
	memset(&y, 0, sizeof(y));
	a->key->parse(a->key, a->value, of_a + a->key->offset, NULL);
	b->key->parse(b->key, b->value, of_b + b->key->offset, NULL);
	return !memcmp(of_a, of_b, sizeof(x));
}

/* ---- ports ---- */

/* As the kernel has it (net/core/dev.c, dev_valid_name), and printable ASCII. */
static bool is_netdev_name(const char *name)
{
	size_t n = strlen(name);

	if (!n || n >= IF_NAMESIZE || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if (*name <= ' ' || *name >= 0x7f || *name == '/' || *name == ':')
			return false;
	return true;
}

/* The port of that name, a new one if there is none; NULL: refused. */
static struct config_port *take_port(struct reader *rd, const char *name)
{
	struct config *c = rd->conf;
	struct config_port *p;

	for (unsigned i = 0; i < c->n_ports; i++)
		if (!strcmp(c->port[i].name, name))
			return &c->port[i];
	if (!is_netdev_name(name)) {
		refuse(rd, "[port %s]: must name a network interface, 1 to %d characters",
		       name, IF_NAMESIZE - 1);
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

/* ---- lines, before inih sees them ---- */

static bool is_end(const char *rest)
{
	rest += strspn(rest, " \t\r\n");
	return !*rest || *rest == ';' || *rest == '#';
}

static void check_section(struct reader *rd, const char *line)
{
	const char *end = strchr(line, ']');
	char name[80];

	if (!end || !is_end(end + 1)) {
		refuse(rd,
		       "must be a section alone in its line: [daemon] or [port NAME]");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(end - line - 1), line + 1);
	if (!strncmp(name, "port ", 5))
		take_port(rd, name + 5);
	else if (strcmp(name, "daemon") != 0)
		refuse(rd, "[%s]: unknown section; " SECTIONS, name);
}

static void check_line(struct reader *rd, const char *line, size_t n, size_t max)
{
	if (memchr(line, '\0', n))
		refuse(rd, "there is a zero byte in the line");
	else if (n > max)
		refuse(rd, "line of more than %zu characters", max);
	else if (*line == '[')
		check_section(rd, line);
	else if (!is_end(line) && !strpbrk(line, "=:"))
		refuse(rd, "neither [section] nor key = value");
}

/* For inih, in the place of fgets(3). Blanks before a key mean nothing; to inih they would
 * mean that the value of the line before goes on. */
static char *read_line(char *to, int size, void *arg)
{
	struct reader *rd = arg;
	SCOPED_FREE char *line = NULL;
	size_t room = 0, blanks;
	ssize_t n;

	n = rd->r ? -1 : getline(&line, &room, rd->file);
	if (n < 0)
		return NULL;
	rd->line++;
	if (line[n - 1] == '\n')
		line[--n] = '\0';
	blanks = strspn(line, " \t");
	check_line(rd, line + blanks, (size_t)n - blanks, (size_t)size - 1);
	if (rd->r)
		return NULL;
	memcpy(to, line + blanks, (size_t)n - blanks + 1);
	return to;
}

/* ---- keys, as inih finds them ---- */

static void take_value(struct reader *rd, const struct config_key *key, void *base,
		       uint64_t *seen, const char *value)
{
	uint64_t bit = UINT64_C(1) << (key - keys);
	struct err why = { "" };

	if (*seen & bit)
		refuse(rd, "%s: given twice", key->name);
	else if (key->parse(key, value, (char *)base + key->offset, &why) < 0)
		refuse(rd, "%s = %s: %s", key->name, value, why.text);
	else if (rd->said &&
		 keep_value(rd->said, (size_t)(seen - rd->seen), key, value) < 0)
		refuse(rd, "no memory");
	*seen |= bit;
}

/* Return: 1 = go on; the reader stops it otherwise. */
static int on_key(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *rd = arg;
	bool is_port = !strncmp(section, "port ", 5);
	const struct config_key *key = find_key(is_port ? "port" : section, name);
	struct config_port *p;

	if (!*section) {
		refuse(rd, "%s: before the first section; " SECTIONS, name);
	} else if (!key) {
		refuse(rd, "%s: unknown key in [%s]", name, section);
	} else if (is_port) {
		p = take_port(rd, section + 5);
		if (p)
			take_value(rd, key, p, &rd->seen[1 + (p - rd->conf->port)],
				   value);
	} else {
		take_value(rd, key, rd->conf, &rd->seen[0], value);
	}
	return !rd->r;
}

/* ---- the whole ---- */

static int check_whole(const struct config *c, const char *name, struct err *err)
{
	if (!c->n_ports)
		return err_set(err, -EINVAL,
			       "%s: no port: add a section such as [port eth0]", name);
	if (c->cpus.n && c->cpus.n < c->workers)
		return err_set(err, -EINVAL, "%s: cpus: names %u CPUs for %u workers",
			       name, c->cpus.n, c->workers);
	return 0;
}

static int read_all(FILE *file, const char *name, struct config *ret,
		    struct config_said *said, struct err *err)
{
	struct config c = { .workers = 0 };
	struct reader rd = {
		.file = file, .name = name, .conf = &c, .err = err, .said = said
	};
	int r;

	set_defaults("daemon", &c);
	r = ini_parse_stream(read_line, &rd, on_key, &rd);
	if (rd.r)
		return rd.r;
	if (!feof(file))
		return err_set(err, -EIO, "%s: cannot be read: %s", name,
			       strerror(errno));
	if (r > 0) /* a comment before the '=' */
		return err_set(err, -EINVAL, "%s:%d: neither [section] nor key = value",
			       name, r);
	r = check_whole(&c, name, err);
	if (!r)
		*ret = c;
	return r;
}

int config_read_file(FILE *file, const char *name, struct config *ret, struct err *err)
{
	return read_all(file, name, ret, NULL, err);
}

/* A pipe may be silent, and a device endless: who waits for them serves nobody. */
static int read_path(const char *path, struct config *ret, struct config_said *said,
		     struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	SCOPED_FILE FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	struct stat st;

	if (!file)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a file", path);
	return read_all(file, path, ret, said, err);
}

int config_read(const char *path, struct config *ret, struct err *err)
{
	return read_path(path, ret, NULL, err);
}

int config_read_said(const char *path, struct config *conf, struct config_said **ret,
		     struct err *err)
{
	struct config_said *said = calloc(1, sizeof(*said));
	int r = said ? read_path(path, conf, said, err) : -ENOMEM;

	if (r < 0) {
		config_said_free(said);
		return r;
	}
	said->n_ports = conf->n_ports;
	for (unsigned i = 0; i < conf->n_ports; i++)
		memcpy(said->port[i], conf->port[i].name, sizeof(said->port[i]));
	*ret = said;
	return 0;
}
