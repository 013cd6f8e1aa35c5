/* daemon/manual.c - mlx5fwd.conf(5), made from the keys there are */

#include "manual.h"

#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/ctl/roff.h"
#include "../lib/ctl/version.h"
#include "config.h"
#include "reload.h"

static const struct {
	const char *section, *name, *type;
	unsigned min, max;
	const char *def, *unit, *help;
} keys[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, #type, min, max, def, unit, help },
#include "config_keys.h"
#undef KEY
};

/* ---- man(7) ---- */

static void put_range(FILE *to, size_t i)
{
	if (!strcmp(keys[i].type, "flag"))
		fputs("; yes or no", to);
	else if (!strcmp(keys[i].type, "cpus"))
		fprintf(to, "; CPUs %u to %u, each once", keys[i].min, keys[i].max);
	else if (*keys[i].unit)
		fprintf(to, "; %s%u to %u %s",
			!strcmp(keys[i].type, "pow2") ? "a power of two, " : "",
			keys[i].min, keys[i].max, keys[i].unit);
}

static void put_key(FILE *to, size_t i)
{
	fprintf(to, ".TP\n\\fB%s\\fR = ", keys[i].name);
	roff_line(to, *keys[i].def ? keys[i].def : "(empty)");
	roff_text(to, keys[i].help);
	put_range(to, i);
	fputs(".\n", to);
	if (reload_knows(keys[i].section, keys[i].name))
		fputs("Can be changed by a reload.\n", to);
}

static void put_section(FILE *to, const char *section)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].section, section))
			put_key(to, i);
}

static const char intro[] =
	".SH NAME\n"
	"mlx5fwd.conf \\- configuration of mlx5fwd\n"
	".SH SYNOPSIS\n"
	".B " CONFIG_FILE "\n"
	".SH DESCRIPTION\n"
	"Lines are\n"
	".B [section]\n"
	"or\n"
	".BR \"key = value\" ;\n"
	"those that start with ; or # are comments. A key may be given once in its "
	"section. What is\n"
	"wrong is an error that names the line, and nothing of the file is taken;\n"
	".B mlx5fwd \\-\\-check\n"
	"says it without starting anything.\n"
	".PP\n"
	"A section\n"
	".BI \"[port \" NAME ]\n"
	"gives the network interface of that name to mlx5fwd; the kernel keeps it too. "
	"At least one is\n"
	"needed.\n"
	".PP\n"
	".B mlx5fwdctl reload\n"
	"or SIGHUP reads the file again. Either all that has changed can be changed "
	"now, or nothing\n"
	"is, and what needs a restart is named;\n"
	".B mlx5fwdctl config diff\n"
	"shows what differs from what runs.\n";

void manual_print(FILE *to)
{
	fprintf(to, ".TH MLX5FWD.CONF 5 \"\" \"mlx5fwd %s\"\n", MLX5FWD_VERSION);
	fputs(intro, to);
	fputs(".SH [daemon]\nEach key with its default.\n", to);
	put_section(to, "daemon");
	fputs(".SH [port NAME]\n", to);
	put_section(to, "port");
	fputs(".SH SEE ALSO\n.BR mlx5fwd (8),\n.BR mlx5fwdctl (8)\n", to);
}
