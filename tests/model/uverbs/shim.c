/* uverbs/shim.c - start of the preload library: environment, log, real functions */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *shim_dir;
static bool tracing;

__attribute__((constructor)) static void start(void)
{
	static char dir[PATH_MAX];
	const char *env = getenv("CXMODEL"), *trace = getenv("CXMODEL_TRACE");

	tracing = trace && strcmp(trace, "") != 0 && strcmp(trace, "0") != 0;
	if (!env || env[0] == '\0')
		return;
	/* Resolved once: the program may change its working directory, and shim_path_back()
	 * compares with what realpath() prints. */
	if (SHIM_REAL(realpath)(env, dir))
		shim_dir = dir;
	else
		shim_log("CXMODEL=%s: %s; no device will be seen", env, strerror(errno));
}

static void print(const char *fmt, va_list args)
{
	int saved = errno, head, n;
	char line[512];

	head = snprintf(line, sizeof(line), "cxshim[%ld]: ", SYS(SYS_getpid));
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, args);
	if (n > (int)sizeof(line) - head - 2)
		n = (int)sizeof(line) - head - 2;
	line[head + n] = '\n';
	SYS(SYS_write, STDERR_FILENO, line, head + n + 1);
	errno = saved;
}

void shim_log(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
}

void shim_trace(const char *fmt, ...)
{
	va_list args;

	if (!tracing)
		return;
	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
}

const char *shim_strerror(long sys_ret)
{
	const char *text = strerrordesc_np((int)-sys_ret);

	return text ? text : "unknown error";
}

void *shim_real(void **cache, const char *name)
{
	void *fn = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (fn)
		return fn;
	fn = dlsym(RTLD_NEXT, name);
	if (!fn) {
		shim_log("libc has no %s()", name);
		abort();
	}
	__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	return fn;
}

long shim_ret(long sys_ret)
{
	if (!shim_sys_failed(sys_ret))
		return sys_ret;
	errno = (int)-sys_ret;
	return -1;
}
