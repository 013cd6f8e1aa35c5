/* fuzz/fuzz_words.c - request lines: what is cut into words comes back from quoting */

#include "fuzz.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "../../lib/ctl/proto.h"

/* Two bytes a character and the quotes of each word. */
enum { QUOTED_MAX = 2 * CTL_LINE_MAX + 3 * CTL_WORDS_MAX + 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[CTL_LINE_MAX], quoted[QUOTED_MAX], again[QUOTED_MAX];
	char *words[CTL_WORDS_MAX], *back[CTL_WORDS_MAX];
	int n;

	if (size >= sizeof(line))
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	n = ctl_split(line, words);
	assert(n == -EINVAL || n == -E2BIG || (n >= 0 && n <= CTL_WORDS_MAX));
	quoted[0] = '\0';
	for (int i = 0; i < n; i++)
		assert(ctl_quote(quoted, sizeof(quoted), words[i]) == 0);
	if (n < 0)
		return 0;
	memcpy(again, quoted, sizeof(again));
	assert(ctl_split(again, back) == n);
	for (int i = 0; i < n; i++)
		assert(!strcmp(words[i], back[i]));
	return 0;
}
