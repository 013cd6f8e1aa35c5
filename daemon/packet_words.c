/* daemon/packet_words.c - what `route get` and `trace start` both ask of a packet */

#include "packet_words.h"

#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/base/number.h"
#include "../lib/pkt/flow_hot.h"

int packet_number(const char *what, const char *value, unsigned min, unsigned max,
		  uint64_t *ret, struct err *err)
{
	if (number_parse(value, max, ret) == 0 && *ret >= min)
		return 0;
	return err_set(err, -EINVAL, "%s %s: must be %u to %u", what, value, min, max);
}

static const struct {
	const char *word;
	uint8_t proto[2]; /* of IPv4 and IPv6 */
} protos[] = {
	{ "tcp", { FLOW_PROTO_TCP, FLOW_PROTO_TCP } },
	{ "udp", { FLOW_PROTO_UDP, FLOW_PROTO_UDP } },
	{ "icmp", { FLOW_PROTO_ICMP4, FLOW_PROTO_ICMP6 } },
};

int packet_proto(const char *word, uint8_t ret[2])
{
	for (size_t i = 0; i < ARRAY_LEN(protos); i++) {
		if (strcmp(word, protos[i].word) != 0)
			continue;
		memcpy(ret, protos[i].proto, sizeof(protos[i].proto));
		return 0;
	}
	return -EINVAL;
}

const char *packet_proto_text(uint8_t proto, char text[4])
{
	for (size_t i = 0; i < ARRAY_LEN(protos); i++)
		if (protos[i].proto[0] == proto || protos[i].proto[1] == proto)
			return protos[i].word;
	snprintf(text, 4, "%u", proto);
	return text;
}
