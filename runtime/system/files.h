/* In: where a file goes and what is in it. Out: the whole file under its name, or what was there before: every file that tfgen leaves
 * behind is written by this. It is made beside its place under a name that nobody can guess or have put there, then renamed, so no link is
 * followed; a device, a pipe or an open file (/dev/stdout) that is there already is written as it is. Refuses, with errno, what the system
 * refuses, and a pipe that has no reader. */
#ifndef TFGEN_FILES_H
#define TFGEN_FILES_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct file_draft {
    FILE *out; /* the caller writes here */
    int folder;
    char *name, *aside; /* in the folder; aside NULL: `out` is the device itself */
} file_draft;

/* The folder must be there. A plain file that is replaced hands on its permissions. */
bool file_begin(file_draft *d, const char *path);
/* The same in an open folder, which stays the caller's; names aside begin with `prefix` and end in ".part". */
bool file_begin_at(file_draft *d, int folder, const char *name, const char *prefix, mode_t mode);
/* Puts the file into its place, or, when it is not good or cannot be, nothing: false then, and errno says why (the caller's, when it was
 * not good). */
bool file_finish(file_draft *d, bool good);
const char *file_why(int error); /* what errno says of a file, in words */
bool file_put(const char *path, const void *data, size_t size);
/* /dev/stdin, /proc/self/fd/3: somebody has it open already. */
bool file_is_open(const char *path);
#endif
