/* metrics/expose.c - a table of metrics as text, or as rows */

#include "expose.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct writer {
	FILE *to;
	enum metrics_form form;
	const void *of;
	const struct metric *m;
	bool begun; /* the family has had a sample */
};

static const struct {
	const char *word[2]; /* of the TYPE line, by form of text */
	const char *family_end[2];
	const char *sample_end;
} types[] = {
	[METRIC_COUNTER] = { { "counter", "counter" }, { "_total", "" }, "_total" },
	[METRIC_GAUGE] = { { "gauge", "gauge" }, { "", "" }, "" },
	[METRIC_INFO] = { { "gauge", "info" }, { "_info", "" }, "_info" },
	[METRIC_HISTOGRAM] = { { "histogram", "histogram" }, { "", "" }, "" },
};

/* What stands around the pieces of a sample. */
static const struct {
	const char *name, *no_labels, *labels, *label, *is, *labels_end, *value, *end;
} marks[] = {
	[METRICS_TEXT] = { "", "", "{", "", "=", "}", " ", "\n" },
	[METRICS_OPENMETRICS] = { "", "", "{", "", "=", "}", " ", "\n" },
	[METRICS_ROWS] = { "{\"name\":\"", "\",\"labels\":{}", "\",\"labels\":{", "\"",
			   "\":", "}", ",\"value\":\"", "\"}\n" },
};

const char *metrics_content_type(enum metrics_form form)
{
	return form == METRICS_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- pieces ---- */

/* A quote in a HELP line is escaped by OpenMetrics only; in a label value always. JSON has no
 * control characters in a text. */
static void put_escaped(struct writer *w, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", w->to);
		else if (*text == '\\' || (*text == '"' && quotes))
			fprintf(w->to, "\\%c", *text);
		else if ((unsigned char)*text < ' ' && w->form == METRICS_ROWS)
			fprintf(w->to, "\\u%04x", (unsigned)*text);
		else
			fputc(*text, w->to);
	}
}

static void put_real(FILE *to, double v)
{
	if (isnan(v))
		fputs("NaN", to);
	else if (isinf(v))
		fputs(v < 0 ? "-Inf" : "+Inf", to);
	else
		fprintf(to, "%.17g", v);
}

/* A label value is compared as text: "1.0" and "1" would be two series. */
static void put_bound(FILE *to, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", v);
	if (isinf(v))
		fputs("+Inf", to);
	else
		fprintf(to, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void begin_family(struct writer *w)
{
	const struct metric *m = w->m;
	const char *end;

	if (w->begun || w->form == METRICS_ROWS)
		return;
	w->begun = true;
	end = types[m->type].family_end[w->form];
	fprintf(w->to, "# HELP %s%s ", m->name, end);
	put_escaped(w, m->help, w->form == METRICS_OPENMETRICS);
	fprintf(w->to, "\n# TYPE %s%s %s\n", m->name, end, types[m->type].word[w->form]);
	if (w->form == METRICS_OPENMETRICS && *m->unit)
		fprintf(w->to, "# UNIT %s%s %s\n", m->name, end, m->unit);
}

static void put_label(struct writer *w, const char *before, const char *name)
{
	const char *quote = marks[w->form].label;

	fprintf(w->to, "%s%s%s%s\"", before, quote, name, marks[w->form].is);
}

/* @le: the bound of a bucket, or NULL. */
static void put_labels(struct writer *w, const unsigned at[], const double *le)
{
	const char *before = marks[w->form].labels;
	char room[METRIC_TEXT];

	for (unsigned i = 0; w->m->label && w->m->label[i]; i++) {
		const struct metric_label *l = w->m->label[i];

		put_label(w, before, l->name);
		put_escaped(w, l->text(w->of, at, i, room), true);
		fputc('"', w->to);
		before = ",";
	}
	if (le) {
		put_label(w, before, "le");
		put_bound(w->to, *le);
		fputc('"', w->to);
	}
	fputs(le || *before == ',' ? marks[w->form].labels_end : marks[w->form].no_labels,
	      w->to);
}

/* All of a sample but its value and end. */
static void begin_sample(struct writer *w, const char *end, const unsigned at[],
			 const double *le)
{
	fprintf(w->to, "%s%s%s", marks[w->form].name, w->m->name, end);
	put_labels(w, at, le);
	fputs(marks[w->form].value, w->to);
}

static void end_sample(struct writer *w)
{
	fputs(marks[w->form].end, w->to);
}

static void put_whole_sample(struct writer *w, const char *end, const unsigned at[],
			     const double *le, uint64_t v)
{
	begin_sample(w, end, at, le);
	fprintf(w->to, "%" PRIu64, v);
	end_sample(w);
}

static void put_real_sample(struct writer *w, const char *end, const unsigned at[],
			    double v)
{
	begin_sample(w, end, at, NULL);
	put_real(w->to, v);
	end_sample(w);
}

static void put_histogram(struct writer *w, const unsigned at[],
			  const struct metric_histogram *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i <= h->n; i++) {
		double le = i < h->n ? h->bound[i] : (double)INFINITY;

		sum += h->count[i];
		put_whole_sample(w, "_bucket", at, &le, sum);
	}
	put_real_sample(w, "_sum", at, h->sum);
	put_whole_sample(w, "_count", at, NULL, sum);
}

static void put_sample(struct writer *w, const unsigned at[],
		       const struct metric_value *v)
{
	const char *end = types[w->m->type].sample_end;

	begin_family(w);
	if (w->m->type == METRIC_HISTOGRAM)
		put_histogram(w, at, &v->histogram);
	else if (v->is_real)
		put_real_sample(w, end, at, v->real);
	else
		put_whole_sample(w, end, at, NULL, v->whole);
}

/* ---- the whole ---- */

static unsigned label_count(const struct writer *w, unsigned i)
{
	const struct metric_label *l = w->m->label[i];

	return l->count ? l->count(w->of) : 1;
}

/* The next of the product, the last label running fastest. */
static bool advance(const struct writer *w, unsigned at[], unsigned n)
{
	while (n--) {
		if (++at[n] < label_count(w, n))
			return true;
		at[n] = 0;
	}
	return false;
}

static void put_family(struct writer *w, uint32_t *failed)
{
	unsigned at[METRIC_LABELS_MAX] = { 0 }, n = 0;
	struct metric_value v;
	int r;

	for (; w->m->label && w->m->label[n]; n++)
		if (!label_count(w, n))
			return;
	do {
		r = w->m->read(w->of, w->m, at, &v);
		if (!r)
			put_sample(w, at, &v);
		else if (r != -ENODATA)
			*failed |= UINT32_C(1) << w->m->collector;
	} while (advance(w, at, n));
}

void metrics_write(FILE *to, enum metrics_form form, const struct metric *m, size_t n,
		   const void *of, uint32_t *failed)
{
	for (size_t i = 0; i < n; i++) {
		struct writer w = { .to = to, .form = form, .of = of, .m = &m[i] };

		put_family(&w, failed);
	}
	if (form == METRICS_OPENMETRICS)
		fputs("# EOF\n", to);
}
