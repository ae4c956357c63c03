/* In: nothing. Out: a folder under TMPDIR that only this user can enter, and what a compiler put into it, read through the folder's handle:
 * whoever may rename things in TMPDIR cannot give us another folder's files. Refuses, with errno, what the system refuses. */
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
/* The plain file `name`, at most `most` bytes of it, a NUL behind them; NULL: there is none, or no memory. */
unsigned char *temporary_read(const temporary_folder *t, const char *name, size_t most, size_t *size);
/* Why a program that failed while it wrote there had no room: by what it said (NULL: nothing), or as the disk is full; NULL: it had. */
const char *temporary_shortage(const temporary_folder *t, const char *said);
void temporary_close(temporary_folder *t); /* with all that is in it */
/* A folder and what is in it, without following links. */
void directory_remove(const char *path);
#endif
