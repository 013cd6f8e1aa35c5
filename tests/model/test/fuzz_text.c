/* test/fuzz_text.c - lines of the fault script: words and numbers of the language, and noise
 *
 * A line is refused with a reason or takes effect; it never harms. The device then runs
 * commands, frames and sends, so that what waits in the list fires.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "flow_rig.h"

enum { MAX_LINES = 32 };

static const char *const words[] = {
	"cmd",	      "cqe",	 "link",
	"fatal",      "hold",	 "release",
	"delay",      "drop",	 "rx",
	"tx",	      "up",	 "down",
	"op=",	      "nth=",	 "status=",
	"syndrome=",  "cq=",	 "num=",
	"type=",      "sq",	 "rq",
	"times=",     "overrun", "clear",
	"us=",	      "vendor=", "#",
	"0x",	      "0x400",	 "0x1040",
	"4294967295", "1",	 "-1",
	"",	      " ",	 "\t",
	"=",	      "==",	 "18446744073709551616",
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

static void make_line(struct fuzz *f, char *line, size_t size)
{
	size_t at = 0;

	for (uint32_t n = fuzz_below(f, 12); n && at + 1 < size; n--) {
		uint32_t w = fuzz_below(f, N_WORDS + 4);

		if (w < N_WORDS)
			at += (size_t)snprintf(line + at, size - at, "%s", words[w]);
		else
			line[at++] = (char)(fuzz_take(f, 1) | 1);
		if (at + 1 < size && fuzz_below(f, 3))
			line[at++] = ' ';
		if (at >= size)
			at = size - 1;
		line[at] = 0;
	}
}

static void one_line(struct direct *d, struct fuzz *f)
{
	char line[400] = "", copy[400], why[64], tiny[1];
	int rc;

	make_line(f, line, sizeof(line));
	memcpy(copy, line, sizeof(copy));
	memset(why, 'x', sizeof(why));
	rc = cx_fault(d->dev, line, why, sizeof(why));
	FUZZ_MUST(!strcmp(line, copy));
	FUZZ_MUST(rc == 0 || rc == -22);
	FUZZ_MUST(memchr(why, 0, sizeof(why)));
	FUZZ_MUST(!rc == !*why);
	cx_fault(d->dev, line, tiny, sizeof(tiny));
	FUZZ_MUST(!*tiny);
	cx_fault(d->dev, line, NULL, 0);
}

static void traffic(struct direct *d, struct d_sq *sq, struct d_rq *rq)
{
	uint8_t frame[64];
	uint32_t num;

	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	cx_rx(d->dev, frame, sizeof(frame));
	d_rq_post(rq, 1);
	d_send(sq, frame, sizeof(frame));
	cx_step(d->dev);
	cx_clock_advance(d->dev, 1000000);
	cx_step(d->dev);
	d_simple(d, D_ALLOC_PD, 0, &num);
	d_forget(d);
}

int fuzz_text(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
	struct d_rq *rq = d_rq(d, &(struct d_rq_conf){ .log_size = 4, .cq = cq });

	d_all_to(d, d_tir(d, rq->num));
	for (unsigned i = 0; f.left && i < MAX_LINES; i++) {
		one_line(d, &f);
		traffic(d, sq, rq);
	}
	fuzz_drain(d);
	d_close(d);
	return 0;
}

FUZZ_TARGET(fuzz_text)
