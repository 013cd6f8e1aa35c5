/* fuzz/fuzz_control.c - what a client of the control socket says, to the daemon's own files
 *
 * Each input is one connection: all of it is sent, then everything is heard to the end. Replies
 * are JSON objects, and the socket serves the next one whatever came before. Lines about devices
 * and the configuration are left out: there are none.
 */

#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../lib/ctl/proto.h"
#include "../../lib/ctl/row.h"
#include "../unit/control_rig.h"

static bool is_left_out(const char *line, size_t n)
{
	static const char *const objects[] = { "port", "worker", "drop", "config",
					       "reload" };
	char copy[CTL_LINE_MAX], *words[CTL_WORDS_MAX];

	if (n >= sizeof(copy) || memchr(line, '\0', n))
		return false;
	memcpy(copy, line, n);
	copy[n] = '\0';
	if (ctl_split(copy, words) < 1)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		if (!strcmp(words[0], objects[i]))
			return true;
	return false;
}

/* Return: bytes of @to, which has room for @size. */
static size_t filter(const uint8_t *data, size_t size, char *to)
{
	size_t n = 0;

	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t line = end ? (size_t)(end - data) + 1 : size;

		if (!is_left_out((const char *)data, end ? line - 1 : line)) {
			memcpy(to + n, data, line);
			n += line;
		}
		data += line;
		size -= line;
	}
	return n;
}

static void check_replies(char *text)
{
	char why[200], *end;
	struct row *row;

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		assert(end);
		*end = '\0';
		assert(row_read(text, why, sizeof(why), &row) == 0);
		row_free(row);
	}
}

static void converse(int fd, const char *said, size_t n)
{
	static char heard[1 << 20];
	size_t at = 0;
	ssize_t got;

	while (n) {
		ssize_t sent = send(fd, said, n, MSG_NOSIGNAL);

		if (sent <= 0) /* a line too long: it has hung up */
			break;
		said += sent;
		n -= (size_t)sent;
	}
	shutdown(fd, SHUT_WR);
	while (at + 1 < sizeof(heard) &&
	       (got = recv(fd, heard + at, sizeof(heard) - 1 - at, 0)) > 0)
		at += (size_t)got;
	heard[at] = '\0';
	if (at + 1 < sizeof(heard))
		check_replies(heard);
}

/* Nothing of the last conversations may be left. */
static void stop(void)
{
	rig_stopped(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	char *said = malloc(size ? size : 1);
	int fd;

	assert(said);
	if (!started)
		assert(rig_started(NULL) == 0 && atexit(stop) == 0);
	started = true;
	fd = dial();
	converse(fd, said, filter(data, size, said));
	close(fd);
	free(said);
	return 0;
}
