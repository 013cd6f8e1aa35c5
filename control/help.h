/* control/help.h - what the tables say, as text for a terminal and as a manual page */
#pragma once

#include <stdio.h>

void help_usage(FILE *to);
void help_manual(FILE *to); /* mlx5fwdctl(8), man(7) source */
