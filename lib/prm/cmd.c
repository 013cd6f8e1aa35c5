/* prm/cmd.c - status of a command in words; source: Linux include/linux/mlx5/device.h */

#include "cmd.h"

#include <stddef.h>

static const struct {
	uint8_t status;
	const char *text;
} texts[] = {
	{ 0x00, "done" },
	{ 0x01, "internal error" },
	{ 0x02, "unknown operation" },
	{ 0x03, "bad parameter" },
	{ 0x04, "device not ready for it" },
	{ 0x05, "bad resource number" },
	{ 0x06, "resource busy" },
	{ 0x08, "limit exceeded" },
	{ 0x09, "resource in a wrong state" },
	{ 0x0a, "bad index" },
	{ 0x0f, "no resources left" },
	{ 0x10, "queue in a wrong state" },
	{ 0x30, "bad packet" },
	{ 0x40, "too many outstanding completions" },
	{ 0x50, "input too short" },
	{ 0x51, "output too short" },
};

const char *prm_status_text(unsigned status)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "unknown status";
}
