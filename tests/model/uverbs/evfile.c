/* uverbs/evfile.c - descriptors that a program reads events from
 *
 * A packet-mode pipe: one read() gives one record, poll() works, and the pipe's
 * inode is the same however the program numbers or copies its end. Our end alone
 * is enough to know what was read, and to take records back:
 *
 *   push -> wait (no room) -> sent (in the pipe) -> read, counted
 *
 * libibverbs waits in ibv_destroy_cq() until the program has acknowledged exactly
 * the events that were read, so the count must be exact, and what was not read by
 * then must be gone. Source: Linux 6.1 core/uverbs_main.c, ib_uverbs_event_read(),
 * ib_uverbs_release_ucq().
 *
 * Answers of asynchronous commands may be longer than a pipe's packet; they use a
 * socket pair, and are not taken back.
 *
 * A read() with a buffer shorter than the record loses the rest here, where the
 * kernel gives EINVAL.
 */
#include "uverbs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_BYTES (256 * 1024) /* room for 64 records; the rest waits here */
#define MAX_WAIT   65536
#define MAX_FILES  4096 /* in a context */
#define EQE_BYTES  64

struct uv_ev {
	struct uv_ev *next;
	const void *owner;
	uint32_t *counter;
	size_t len;
	uint8_t data[];
};

static const size_t record_bytes[] = {
	[UV_EV_COMP] = sizeof(struct ib_uverbs_comp_event_desc),
	[UV_EV_ASYNC] = sizeof(struct ib_uverbs_async_event_desc),
	[UV_EV_DEVX] = sizeof(struct mlx5_ib_uapi_devx_async_event_hdr) + EQE_BYTES,
	[UV_EV_CMD] = 0,
};

/* ---- life ---- */

