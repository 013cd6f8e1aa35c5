/* place/cpus.h - sets of CPUs as lists: "0-3,8", as the kernel writes them
 *
 * A simplification: CPUs from CPU_SETSIZE (1024) on are passed over, as if they were not there.
 */
#pragma once

#include <sched.h>
#include <stddef.h>

/**
 * place_cpus_parse() - a list of the kernel's, with or without its line feed
 * @ret: written only on success; an empty list is an empty set
 *
 * Source: Linux, Documentation/admin-guide/cputopology.rst; bitmap_print_to_pagebuf().
 * Return: 0, -EINVAL (something else stands there, a range runs backwards), -ERANGE (a number of
 *         more than 32 bits).
 */
int place_cpus_parse(const char *text, cpu_set_t *ret);

/* The list of a set; one that has no room ends in "...". Return: @text. */
const char *place_cpus_text(const cpu_set_t *set, char *text, size_t size);

/* Return: -1 = the set is empty. */
int place_cpus_first(const cpu_set_t *set);
