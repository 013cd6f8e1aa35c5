/* uverbs/shim_stack.c - run on another stack
 *
 * Two cases need it: a registered buffer lies on the caller's stack, whose pages are
 * then replaced while code runs; and fork(), after which parent and child would run on
 * the same shared page until the child has its own copy.
 *
 * Not by swapcontext(): sanitizers intercept it and lose track of the stack.
 */
#include "shim.h"

#include <sys/mman.h>

void *shim_stack_new(void)
{
	long p = SYS(SYS_mmap, NULL, SHIM_STACK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return shim_sys_failed(p) ? NULL : (void *)p;
}

void shim_stack_free(void *stack)
{
	SYS(SYS_munmap, stack, SHIM_STACK_BYTES);
}

/* The old stack pointer waits in a register that every function keeps. The uppermost page
 * stays empty: shim_fork.c looks at what is mapped around its frame. */
void shim_stack_call(void *stack, void (*fn)(void *arg), void *arg)
{
	void *top = (char *)stack + SHIM_STACK_BYTES - 4096;

#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %1, %%rsp\n\t"
			 "callq *%2\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg)
			 : "r"(top), "r"(fn)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			   "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
			   "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
	register void *x0 __asm__("x0") = arg;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %1\n\t"
			 "blr %2\n\t"
			 "mov sp, x19"
			 : "+r"(x0)
			 : "r"(top), "r"(fn)
			 : "x19", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
			   "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
			   "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5",
			   "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
			   "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}
