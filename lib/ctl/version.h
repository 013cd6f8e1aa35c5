/* ctl/version.h - of daemon and tool, set by the build */
#pragma once

#ifndef MLX5FWD_VERSION
#define MLX5FWD_VERSION "unknown"
#endif
