/* core/fault.c - the fault script
 *
 * A line is a verb, perhaps a word ("up"), and key=number pairs. Some act at once
 * (cqe, link, fatal, hold, release); the others wait in a list for the n-th time
 * their point is passed, and leave it when they have fired `times` times.
 */
#include "obj.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FAULTS_MAX 64

enum kind { KIND_CMD, KIND_DROP_RX, KIND_DROP_TX, KIND_OVERRUN };

struct fault {
	enum kind kind;
	uint32_t what; /* opcode or queue; 0 = any opcode */
	uint64_t nth, times;
	uint8_t status;
	uint32_t syndrome;
};

struct cx_faults {
	unsigned n;
	uint64_t delay_ns;
	struct fault list[FAULTS_MAX];
};

void cx_faults_free(struct cx_dev *dev)
{
	free(dev->faults);
	dev->faults = NULL;
}

/* ---- asked by the engines ---- */

/* The first fault of that kind and object whose turn it is now; counted, so ask once a pass. */
static bool fires(struct cx_faults *f, enum kind kind, uint32_t what, struct fault *hit)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct fault *one = &f->list[i];

		if (one->kind != kind || (one->what && one->what != what))
			continue;
		if (--one->nth)
			continue;
		one->nth = 1;
		*hit = *one;
		if (!--one->times)
			*one = f->list[--f->n];
		return true;
	}
	return false;
}

bool cx_fault_cmd(struct cx_dev *dev, uint16_t opcode, enum cx_status *status,
		  uint32_t *syndrome)
{
	struct fault hit;

	if (!dev->faults || !fires(dev->faults, KIND_CMD, opcode, &hit))
		return false;
	*status = (enum cx_status)hit.status;
	*syndrome = hit.syndrome;
	return true;
}

bool cx_fault_drop(struct cx_dev *dev, bool rx)
{
	struct fault hit;

	return dev->faults &&
	       fires(dev->faults, rx ? KIND_DROP_RX : KIND_DROP_TX, 0, &hit);
}

uint64_t cx_fault_delay_ns(const struct cx_dev *dev)
{
	return dev->faults ? dev->faults->delay_ns : 0;
}

bool cx_fault_overrun(struct cx_dev *dev, uint32_t cqn)
{
	struct fault hit;

	return dev->faults && fires(dev->faults, KIND_OVERRUN, cqn, &hit);
}

/* ---- the language ---- */

enum key {
	K_OP,
	K_NTH,
	K_STATUS,
	K_SYNDROME,
	K_TIMES,
	K_TYPE,
	K_NUM,
	K_VENDOR,
	K_CQ,
	K_US,
	K_COUNT
};

static const struct {
	const char *name;
	uint64_t min, max, preset;
} keys[K_COUNT] = {
	[K_OP] = { "op", 1, 0xffff, 0 },
	[K_NTH] = { "nth", 1, UINT32_MAX, 1 },
	[K_STATUS] = { "status", 1, 0xff, 0 },
	[K_SYNDROME] = { "syndrome", 0, UINT32_MAX, 0 },
	[K_TIMES] = { "times", 1, UINT32_MAX, 1 },
	[K_TYPE] = { "type", 0, 0, 0 }, /* a word: sq or rq */
	[K_NUM] = { "num", 1, CX_NUM_MAX, 0 },
	[K_VENDOR] = { "vendor", 0, 0xff, 0 },
	[K_CQ] = { "cq", 1, CX_NUM_MAX, 0 },
	[K_US] = { "us", 0, UINT32_MAX, 0 },
};

struct line {
	struct cx_dev *dev;
	const char *verb;
	bool second; /* the second of the verb's two words was given */
	uint64_t v[K_COUNT];
	unsigned seen;
	char *why;
	size_t why_size;
};