static int open_ends(enum uv_ev_kind kind, int end[2])
{
	int sv[2];

	if (kind != UV_EV_CMD) {
		if (pipe2(end, O_CLOEXEC | O_DIRECT))
			return -errno;
		fcntl(end[1], F_SETFL, O_DIRECT | O_NONBLOCK);
		fcntl(end[1], F_SETPIPE_SZ, PIPE_BYTES); /* less will do */
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	end[0] = sv[0];
	end[1] = sv[1];
	return 0;
}

int uv_evfile_new(struct uv_ctx *ctx, enum uv_ev_kind kind, bool omit_data,
		  struct uv_evfile **ret, int *client_fd)
{
	struct uv_evfile *ef;
	struct stat st;
	int end[2] = { -1, -1 }, rc;

	if (ctx->n_evfiles >= MAX_FILES)
		return -EMFILE;
	ef = calloc(1, sizeof(*ef));
	if (!ef)
		return -ENOMEM;
	rc = open_ends(kind, end);
	if (!rc && (uv_is_reserve(end[0]) || uv_is_reserve(end[1]))) {
		close(end[0]);
		close(end[1]);
		rc = -EMFILE;
	}
	if (rc) {
		free(ef);
		return rc;
	}
	fstat(end[0], &st);
	*ef = (struct uv_evfile){ .next = ctx->evfile,
				  .ctx = ctx,
				  .kind = kind,
				  .fd = end[1],
				  .dev = st.st_dev,
				  .ino = st.st_ino,
				  .refs = 1 };
	ef->sent_end = &ef->sent;
	ef->wait_end = &ef->wait;
	uv_evfile_omit(ef, omit_data);
	ctx->evfile = ef;
	ctx->n_evfiles++;
	*client_fd = end[0];
	*ret = ef;
	return 0;
}

void uv_evfile_omit(struct uv_evfile *ef, bool omit_data)
{
	ef->omit_data = omit_data;
	ef->record = omit_data ? sizeof(uint64_t) : record_bytes[ef->kind];
}

static void drop_list(struct uv_ev **list, struct uv_ev ***end)
{
	struct uv_ev *ev;

	while ((ev = *list)) {
		*list = ev->next;
		free(ev);
	}
	*end = list;
}

static void drop_records(struct uv_evfile *ef)
{
	drop_list(&ef->sent, &ef->sent_end);
	drop_list(&ef->wait, &ef->wait_end);
	ef->n_sent = ef->n_wait = 0;
	ef->wait_bytes = 0;
}

void uv_evfile_get(struct uv_evfile *ef)
{
	ef->refs++;
}

void uv_evfile_put(struct uv_evfile *ef)
{
	if (!--ef->refs)
		free(ef);
}

/* The program closed its last copy, or the context ends. */
void uv_evfile_close(struct uv_evfile *ef)
{
	struct uv_evfile **p = &ef->ctx->evfile;

	while (*p != ef)
		p = &(*p)->next;
	*p = ef->next;
	ef->ctx->n_evfiles--;
	if (ef->ctx->default_async == ef)
		ef->ctx->default_async = NULL;
	uv_subs_del_file(ef);
	drop_records(ef);
	close(ef->fd);
	ef->fd = -1;
	uv_evfile_put(ef);
}

int uv_evfile_find(struct uv_call *call, int64_t number, enum uv_ev_kind kind,
		   struct uv_evfile **ret)
{
	struct stat st;
	int fd, rc = uv_ask_fd(call, number, &fd);

	if (rc)
		return rc;
	rc = fstat(fd, &st);
	close(fd);
	if (rc)
		return -EBADF;
	for (struct uv_evfile *ef = call->ctx->evfile; ef; ef = ef->next)
		if (ef->kind == kind && ef->dev == st.st_dev && ef->ino == st.st_ino) {
			*ret = ef;
			return 0;
		}
	return -EBADF;
}

/* ---- records ---- */

static void append(struct uv_ev ***end, struct uv_ev *ev)
{
	ev->next = NULL;
	**end = ev;
	*end = &ev->next;
}

static struct uv_ev *take_first(struct uv_ev **list, struct uv_ev ***end)
{
	struct uv_ev *ev = *list;

	assert(ev);
	*list = ev->next;
	if (!*list)
		*end = list;
	return ev;
}

/* Those at the front of the sent ones that are no longer in the pipe were read. */
static void settle_to(struct uv_evfile *ef, unsigned unread)
{
	while (ef->n_sent > unread) {
		struct uv_ev *ev = take_first(&ef->sent, &ef->sent_end);

		if (ev->counter)
			++*ev->counter;
		ef->n_sent--;
		free(ev);
	}
}

static void settle(struct uv_evfile *ef)
{
	int bytes = 0;

	if (ef->record && ef->fd >= 0 && !ioctl(ef->fd, FIONREAD, &bytes))
		settle_to(ef, (unsigned)bytes / (unsigned)ef->record);
}

static bool write_record(struct uv_evfile *ef, const struct uv_ev *ev)
{
	ssize_t n =
		ef->record ? write(ef->fd, ev->data, ev->len)
			   : send(ef->fd, ev->data, ev->len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == (ssize_t)ev->len;
}

void uv_evfile_flush(struct uv_evfile *ef)
{
	while (ef->wait && ef->fd >= 0 && write_record(ef, ef->wait)) {
		struct uv_ev *ev = take_first(&ef->wait, &ef->wait_end);

		ef->n_wait--;
		ef->wait_bytes -= ev->len;
		if (!ef->record) {
			free(ev);
			continue;
		}
		append(&ef->sent_end, ev);
		ef->n_sent++;
	}
	settle(ef);
}

void uv_evfile_push(struct uv_evfile *ef, const void *owner, uint32_t *counter,
		    const void *data, size_t len)
{
	struct uv_ev *ev;

	if (ef->fd < 0 || ef->n_wait >= MAX_WAIT)
		return;
	ev = malloc(sizeof(*ev) + len);
	if (!ev)
		return;
	*ev = (struct uv_ev){ .owner = owner, .counter = counter, .len = len };
	memcpy(ev->data, data, len);
	append(&ef->wait_end, ev);
	ef->n_wait++;
	ef->wait_bytes += len;
	uv_evfile_flush(ef);
	if (ef->n_wait == 1)
		uv_wake(ef->ctx); /* it sends the rest when there is room */
}

static bool has_owner(const struct uv_ev *ev, const void *owner)
{
	while (ev && ev->owner != owner)
		ev = ev->next;
	return ev;
}

bool uv_evfile_pending(struct uv_evfile *ef, const void *owner)
{
	settle(ef);
	return has_owner(ef->sent, owner) || has_owner(ef->wait, owner);
}

/* Takes all out of the pipe by a reading end of our own; what is not there was read. */
static bool drain(struct uv_evfile *ef)
{
	char path[32];
	uint8_t record[EQE_BYTES + 16];
	unsigned n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ef->fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (read(fd, record, sizeof(record)) > 0)
		n++;
	close(fd);
	settle_to(ef, n);
	return true;
}

static void disown(struct uv_ev *list, const void *owner)
{
	for (struct uv_ev *ev = list; ev; ev = ev->next)
		if (ev->owner == owner) {
			ev->owner = NULL;
			ev->counter = NULL;
		}
}

void uv_evfile_disown(struct uv_evfile *ef, const void *owner)
{
	settle(ef);
	disown(ef->sent, owner);
	disown(ef->wait, owner);
}

static void filter(struct uv_ev **list, struct uv_ev ***end, const void *owner,
		   unsigned *n, size_t *bytes)
{
	struct uv_ev **p = list, *ev;

	while ((ev = *p)) {
		if (ev->owner != owner) {
			p = &ev->next;
			continue;
		}
		*p = ev->next;
		--*n;
		*bytes -= ev->len;
		free(ev);
	}
	*end = p;
}

/* What is left in order: the sent ones go in front of those that wait. */
static void resend(struct uv_evfile *ef)
{
	for (struct uv_ev *ev = ef->sent; ev; ev = ev->next)
		ef->wait_bytes += ev->len;
	*ef->sent_end = ef->wait;
	if (!ef->wait)
		ef->wait_end = ef->sent_end;
	ef->wait = ef->sent;
	if (!ef->wait)
		ef->wait_end = &ef->wait;
	ef->n_wait += ef->n_sent;
	ef->sent = NULL;
	ef->sent_end = &ef->sent;
	ef->n_sent = 0;
	uv_evfile_flush(ef);
}

void uv_evfile_forget(struct uv_evfile *ef, const void *owner)
{
	size_t none = SIZE_MAX;

	settle(ef);
	filter(&ef->wait, &ef->wait_end, owner, &ef->n_wait, &ef->wait_bytes);
	if (ef->fd < 0 || !has_owner(ef->sent, owner))
		return;
	if (!drain(ef)) { /* no descriptor free, no /proc: they stay, and count for nobody */
		disown(ef->sent, owner);
		return;
	}
	filter(&ef->sent, &ef->sent_end, owner, &ef->n_sent, &none);
	resend(ef);
}

size_t uv_evfile_bytes(struct uv_evfile *ef)
{
	int unread = 0;

	if (ef->fd >= 0 && !ef->record)
		ioctl(ef->fd, SIOCOUTQ, &unread);
	return ef->wait_bytes + (size_t)unread;
}
