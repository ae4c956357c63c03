/* In: paths that users name, in arguments and variables. Out: files open for reading, libraries. Refuses anything but regular files, before
 * opening it: opening a named pipe waits for a writer, reading a terminal for its user, and opening a device may have effects. */
#ifndef TFGEN_INPUT_H
#define TFGEN_INPUT_H
#include <stddef.h>

/* Why the path is refused: "it is a named pipe, not a file", or the system's message; NULL: it is a regular file, or a link to one. */
const char *input_refusal(const char *path);
/* A descriptor for reading a regular file; -1: *why has the reason, and errno is ENOENT if there is no such file. */
int input_open(const char *path, const char **why);
/* The same, but also accepts files that this process has open: /dev/stdin, or the /dev/fd/63 of a shell's <(command). */
int input_open_stream(const char *path, const char **why);
/* dlopen() of a regular file, or of a name without a slash, which the loader searches; NULL: `why` names the file and what is wrong with
 * it. */
void *input_library(const char *path, int flags, char *why, size_t size);
#endif
