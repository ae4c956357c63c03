/* Atomic file writes, used for every file that tfgen leaves behind. In: a path and content. Out: the complete new file, or the old one
 * unchanged. The content goes to a new file with an unguessable name in the same folder, which is then renamed, so no link is followed; an
 * existing device, pipe or open file (/dev/stdout) is written directly. Refuses, with errno, what the system refuses, and a pipe without a
 * reader. */
#ifndef TFGEN_FILES_H
#define TFGEN_FILES_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct file_draft {
    FILE *out; /* the caller writes here */
    int folder;
    char *name, *aside; /* names in the folder: the file's and the temporary file's; aside NULL: `out` is the existing device, pipe or open
                         * file itself */
} file_draft;

/* The folder must exist. A plain file that is replaced keeps its permissions. */
bool file_begin(file_draft *d, const char *path);
/* The same in an open folder, which the caller still owns; temporary names begin with `prefix` and end in ".part". */
bool file_begin_at(file_draft *d, int folder, const char *name, const char *prefix, mode_t mode);
/* Renames the file into place. False, and the old file stays: `good` was false (errno is the caller's), or writing failed (see errno). */
bool file_finish(file_draft *d, bool good);
const char *file_why(int error); /* text for an errno value about a file */
bool file_put(const char *path, const void *data, size_t size);
/* True for names of files that are open already: /dev/stdin, /proc/self/fd/3. */
bool file_is_open(const char *path);
#endif
