/* A folder under TMPDIR that only this user can enter, and the files that a compiler writes there. They are read through the folder's
 * handle, so nobody who may rename files in TMPDIR can substitute another folder. Refuses, with errno, what the system refuses. */
#ifndef TFGEN_TEMPORARY_H
#define TFGEN_TEMPORARY_H
#include <stdbool.h>
#include <stddef.h>

typedef struct temporary_folder {
    char *path;
    int handle;
} temporary_folder;

const char *temporary_base(void); /* TMPDIR, else /tmp */
bool temporary_open(temporary_folder *t);
/* Reads the plain file `name`, at most `most` bytes, and appends a NUL; NULL: no such file, or no memory. */
unsigned char *temporary_read(const temporary_folder *t, const char *name, size_t most, size_t *size);
/* For a program that failed while it wrote there: the error that shows that it ran out of space, found in its messages (`said`, may be
 * NULL), or ENOSPC's text if the disk is full now. NULL: it failed for another reason. */
const char *temporary_shortage(const temporary_folder *t, const char *said);
void temporary_close(temporary_folder *t); /* also deletes the folder and its content */
/* Deletes a folder and its content, without following links. */
void directory_remove(const char *path);
#endif
