/* core/trace.c - what goes through the device, as text; off by default */
#include "dev.h"

#include <stdio.h>

void cx_trace_set(struct cx_dev *dev, unsigned mask)
{
	dev->trace = mask;
}

static bool wanted(const struct cx_dev *dev, unsigned kind)
{
	return (dev->trace & kind) && dev->ops.trace;
}

/* "CREATE_CQ in 0x010: 00000000 ..." 32 bytes a line */
void cx_trace_hex(struct cx_dev *dev, unsigned kind, const char *title, const void *p,
		  size_t len)
{
	const uint8_t *b = p;
	char text[192];

	if (!wanted(dev, kind))
		return;
	for (size_t at = 0; at < len; at += 32) {
		int n = snprintf(text, sizeof(text), "%.60s 0x%03zx:", title, at);

		for (size_t i = at; i < len && i < at + 32; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x",
				      i % 4 ? "" : " ", b[i]);
		dev->ops.trace(dev->ops.arg, text);
	}
}

struct fields {
	struct cx_dev *dev;
	const char *title;
	char text[256];
	size_t n;
};

static void flush(struct fields *f)
{
	if (f->n)
		f->dev->ops.trace(f->dev->ops.arg, f->text);
	f->n = 0;
}

static void append(void *arg, const char *field, uint64_t value)
{
	struct fields *f = arg;
	char one[128];
	size_t n = (size_t)snprintf(one, sizeof(one), " %s=0x%llx", field,
				    (unsigned long long)value);

	if (n >= sizeof(one))
		n = sizeof(one) - 1;
	if (f->n + n >= sizeof(f->text))
		flush(f);
	if (!f->n)
		f->n = (size_t)snprintf(f->text, sizeof(f->text), "%.60s", f->title);
	memcpy(f->text + f->n, one, n + 1);
	f->n += n;
}

/* "CREATE_CQ in: cqc.log_cq_size=0xa cqc.c_eqn=0x4 ..." the fields that are not zero */
void cx_trace_layout(struct cx_dev *dev, unsigned kind, const char *title,
		     const struct cx_layout *l, const void *p, size_t len)
{
	struct fields f = { .dev = dev, .title = title };

	if (!wanted(dev, kind))
		return;
	cx_layout_walk(l, p, len, append, &f);
	flush(&f);
}
