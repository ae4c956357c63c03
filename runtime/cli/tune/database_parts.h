/* In: SQL and values. Out: what the files of the database share. Refuses (bails) what SQLite refuses. Private to runtime/cli/tune. */
#ifndef TFGEN_TUNE_DATABASE_PARTS_H
#define TFGEN_TUNE_DATABASE_PARTS_H
#include "runtime/cli/tune/database.h"
#include <sqlite3.h>

struct database {
    arena *a;
    sqlite3 *db;
    const char *path;
};

_Noreturn void database_cannot(database *d, const char *what);
sqlite3_stmt *database_prepare(database *d, const char *sql);
void database_put_text(sqlite3_stmt *s, int at, const char *v); /* NULL: NULL */
void database_step(database *d, sqlite3_stmt *s);               /* to the end, and done with it */
#endif
