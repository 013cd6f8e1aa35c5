/* exc/frame.h - an entry of a punt ring */
#pragma once

#include <stdint.h>

struct exc_frame {
	uint8_t port;	/* ingress */
	uint8_t reason; /* enum pkt_punt */
	uint16_t len;
	uint8_t data[];
};
