/* daemon/mac.h - Ethernet addresses as people write them */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAC_TEXT 18 /* bytes, with the final NUL */

/* Six pairs of hex digits of either case, with ':' or '-' all through. */
bool mac_parse(const char *text, uint8_t ret[6]);
char *mac_text(const uint8_t mac[6], char text[MAC_TEXT]); /* lower case, ':' */
