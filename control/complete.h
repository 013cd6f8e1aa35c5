/* control/complete.h - what may come next on a command line, for the shells */
#pragma once

/**
 * complete_words() - print the words that may stand in the place of the last one
 * @words:  of the command line, without the program's name; the last may be ""
 * @socket: of the daemon, which is asked for the names of ports, and not waited for
 */
void complete_words(const char *const words[], int n, const char *socket);
