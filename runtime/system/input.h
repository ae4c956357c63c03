/* In: paths that users name, in arguments and variables. Out: files open for reading, libraries. Refuses what is no regular file ahead of
 * opening it: a named pipe waits for a writer, a terminal for its user, and opening a device may do something. */
#ifndef TFGEN_INPUT_H
#define TFGEN_INPUT_H
#include <stddef.h>

/* "it is a named pipe, not a file", or what the system says; NULL: it is a regular file, or a link to one. */
const char *input_refusal(const char *path);
/* A descriptor to read a regular file from; -1: *why says why not, and errno is ENOENT where there is nothing of that name. */
int input_open(const char *path, const char **why);
/* The same, and what this process has open already: /dev/stdin, the /dev/fd/63 of a shell's <(command). */
int input_open_stream(const char *path, const char **why);
/* dlopen() of a regular file, or of a name without a slash, which the loader looks for; NULL: `why` says what is wrong with which file. */
void *input_library(const char *path, int flags, char *why, size_t size);
#endif
