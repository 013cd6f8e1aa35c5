/* daemon/listen.h - sockets that others connect to: systemd's, or our own
 *
 * A socket that systemd made (systemd.socket(5), FileDescriptorName=) is taken as it is. Else
 * one is made where the configuration says; the file of a Unix socket goes with it.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "../lib/base/err.h"

struct listener {
	int fd;		  /* -1 = none */
	const char *path; /* of a Unix socket that is ours, else NULL; the caller's text */
	dev_t device;	  /* which file that is */
	ino_t inode;
};

struct listen_address {
	struct sockaddr_storage addr;
	socklen_t bytes;
};

/* "127.0.0.1:80", "[::1]:80" or "/path". Return: 0 or -EINVAL. */
int listen_parse(const char *text, struct listen_address *ret);

struct listen_conf {
	const char *name;  /* of systemd's socket */
	const char *what;  /* for messages: "control socket" */
	const char *key;   /* of the configuration */
	const char *where; /* as listen_parse() has it; kept */
	bool is_path;	   /* whatever it looks like */
	gid_t group; /* may use a Unix socket besides root; PEER_NO_GROUP = nobody */
};

/* A socket that listens and does not block; ret->fd is -1 on failure. */
int listen_open(const struct listen_conf *c, struct err *err, struct listener *ret);
/* From now on that group may use a Unix socket that is ours. */
void listen_set_group(const struct listener *l, const char *what, gid_t group);
void listen_close(struct listener *l);
