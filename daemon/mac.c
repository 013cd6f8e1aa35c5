/* daemon/mac.c - Ethernet addresses as people write them */

#include "mac.h"

#include <stdio.h>
#include <string.h>

/* The value of a hex digit, 16 for anything else. */
static uint8_t nibble(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (uint8_t)((at - digits) % 16) : 16;
}

bool mac_parse(const char *text, uint8_t ret[6])
{
	int separator = strlen(text) == MAC_TEXT - 1 ? text[2] : '\0';
	uint8_t mac[6];

	if (separator != ':' && separator != '-')
		return false;
	for (int i = 0; i < 6; i++, text += 3) {
		uint8_t high = nibble(text[0]), low = nibble(text[1]);

		if (high > 15 || low > 15 || (i < 5 && text[2] != separator))
			return false;
		mac[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(ret, mac, sizeof(mac));
	return true;
}

char *mac_text(const uint8_t mac[6], char text[MAC_TEXT])
{
	snprintf(text, MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return text;
}
