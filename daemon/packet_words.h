/* daemon/packet_words.h - what `route get` and `trace start` both ask of a packet */
#pragma once

#include <stdint.h>

#include "../lib/base/err.h"

/* @what: the word before @value. Return: 0 or -EINVAL. */
int packet_number(const char *what, const char *value, unsigned min, unsigned max,
		  uint64_t *ret, struct err *err);
/* tcp, udp or icmp; @ret: its numbers in IPv4 and IPv6. Return: 0 or -EINVAL. */
int packet_proto(const char *word, uint8_t ret[2]);
/* That word, or the number. */
const char *packet_proto_text(uint8_t proto, char text[4]);
