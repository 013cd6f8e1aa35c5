/* control/help.c - what the tables say, as text for a terminal and as a manual page */

#include "help.h"

#include "../lib/ctl/proto.h"
#include "../lib/ctl/roff.h"
#include "../lib/ctl/version.h"
#include "commands.h"
#include "options.h"

static const struct {
	const char *number, *means;
} statuses[] = {
	{ "0", "done" },
	{ "1", "usage: nothing was asked of the daemon" },
	{ "2", "the daemon said no" },
	{ "3",
	  "cannot talk to the daemon: it is absent, does not permit it, or does not answer" },
	{ "4", "a batch was applied in part (--force)" },
};

void help_usage(FILE *to)
{
	fputs("Usage: mlx5fwdctl [OPTIONS] OBJECT [VERB] [ARGS]\n"
	      "       mlx5fwdctl [OPTIONS] -b FILE\n\n"
	      "Objects and verbs may be abbreviated; without a verb, show.\n\n",
	      to);
	commands_help(to, NULL);
	fputc('\n', to);
	options_help(to);
}

/* ---- man(7) ---- */

/* <prefix> is something to be filled in. */
static void put_args(FILE *to, const char *args)
{
	char c[2] = "";

	for (; *args; args++) {
		c[0] = *args;
		if (*args == '<')
			fputs("\\fI", to);
		else if (*args == '>')
			fputs("\\fR", to);
		else
			roff_text(to, c);
	}
}

static void put_command(FILE *to, const struct command *c)
{
	fprintf(to, ".TP\n\\fB%s%s%s\\fR ", c->object, *c->verb ? " " : "", c->verb);
	put_args(to, c->args);
	fputc('\n', to);
	roff_line(to, c->help);
}

static void put_option(FILE *to, const struct option_row *o)
{
	fputs(".TP\n\\fB", to);
	if (o->brief)
		roff_text(to, o->brief);
	fputs(o->brief ? "\\fR, \\fB" : "", to);
	roff_text(to, o->full);
	fputs("\\fR", to);
	if (o->value)
		fprintf(to, " \\fI%s\\fR", o->value);
	fputc('\n', to);
	roff_line(to, o->help);
}

static const char intro[] =
	".SH NAME\n"
	"mlx5fwdctl \\- show and change what mlx5fwd does\n"
	".SH SYNOPSIS\n"
	".B mlx5fwdctl\n"
	"[\\fIOPTIONS\\fR] \\fIOBJECT\\fR [\\fIVERB\\fR] [\\fIARGS\\fR]\n"
	".br\n"
	".B mlx5fwdctl\n"
	"[\\fIOPTIONS\\fR] \\fB\\-b\\fR \\fIFILE\\fR\n"
	".SH DESCRIPTION\n"
	"Talks to a running\n"
	".BR mlx5fwd (8)\n"
	"by its control socket. Objects and verbs may be abbreviated to what is unique; without a\n"
	"verb,\n"
	".B show\n"
	"is meant, and without an object,\n"
	".BR status .\n"
	"As in\n"
	".BR ip (8),\n"
	"list and lst are show, delete is del, a long option may have one dash only, and the\n"
	"type of a route may stand before its prefix.\n"
	"Root and members of the group of the socket may change something; those of the readers' "
	"group\n"
	"may look, by a socket of their own, which is tried when the first one does not "
	"permit.\n"
	".PP\n"
	"A prefix is read as\n"
	".BR ip (8)\n"
	"reads it:\n"
	".BR 10/8 ,\n"
	".BR default ,\n"
	".BR ::/0 ,\n"
	"or an address alone; bits behind its length are refused. A route has the MAC "
	"address of its\n"
	"gateway. With one port no\n"
	".B dev\n"
	"is needed.\n"
	".SH COMMANDS\n";

