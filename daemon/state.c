/* daemon/state.c - files that outlive the daemon, in a folder of its own */

#include "state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"
#include "../lib/base/crc32.h"
#include "../lib/base/number.h"
#include "../lib/ctl/proto.h"

/* ---- the folder ---- */

int state_open(const char *path, struct err *err, int *ret_dir)
{
	SCOPED_CLOSE int dir = -1;

	if (mkdir(path, 0750) && errno != EEXIST && errno != EROFS)
		return err_set(err, -errno, "%s: cannot be made: %s", path,
			       strerror(errno));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (flock(dir, LOCK_EX | LOCK_NB))
		return err_set(err, -errno, "%s: %s", path,
			       errno == EWOULDBLOCK
				       ? "another mlx5fwd has it; set state_directory"
				       : strerror(errno));
	*ret_dir = take_fd(&dir);
	return 0;
}

int state_remove(int dir, const struct state_kind *kind)
{
	return unlinkat(dir, kind->name, 0) && errno != ENOENT ? -errno : 0;
}

int state_put_aside(int dir, const struct state_kind *kind)
{
	char aside[60];

	snprintf(aside, sizeof(aside), "%s.refused", kind->name);
	return renameat(dir, kind->name, dir, aside) ? -errno : 0;
}

/* ---- writing ---- */

int state_begin(struct state_writer *w, int dir, const struct state_kind *kind)
{
	char line[80];
	int fd;

	*w = (struct state_writer){ .dir = dir, .kind = kind };
	snprintf(w->temporary, sizeof(w->temporary), "%s.new", kind->name);
	fd = openat(dir, w->temporary,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		    0640);
	w->to = fd < 0 ? NULL : fdopen(fd, "we");
	if (!w->to) {
		int r = err_errno();

		if (fd >= 0)
			close(fd);
		return r;
	}
	snprintf(line, sizeof(line), "# mlx5fwd %s %u", kind->name, kind->version);
	state_line(w, line);
	w->lines = 0;
	return 0;
}

void state_line(struct state_writer *w, const char *line)
{
	size_t n = strlen(line);

	if ((fwrite(line, 1, n, w->to) < n || putc('\n', w->to) == EOF) && !w->r)
		w->r = err_errno();
	w->crc = crc32_add(w->crc, line, n);
	w->crc = crc32_add(w->crc, "\n", 1);
	w->lines++;
}

void state_abandon(struct state_writer *w)
{
	if (!w->to)
		return;
	fclose(w->to);
	w->to = NULL;
	unlinkat(w->dir, w->temporary, 0);
}

/* All of it is in the file, and, if it shall last, on the disk. */
static int finish(struct state_writer *w, bool lasts)
{
	fprintf(w->to, "# end %" PRIu64 " %08" PRIx32 "\n", w->lines, w->crc);
	if (w->r)
		return w->r;
	if (fflush(w->to))
		return err_errno();
	return lasts && fsync(fileno(w->to)) ? err_errno() : 0;
}

int state_publish(struct state_writer *w, bool lasts)
{
	int r = finish(w, lasts);

	if (!r && renameat(w->dir, w->temporary, w->dir, w->kind->name))
		r = err_errno();
	if (!r) {
		fclose(w->to);
		w->to = NULL;
	}
	if (!r && lasts && fsync(w->dir))
		r = err_errno();
	state_abandon(w);
	return r;
}

/* ---- reading ---- */

struct cursor {
	FILE *file;
	const char *name;
	unsigned line;
	uint32_t crc; /* of the lines before this one */
	struct err *err;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct cursor *c, int r,
							const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(c->err, r, "%s:%u: %s", c->name, c->line, text);
}

/* Return: 0, or -errno with what is wrong. */
static int take_line(struct cursor *c, char line[CTL_LINE_MAX])
{
	size_t n = 0;
	int byte;

	c->line++;
	while ((byte = getc_unlocked(c->file)) != '\n') {
		if (byte == EOF && ferror(c->file))
			return refuse(c, -EIO, "cannot be read");
		if (byte == EOF)
			return refuse(c, -EBADMSG, "the rest of the file is missing");
		if (byte < ' ' || byte > '~')
			return refuse(c, -EBADMSG, "a byte that is not printable ASCII");
		if (n == CTL_LINE_MAX - 1)
			return refuse(c, -EBADMSG, "more than %d bytes in the line",
				      CTL_LINE_MAX);
		line[n++] = (char)byte;
	}
	line[n] = '\0';
	return 0;
}

static void add_to_sum(struct cursor *c, const char *line)
{
	c->crc = crc32_add(c->crc, line, strlen(line));
	c->crc = crc32_add(c->crc, "\n", 1);
}

static int take_head(struct cursor *c, const struct state_kind *kind)
{
	char line[CTL_LINE_MAX], head[80];
	int n = snprintf(head, sizeof(head), "# mlx5fwd %s ", kind->name);
	uint64_t version;
	int r = take_line(c, line);

	if (r < 0)
		return r;
	if (strncmp(line, head, (size_t)n) != 0 ||
	    number_parse(line + n, UINT32_MAX, &version) < 0)
		return refuse(c, -EBADMSG, "does not begin with \"%s%u\"", head,
			      kind->version);
	if (version != kind->version)
		return refuse(c, -EBADMSG, "is of version %u, and this mlx5fwd has %u",
			      (unsigned)version, kind->version);
	add_to_sum(c, line);
	return 0;
}

static int check_end(struct cursor *c, const char *line)
{
	char end[80];

	snprintf(end, sizeof(end), "# end %u %08" PRIx32, c->line - 2, c->crc);
	if (strcmp(line, end) != 0)
		return refuse(c, -EBADMSG,
			      "the checksum is wrong: the file was changed, or damaged");
	if (getc(c->file) != EOF)
		return refuse(c, -EBADMSG, "something comes after the end");
	return 0;
}

int state_read_file(FILE *file, const char *name, const struct state_reader *r,
		    struct err *err)
{
	struct cursor c = { .file = file, .name = name, .err = err };
	char line[CTL_LINE_MAX];
	struct err why;
	int ret = take_head(&c, r->kind);

	while (!ret) {
		ret = take_line(&c, line);
		if (ret < 0)
			break;
		if (!strncmp(line, "# end ", 6))
			return check_end(&c, line);
		add_to_sum(&c, line);
		why.text[0] = '\0';
		ret = r->line(r->arg, line, &why);
		if (ret < 0)
			refuse(&c, ret, "%s", why.text);
	}
	return ret;
}

int state_read(int dir, const char *path, const struct state_reader *r, struct err *err)
{
	int fd = openat(dir, r->kind->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	SCOPED_FILE FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	struct stat st;

	if (!file)
		return err_set(err, err_errno(), "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s: not a file", path);
	return state_read_file(file, path, r, err);
}
