/* uverbs/shim_stack.c - run on another stack
 *
 * Two cases need it: a registered buffer lies on the caller's stack, whose pages are
 * then replaced while code runs; and fork(), after which parent and child would run on
 * the same shared page until the child has its own copy.
 *
 *   stack block = [ struct frame | stack, growing down from the end ]
 */
#include "shim.h"

#include <sys/mman.h>
#include <ucontext.h>

struct frame {
	ucontext_t caller, callee;
	void (*fn)(void *arg);
	void *arg;
};

/* makecontext() passes ints only. */
static void entry(unsigned high, unsigned low)
{
	struct frame *f = (void *)((uintptr_t)high << 32 | low);

	f->fn(f->arg);
}

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

void shim_stack_call(void *stack, void (*fn)(void *arg), void *arg)
{
	struct frame *f = stack;

	f->fn = fn;
	f->arg = arg;
	getcontext(&f->callee);
	f->callee.uc_stack.ss_sp = f + 1;
	f->callee.uc_stack.ss_size = SHIM_STACK_BYTES - sizeof(*f);
	f->callee.uc_link = &f->caller;
	makecontext(&f->callee, (void (*)(void))entry, 2, (unsigned)((uintptr_t)f >> 32),
		    (unsigned)(uintptr_t)f);
	swapcontext(&f->caller, &f->callee);
}
