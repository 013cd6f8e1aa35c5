/* unit/test_daemon_state.c - files that outlive the daemon: whole, or refused */

#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/state.h"
#include "../../lib/base/crc32.h"
#include "../../lib/base/hot.h"
#include "../../lib/ctl/proto.h"

static char folder[64], path[100];
static int dir;
static const struct state_kind kind = { "things", 3 };

static int open_folder(void **state)
{
	struct err err = { "" };

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/state_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/things", folder);
	if (state_open(folder, &err, &dir) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int close_folder(void **state)
{
	(void)state;
	unlink(path);
	unlinkat(dir, "things.refused", 0);
	close(dir);
	return rmdir(folder); /* no temporary file may be left */
}

#define in_folder(f) cmocka_unit_test_setup_teardown(f, open_folder, close_folder)

/* ---- a few lines ---- */

static int append(void *arg, char *line, struct err *err)
{
	if (!strcmp(line, "bad"))
		return err_set(err, -EDOM, "I do not like it");
	test_append(arg, 1000, line);
	test_append(arg, 1000, ";");
	return 0;
}

static char heard[1000];
static const struct state_reader reader = { &kind, append, heard };

static int hear(struct err *err)
{
	*heard = '\0';
	return state_read(dir, path, &reader, err);
}

static void write_lines(const char *const lines[], size_t n, bool lasts)
{
	struct state_writer w;

	assert_int_equal(state_begin(&w, dir, &kind), 0);
	for (size_t i = 0; i < n; i++)
		state_line(&w, lines[i]);
	assert_int_equal(state_publish(&w, lasts), 0);
}

static const char *const three[] = { "one", "# a comment is a line", "three" };

static void what_was_written_is_read(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_int_equal(hear(&err), -ENOENT);
	for (int lasts = 0; lasts < 2; lasts++) {
		write_lines(three, ARRAY_LEN(three), lasts);
		assert_int_equal(hear(&err), 0);
		assert_string_equal(heard, "one;# a comment is a line;three;");
	}
	write_lines(NULL, 0, false);
	assert_int_equal(hear(&err), 0);
	assert_string_equal(heard, "");
	assert_int_equal(state_remove(dir, &kind), 0);
	assert_int_equal(state_remove(dir, &kind), 0);
	assert_int_equal(hear(&err), -ENOENT);
}

static void the_checksum_is_that_of_gzip(void **state)
{
	(void)state;
	assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_add(crc32_add(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void one_that_is_given_up_leaves_the_old_one(void **state)
{
	struct err err = { "" };
	struct state_writer w;

	(void)state;
	write_lines(three, 1, false);
	assert_int_equal(state_begin(&w, dir, &kind), 0);
	state_line(&w, "two");
	state_abandon(&w);
	assert_int_equal(hear(&err), 0);
	assert_string_equal(heard, "one;");
}

/* ---- damage ---- */

static size_t load(char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, size, file);
	fclose(file);
	return n;
}

static void put(const char *text, size_t n)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

static void refused(int r, const char *words)
{
	struct err err = { "" };
	int is = hear(&err);

	if (is != r || !strstr(err.text, words) || strncmp(err.text, path, strlen(path)))
		fail_msg("%d %s, not %d %s", is, err.text, r, words);
}

static void every_bit_counts(void **state)
{
	char text[300];
	size_t n;

	(void)state;
	write_lines(three, ARRAY_LEN(three), false);
	n = load(text, sizeof(text));
	for (size_t i = 0; i < n * 8; i++) {
		uint8_t was = (uint8_t)text[i / 8];

		text[i / 8] = (char)(was ^ 1u << i % 8);
		put(text, n);
		refused(-EBADMSG, ":");
		text[i / 8] = (char)was;
	}
}

static void every_byte_must_be_there(void **state)
{
	char text[300];
	size_t n;

	(void)state;
	write_lines(three, ARRAY_LEN(three), false);
	n = load(text, sizeof(text));
	for (size_t i = 0; i < n; i++) {
		put(text, i);
		refused(-EBADMSG, ": the rest of the file is missing");
	}
	text[n] = '\n';
	put(text, n + 1);
	refused(-EBADMSG, "things:5: something comes after the end");
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const char *const bad[] = { "fine", "bad", "fine" };
	char line[CTL_LINE_MAX + 100];

	(void)state;
	put_text("# mlx5fwd other 3\n# end 0 00000000\n");
	refused(-EBADMSG, "things:1: does not begin with \"# mlx5fwd things 3\"");
	put_text("# mlx5fwd things 4\n# end 0 00000000\n");
	refused(-EBADMSG, "things:1: is of version 4, and this mlx5fwd has 3");
	put_text("# mlx5fwd things 03x\n");
	refused(-EBADMSG, "things:1: does not begin");
	put_text("# mlx5fwd things 3\nx\n# end 1 00000000\n");
	refused(-EBADMSG, "things:3: the checksum is wrong");
	put_text("# mlx5fwd things 3\nx\ty\n");
	refused(-EBADMSG, "things:2: a byte that is not printable ASCII");
	put("# mlx5fwd things 3\nx\0y\n", 24);
	refused(-EBADMSG, "things:2: a byte that is not printable ASCII");
	write_lines(bad, ARRAY_LEN(bad), false);
	refused(-EDOM, "things:3: I do not like it");
	memset(line, 'x', sizeof(line));
	snprintf(line, sizeof(line), "# mlx5fwd things 3\n");
	line[strlen(line)] = 'x';
	put(line, sizeof(line));
	refused(-EBADMSG, "things:2: more than 4096 bytes in the line");
}

/* ---- every step fails ---- */

static void folders_that_cannot_be_had(void **state)
{
	static const char *const none[] = { "/proc/none/things", "/dev/null" };
	struct err err = { "" };
	char below[100];
	int ret = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		assert_true(state_open(none[i], &err, &ret) < 0);
		assert_non_null(strstr(err.text, none[i]));
	}
	assert_int_equal(state_open(folder, &err, &ret), -EWOULDBLOCK);
	assert_non_null(strstr(err.text, "another mlx5fwd has it; set state_directory"));
	assert_int_equal(ret, 7);
	snprintf(below, sizeof(below), "%s/made", folder);
	assert_int_equal(state_open(below, &err, &ret), 0);
	close(ret);
	assert_int_equal(rmdir(below), 0);
}

static void what_is_no_file_is_not_read(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(-EBADMSG, "things: not a file");
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(hear(&err), -ELOOP);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(hear(&err) < 0);
	rmdir(path);
}

static void what_cannot_be_written_leaves_the_old_one(void **state)
{
	struct rlimit was, none;
	struct err err = { "" };
	struct state_writer w;

	(void)state;
	write_lines(three, 1, false);
	assert_int_equal(mkdirat(dir, "things.new", 0700), 0);
	assert_int_equal(state_begin(&w, dir, &kind), -EISDIR);
	unlinkat(dir, "things.new", AT_REMOVEDIR);
	/* As a full disk, but with another error: setrlimit(2). */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	none = (struct rlimit){ 20, was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &none);
	for (int lines = 3; lines < 3000; lines += 2000) { /* also amidst them */
		assert_int_equal(state_begin(&w, dir, &kind), 0);
		for (int i = 0; i < lines; i++)
			state_line(&w, "a line");
		assert_int_equal(state_publish(&w, true), -EFBIG);
	}
	setrlimit(RLIMIT_FSIZE, &was);
	assert_int_equal(hear(&err), 0);
	assert_string_equal(heard, "one;");
}

static void one_that_is_refused_is_kept_aside(void **state)
{
	struct err err = { "" };

	(void)state;
	assert_int_equal(state_put_aside(dir, &kind), -ENOENT);
	write_lines(three, 1, false);
	assert_int_equal(state_put_aside(dir, &kind), 0);
	assert_int_equal(hear(&err), -ENOENT);
	assert_int_equal(faccessat(dir, "things.refused", F_OK, 0), 0);
}

static const struct CMUnitTest tests[] = {
	in_folder(what_was_written_is_read),
	in_folder(the_checksum_is_that_of_gzip),
	in_folder(one_that_is_given_up_leaves_the_old_one),
	in_folder(every_bit_counts),
	in_folder(every_byte_must_be_there),
	in_folder(what_is_wrong_is_said_with_its_line),
	in_folder(folders_that_cannot_be_had),
	in_folder(what_is_no_file_is_not_read),
	in_folder(what_cannot_be_written_leaves_the_old_one),
	in_folder(one_that_is_refused_is_kept_aside),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
