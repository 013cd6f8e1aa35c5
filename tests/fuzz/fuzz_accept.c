/* fuzz/fuzz_accept.c - Accept headers: a form for each, and a refusal adds no wish */

#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/metrics/expose.h"

#define MORE ",application/openmetrics-text;version=1.0.0;q=0"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *more = malloc(size + sizeof(MORE));
	enum metrics_form form;

	assert(text && more);
	memcpy(text, data, size);
	text[size] = '\0';
	form = metrics_accept(text);
	assert(form == METRICS_TEXT || form == METRICS_OPENMETRICS);
	/* Who has nothing to say about the other form cannot get it. */
	if (!strchr(text, '/'))
		assert(form == METRICS_TEXT);
	/* A range that wants nothing of it, at the end, gives nobody what he had not asked for. */
	snprintf(more, size + sizeof(MORE), "%s" MORE, text);
	assert(form == METRICS_OPENMETRICS || metrics_accept(more) == METRICS_TEXT);
	free(text);
	free(more);
	return 0;
}
