/* core/flow_text.c - tables, groups and entries as text, for cx_dump() */
#include "steer.h"

#include <stdio.h>

static void table_text(char *s, size_t size, const struct cx_ft *ft)
{
	int n = snprintf(s, size, " %s level %u size 2^%u groups %u",
			 ft->type == CX_FT_NIC_RX ? "rx" : "tx", ft->level, ft->log_size,
			 ft->n_fg);

	if (ft->miss)
		snprintf(s + n, size - (size_t)n, " miss 0x%x", ft->miss->obj.num);
}

static void group_text(char *s, size_t size, const struct cx_fg *fg)
{
	snprintf(s, size, " table 0x%x index %u to %u entries %u", fg->ft->obj.num,
		 fg->start, fg->end, fg->n_fte);
}

/* Cut off where the line ends: an entry may have eight destinations and four counters. */
static int add(char *s, size_t size, int n, const char *what, uint32_t num)
{
	if ((size_t)n < size)
		n += snprintf(s + n, size - (size_t)n, " %s 0x%x", what, num);
	return n;
}

static void entry_text(char *s, size_t size, const struct cx_fte *fte)
{
	const struct cx_fte_act *a = &fte->act;
	int n = snprintf(s, size, " table 0x%x group 0x%x index %u action 0x%x tag 0x%x",
			 fte->fg->ft->obj.num, fte->fg->obj.num, fte->index, a->action,
			 a->tag);

	for (unsigned i = 0; i < a->n_dests; i++)
		n = add(s, size, n, a->dest[i].ft ? "to-table" : "to-tir",
			a->dest[i].ft ? a->dest[i].ft->obj.num : a->dest[i].tir->obj.num);
	for (unsigned i = 0; i < a->n_counters; i++)
		n = add(s, size, n, "counter",
			a->counter[i].counter->obj.num + a->counter[i].slot);
}

void cx_flow_text(char *s, size_t size, const struct cx_obj *obj)
{
	if (obj->type == CX_FT)
		table_text(s, size, (const struct cx_ft *)obj);
	else if (obj->type == CX_FG)
		group_text(s, size, (const struct cx_fg *)obj);
	else
		entry_text(s, size, (const struct cx_fte *)obj);
}
