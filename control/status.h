/* control/status.h - exit status of mlx5fwdctl */
#pragma once

enum status {
	STATUS_DONE = 0,
	STATUS_USAGE = 1,     /* nothing was asked of the daemon */
	STATUS_REFUSED = 2,   /* the daemon said no */
	STATUS_NO_DAEMON = 3, /* absent, not permitted, or silent */
	STATUS_PARTLY = 4,    /* batch partly applied (--force) */
};
