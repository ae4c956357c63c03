/* Contract: database.h. Messages between the processes of a sweep: rows that belong to the process that writes them first. Bails if SQLite
 * fails. */
#include "runtime/cli/tune/database_parts.h"
#include <string.h>

static sqlite3_stmt *about(database *d, const char *sql, const char *sweep, const char *key, const char *what)
{
    sqlite3_stmt *s = database_prepare(d, sql);
    const char *const texts[] = {sweep, key, what};
    for (int i = 0; i < 3; i++)
        if (texts[i]) database_put_text(s, i + 1, texts[i]);
    return s;
}

bool database_tell(database *d, const char *sweep, const char *key, const char *what, int rank, const char *value)
{
    sqlite3_stmt *s = about(d, "INSERT OR IGNORE INTO shared VALUES(?, ?, ?, ?, ?)", sweep, key, what);
    sqlite3_bind_int(s, 4, rank);
    database_put_text(s, 5, value);
    database_step(d, s);
    return sqlite3_changes(d->db) == 1;
}

const char *database_told(database *d, arena *a, const char *sweep, const char *key, const char *what, int *rank)
{
    sqlite3_stmt *s = about(d, "SELECT rank, value FROM shared WHERE sweep = ? AND key = ? AND what = ?", sweep, key, what);
    const int code = sqlite3_step(s);
    const char *value = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 1) : NULL;
    if (rank) *rank = code == SQLITE_ROW ? sqlite3_column_int(s, 0) : -1;
    if (code == SQLITE_ROW) value = arena_strdup(a, value ? value : "");
    sqlite3_finalize(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE) database_cannot(d, "read");
    return value;
}

bool database_take_over(database *d, const char *sweep, const char *key, const char *what, int from, int rank)
{
    sqlite3_stmt *s = about(d, "UPDATE shared SET rank = ?5 WHERE sweep = ?1 AND key = ?2 AND what = ?3 AND rank = ?4", sweep, key, what);
    sqlite3_bind_int(s, 4, from);
    sqlite3_bind_int(s, 5, rank);
    database_step(d, s);
    return sqlite3_changes(d->db) == 1;
}

int database_count_told(database *d, const char *sweep, const char *key, const char *like)
{
    sqlite3_stmt *s = about(d, "SELECT count(*) FROM shared WHERE sweep = ? AND key = ? AND what LIKE ?", sweep, key, like);
    const int count = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : -1;
    sqlite3_finalize(s);
    if (count < 0) database_cannot(d, "read");
    return count;
}

/* ---- heartbeats */
void database_beat(database *d, const char *sweep, int rank, long long beat)
{
    sqlite3_stmt *s = about(d, "INSERT OR REPLACE INTO beats VALUES(?, ?, ?)", sweep, NULL, NULL);
    sqlite3_bind_int(s, 2, rank);
    sqlite3_bind_int64(s, 3, beat);
    database_step(d, s);
}

void database_beats(database *d, const char *sweep, database_beats_visit *visit, void *context)
{
    sqlite3_stmt *s = about(d, "SELECT rank, beat FROM beats WHERE sweep = ? ORDER BY rank", sweep, NULL, NULL);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) visit(context, sqlite3_column_int(s, 0), sqlite3_column_int64(s, 1));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE) database_cannot(d, "read");
}

/* SQL that counts the sweep's trials of a tile; completed by a condition: failed, or ended. */
#define OF_THE_TILE                                                                                                                       \
    "(SELECT count(*) FROM trials WHERE 'tile ' || program || ' ' || tile = shared.what AND session IN (SELECT value FROM shared AS own" \
    " WHERE own.sweep = shared.sweep AND own.key = 'session') AND "

void database_give_back(database *d, const char *sweep, int rank)
{
    sqlite3_stmt *s = about(d, "DELETE FROM shared WHERE sweep = ? AND rank = ? AND what LIKE 'tile %' AND " OF_THE_TILE
                               "ended IS NOT NULL) = 0 AND " OF_THE_TILE "status IS NULL) < 2", sweep, NULL, NULL);
    sqlite3_bind_int(s, 2, rank);
    database_step(d, s);
}

void database_best(database *d, const char *sweep, const database_key *key, long long but_session, database_best_visit *visit,
                   void *context)
{
    sqlite3_stmt *s = about(d, "SELECT program, version, tile, ratio FROM trials WHERE session IN (SELECT value FROM shared WHERE sweep = ?"
                               " AND key = 'session') AND signature = ? AND target = ? AND device = ? AND rows = ? AND keys = ? AND"
                               " session <> ? AND ratio > 0 AND ratio < 1 AND status IN ('ready', 'beaten', 'kept') ORDER BY ratio LIMIT 4",
                            sweep, key->signature, key->target);
    int code;
    database_put_text(s, 4, key->device);
    sqlite3_bind_int64(s, 5, key->size.rows);
    sqlite3_bind_int64(s, 6, key->size.keys);
    sqlite3_bind_int64(s, 7, but_session);
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        visit(context, (const char *)sqlite3_column_text(s, 0), (const char *)sqlite3_column_text(s, 1),
              (const char *)sqlite3_column_text(s, 2), sqlite3_column_double(s, 3));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE) database_cannot(d, "read");
}

void database_forget(database *d, const char *sweep)
{
    database_step(d, about(d, "DELETE FROM beats WHERE sweep = ?", sweep, NULL, NULL));
    database_step(d, about(d, "DELETE FROM shared WHERE sweep = ? AND key <> 'session'", sweep, NULL, NULL));
}
