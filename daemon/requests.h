/* daemon/requests.h - the table of requests */
#pragma once

#include "control.h"

enum request_need { REQUEST_READ, REQUEST_WRITE };

struct request {
	struct router *router;
	struct client *client;
	char **arg; /* words after the path */
	int n;
};

struct request_row {
	const char *path; /* words, one space between */
	enum request_need need;
	int min, max; /* words after it */
	void (*run)(struct request *req);
};

/* routes.c */
void request_route_add(struct request *req);
void request_route_replace(struct request *req);
void request_route_del(struct request *req);
void request_route_show(struct request *req);
void request_route_get(struct request *req);
void request_begin(struct request *req);
void request_commit(struct request *req);
void request_abort(struct request *req);
void routes_client_gone(struct router *r, const struct client *c);
/* show.c */
void request_status(struct request *req);
void request_version(struct request *req);
void request_port_show(struct request *req);
void request_worker_show(struct request *req);
void request_drop_show(struct request *req);
