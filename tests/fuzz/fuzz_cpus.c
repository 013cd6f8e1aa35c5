/* fuzz/fuzz_cpus.c - lists of CPUs: what is read comes back from its own text */

#include "fuzz.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "../../lib/place/cpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[4097], back[4096], brief[32];
	cpu_set_t set, again;
	int r;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&again, 0x5a, sizeof(again));
	set = again;
	r = place_cpus_parse(text, &set);
	if (r < 0) {
		assert((r == -EINVAL || r == -ERANGE) && CPU_EQUAL(&set, &again));
		return 0;
	}
	assert(!place_cpus_parse(place_cpus_text(&set, back, sizeof(back)), &again));
	assert(CPU_EQUAL(&set, &again));
	assert(strlen(place_cpus_text(&set, brief, sizeof(brief))) < sizeof(brief));
	assert((place_cpus_first(&set) < 0) == !CPU_COUNT(&set));
	return 0;
}
