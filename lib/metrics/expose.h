/* metrics/expose.h - a table of metrics as text, or as rows
 *
 *   METRICS_TEXT         Prometheus text format 0.0.4
 *   METRICS_OPENMETRICS  OpenMetrics 1.0
 *   METRICS_ROWS         one JSON object a line: {"name":"a_total","labels":{"port":"eth0"},
 *                        "value":"1"}. A value is text, as Prometheus' own API has it: some are
 *                        no JSON numbers
 *
 * Source: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0.0.
 */
#pragma once

#include <stdio.h>

#include "registry.h"

enum metrics_form { METRICS_TEXT, METRICS_OPENMETRICS, METRICS_ROWS };

/* Which form an Accept header asks for; what fits none, or NULL, gets text. RFC 9110, 12.5.1. */
enum metrics_form metrics_accept(const char *accept);
const char *metrics_content_type(enum metrics_form form); /* of text */

/**
 * metrics_write() - every sample of a table
 * @of:     given to the functions of the rows
 * @failed: a bit is set for each collector that failed; what it could not read is left out. Rows
 *          that come later may look at it.
 */
void metrics_write(FILE *to, enum metrics_form form, const struct metric *m, size_t n,
		   const void *of, uint32_t *failed);