static const char files[] =
	".PP\n"
	"Lines of a batch are commands as above, without the name of the program; words may be\n"
	"quoted as in a shell, and lines that start with # are passed over. Other "
	"clients that want\n"
	"to change something meanwhile are told EBUSY. The first line that fails ends "
	"it, is named as\n"
	"FILE:LINE, and nothing is changed, unless\n"
	".B \\-\\-force\n"
	"was given.\n"
	".PP\n"
	".B route restore\n"
	"reads what\n"
	".B route save\n"
	"prints. Routes that are the same already are not touched, others are added or "
	"changed, and\n"
	"static routes that the file does not name are deleted; packets see all of it "
	"at once, prefix\n"
	"by prefix.\n"
	".SH TRACES\n"
	".B trace start\n"
	"has every worker note what it does with its next packets, until there are so many\n"
	"together, or the seconds are over, or\n"
	".BR \"trace stop\" .\n"
	"There is one trace at a time; what it has is kept until the next one begins. The words "
	"before\n"
	".B match\n"
	"say how much, those behind it which packets; all of them must fit:\n"
	".PP\n"
	".RS\n"
	"mlx5fwdctl trace start count 20 port eth0 match dst 10.0.0.0/8 proto udp verdict drop\n"
	".br\n"
	"mlx5fwdctl trace status\n"
	".br\n"
	"mlx5fwdctl trace show\n"
	".br\n"
	"mlx5fwdctl trace save \\- | tshark \\-r \\-\n"
	".RE\n"
	".PP\n"
	"Addresses and ports are those of the packet as it came, behind up to two VLAN tags;\n"
	".B proto\n"
	"takes a number too, and\n"
	".B reason\n"
	"a name that\n"
	".B drop show \\-s\n"
	"lists. For each packet is told: when it came, by which port and queue; its headers; "
	"whether\n"
	"it was handled with its burst or\n"
	".BR alone ,\n"
	"after a full look; the route and next hop that were followed, of several the one for its\n"
	"flow; and what became of it: sent by a port and queue, handed to the kernel, or dropped,\n"
	"and why. A route that has changed meanwhile is left out. Whether the kernel took\n"
	"a packet in, policers included, is told by\n"
	".BR \"port show \\-s \\-s\" .\n"
	".PP\n"
	"Times are nanoseconds. Of clock\n"
	".B card\n"
	"they are the card's own, when it received just this packet; of\n"
	".BR session ,\n"
	"of the first one of those that it reported together, compressed; of\n"
	".BR host ,\n"
	"the worker's, where the card gave none. A free-running clock of a card is set by the\n"
	"time of day once a trace and port, as exactly as the packet that waited least; what\n"
	"lies between two packets of a port is exact.\n"
	".PP\n"
	"Workers run another build of their loop meanwhile, which looks at every packet and costs\n"
	"more; without a trace it costs nothing. No worker waits for a trace: what finds no room\n"
	"is counted as\n"
	".BR lost .\n"
	"Who may look may see the status; packets are shown to those who may change something.\n"
	".SH OUTPUT\n"
	"JSON is an array of objects, one array a command; no key ever changes its "
	"type, counters are\n"
	"integers. Keys of a route are those of\n"
	".B ip \\-j route\n"
	"where it has one. Errors are a sentence on standard error, and with\n"
	".B \\-j\n"
	"an object on standard output too: "
	"{\"error\":{\"code\":\"EEXIST\",\"message\":\"...\"}}.\n";

static const char environment[] = ".SH ENVIRONMENT\n"
				  ".TP\n"
				  ".B " CTL_SOCKET_ENV "\n"
				  "The daemon's socket, unless\n"
				  ".B \\-S\n"
				  "is given.\n"
				  ".SH SEE ALSO\n"
				  ".BR mlx5fwd (8),\n"
				  ".BR mlx5fwd.conf (5),\n"
				  ".BR ip\\-route (8)\n";

void help_manual(FILE *to)
{
	fprintf(to, ".TH MLX5FWDCTL 8 \"\" \"mlx5fwd %s\"\n", MLX5FWD_VERSION);
	fputs(intro, to);
	for (unsigned i = 0; command_at(i); i++)
		put_command(to, command_at(i));
	fputs(".SH OPTIONS\n"
	      "Options that take no value may follow the command, too.\n",
	      to);
	for (unsigned i = 0; options_row(i); i++)
		put_option(to, options_row(i));
	fputs(files, to);
	fputs(".SH EXIT STATUS\n", to);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		fprintf(to, ".TP\n.B %s\n%s\n", statuses[i].number, statuses[i].means);
	fputs(environment, to);
}
