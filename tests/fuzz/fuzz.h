/* fuzz/fuzz.h - a libFuzzer target, https://llvm.org/docs/LibFuzzer.html
 *
 * It must do no harm whatever the bytes; what it asserts holds for every input.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
