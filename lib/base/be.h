/* base/be.h - big-endian values as struct types
 *
 * Mixing one with a host integer does not compile, in any compiler.
 */
#pragma once

#include <endian.h>
#include <stdint.h>

typedef struct {
	uint16_t raw;
} be16_t;
typedef struct {
	uint32_t raw;
} be32_t;
typedef struct {
	uint64_t raw;
} be64_t;

static inline be16_t to_be16(uint16_t host)
{
	return (be16_t){ htobe16(host) };
}
static inline be32_t to_be32(uint32_t host)
{
	return (be32_t){ htobe32(host) };
}
static inline be64_t to_be64(uint64_t host)
{
	return (be64_t){ htobe64(host) };
}
static inline uint16_t from_be16(be16_t be)
{
	return be16toh(be.raw);
}
static inline uint32_t from_be32(be32_t be)
{
	return be32toh(be.raw);
}
static inline uint64_t from_be64(be64_t be)
{
	return be64toh(be.raw);
}
