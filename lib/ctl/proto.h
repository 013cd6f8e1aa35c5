/* ctl/proto.h - what daemon and tool say to each other
 *
 * SOCK_STREAM Unix socket. A request is one line of printable ASCII: shell-quoted
 * words, at most CTL_LINE_MAX bytes with the line feed. Replies are JSON objects, one
 * a line, in the order of the requests; the last object of a reply begins with "status":
 *
 *   route show                     ->  {"dst":"10.0.0.0/8",...}
 *                                      {"dst":"192.0.2.0/24",...}
 *                                      {"status":"ok"}
 *   route add 10/8 zz              ->  {"status":"error","error":{"code":"EINVAL",
 *                                       "message":"...","hint":"..."}}   (in one line)
 *
 * `begin` opens a batch: every following line is answered, staged, and seen by no
 * packet until `commit`; `abort`, or the end of the connection, gives it up. One batch
 * is open at a time; a client that keeps one and says nothing for CTL_BATCH_IDLE_S
 * loses it, and its connection, when another wants to change something. After `begin restore`
 * static routes that no line of the batch names are deleted by its commit, which tells what it
 * did; `commit --dry-run` tells the same, and whether it would fit, and changes nothing.
 * The daemon parses no JSON.
 */
#pragma once

#include <stddef.h>

#define CTL_SOCKET	 "/run/mlx5fwd/control.sock"
#define CTL_READ_SOCKET	 "/run/mlx5fwd/read.sock"
#define CTL_SOCKET_ENV	 "MLX5FWD_SOCKET"
#define CTL_LINE_MAX	 4096
#define CTL_WORDS_MAX	 384
#define CTL_LEGS_MAX	 40 /* of a route */
#define CTL_CLIENTS_MAX	 64
#define CTL_READERS_MAX	 32 /* of these */
#define CTL_BATCH_IDLE_S 10
#define CTL_PROTOCOL	 1

/* Behind "route add": prefix, proto static metric N; of each leg nexthop lladdr MAC dev PORT
 * vlan N weight N. */
#define CTL_ROUTE_WORDS_MAX  (5 + 9 * CTL_LEGS_MAX)
#define CTL_GET_WORDS_MAX    15 /* behind "route get": address and seven pairs */
#define CTL_SELECT_WORDS_MAX 12 /* behind "route show": [root] prefix and five pairs */
#define CTL_TRACE_WORDS_MAX  23 /* behind "trace start": four pairs, match, seven pairs */

/**
 * ctl_split() - cut a line into words, in place
 *
 * Blanks separate; '...' and "..." join, a backslash outside single quotes takes the next
 * character as it is. No expansion of any kind.
 *
 * Return: number of words, -EINVAL (open quote, a byte that is not printable ASCII), -E2BIG.
 */
int ctl_split(char *line, char *words[CTL_WORDS_MAX]);

/* Appends a word to @line so that ctl_split() gives it back. Return: 0, -E2BIG, or -EINVAL (a byte
 * that is not printable ASCII). */
int ctl_quote(char *line, size_t size, const char *word);
