/* daemon/manual.h - mlx5fwd.conf(5), made from the keys there are */
#pragma once

#include <stdio.h>

void manual_print(FILE *to); /* man(7) source */
