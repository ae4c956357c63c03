/* Contract: database.h. An SQLite file in WAL mode: readers never wait, writers wait for each other. Bails with SQLite's text if SQLite
 * fails. */
#define _GNU_SOURCE
#include "runtime/cli/tune/database_parts.h"
#include "ir/graph/former.h"
#include "runtime/cli/cli.h"
#include "runtime/system/input.h"
#include "runtime/wisdom/wisdom_file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { database_version = 2, wait_ms = 60000 };

/* Times are in seconds, dates are SQLite's, in UTC. A trial without `ended` was interrupted or is running. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS sessions(id INTEGER PRIMARY KEY, began TEXT DEFAULT CURRENT_TIMESTAMP, ended TEXT, how TEXT, command TEXT,"
    " label TEXT, arch TEXT, target TEXT, model TEXT, driver TEXT, compiler TEXT, clocks TEXT, tfgen TEXT, seed INTEGER);"
    "CREATE TABLE IF NOT EXISTS trials(id INTEGER PRIMARY KEY, session INTEGER REFERENCES sessions, began TEXT DEFAULT CURRENT_TIMESTAMP,"
    " ended TEXT, signature TEXT, rows INTEGER, keys INTEGER, target TEXT, device TEXT, block TEXT, kernel TEXT, program TEXT,"
    " version TEXT, tile TEXT, status TEXT, reason TEXT, predicted REAL, ratio REAL, registers INTEGER, spills INTEGER,"
    " scratch_bytes INTEGER, shared_bytes INTEGER, threads INTEGER, code_hash TEXT, compile_seconds REAL, checked INTEGER,"
    " run_seconds REAL, launch_seconds REAL, operations REAL, bytes REAL, floor_seconds REAL, waves INTEGER, most_waves INTEGER);"
    "CREATE TABLE IF NOT EXISTS samples(trial INTEGER REFERENCES trials, round INTEGER, seconds REAL, default_seconds REAL,"
    " PRIMARY KEY(trial, round)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS shared(sweep TEXT, key TEXT, what TEXT, rank INTEGER, value TEXT, PRIMARY KEY(sweep, key, what))"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS beats(sweep TEXT, rank INTEGER, beat INTEGER, PRIMARY KEY(sweep, rank)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS trials_by_kernel ON trials(signature, target, device, rows, keys);";

_Noreturn void database_cannot(database *d, const char *what)
{
    bail(d->a, code_io, (position){0}, "trials: cannot %s %s: %s", what, d->path, sqlite3_errmsg(d->db));
}

static void close_database(void *d) { sqlite3_close(((database *)d)->db); }

const char *database_path(arena *a)
{
    const char *given = secure_getenv("TFGEN_TRIALS");
    return given && *given ? arena_strdup(a, given) : wisdom_data_path(a, "trials.db");
}

static void run(database *d, const char *sql, const char *what)
{
    if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK) database_cannot(d, what);
}

sqlite3_stmt *database_prepare(database *d, const char *sql)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) != SQLITE_OK) database_cannot(d, "read");
    return s;
}

static int file_version(database *d)
{
    sqlite3_stmt *s = database_prepare(d, "PRAGMA user_version");
    const int step = sqlite3_step(s), version = step == SQLITE_ROW ? sqlite3_column_int(s, 0) : -1;
    sqlite3_finalize(s);
    if (version < 0) database_cannot(d, "read");
    return version;
}

static bool has_tables(database *d)
{
    sqlite3_stmt *s = database_prepare(d, "SELECT count(*) FROM sqlite_master");
    const bool some = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) > 0;
    sqlite3_finalize(s);
    return some;
}

/* Files of this version may lack columns that were added later. */
static bool has_column(database *d, const char *of, const char *name)
{
    sqlite3_stmt *s = database_prepare(d, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?");
    database_put_text(s, 1, of);
    database_put_text(s, 2, name);
    const bool there = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1;
    sqlite3_finalize(s);
    return there;
}

/* Renames former families in stored signatures, since lookups use today's. */
static void rename_families(database *d)
{
    for (const former_name *n = former_families; n->former; n++) {
        sqlite3_stmt *s = database_prepare(d, "UPDATE trials SET signature = ?1 || substr(signature, length(?2) + 1)"
                                              " WHERE signature >= ?2 || '(' AND signature < ?2 || ')'");
        database_put_text(s, 1, n->today);
        database_put_text(s, 2, n->former);
        database_step(d, s);
    }
}

static void set_up(database *d)
{
    run(d, "BEGIN IMMEDIATE", "lock");
    const int version = file_version(d);
    const bool foreign = version == 0 && has_tables(d);
    if (foreign || (version != 0 && version != database_version)) {
        sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
        if (foreign) bail(d->a, code_io, (position){0}, "trials: %s is another program's database; --trials names one of tfgen's", d->path);
        bail(d->a, code_io, (position){0}, "trials: %s is of version %d; this tfgen knows %d", d->path, version, database_version);
    }
    run(d, schema, "make the tables of");
    if (!has_column(d, "sessions", "clocks_why")) run(d, "ALTER TABLE sessions ADD COLUMN clocks_why TEXT", "widen");
    rename_families(d);
    run(d, arena_printf(d->a, "PRAGMA user_version = %d", database_version), "write");
    run(d, "COMMIT", "write");
}

/* Switches to WAL mode in a loop: SQLite ignores its busy timeout here, so if several processes open a new file at once, all but one get
 * "locked". */
static void use_wal(database *d)
{
    enum { step_ms = 5 };
    int code = SQLITE_BUSY;
    for (int waited = 0; code == SQLITE_BUSY && waited < wait_ms; waited += step_ms) {
        if (waited) sqlite3_sleep(step_ms);
        code = sqlite3_exec(d->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) database_cannot(d, "open");
}

database *database_open(arena *a, const char *path, bool many_hosts)
{
    database *d = arena_alloc(a, sizeof *d);
    const char *slash = strrchr(path, '/');
    *d = (database){a, NULL, path};
    if (slash && slash != path) cli_make_folder(a, arena_strndup(a, path, (size_t)(slash - path)));
    const char *refusal = access(path, F_OK) == 0 ? input_refusal(path) : NULL; /* a missing file is made by SQLite */
    if (refusal) bail(a, code_io, (position){0}, "trials: cannot open %s: %s", path, refusal);
    arena_defer(a, close_database, d);
    if (sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        bail(a, code_io, (position){0}, "trials: cannot open %s: %s", path, d->db ? sqlite3_errmsg(d->db) : "no memory");
    sqlite3_busy_timeout(d->db, wait_ms);
    if (many_hosts) run(d, "PRAGMA journal_mode = DELETE", "open"); /* WAL's index is shared memory, which hosts cannot share */
    else use_wal(d);
    run(d, "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF", "open");
    set_up(d);
    return d;
}

/* ---- rows */
void database_put_text(sqlite3_stmt *s, int at, const char *v)
{
    if (v) sqlite3_bind_text(s, at, v, -1, SQLITE_TRANSIENT);
    else sqlite3_bind_null(s, at);
}

static void put_real(sqlite3_stmt *s, int at, double v)
{
    if (v > 0) sqlite3_bind_double(s, at, v);
    else sqlite3_bind_null(s, at);
}

void database_step(database *d, sqlite3_stmt *s)
{
    const int code = sqlite3_step(s);
    sqlite3_finalize(s);
    if (code != SQLITE_DONE) database_cannot(d, "write");
}

long long database_begin(database *d, const database_session *t)
{
    sqlite3_stmt *s = database_prepare(d, "INSERT INTO sessions(command, label, arch, target, model, driver, compiler, tfgen, seed)"
                                 " VALUES(?, ?, ?, ?, ?, ?, ?, '" TFGEN_VERSION "', ?)");
    const char *const texts[] = {t->command, t->label, t->arch, t->target, t->model, t->driver, t->compiler};
    for (int i = 0; i < 7; i++) database_put_text(s, i + 1, texts[i]);
    sqlite3_bind_int64(s, 8, (sqlite3_int64)t->seed);
    database_step(d, s);
    return sqlite3_last_insert_rowid(d->db);
}

void database_clocks(database *d, long long session, const char *clocks, const char *why)
{
    sqlite3_stmt *s = database_prepare(d, "UPDATE sessions SET clocks = ?, clocks_why = ? WHERE id = ? AND clocks IS NULL");
    database_put_text(s, 1, clocks);
    database_put_text(s, 2, why);
    sqlite3_bind_int64(s, 3, session);
    database_step(d, s);
}

void database_end(database *d, long long session, const char *how)
{
    sqlite3_stmt *s = database_prepare(d, "UPDATE sessions SET ended = CURRENT_TIMESTAMP, how = ? WHERE id = ?");
    database_put_text(s, 1, how);
    sqlite3_bind_int64(s, 2, session);
    database_step(d, s);
}

long long database_start(database *d, const database_trial *t)
{
    sqlite3_stmt *s = database_prepare(d, "INSERT INTO trials(session, signature, rows, keys, target, device, block, kernel, program,"
                                          " version, tile,"
                                 " predicted) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const char *const texts[] = {t->key.target, t->key.device, t->block, t->kernel, t->program, t->version, t->tile};
    sqlite3_bind_int64(s, 1, t->session);
    database_put_text(s, 2, t->key.signature);
    sqlite3_bind_int64(s, 3, t->key.size.rows);
    sqlite3_bind_int64(s, 4, t->key.size.keys);
    for (int i = 0; i < 7; i++) database_put_text(s, i + 5, texts[i]);
    put_real(s, 12, t->predicted);
    database_step(d, s);
    return sqlite3_last_insert_rowid(d->db);
}

static int rounds_there(database *d, long long trial)
{
    sqlite3_stmt *s = database_prepare(d, "SELECT count(*) FROM samples WHERE trial = ?");
    sqlite3_bind_int64(s, 1, trial);
    const int count = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
    sqlite3_finalize(s);
    return count;
}

static void put_samples(database *d, long long trial, const database_trial *t)
{
    sqlite3_stmt *s = database_prepare(d, "INSERT INTO samples VALUES(?, ?, ?, ?)");
    for (int i = rounds_there(d, trial); i < t->rounds; i++) {
        sqlite3_bind_int64(s, 1, trial);
        sqlite3_bind_int(s, 2, i);
        sqlite3_bind_double(s, 3, t->seconds[i]);
        sqlite3_bind_double(s, 4, t->against[i]);
        const int code = sqlite3_step(s);
        sqlite3_reset(s);
        if (code == SQLITE_DONE) continue;
        sqlite3_finalize(s);
        database_cannot(d, "write");
    }
    sqlite3_finalize(s);
}

static void save(database *d, long long trial, const database_trial *t, bool ended)
{
    run(d, "BEGIN IMMEDIATE", "lock");
    sqlite3_stmt *s = database_prepare(d, "UPDATE trials SET status = ?, reason = ?, ratio = ?, registers = ?, spills = ?,"
                                 " scratch_bytes = ?, shared_bytes = ?, threads = ?, code_hash = ?, compile_seconds = ?, checked = ?,"
                                 " run_seconds = ?, launch_seconds = ?, operations = ?, bytes = ?, floor_seconds = ?, waves = ?,"
                                 " most_waves = ?,"
                                 " ended = CASE WHEN ? THEN CURRENT_TIMESTAMP END WHERE id = ?");
    const int numbers[] = {t->registers, t->spills, t->scratch_bytes, t->shared_bytes, t->threads};
    database_put_text(s, 1, t->status);
    database_put_text(s, 2, t->reason);
    put_real(s, 3, t->ratio);
    for (int i = 0; i < 5; i++)
        if (i < 3 && t->registers < 0) sqlite3_bind_null(s, 4 + i);
        else sqlite3_bind_int(s, 4 + i, numbers[i]);
    database_put_text(s, 9, t->code_hash);
    put_real(s, 10, t->compile_seconds);
    sqlite3_bind_int(s, 11, t->checked);
    const double reals[] = {t->run_seconds, t->launch_seconds, t->operations, t->bytes, t->floor_seconds, t->waves, t->most_waves};
    for (int i = 0; i < 7; i++) put_real(s, 12 + i, reals[i]);
    sqlite3_bind_int(s, 19, ended);
    sqlite3_bind_int64(s, 20, trial);
    database_step(d, s);
    put_samples(d, trial, t);
    run(d, "COMMIT", "write");
}

void database_save(database *d, long long trial, const database_trial *t) { save(d, trial, t, false); }
void database_finish(database *d, long long trial, const database_trial *t) { save(d, trial, t, true); }

/* ---- what is known */
static const char *column(sqlite3_stmt *s, int at)
{
    const char *t = (const char *)sqlite3_column_text(s, at);
    return t ? t : "";
}

void database_known(database *d, const database_key *key, database_visit *visit, void *context)
{
    sqlite3_stmt *s = database_prepare(
        d, "SELECT program, version, tile, status, ratio, (SELECT count(*) FROM trials AS later WHERE later.signature = t.signature AND"
           " later.target = t.target AND later.device = t.device AND later.rows = t.rows AND later.keys = t.keys AND"
           " later.program = t.program AND later.version = t.version AND later.tile = t.tile AND later.status IS NULL) FROM trials AS t"
           " WHERE id IN (SELECT max(id) FROM trials WHERE signature = ? AND target = ? AND device = ? AND rows = ? AND keys = ?"
           " GROUP BY program, version, tile) ORDER BY id");
    database_put_text(s, 1, key->signature);
    database_put_text(s, 2, key->target);
    database_put_text(s, 3, key->device);
    sqlite3_bind_int64(s, 4, key->size.rows);
    sqlite3_bind_int64(s, 5, key->size.keys);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        visit(context, column(s, 0), column(s, 1), column(s, 2), column(s, 3), sqlite3_column_double(s, 4), sqlite3_column_int(s, 5));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE) database_cannot(d, "read");
}

/* ---- reports */
static int whole(sqlite3_stmt *s, int at) { return sqlite3_column_type(s, at) == SQLITE_NULL ? -1 : sqlite3_column_int(s, at); }

static trial_row row_of(sqlite3_stmt *s, arena *a)
{
    trial_row r;
    const char **const texts[] = {&r.kernel, &r.signature, &r.target, &r.device, &r.program, &r.tile, &r.status, &r.reason};
    long long *const counts[] = {&r.rows, &r.keys, &r.trial, &r.rounds};
    double *const reals[] = {&r.predicted, &r.ratio, &r.run_seconds, &r.launch_seconds, &r.operations, &r.bytes, &r.floor_seconds,
                             &r.compile_seconds};
    int *const numbers[] = {&r.registers, &r.spills, &r.scratch_bytes, &r.shared_bytes, &r.threads, &r.waves, &r.most_waves, &r.checked};
    for (int i = 0; i < 8; i++) *texts[i] = text_harmless(a, column(s, i));
    for (int i = 0; i < 4; i++) *counts[i] = sqlite3_column_int64(s, 8 + i);
    for (int i = 0; i < 8; i++) *reals[i] = sqlite3_column_double(s, 12 + i);
    for (int i = 0; i < 8; i++) *numbers[i] = whole(s, 20 + i);
    return r;
}

trial_row *database_rows(database *d, arena *a, long long session, size_t *count)
{
    sqlite3_stmt *s = database_prepare(
        d, "SELECT kernel, signature, target, device, program, tile, status, reason, rows, keys, id,"
           " (SELECT count(*) FROM samples WHERE trial = trials.id), predicted, ratio, run_seconds, launch_seconds, operations, bytes,"
           " floor_seconds, compile_seconds, registers, spills, scratch_bytes, shared_bytes, threads, waves, most_waves, checked"
           " FROM trials WHERE ?1 IN (0, session) OR session IN (SELECT value FROM shared WHERE key = 'session' AND sweep ="
           " (SELECT sweep FROM shared WHERE key = 'session' AND value = CAST(?1 AS TEXT))) ORDER BY signature, target, device, rows, keys,"
           " id");
    size_t room = 0;
    trial_row *list = NULL;
    sqlite3_bind_int64(s, 1, session);
    int code;
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW; ++*count) {
        if (*count == room) {
            trial_row *more = arena_alloc(a, (room = room ? 2 * room : 64) * sizeof *more);
            if (*count) memcpy(more, list, *count * sizeof *more);
            list = more;
        }
        list[*count] = row_of(s, a);
    }
    sqlite3_finalize(s);
    if (code != SQLITE_DONE) database_cannot(d, "read");
    return list;
}
