/* fuzz/fuzz_config.c - configuration files: refused with a reason, or whole */

#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/config.h"

static void check(const struct config *c)
{
	assert(c->n_ports >= 1 && c->n_ports <= FWD_PORTS_MAX);
	assert(c->workers >= 1 && c->workers <= 64);
	assert(!c->cpus.n || (c->cpus.n >= c->workers && c->cpus.n <= CONFIG_CPUS_MAX));
	for (unsigned i = 0; i < c->cpus.n; i++)
		assert(c->cpus.cpu[i] >= 0 && c->cpus.cpu[i] < 1024);
	assert(strlen(c->control_socket) >= 1 && strlen(c->control_socket) <= 107);
	assert(strlen(c->control_group) < sizeof(c->control_group));
	for (unsigned i = 0; i < c->n_ports; i++) {
		assert(c->port[i].name[0] && strlen(c->port[i].name) < IF_NAMESIZE);
		assert(c->port[i].rx_packets >= 64 && c->port[i].rx_packets <= 32768);
		assert(c->port[i].tx_packets >= 64 && c->port[i].tx_packets <= 32768);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct err err = { "" };
	struct config c;

	if (!file)
		return 0;
	if (config_read_file(file, "f", &c, &err) == 0)
		check(&c);
	else
		assert(!strncmp(err.text, "f:", 2));
	fclose(file);
	return 0;
}
