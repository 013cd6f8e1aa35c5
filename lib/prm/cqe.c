/* prm/cqe.c - syndromes of error completions in words */

#include "cqe.h"

static const struct {
	uint8_t syndrome;
	const char *text;
} texts[] = {
	{ 0x01, "local length error" },
	{ 0x02, "local queue operation error" },
	{ 0x04, "local protection error" },
	{ 0x05, "flushed" },
	{ 0x06, "memory window bind error" },
	{ 0x10, "bad response" },
	{ 0x11, "local access error" },
	{ 0x12, "remote invalid request" },
	{ 0x13, "remote access error" },
	{ 0x14, "remote operation error" },
	{ 0x15, "transport retries exceeded" },
	{ 0x16, "receiver not ready, retries exceeded" },
	{ 0x22, "aborted by the peer" },
};

const char *prm_syndrome_text(unsigned syndrome)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].syndrome == syndrome)
			return texts[i].text;
	return "unknown syndrome";
}
