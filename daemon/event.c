/* daemon/event.c - the control thread's loop */

#include "event.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../lib/base/err.h"

struct event_source {
	struct event_source *next;
	int fd;
	event_fn fn; /* NULL: removed, freed after the round */
	void *arg;
	bool own_fd; /* signalfd and timerfd */
	void (*on_signal)(void *arg, int signal);
	void (*on_tick)(void *arg);
};

struct event_loop {
	int epoll_fd;
	bool stop;
	struct event_source *sources;
};

int event_loop_new(struct event_loop **ret)
{
	struct event_loop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		r = err_errno();
		free(l);
		return r;
	}
	*ret = l;
	return 0;
}

static void sweep(struct event_loop *l, bool all)
{
	struct event_source **at = &l->sources, *s;

	while ((s = *at)) {
		if (s->fn && !all) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		if (s->own_fd)
			close(s->fd);
		free(s);
	}
}

void event_loop_free(struct event_loop *l)
{
	if (!l)
		return;
	sweep(l, true);
	close(l->epoll_fd);
	free(l);
}

/* NULL: errno says why. */
static struct event_source *source_new(struct event_loop *l, int fd, uint32_t events,
				       event_fn fn, void *arg)
{
	struct event_source *s = calloc(1, sizeof(*s));
	struct epoll_event ev = { .events = events, .data.ptr = s };

	if (!s || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev)) {
		free(s); /* keeps errno, free(3) */
		return NULL;
	}
	s->fd = fd;
	s->fn = fn;
	s->arg = arg;
	s->next = l->sources;
	l->sources = s;
	return s;
}

int event_add(struct event_loop *l, int fd, uint32_t events, event_fn fn, void *arg,
	      struct event_source **ret)
{
	struct event_source *s = source_new(l, fd, events, fn, arg);

	if (!s)
		return err_errno();
	*ret = s;
	return 0;
}

int event_change(struct event_loop *l, struct event_source *s, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	return epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, s->fd, &ev) ? err_errno() : 0;
}

void event_del(struct event_loop *l, struct event_source *s)
{
	if (!s)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	s->fn = NULL;
}

static void on_signalfd(void *arg, uint32_t events)
{
	struct event_source *s = arg;
	struct signalfd_siginfo info;

	(void)events;
	if (read(s->fd, &info, sizeof(info)) == sizeof(info))
		s->on_signal(s->arg, (int)info.ssi_signo);
}

static void on_timerfd(void *arg, uint32_t events)
{
	struct event_source *s = arg;
	uint64_t times;

	(void)events;
	if (read(s->fd, &times, sizeof(times)) == sizeof(times))
		s->on_tick(s->arg);
}

/* A source that closes its descriptor, and whose handler needs it. */
static struct event_source *source_own(struct event_loop *l, int fd, event_fn fn,
				       void *arg)
{
	struct event_source *s = fd < 0 ? NULL : source_new(l, fd, EPOLLIN, fn, arg);
	int saved = errno;

	if (s)
		s->own_fd = true;
	else if (fd >= 0)
		close(fd);
	errno = saved;
	return s;
}

int event_signals(struct event_loop *l, const int *signals, unsigned n,
		  void (*fn)(void *arg, int signal), void *arg)
{
	struct event_source *s;
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < n; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s = source_own(l, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), on_signalfd,
		       arg);
	if (!s)
		return err_errno();
	s->on_signal = fn;
	return 0;
}

int event_tick(struct event_loop *l, unsigned period_ms, void (*fn)(void *arg), void *arg)
{
	struct timespec period = { .tv_sec = period_ms / 1000,
				   .tv_nsec = period_ms % 1000 * 1000000L };
	struct itimerspec spec = { .it_interval = period, .it_value = period };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct event_source *s = source_own(l, fd, on_timerfd, arg);

	if (!s || timerfd_settime(s->fd, 0, &spec, NULL))
		return err_errno();
	s->on_tick = fn;
	return 0;
}

int event_loop_run(struct event_loop *l)
{
	struct epoll_event ev[32];

	l->stop = false;
	while (!l->stop) {
		int n = epoll_wait(l->epoll_fd, ev, 32, -1);

		if (n < 0 && errno != EINTR)
			return err_errno();
		for (int i = 0; i < n; i++) {
			struct event_source *s = ev[i].data.ptr;

			/* An earlier handler of this round may have removed it. */
			if (s->fn)
				s->fn(s->on_signal || s->on_tick ? s : s->arg,
				      ev[i].events);
		}
		sweep(l, false);
	}
	return 0;
}

void event_stop(struct event_loop *l)
{
	l->stop = true;
}