static int complain(struct line *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static int complain(struct line *l, const char *fmt, ...)
{
	int n = snprintf(l->why, l->why_size, "%s: ", l->verb);
	va_list ap;

	if (n < 0 || (size_t)n >= l->why_size)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(l->why + n, l->why_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- verbs ---- */

static int add(struct line *l, struct fault fault)
{
	struct cx_faults *f = l->dev->faults;

	if (!f)
		f = l->dev->faults = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	if (f->n == FAULTS_MAX)
		return complain(l, "%d faults are waiting already", FAULTS_MAX);
	f->list[f->n++] = fault;
	return 0;
}

static int do_cmd(struct line *l)
{
	return add(l, (struct fault){ .kind = KIND_CMD,
				      .what = (uint32_t)l->v[K_OP],
				      .nth = l->v[K_NTH],
				      .times = l->v[K_TIMES],
				      .status = (uint8_t)l->v[K_STATUS],
				      .syndrome = (uint32_t)l->v[K_SYNDROME] });
}

static int do_drop(struct line *l)
{
	return add(l, (struct fault){ .kind = l->second ? KIND_DROP_TX : KIND_DROP_RX,
				      .nth = l->v[K_NTH],
				      .times = l->v[K_TIMES] });
}

static struct cx_cq *cq_of(struct line *l)
{
	uint32_t num = (uint32_t)l->v[K_CQ];
	struct cx_cq *cq = (struct cx_cq *)cx_obj_get(l->dev, CX_CQ, num, 0);

	if (!cq)
		complain(l, "there is no CQ 0x%x", num);
	return cq;
}

static int do_overrun(struct line *l)
{
	struct cx_cq *cq = cq_of(l);

	if (!cq)
		return -EINVAL;
	return add(l, (struct fault){ .kind = KIND_OVERRUN,
				      .what = cq->obj.num,
				      .nth = 1,
				      .times = 1 });
}

static int do_cqe(struct line *l)
{
	struct cx_dev *dev = l->dev;
	uint8_t syndrome = (uint8_t)l->v[K_SYNDROME];
	uint32_t num = (uint32_t)l->v[K_NUM];
	enum cx_obj_type type = l->v[K_TYPE] ? CX_RQ : CX_SQ;
	struct cx_obj *obj = cx_obj_get(dev, type, num, 0);
	struct cx_sq *sq = (struct cx_sq *)obj;
	struct cx_rq *rq = (struct cx_rq *)obj;

	if (!obj)
		return complain(l, "there is no %s 0x%x", cx_obj_type_name(type), num);
	if (!syndrome || l->v[K_SYNDROME] > 0xff)
		return complain(l, "syndrome is out of range 1 .. 255");
	if ((type == CX_SQ ? sq->state : rq->state) != CX_Q_RDY)
		return complain(l, "%s 0x%x is not ready", cx_obj_type_name(type), num);
	/* One more completion than entries may be more than the CQ has room for. */
	if (type == CX_RQ && !cx_rq_is_posted(rq))
		return complain(l, "RQ 0x%x has no entry posted that could fail", num);
	dev->fault_vendor = (uint8_t)l->v[K_VENDOR];
	if (type == CX_SQ)
		cx_sq_fail(dev, sq, syndrome, sq->wq.head, "fault",
			   "asked for by the script");
	else
		cx_rq_fail(dev, rq, syndrome, rq->rmp ? rq->rmp->wq.head : rq->wq.head,
			   "fault", "asked for by the script");
	dev->fault_vendor = 0;
	return 0;
}

static int do_link(struct line *l)
{
	cx_link_set(l->dev, !l->second);
	return 0;
}

static int do_fatal(struct line *l)
{
	if (l->dev->fatal)
		return 0;
	cx_log(l->dev, "device: fatal error, asked for by the fault script");
	l->dev->fatal = true;
	cx_event(l->dev, CX_EVENT_INTERNAL_ERROR, 0, NULL);
	return 0;
}

/* Whoever waited for the queue goes on; nothing else would ring it. */
static bool wake_sq(void *arg, struct cx_obj *obj)
{
	struct cx_sq *sq = (struct cx_sq *)obj;

	if (sq->cq == arg && sq->state != CX_Q_RST)
		sq->rung = true;
	return true;
}

static void release(struct cx_dev *dev, struct cx_cq *cq)
{
	cq->held = false;
	cx_obj_each(dev, CX_SQ, wake_sq, cq);
	dev->sq_pending = true;
}

static int do_hold(struct line *l)
{
	struct cx_cq *cq = cq_of(l);

	if (!cq)
		return -EINVAL;
	cq->held = true;
	return 0;
}

static int do_release(struct line *l)
{
	struct cx_cq *cq = cq_of(l);

	if (!cq)
		return -EINVAL;
	release(l->dev, cq);
	return 0;
}

static int do_delay(struct line *l)
{
	struct cx_faults *f = l->dev->faults;

	if (!f)
		f = l->dev->faults = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->delay_ns = l->v[K_US] * 1000;
	return 0;
}

static bool release_held(void *arg, struct cx_obj *obj)
{
	struct cx_cq *cq = (struct cx_cq *)obj;

	if (cq->held)
		release(arg, cq);
	return true;
}

/* Also ends what lasts: the delay, and holds. */
static int do_clear(struct line *l)
{
	cx_faults_free(l->dev);
	cx_obj_each(l->dev, CX_CQ, release_held, l->dev);
	return 0;
}

#define KEY(k) (1u << (k))
static const struct verb {
	const char *name;
	const char *word[2]; /* one of them must follow */
	unsigned may, must;  /* keys */
	int (*run)(struct line *l);
} verbs[] = {
	/* clang-format off */
	{ "cmd", { NULL }, KEY(K_OP) | KEY(K_NTH) | KEY(K_SYNDROME) | KEY(K_TIMES),
	  KEY(K_STATUS), do_cmd },
	{ "cqe", { NULL }, KEY(K_VENDOR), KEY(K_TYPE) | KEY(K_NUM) | KEY(K_SYNDROME), do_cqe },
	{ "link", { "up", "down" }, 0, 0, do_link },
	{ "fatal", { NULL }, 0, 0, do_fatal },
	{ "hold", { NULL }, 0, KEY(K_CQ), do_hold },
	{ "release", { NULL }, 0, KEY(K_CQ), do_release },
	{ "delay", { NULL }, 0, KEY(K_US), do_delay },
	{ "drop", { "rx", "tx" }, KEY(K_TIMES), KEY(K_NTH), do_drop },
	{ "overrun", { NULL }, 0, KEY(K_CQ), do_overrun },
	{ "clear", { NULL }, 0, 0, do_clear },
	/* clang-format on */
};

/* ---- parser ---- */

static int key_of(const char *token, size_t len)
{
	for (int i = 0; i < K_COUNT; i++)
		if (strlen(keys[i].name) == len && !strncmp(keys[i].name, token, len))
			return i;
	return -1;
}

static int number(struct line *l, int key, const char *token, const char *text)
{
	char *end;

	errno = 0;
	l->v[key] = strtoull(text, &end, 0);
	if (end == text || *end || errno || *text < '0' || *text > '9')
		return complain(l, "%s is not a number", token);
	if (l->v[key] < keys[key].min || l->v[key] > keys[key].max)
		return complain(l, "%s is out of range %llu .. %llu", token,
				(unsigned long long)keys[key].min,
				(unsigned long long)keys[key].max);
	return 0;
}

static int queue_type(struct line *l, const char *token, const char *text)
{
	if (strcmp(text, "sq") && strcmp(text, "rq"))
		return complain(l, "%s is neither sq nor rq", token);
	l->v[K_TYPE] = *text == 'r';
	return 0;
}

static int pair(struct line *l, const struct verb *verb, const char *token)
{
	const char *is = strchr(token, '=');
	int key = is ? key_of(token, (size_t)(is - token)) : -1;

	if (key < 0 || !((verb->may | verb->must) & KEY(key)))
		return complain(l, "%s is not known here", token);
	if (l->seen & KEY(key))
		return complain(l, "%s is there twice", keys[key].name);
	l->seen |= KEY(key);
	return key == K_TYPE ? queue_type(l, token, is + 1)
			     : number(l, key, token, is + 1);
}

static int word(struct line *l, const struct verb *verb, const char *token)
{
	for (int i = 0; i < 2; i++) {
		if (token && !strcmp(token, verb->word[i])) {
			l->second = i;
			return 0;
		}
	}
	return complain(l, "%s or %s must follow", verb->word[0], verb->word[1]);
}

static int missing(struct line *l, const struct verb *verb)
{
	for (int i = 0; i < K_COUNT; i++)
		if (verb->must & ~l->seen & KEY(i))
			return complain(l, "%s is missing", keys[i].name);
	return 0;
}

static const struct verb *verb_of(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int parse(struct line *l, char *text)
{
	char *save = NULL, *token = strtok_r(text, " \t\n", &save);
	const struct verb *verb;
	int rc = 0;

	if (!token || *token == '#') /* a script may have empty lines and comments */
		return 0;
	l->verb = token;
	verb = verb_of(token);
	if (!verb)
		return complain(l, "no such fault");
	if (verb->word[0])
		rc = word(l, verb, strtok_r(NULL, " \t\n", &save));
	while (!rc && (token = strtok_r(NULL, " \t\n", &save)))
		rc = pair(l, verb, token);
	if (!rc)
		rc = missing(l, verb);
	return rc ? rc : verb->run(l);
}

int cx_fault(struct cx_dev *dev, const char *line, char *why, size_t why_size)
{
	struct line l = { .dev = dev, .verb = "fault", .why = why, .why_size = why_size };
	size_t len = strlen(line);
	char text[256];

	if (why_size)
		*why = 0;
	if (len >= sizeof(text))
		return complain(&l, "the line is too long");
	memcpy(text, line, len + 1);
	for (int i = 0; i < K_COUNT; i++)
		l.v[i] = keys[i].preset;
	return parse(&l, text);
}
