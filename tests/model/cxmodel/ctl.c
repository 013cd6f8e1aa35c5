/* cxmodel/ctl.c - `cxmodel ctl DIR COMMAND...`: one line to the control socket, its answer out
 *
 * Exit status: 0 done, 1 usage, 2 refused (reason on stderr), 3 no live device there.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "inside.h"

enum { EXIT_USAGE = 1, EXIT_REFUSED = 2, EXIT_NO_DEVICE = 3 };

static int no_device(const char *dir, int err)
{
	fprintf(stderr,
		"cxmodel: no live device in %s: %s; start one with: cxmodel -d %s\n", dir,
		strerror(err), dir);
	return EXIT_NO_DEVICE;
}

static FILE *dial(const char *dir)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/ctl.sock", dir) >=
	    (int)sizeof(sa.sun_path))
		errno = ENAMETOOLONG;
	else if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fdopen(fd, "r+");
	close(fd);
	return NULL;
}

/* Prints the answer up to its end. */
static int answer(FILE *f)
{
	char *line = NULL;
	size_t room = 0;
	int status = EXIT_NO_DEVICE;

	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "ok")) {
			status = 0;
			break;
		}
		if (!strncmp(line, "error ", 6)) {
			fprintf(stderr, "cxmodel: %s\n", line + 6);
			status = EXIT_REFUSED;
			break;
		}
		puts(line);
	}
	free(line);
	if (status == EXIT_NO_DEVICE)
		fprintf(stderr, "cxmodel: the device ended before it answered\n");
	return status;
}

/* After `stop` was taken: the owner's lock is free when everything of it is gone. */
static void wait_gone(int lock)
{
	while (flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
}

int ctl_main(int argc, char **argv)
{
	char path[512];
	int lock, status;
	FILE *f;

	if (argc < 2) {
		fprintf(stderr,
			"use: cxmodel ctl DIR COMMAND...; for example: cxmodel ctl DIR help\n");
		return EXIT_USAGE;
	}
	snprintf(path, sizeof(path), "%s/lock", argv[0]);
	lock = open(path, O_RDWR | O_CLOEXEC);
	f = dial(argv[0]);
	if (!f)
		return no_device(argv[0], errno);
	for (int i = 1; i < argc; i++)
		fprintf(f, "%s%s", i > 1 ? " " : "", argv[i]);
	fputc('\n', f);
	fflush(f);
	status = answer(f);
	if (!status && !strcmp(argv[1], "stop") && lock >= 0)
		wait_gone(lock);
	fclose(f);
	return status;
}
