/* test/fuzz_parse.h - the fuzz target of fuzz_parse.c; libFuzzer fixes the name */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data,
			   size_t size); /* aborts on a broken promise */
