/* fuzz/fuzz_prefix.c - prefixes as text: what is read comes back from its own text */

#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "../../lib/fib/prefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[300], back[FIB_PREFIX_TEXT], why[200] = "";
	struct fib_prefix p, q;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (fib_prefix_parse(text, 4, &p, why, sizeof(why)) < 0) {
		assert(*why && strlen(why) < sizeof(why));
		return 0;
	}
	assert((p.family == 4 && p.len <= 32) || (p.family == 6 && p.len <= 128));
	assert(fib_prefix_covers(&p, p.addr));
	assert(fib_prefix_parse(fib_prefix_text(&p, back), 4, &q, why, sizeof(why)) == 0);
	assert(!fib_prefix_compare(&p, &q));
	return 0;
}
