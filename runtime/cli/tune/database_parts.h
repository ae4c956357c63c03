/* SQLite helpers shared by the database's files, private to runtime/cli/tune. Bail with SQLite's error. */
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
void database_put_text(sqlite3_stmt *s, int at, const char *v); /* v NULL binds SQL NULL */
void database_step(database *d, sqlite3_stmt *s);               /* runs the statement to its end and finalizes it */
#endif
