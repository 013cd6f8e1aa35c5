/* unit/test_metrics_accept.c - which form an Accept header gets */

#include "../test.h"

#include <string.h>

#include "../../lib/metrics/expose.h"

#define TEXT METRICS_TEXT
#define OPEN METRICS_OPENMETRICS
#define OM   "application/openmetrics-text"

static const struct {
	enum metrics_form form;
	const char *accept;
} rows[] = {
	{ TEXT, "" },
	{ TEXT, "*/*" }, /* curl */
	{ TEXT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" },
	/* Prometheus 2.42, 2.5, 3.0 */
	{ OPEN,
	  OM ";version=1.0.0," OM ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
	     "*/*;q=0.1" },
	{ TEXT, OM "; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1" },
	{ OPEN,
	  OM ";version=1.0.0;escaping=allow-utf-8;q=0.5," OM
	     ";version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
	     "text/plain;version=0.0.4;q=0.2,/;q=0.1" },
	/* weights */
	{ OPEN, OM },
	{ OPEN, OM ";q=0.001" },
	{ TEXT, OM ";q=0" },
	{ TEXT, OM ";q=0.5,text/plain;q=0.5" },
	{ TEXT, OM ";q=0.5,text/plain;q=0.501" },
	{ OPEN, OM ";q=0.501,text/plain;q=0.5" },
	{ OPEN, OM ";q=1.,text/plain;q=0." },
	{ OPEN, OM ";q=1.000,text/plain;q=0.999" },
	{ TEXT,
	  "text/plain;q=0.5,*/*" /* the star fits both, text has its own */ ";q=0.4" },
	{ OPEN, "text/plain;q=0.5,*/*" },
	{ OPEN, "text/*;q=0.1,application/*;q=0.2" },
	/* the most specific counts, wherever it stands */
	{ TEXT, "application/*," OM ";q=0.1,text/plain;q=0.2" },
	{ TEXT, OM ";version=1.0.0;q=0.1," OM ";q=1,text/plain;q=0.2" },
	{ OPEN, OM ";q=0.1," OM ";q=0.9,text/plain;q=0.5" },
	/* other versions and alphabets are none of ours */
	{ TEXT, OM ";version=2.0.0" },
	{ TEXT, OM ";version=" },
	{ TEXT, OM ";version=\"\"" },
	{ TEXT, OM ";charset=latin1" },
	{ OPEN, OM ";charset=UTF-8;version=\"1.0.0\"" },
	/* blanks, case, empty pieces */
	{ OPEN,
	  " \tApplication/OpenMetrics-Text ; Version=1.0.0 ; Q=0.9 , text/plain;q=0.8" },
	{ OPEN, ",,;," OM ";;q=0.9;,text/plain;q=0.8," },
	{ OPEN, "a/b;c=\"d,e;q=0\\\"," OM ";q=0\"," OM },
	/* not well-formed: as if it were not there */
	{ TEXT, OM ";q" },
	{ TEXT, OM ";q=2" },
	{ TEXT, OM ";q=1.001" },
	{ TEXT, OM ";q=0.1234" },
	{ TEXT, OM ";q=-1" },
	{ TEXT, OM ";q=0,5" },
	{ TEXT, OM ";q=.5" },
	{ TEXT, OM ";version=\"1.0.0" },
	{ TEXT, OM ";version=\"1.0.0\\" },
	{ TEXT, OM " nonsense" },
	{ TEXT, "application /openmetrics-text" },
	{ TEXT, "application" },
	{ TEXT, "*/openmetrics-text" },
	{ OPEN, "\xff\xfe," OM },
};

static void each_header_gets_its_form(void **state)
{
	(void)state;
	assert_int_equal(metrics_accept(NULL), TEXT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (metrics_accept(rows[i].accept) != rows[i].form)
			fail_msg("\"%s\" gets %s", rows[i].accept,
				 metrics_content_type(!rows[i].form));
}

static void types_name_form_and_version(void **state)
{
	(void)state;
	assert_string_equal(metrics_content_type(TEXT),
			    "text/plain; version=0.0.4; charset=utf-8");
	assert_string_equal(metrics_content_type(OPEN),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_header_gets_its_form),
	cmocka_unit_test(types_name_form_and_version),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
