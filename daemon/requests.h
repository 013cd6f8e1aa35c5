/* daemon/requests.h - what a control line can ask for
 *
 * requests.c has the table. A handler answers through its client: rows, then client_ok()
 * or client_error(), or a stream that ends so.
 */
#pragma once

#include "client.h"

struct request {
	struct router *router;
	struct client *client;
	char **arg; /* words after the request's own */
	int n;
};

/* One line, cut into words; answers through @c. */
void request_run(struct router *r, struct client *c, char *words[], int n);
void request_client_gone(struct router *r, const struct client *c);
void request_stream_ended(struct router *r, const struct client *c); /* by the client */

/* routes.c */
void request_route_add(struct request *req);
void request_route_replace(struct request *req);
void request_route_append(struct request *req);
void request_route_del(struct request *req);
void request_route_flush(struct request *req);
/* batch.c */
void request_begin(struct request *req);
void request_commit(struct request *req);
void request_abort(struct request *req);
/* Gives up its batch. */
void batch_client_gone(struct router *r, const struct client *c);
/* route_summary.c */
void request_route_summary(struct request *req);
/* route_show.c */
void request_route_show(struct request *req);
void request_nexthop_show(struct request *req);
void request_nexthop_get(struct request *req);
/* config_show.c */
void request_config_show(struct request *req);
void request_config_diff(struct request *req);
void request_config_check(struct request *req);
void request_reload(struct request *req);
void request_log_level(struct request *req);
/* events.c */
void request_monitor(struct request *req);
/* route_get.c */
void request_route_get(struct request *req);
/* trace.c */
void request_trace_start(struct request *req);
void request_trace_show(struct request *req);
void request_trace_status(struct request *req);
void request_trace_stop(struct request *req);
/* metrics_show.c */
void request_metrics_show(struct request *req);
/* show.c */
void request_status(struct request *req);
void request_version(struct request *req);
void request_port_show(struct request *req);
void request_port_reset(struct request *req);
void request_worker_show(struct request *req);
void request_drop_show(struct request *req);
void request_drop_reset(struct request *req);
