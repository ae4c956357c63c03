/* tfgen tune: its database, which several processes write at once, some of them killed; the command on the host engine, and on a double of
 * the HIP runtime. The search itself is tested in tests/cli/test_search.c. No test depends on real times. */
#define _GNU_SOURCE
#include "runtime/cli/plan_words.h"
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/clocks.h"
#include "runtime/cli/tune/candidate.h"
#include "runtime/cli/tune/space.h"
#include "runtime/cli/tune/stop.h"
#include "runtime/cli/tune/under_test.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <pty.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the database */
static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-tune-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

typedef struct writing {
    arena *a;
    int number, trials, kill_after;
} writing;

static void write_trials(void *argument)
{
    const writing *w = argument;
    const double seconds[] = {1e-5, 2e-5}, against[] = {1e-5, 1e-5};
    database *d = database_open(w->a, arena_printf(w->a, "%s/a/b/trials.db", folder), false);
    const long long session = database_begin(d, &(database_session){.command = "test", .label = "x", .seed = 1});
    for (int i = 0; i < w->trials; i++) {
        database_trial t = {.session = session,
                            .key = {"x(y)", "host", "host", {8, 0}},
                            .program = "rows",
                            .version = "1",
                            .tile = arena_printf(w->a, "threads=%d", 1000 * w->number + i),
                            .status = "ready",
                            .registers = -1,
                            .seconds = seconds,
                            .against = against,
                            .rounds = 1,
                            .ratio = 1};
        const long long id = database_start(d, &t);
        database_save(d, id, &t);
        if (i == w->kill_after) raise(SIGKILL);
        t.status = "beaten", t.rounds = 2;
        database_finish(d, id, &t);
    }
    database_end(d, session, "done");
}

static pid_t write_in_child(int number, int trials, int kill_after)
{
    const pid_t child = fork();
    if (child == 0) {
        writing w = {arena_new(), number, trials, kill_after};
        _exit(arena_run(w.a, write_trials, &w) == code_ok ? 0 : 1);
    }
    return child;
}

/* False if there is no such file or table yet. */
static bool ask_number(const char *sql, long long *n)
{
    sqlite3 *db;
    sqlite3_stmt *s = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/a/b/trials.db", folder);
    bool there = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    sqlite3_busy_timeout(db, 60000);
    there = there && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    if (there) *n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return there;
}

static long long number_of(const char *sql)
{
    long long n = -1;
    ck_assert_msg(ask_number(sql, &n), "%s", sql);
    return n;
}

START_TEST(many_tuners_of_one_file_lose_nothing_and_a_kill_costs_its_trial_alone)
{
    enum { writers = 5, each = 40 };
    for (int i = 0; i < writers; i++) ck_assert_int_gt(write_in_child(i, each, i == 0 ? 17 : -1), 0);
    int killed = 0;
    for (int i = 0, status; i < writers; i++) {
        ck_assert_int_gt(wait(&status), 0);
        killed += WIFSIGNALED(status);
        ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(killed, 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE ended IS NOT NULL"), (writers - 1) * each + 17);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE ended IS NULL AND status = 'ready' AND ratio = 1"), 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM samples"), 2 * ((writers - 1) * each + 17) + 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM sessions WHERE how = 'done'"), writers - 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}
END_TEST

typedef struct seen {
    int count, ready, interrupted;
} seen;
static void see(void *context, const char *program, const char *version, const char *tile, const char *status, double ratio,
                int interrupted)
{
    seen *s = context;
    ck_assert(strcmp(program, "rows") == 0 && strcmp(version, "1") == 0 && strncmp(tile, "threads=", 8) == 0);
    s->count++, s->ready += strcmp(status, "ready") == 0 && ratio == 1, s->interrupted += interrupted;
}

static void read_back(void *argument)
{
    arena *a = ((writing *)argument)->a;
    database *d = database_open(a, arena_printf(a, "%s/a/b/trials.db", folder), false);
    seen s = {0};
    const database_trial hung = {.key = {"x(y)", "host", "host", {8, 0}}, .program = "rows", .version = "1", .tile = "threads=5"};
    (void)database_start(d, &hung);
    (void)database_start(d, &hung);
    database_known(d, &hung.key, see, &s);
    ck_assert_int_eq(s.count, 4);
    ck_assert_int_eq(s.ready, 1);
    ck_assert_int_eq(s.interrupted, 2);
    static const database_key others[] = {{"x(y)", "host", "other", {8, 0}},
                                          {"x(y)", "host", "host", {8, 1}},
                                          {"x(y)", "host", "host", {9, 0}},
                                          {"x(z)", "host", "host", {8, 0}},
                                          {"x(y)", "sm_80", "host", {8, 0}}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        database_trial other = hung; /* a hang of another signature, size or device does not count here */
        other.key = others[i];
        s = (seen){0};
        database_known(d, &others[i], see, &s);
        ck_assert_int_eq(s.count, 0);
        (void)database_start(d, &other);
        s = (seen){0};
        database_known(d, &hung.key, see, &s);
        ck_assert(s.count == 4 && s.interrupted == 2);
        s = (seen){0};
        database_known(d, &others[i], see, &s);
        ck_assert(s.count == 1 && s.interrupted == 1);
    }
}

/* ---- what ranks of a sweep share: the best tile of the same kernel, from a finished session of the same sweep */
static void see_best(void *context, const char *program, const char *version, const char *tile, double ratio)
{
    (void)program, (void)version;
    const size_t used = strlen(context);
    snprintf((char *)context + used, 64 - used, "%s %g;", tile, ratio);
}

static void ask_best(void *argument)
{
    arena *a = ((writing *)argument)->a;
    database *d = database_open(a, arena_printf(a, "%s/a/b/trials.db", folder), false);
    const database_key key = {"x(y)", "host", "host", {8, 4}};
    static const struct {
        database_key key;
        const char *tile, *status;
        double ratio;
        int session; /* index: 0 and 1 are of this sweep, 1 is the asking rank's; 2 is of another sweep */
    } trials[] =
        {{{"x(y)", "host", "host", {8, 4}}, "right", "beaten", 0.9, 0},   {{"x(y)", "host", "host", {8, 4}}, "later", "ready", 0.95, 0},
         {{"x(y)", "host", "host", {8, 5}}, "keys", "ready", 0.5, 0},     {{"x(y)", "host", "host", {9, 4}}, "rows", "ready", 0.5, 0},
         {{"x(z)", "host", "host", {8, 4}}, "other", "ready", 0.5, 0},    {{"x(y)", "sm_80", "host", {8, 4}}, "target", "ready", 0.5, 0},
         {{"x(y)", "host", "else", {8, 4}}, "device", "ready", 0.5, 0},   {{"x(y)", "host", "host", {8, 4}}, "wrong", "wrong", 0.5, 0},
         {{"x(y)", "host", "host", {8, 4}}, "no time", "failed", 0, 0},   {{"x(y)", "host", "host", {8, 4}}, "mine", "ready", 0.5, 1},
         {{"x(y)", "host", "host", {8, 4}}, "elsewhere", "ready", 0.5, 2}};
    long long sessions[3];
    for (int i = 0; i < 3; i++) {
        sessions[i] = database_begin(d, &(database_session){.command = "test", .label = "x", .seed = 1});
        ck_assert(database_tell(d, i == 2 ? "that" : "this", "session", arena_printf(a, "%d", i), i, arena_printf(a, "%lld", sessions[i])));
    }
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const database_trial t = {.session = sessions[trials[i].session], .key = trials[i].key, .program = "rows", .version = "1",
                                  .tile = trials[i].tile, .status = trials[i].status, .ratio = trials[i].ratio};
        database_finish(d, database_start(d, &t), &t);
        char best[64] = "";
        database_best(d, "this", &key, sessions[1], see_best, best);
        ck_assert_msg(strcmp(best, i ? "right 0.9;later 0.95;" : "right 0.9;") == 0, "%s: %s", trials[i].tile, best);
    }
}

START_TEST(the_best_result_of_other_ranks_has_the_same_kernel_size_and_sweep)
{
    writing w = {.a = arena_new()};
    ck_assert_msg(arena_run(w.a, ask_best, &w) == code_ok, "%s", arena_diagnostics(w.a));
    arena_free(w.a);
}
END_TEST

START_TEST(a_database_returns_the_newest_result_of_each_tile_and_tiles_that_hung)
{
    int status;
    ck_assert_int_gt(write_in_child(0, 10, 2), 0); /* killed during the third trial */
    ck_assert_int_gt(wait(&status), 0);
    writing w = {.a = arena_new()};
    ck_assert_msg(arena_run(w.a, read_back, &w) == code_ok, "%s", arena_diagnostics(w.a));
    arena_free(w.a);
}
END_TEST

/* A database from the time when attention of few queries had its own family. */
static void ask_by_todays_family(void *argument)
{
    arena *a = *(arena **)argument;
    const char *path = arena_printf(a, "%s/former.db", folder);
    database_trial t = {.session = 1, .key = {"decode(attention(x))", "host", "host", {8, 4}}, .program = "rows", .version = "1",
                        .tile = "threads=8", .status = "ready", .ratio = 0.5};
    database *d = database_open(a, path, false);
    database_finish(d, database_start(d, &t), &t);
    t.key.signature = "decoder(x)";
    database_finish(d, database_start(d, &t), &t);
    static const char *const known[] = {"attention(attention(x))", "decoder(x)"};
    for (int i = 0; i < 2; i++) {
        seen s = {0};
        database_known(database_open(a, path, false), &(database_key){known[i], "host", "host", {8, 4}}, see, &s);
        ck_assert_msg(s.count == 1, "%s: %d", known[i], s.count);
    }
}

START_TEST(results_under_a_former_family_name_are_found)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, ask_by_todays_family, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

static void open_it(void *argument)
{
    arena *a = *(arena **)argument;
    (void)database_open(a, arena_printf(a, "%s/file", folder), false);
}

START_TEST(a_file_that_is_no_database_of_tfgen_or_is_newer_is_refused)
{
    static const char *const makes[] = {"for i in 1 2 3 4 5 6; do echo garbage that is no database; done > %s/file", "mkdir %s/file", NULL,
                                        NULL};
    static const char *const says[] = {"not a database", "cannot open", "is of version 9", "is another program's database"};
    char command[256];
    arena *a = arena_new();
    if (makes[_i]) {
        snprintf(command, sizeof command, makes[_i], folder); /* NOLINT(clang-diagnostic-format-nonliteral) */
        ck_assert_int_eq(system(command), 0);
    } else {
        sqlite3 *db;
        snprintf(command, sizeof command, "%s/file", folder);
        ck_assert_int_eq(sqlite3_open(command, &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db, _i == 2 ? "PRAGMA user_version = 9" : "CREATE TABLE books(title)", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
    }
    ck_assert_int_eq(arena_run(a, open_it, &a), code_io);
    ck_assert_msg(strstr(arena_diagnostics(a), says[_i]) != NULL, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* ---- clocks */
START_TEST(clocks_of_a_device_or_the_reason_for_none_are_shown)
{
    arena *a = arena_new();
    char library[4096];
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./build/default/tfgen", *slash = strrchr(program, '/');
    tfgen_device d = {.api = &cuda_device};
    ck_assert_ptr_nonnull(strstr(clocks_now(a, &d).why, "PCI bus"));
    strcpy(d.bus, "0000:41:00.0");
    setenv("TFGEN_LIBNVML", "/no/such/library", 1);
    ck_assert(!clocks_now(a, &d).text && strstr(clocks_now(a, &d).why, "/no/such/library"));
    snprintf(library, sizeof library, "%.*s/tests/doubles/libnvidia_ml_double.so", (int)(slash - program), program);
    setenv("TFGEN_LIBNVML", library, 1);
    ck_assert_str_eq(clocks_now(a, &d).text, "sm 1755 of 1980 MHz, memory 3201 of 3201 MHz, 421 of 700 W, 45 C");
    setenv("TFGEN_DOUBLE_NO_POWER", "1", 1);
    ck_assert_str_eq(clocks_now(a, &d).text, "sm 1755 of 1980 MHz, memory 3201 of 3201 MHz, 45 C");
    strcpy(d.bus, "0000:42:00.0");
    ck_assert_str_eq(clocks_now(a, &d).why, "NVML knows no device at 0000:42:00.0");
    d.api = &hip_device;
    strcpy(d.bus, "0000:FF:1F.7");
    ck_assert_ptr_nonnull(strstr(clocks_now(a, &d).why, "/sys/bus/pci/devices/0000:ff:1f.7/pp_dpm_sclk"));
    char command[512];
    snprintf(command, sizeof command, "cd %s && printf '0: 500Mhz\\n1: 1250Mhz *\\n2: 1700Mhz\\n' >pp_dpm_sclk && "
             "printf '0: 1600Mhz *' >pp_dpm_mclk", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_str_eq(clocks_of_folder(a, folder).text, "core 1250 of 1700 MHz, memory 1600 of 1600 MHz");
    arena_free(a);
}
END_TEST

/* ---- the command */
static int tune(const char *arguments)
{
    return shell("( TFGEN_WISDOM=%s/wisdom TFGEN_TRIALS=%s/a/b/trials.db ${TFGEN:-./tfgen} %s ) 2>&1", folder, folder, arguments);
}

static json_t *tuned(const char *arguments)
{
    json_error_t error;
    ck_assert_msg(tune(arguments) == 0, "%s", output);
    json_t *all = json_loads(output, 0, &error), *kernel = json_array_get(json_object_get(json_array_get(all, 0), "kernels"), 0);
    ck_assert_msg(kernel != NULL, "%s: %s", error.text, output);
    json_incref(kernel);
    json_decref(all);
    return kernel;
}

static const char *how(const json_t *kernel) { return json_string_value(json_object_get(kernel, "how")); }

#define TUNE "tune specs/softmax.yaml --device=host --effort=quick --json --dim=S=5 "

/* Each has a line, and their shares of the time add up to the whole. */
START_TEST(concurrent_phases_of_a_launch_are_each_listed)
{
    static const char spec[] = "block: t\ndtype: bf16\ninputs: {x: [5, 16], y: [3, 24], z: [2, 8]}\nops:\n"
                               "  - {out: a, op: softmax, in: [x]}\n  - {out: b, op: exp, in: [y]}\n  - {out: c, op: neg, in: [z]}\n"
                               "outputs: {a: a, b: b, c: c}\n";
    json_error_t error;
    char arguments[256];
    write_file(folder, "s.yaml", "%s", spec);
    snprintf(arguments, sizeof arguments, "tune %s/s.yaml --device=host --budget=0s --json", folder);
    ck_assert_msg(tune(arguments) == 0, "%s", output);
    json_t *all = json_loads(output, 0, &error), *kernels = json_object_get(json_array_get(all, 0), "kernels");
    ck_assert_uint_eq(json_array_size(kernels), 3);
    double sum = 0;
    const char *phases[3];
    for (size_t i = 0; i < 3; i++) phases[i] = json_string_value(json_object_get(json_array_get(kernels, i), "phase"));
    ck_assert(strcmp(phases[0], phases[1]) && strcmp(phases[1], phases[2]) && strcmp(phases[0], phases[2]));
    for (size_t i = 0; i < 3; i++) sum += json_number_value(json_object_get(json_array_get(kernels, i), "share"));
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    json_decref(all);
    *strstr(arguments, " --json") = '\0';
    ck_assert_msg(tune(arguments) == 0, "%s", output);
    ck_assert_msg(strstr(output, ": a ") && strstr(output, ": b ") && strstr(output, ": c "), "%s", output);
}
END_TEST

/* A plan whose tiles are all in the wisdom is not timed, and tuning it again tries nothing. */
START_TEST(tuned_tiles_are_used_and_not_tuned_again)
{
    json_t *first = tuned(TUNE "--budget=1h");
    const long long tried = json_integer_value(json_object_get(first, "tried")), trials = number_of("SELECT count(*) FROM trials");
    ck_assert_msg(strcmp(how(first), "better") == 0 || strcmp(how(first), "default") == 0, "%s", output);
    ck_assert_int_ge(tried, 1);
    ck_assert_int_eq(trials, tried + 1); /* and the default */
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE ended IS NULL OR status IS NULL OR threads = 0"), 0);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status = 'kept'"), 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM sessions WHERE clocks IS NULL AND clocks_why LIKE 'each processor core %'"), 1);
    ck_assert_int_ge(number_of("SELECT count(*) FROM samples"), tried);
    char tile[256];
    snprintf(tile, sizeof tile, "from wisdom\n    tile %s\n", strchr(json_string_value(json_object_get(first, "tile")), ' ') + 1);
    ck_assert_int_eq(tune("specs/softmax.yaml --dim=S=5 --dump=plan"), 0);
    ck_assert_msg(strstr(output, tile) != NULL, "%s in\n%s", tile, output);
    ck_assert_int_eq(tune("wisdom ls"), 0);
    ck_assert_msg(strstr(output, "1 entries; 0 lines are not used") != NULL, "%s", output);
    json_t *again = tuned(TUNE "--budget=1h");
    ck_assert_str_eq(how(again), "known");
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials"), trials);
    json_t *resumed = tuned(TUNE "--budget=1h --resume"); /* candidates tried before are not tried again, except the best few */
    ck_assert_int_eq(number_of("SELECT count(*) - count(DISTINCT tile) FROM trials WHERE status = 'dropped' AND ratio > 1"), 0);
    json_decref(first);
    json_decref(again);
    json_decref(resumed);
}
END_TEST

/* For attention a tuned size is its rows and its keys: another size is tuned anew, though its tile is used until then. */
START_TEST(a_tuned_size_of_attention_is_its_rows_and_its_keys)
{
    static const char *const dims[] = {"T=40", "T=48", "B=2,T=40"}, *const expected[] = {"known", "no time", "no time"};
    char arguments[256];
    write_file(folder, "s.yaml", "%s", "block: s\ndtype: f32\ndims: {B: 1, T: 40, D: 16}\ndynamic: {B: [1, 4], T: [1, 64]}\n"
               "inputs: {q: [B, 5, D], k: [B, T, D], v: [B, T, D]}\nops:\n"
               "  - {out: y, op: attention, in: [q, k, v], heads: 1}\noutputs: {y: y}\n");
    char path[128];
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    rig *r = rig_plan(&(rig_request){.path = path, .level = fusion_tile});
    const ir_phase *phase = r->c.plan->launches[0].work->phase;
    ck_assert_int_eq(phase_size_of(r->a, r->c.plan->ir, phase).keys, 40);
    const wisdom_entry known = wisdom_of(r->a, r->c.plan->ir, r->c.plan->target, r->c.plan->device->name, phase);
    text line = {.a = r->a};
    wisdom_put(&line, &known);
    write_file(folder, "wisdom", "%s%s", wisdom_head, line.data);
    rig_close(r);
    for (int i = 0; i < 3; i++) {
        snprintf(arguments, sizeof arguments, "tune %s --device=host --json --budget=0 --dim=%s", path, dims[i]);
        json_t *kernel = tuned(arguments);
        ck_assert_msg(strcmp(how(kernel), expected[i]) == 0, "%s: %s", dims[i], output);
        json_decref(kernel);
    }
}
END_TEST

/* The progress line: candidates tried, gain of the best, time left for this kernel and for all. */
START_TEST(tuning_shows_its_progress_on_a_terminal)
{
    int terminal;
    size_t n = 0;
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) {
        printf("skipped: %s: no pseudo-terminal here: %s\n", __func__, strerror(errno));
        return;
    }
    if (child == 0) {
        ck_assert_int_eq(tune("tune specs/softmax.yaml --device=host --effort=quick --dim=S=5 --budget=1h >/dev/null 2>/dev/tty"), 0);
        _exit(0);
    }
    for (ssize_t got; n < sizeof output - 1 && (got = read(terminal, output + n, sizeof output - 1 - n)) > 0;) n += (size_t)got;
    output[n] = 0;
    close(terminal);
    int status;
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    ck_assert_msg(strstr(output, "\r\033[Ksoftmax_p: ") && strstr(output, " tried, best 1.000 of the default, 3"), "%s", output);
    ck_assert_msg(strstr(output, " s left\r\033[K") != NULL, "%s", output); /* the line is erased in the end */
}
END_TEST

START_TEST(a_sweep_with_a_size_that_is_refused_tunes_nothing)
{
    ck_assert_int_eq(tune("tune specs/softmax.yaml --device=host --sweep=S=8192..32768 --budget=1h"), code_usage);
    ck_assert_ptr_nonnull(strstr(output, "specs/softmax.yaml: error: S=32768 is outside of its dynamic range 1 to 8192"));
    ck_assert_ptr_nonnull(strstr(output, "--sweep=S=8192..32768: nothing is tuned: 2 of 3 sizes are refused"));
}
END_TEST

START_TEST(without_time_nothing_is_tried_and_a_users_tile_is_kept)
{
    json_t *kernel = tuned(TUNE "--budget=0");
    ck_assert_str_eq(how(kernel), "no time");
    json_decref(kernel);
    kernel = tuned(TUNE "--budget=1h --tile 'p: v=8'");
    ck_assert_str_eq(how(kernel), "yours");
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials"), 0);
    ck_assert_int_ne(access("wisdom", F_OK), 0);
    json_decref(kernel);
}
END_TEST

/* Runs the command in a child process until it has finished `trials` trials, sends the signal, and returns how it ends. */
static int tune_until(long long trials, int signal)
{
    char wisdom[128], database[128];
    snprintf(wisdom, sizeof wisdom, "%s/wisdom", folder);
    snprintf(database, sizeof database, "%s/a/b/trials.db", folder);
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    const pid_t child = fork();
    if (child == 0) {
        setenv("TFGEN_WISDOM", wisdom, 1), setenv("TFGEN_TRIALS", database, 1);
        execlp(program, program, "tune", "specs/llama-block.yaml", "--device=host", "--effort=full", "--budget=1h", "-q", NULL);
        _exit(127);
    }
    ck_assert_int_gt(child, 0);
    long long ended = 0;
    while (!ask_number("SELECT count(*) FROM trials WHERE ended IS NOT NULL", &ended) || ended < trials) usleep(50000);
    int status;
    kill(child, signal);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* Control-C ends the current search, compares its best with the default and begins no other kernel. After kill -9 the database is still
 * sound. */
START_TEST(control_c_keeps_the_best_so_far_and_a_kill_leaves_a_sound_database)
{
    const int status = tune_until(2, _i ? SIGKILL : SIGINT);
    ck_assert_int_eq(number_of("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    if (_i) {
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_ge(number_of("SELECT count(*) FROM trials WHERE ended IS NOT NULL"), 2);
        return;
    }
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    ck_assert_int_eq(number_of("SELECT count(*) FROM sessions WHERE how = 'stopped'"), 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE ended IS NULL"), 0);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status = 'kept'"),
                     number_of("SELECT count(DISTINCT signature) FROM trials"));
}
END_TEST

/* The first compiler never ends: there is nothing to keep, and the command does not wait for it. */
START_TEST(a_signal_ends_what_hangs_before_the_first_trial)
{
    write_file(folder, "cc", "#!/bin/sh\ntouch %s/began\nexec sleep 1000\n", folder);
    ck_assert_int_eq(shell("cd %s && chmod 755 cc; TFGEN_HOST_CC=%s/cc TFGEN_WISDOM=%s/wisdom TFGEN_TRIALS=%s/trials.db TFGEN_CACHE_DIR= "
                           "sh -c 'cd - >/dev/null; ${TFGEN:-./tfgen} tune specs/softmax.yaml --device=host --budget=1h -q & "
                           "while [ ! -e %s/began ]; do sleep 0.01; done; kill -TERM $!; wait $!' 2>&1",
                           folder, folder, folder, folder, folder), 128 + SIGTERM);
    ck_assert_ptr_nonnull(strstr(output, "tune was told to stop and did not end in time"));
}
END_TEST

/* The alarm fires while the command hangs: results held by the search go into the wisdom, and the signal ends the process. */
static void hold_and_hang(const char *path, bool holds)
{
    rig *r = rig_plan(&(rig_request){.path = "specs/softmax.yaml", .target = "gfx942"});
    const plan *p = r->c.plan;
    const wisdom_entry line = wisdom_of(r->a, p->ir, p->target, p->device->name, p->launches[0].work->phase);
    stop_listen(r->a);
    stop_has_trials();
    stop_hold(r->a, path, &line);
    if (!holds) stop_hold(r->a, NULL, NULL);
    raise(SIGTERM);
    raise(SIGALRM); /* ahead of its time */
    for (;;) pause();
}

START_TEST(a_search_that_cannot_end_in_time_leaves_the_best_that_was_right)
{
    char path[128];
    snprintf(path, sizeof path, "%s/wisdom", folder);
    const pid_t child = fork();
    if (child == 0) hold_and_hang(path, _i);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "%d", status);
    arena *a = arena_new();
    const wisdom *w = access(path, F_OK) ? NULL : wisdom_load_file(a, path);
    ck_assert_int_eq(w ? w->count : 0, _i);
    ck_assert(!w || (!w->list[0].stale && strcmp(w->list[0].target, "gfx942") == 0));
    arena_free(a);
}
END_TEST

static long long lines_of(const char *name)
{
    char path[128];
    long long count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    for (int c; (c = getc(f)) != EOF;) count += c == '\n';
    fclose(f);
    return count;
}

/* Every kind of report has every trial, and quotes text from files so that it stays text. */
START_TEST(reports_have_every_trial_and_quote_what_is_in_them)
{
    json_decref(tuned(TUNE "--budget=1h"));
    ck_assert_int_eq(number_of("INSERT INTO trials(signature, target, device, kernel, tile, status, ratio, reason) VALUES('s(', 't',"
                               " '<script>', 'k&k', 'a,\"b', 'wrong', 0.001, 'x' || char(27) || char(10) || 'y') RETURNING id") > 1, 1);
    static const char *const others[] = {"'s(', 't', 'd', 1, 1", "'s(', 't', 'd', 1, 2", "'s(', 't', 'd', 2, 2", "'s(', 'u', 'd', 2, 2"};
    for (int i = 0; i < 4; i++) { /* each for another kernel */
        char sql[256];
        snprintf(sql, sizeof sql,
                 "INSERT INTO trials(signature, target, device, rows, keys, kernel, tile, status, ratio, reason) VALUES(%s, 'k', 't',"
                 " 'beaten', 1, 'slower') RETURNING id",
                 others[i]);
        ck_assert_int_gt(number_of(sql), 1);
    }
    const long long trials = number_of("SELECT count(*) FROM trials");
    char arguments[512];
    snprintf(arguments, sizeof arguments,
             "tune --report=%s/r.json && t=$(realpath \"${TFGEN:-./tfgen}\") && cd %s && ln -sf \"$t\" t && "
             "export TFGEN_TRIALS=a/b/trials.db && ./t tune --report=r.csv && ./t tune --report=r.html && ./t tune --report=r.txt && "
             "cat r.html", folder, folder);
    ck_assert_msg(tune(arguments) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "&lt;script&gt;"));
    ck_assert_ptr_null(strstr(output, "<script"));
    ck_assert_ptr_null(strchr(output, 27));
    ck_assert_ptr_null(strstr(output, ">0.001</text>")); /* a tile with wrong results is never the best */
    ck_assert_ptr_nonnull(strstr(output, "<tr class=\"kept\">"));
    ck_assert_ptr_null(strstr(output, ">of floor</th>")); /* the host has no floor, so there is no such column */
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status IN ('kept', 'beaten', 'dropped') AND coalesce(reason, '') = ''"),
                     0);
    ck_assert_ptr_nonnull(strstr(output, "@media (prefers-color-scheme: dark){:root{--ink:"));
    snprintf(arguments, sizeof arguments, "--version; cat %s/r.csv", folder);
    ck_assert_int_eq(tune(arguments), 0);
    ck_assert_ptr_nonnull(strstr(output, ",\"a,\"\"b\","));
    ck_assert_int_eq(lines_of("r.csv"), trials + 1);
    char path[128];
    snprintf(path, sizeof path, "%s/r.json", folder);
    json_t *all = json_load_file(path, 0, NULL);
    ck_assert_int_eq((long long)json_array_size(all), trials);
    json_decref(all);
    ck_assert_int_eq(lines_of("r.txt"), trials + (2 + 4) * 4);
    ck_assert_int_eq(tune("tune --report=x.pdf"), code_usage);
    ck_assert_int_eq(tune("tune --report=/dev/null/r.html --trials=/nowhere/trials.db"), code_bad_input);
    ck_assert_ptr_nonnull(strstr(output, "trials: there is no /nowhere/trials.db to report on"));
    ck_assert_int_eq(tune("tune specs/rmsnorm.yaml --device=host --trials=/dev/null --sweep=S=2,4.8"), code_usage);
    ck_assert_ptr_nonnull(strstr(output, "--sweep: 'S=2,4.8' is not DIM=V,V,... or DIM=V..V (doubling), at most 64 values"));
    ck_assert_int_eq(tune("tune"), code_usage);
}
END_TEST

/* With little memory there are few sets of buffers, which keeps this test fast: each launch copies all of them into the double and back. */
static void use_small_gpu(const char *bytes)
{
    use_hip_double();
    setenv("TFGEN_DOUBLE_MEMORY", bytes, 1);
}

/* As on a GPU: workers compile, facts come from code objects, launches go through the driver; here through the double of the HIP
 * runtime. */
START_TEST(a_gpu_is_tuned_through_its_driver)
{
    use_small_gpu("1048576");
    json_t *kernel = tuned("tune specs/softmax.yaml --device=hip --effort=quick --json --dim=B=2,S=9 --budget=1h");
    ck_assert_msg(strcmp(how(kernel), "better") == 0 || strcmp(how(kernel), "default") == 0, "%s", output);
    ck_assert_int_gt(number_of("SELECT count(*) FROM trials WHERE registers > 0 AND code_hash IS NOT NULL AND predicted > 0"), 0);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE target = 'gfx90a' AND device = 'mi210'"),
                     1 + json_integer_value(json_object_get(kernel, "tried")));
    ck_assert_int_eq(number_of("SELECT count(*) FROM sessions WHERE label = 'AMD Instinct MI210' AND compiler LIKE 'hiprtc%'"), 1);
    json_decref(kernel);
    char arguments[256];
    snprintf(arguments, sizeof arguments, "tune --report=%s/r.html; cat %s/r.html", folder, folder);
    ck_assert_int_eq(tune(arguments), 0);
    ck_assert_msg(strstr(output, ">time by the model, us; ") && strstr(output, ">time measured, us</text>") &&
                      strstr(output, ">tiles tried</text>") && strstr(output, ">time of the best tile so far / the default's</text>"),
                  "%s", output);
}
END_TEST

/* A shipped line: the comment above it, after "# ", has the arguments for which a plan uses the line's tile by default. */
static void check_shipped(const char *path, int number, const char *arguments, const char *line)
{
    char target[32], device[64], command[1024], tile[512];
    arena *a = arena_new();
    const char *text = arena_printf(a, "%s%s", wisdom_head, line);
    const wisdom *w = wisdom_read(a, text, strlen(text));
    ck_assert_msg(w->count == 1 && !w->list[0].stale, "%s:%d: no line of wisdom that serves", path, number);
    ck_assert_int_eq(sscanf(line, "%*s %31s %63s", target, device), 2);
    ck_assert_msg(strncmp(arguments, "# ", 2) == 0 && strstr(arguments, ".yaml"), "%s:%d: above it no # SPEC OPTIONS", path, number);
    snprintf(command, sizeof command, "%.*s --target=%s --device-model=%s --dump=plan", (int)strcspn(arguments + 2, "\n"), arguments + 2,
             target, device);
    ck_assert_msg(tune(command) == 0, "%s:%d: %s", path, number, output);
    snprintf(tile, sizeof tile, "%s\n", tile_text(a, &w->list[0].tile)); /* the line may have former names */
    arena_free(a);
    const char *found = strstr(output, "    from wisdom\n    tile ");
    ck_assert_msg(found && strstr(found, tile), "%s:%d: `tfgen %s` does not use it: tune again, or take the line out (tfgen wisdom ls "
                  "shipped)", path, number, command);
}

START_TEST(every_shipped_line_of_wisdom_is_used_by_default)
{
    char above[4096] = "", line[4096];
    int lines = 0;
    glob_t files;
    ck_assert_int_eq(glob("specs/wisdom/*.wisdom", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *f = fopen(files.gl_pathv[i], "r");
        ck_assert_ptr_nonnull(f);
        for (int number = 1; fgets(line, sizeof line, f); number++) {
            if (number > 1 && *line != '#') check_shipped(files.gl_pathv[i], number, above, line), lines++;
            strcpy(above, line);
        }
        fclose(f);
    }
    globfree(&files);
    ck_assert_int_gt(lines, 0);
    ck_assert_int_eq(tune("wisdom ls shipped --json"), 0);
    ck_assert_msg(!strstr(output, "\"stale\""), "%s", output);
}
END_TEST

static const char two_kernels[] = "block: t\ndtype: bf16\ndims: {M: 2048, K: 64, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                  "ops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: p, op: softmax, in: [h]}\noutputs: {p: p}\n";

/* A wave's tiles have different predicted times, all within reach; not a dozen that the model cannot tell apart. */
static const char one_product[] = "block: t\ndtype: bf16\ndims: {M: 115, K: 11592, N: 9296}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                  "ops: [{out: y, op: linear, in: [x, w]}]\noutputs: {y: y}\n";

static void check_wave(void *argument)
{
    enum { most = 12 };
    arena *a = *(arena **)argument;
    compiled made;
    const compile_request q = {
        .text = one_product, .size = sizeof one_product - 1, .name = "t.yaml", .level = fusion_tile, .target = "sm_90a",
        .device_model = "h200"};
    compile_inside(a, &q, &made);
    const ir_phase *phase = made.plan->launches[0].work->phase;
    tuner t = {.a = a};
    tuning_session c = {.t = &t, .a = a, .request = &q, .fused = made.plan->fused, .model = made.plan->device, .plan = made.plan};
    kernel_under_test s = {.c = &c,
                           .a = a,
                           .space = space_of(a, made.plan, phase),
                           .signature = phase_signature(a, made.plan->ir, phase)};
    candidate wave[most];
    ck_assert_int_eq(under_test_propose(&s, NULL, most, wave), most);
    for (int i = 0; i < most; i++) {
        int alike = 0;
        ck_assert(wave[i].predicted > 0 && wave[i].predicted < 1.5 * wave[0].predicted);
        for (int k = 0; k < most; k++) alike += fabs(wave[k].predicted / wave[i].predicted - 1) < 0.019;
        ck_assert_msg(alike <= most / 3, "%d of %d tiles are expected to take %g us", alike, most, wave[i].predicted * 1e6);
    }
}

START_TEST(a_round_of_tuning_tries_tiles_with_different_predictions)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, check_wave, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* The default tile of the product spilled, so the plan was made again: candidates for the other kernel start from that new plan; otherwise
 * all would spill. */
static void check_spilled(void *argument)
{
    arena *a = *(arena **)argument;
    compiled c;
    const compile_request q = {
        .text = two_kernels, .size = sizeof two_kernels - 1, .name = "t.yaml", .level = fusion_tile, .target = "gfx942"};
    compile_inside(a, &q, &c);
    const ir_tile spilled = c.plan->launches[0].work->phase->tile, *other = c.plan->launches[1].work->tile;
    const spilled_tile marks[2] = {{spilled, 16, 4}, {{0}, 0, 0}};
    const plan *again = plan_again(a, c.plan, marks);
    ck_assert(again && !tile_same(again->launches[0].work->tile, &spilled));
    const tuning_session on = {.a = a, .request = &q, .fused = again->fused, .model = again->device, .plan = again};
    ir_tile wanted = *other;
    wanted.rows.threads /= 2;
    const char *signature = phase_signature(a, again->ir, again->launches[1].work->phase);
    const plan *made = session_plan(&on, a, space_line(a, signature, &wanted));
    ck_assert(tile_same(made->launches[1].work->tile, &wanted));
    ck_assert(tile_same(made->launches[0].work->tile, again->launches[0].work->tile));
}

/* Attention over a cache, one query a sequence. */
static const char step[] =
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 4096, H: 8, KV: 2, hd: 64}\n"
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, at: pos}\noutputs: {y: y}\n";

static unsigned long long hash_with(arena *a, const char *line, unsigned long long code)
{
    compiled c;
    const compile_request q = {.text = step, .size = sizeof step - 1, .name = "t.yaml", .level = fusion_tile, .target = "sm_90a",
                               .tuning = &(tuning){.lines = &line, .count = 1}};
    compile_inside(a, &q, &c);
    return candidate_hash_launches(c.plan, code);
}

static void check_hashes(void *argument)
{
    arena *a = *(arena **)argument;
    const char *one = "attention: keys=16 threads=64 splits=8 resident=1", *two = "attention: keys=16 threads=64 splits=8 resident=2";
    ck_assert(hash_with(a, one, 7) == hash_with(a, one, 7));
    ck_assert(hash_with(a, one, 7) != hash_with(a, one, 8));
    ck_assert(hash_with(a, one, 7) != hash_with(a, two, 7));
    ck_assert(hash_with(a, one, 0) == 0); /* 0 if the code is not known */
}

START_TEST(the_same_code_with_another_grid_is_another_candidate)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, check_hashes, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

START_TEST(candidates_are_not_refused_for_spills_of_the_default)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, check_spilled, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* Candidates with equal code and launches, and only another tile, are compiled and timed once. */
typedef struct same_code {
    arena *a;
    candidate x[2];
} same_code;

static void check_same(void *argument)
{
    same_code *s = argument;
    arena *a = s->a;
    compiled made;
    const compile_request q = {.text = two_kernels, .size = sizeof two_kernels - 1, .name = "t.yaml", .level = fusion_tile,
                               .target = "gfx90a", .device_label = "AMD Instinct MI210",
                               .graph = {.overrides = &(dim_override){"M", 16}, .override_count = 1}};
    compile_inside(a, &q, &made);
    cli_options options = {.a = a, .number.jobs = 2};
    static const volatile sig_atomic_t nobody_stops = 0;
    tuner t = {.a = a, .o = &options, .device = cli_open_device(a, "hip"), .cache = cli_cache(a, &options),
               .stopped = &nobody_stops};
    tuning_session c = {.t = &t, .a = a, .request = &q, .graph = made.graph, .fused = made.plan->fused, .model = made.plan->device,
                .plan = made.plan, .bench = {.device = t.device, .seed = 1, .jobs = 2, .cache = t.cache}};
    c.root = c.base = bench_open(a, made.graph, made.plan, &c.bench, NULL);
    const ir_phase *phase = made.plan->launches[1].work->phase;
    const char *signature = phase_signature(a, made.plan->ir, phase);
    ir_tile tile = phase->tile;
    tile.rows.threads /= 2;
    for (int i = 0; i < 2; i++) {
        candidate_build *e = arena_alloc(a, sizeof *e);
        *e = (candidate_build){.tile = tile, .line = space_line(a, signature, &tile), .text = space_text(a, &tile)};
        s->x[i] = (candidate){.item = e};
    }
    candidate *const list[] = {&s->x[0], &s->x[1]};
    candidates_prepare(&c, list, 2, signature);
    for (int i = 0; i < 2; i++) candidate_close(list[i]);
}

START_TEST(candidates_with_the_same_code_are_timed_once)
{
    use_small_gpu("1048576");
    same_code s = {.a = arena_new()};
    ck_assert_msg(arena_run(s.a, check_same, &s) == code_ok, "%s", arena_diagnostics(s.a));
    ck_assert_msg(s.x[0].status == candidate_ready, "%s", s.x[0].reason);
    ck_assert_int_eq(s.x[1].status, candidate_same);
    ck_assert_msg(strstr(s.x[1].reason, "the same code as layer=simt threads=") != NULL, "%s", s.x[1].reason);
    arena_free(s.a);
}
END_TEST

/* A kernel that does nothing is far faster than the default: it wins, is compared with the reference, reported with the command that shows
 * it, and not kept. */
START_TEST(a_wrong_candidate_is_reported_and_not_kept)
{
    char command[4096];
    use_bad_compiler(folder);
    ck_assert_int_eq(tune("tune specs/softmax.yaml --device=host --effort=quick --dim=S=200 --budget=1h"), code_check_failed);
    ck_assert_msg(strstr(output, "tfgen: a wrong result, which is a bug of tfgen: value p is ") != NULL, "%s", output);
    ck_assert_int_ge(number_of("SELECT count(*) FROM trials WHERE status = 'wrong' AND reason LIKE 'value p is %' AND NOT checked"), 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status = 'kept' AND tile NOT LIKE '% v=16'"), 0);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status = 'kept'"), 1);
    const char *shown = strstr(output, "\n  tfgen run specs/softmax.yaml --dim B=1,S=200,D=256 --device=host --reference=always "
                                       "--tile 'rows(");
    ck_assert_msg(shown != NULL, "%s", output);
    shown += strlen("\n  tfgen ");
    snprintf(command, sizeof command, "%.*s", (int)strcspn(shown, "\n"), shown);
    ck_assert_msg(!strstr(command, "v=16"), "%s", command);
    ck_assert_int_eq(tune(command), code_check_failed);
}
END_TEST

/* Faster than the default, since its sines are left out; but for log(a - a) rounding decides whether a result is a number, so it cannot be
 * judged. */
START_TEST(an_unjudged_tile_is_reported_and_not_kept)
{
    char path[256];
    use_compiler(folder, "grep -q 'V = 16,' $t || sed -i 's/return TF_CHOSEN(sin)(x);/return x;/' $t");
    write_file(folder, "poles.yaml", "block: poles\ndtype: f32\ndims: {M: 48, N: 256}\ninputs: {x: [M, N]}\nops:\n"
               "  - {out: a, op: mul, in: [x, 1.1]}\n  - {out: b, op: sub, in: [a, a]}\n  - {out: l, op: log, in: [b]}\n"
               "  - {out: s, op: sin, in: [l]}\n  - {out: t, op: sin, in: [s]}\n  - {out: u, op: sin, in: [t]}\n"
               "  - {out: v, op: sin, in: [u]}\n  - {out: y, op: sin, in: [v]}\noutputs: {y: y}\n");
    snprintf(path, sizeof path, "tune %s/poles.yaml --device=host --effort=quick --budget=1h", folder);
    ck_assert_msg(tune(path) == code_unjudged, "%s", output);
    ck_assert_msg(strstr(output, "tfgen: a tile is not kept, as its results could not be checked: no element of y is judged") != NULL, "%s",
                  output);
    ck_assert_int_ge(number_of("SELECT count(*) FROM trials WHERE status = 'unjudged' AND NOT checked AND tile NOT LIKE '% v=16'"), 1);
    ck_assert_int_eq(number_of("SELECT count(*) FROM trials WHERE status = 'kept' AND tile NOT LIKE '% v=16'"), 0);
}
END_TEST

/* As bench/compare.py tunes its cases. */
START_TEST(a_list_of_cases_is_tuned_in_slices)
{
    if (system("python3 -c '' 2>/dev/null") != 0) {
        printf("skipped: %s: there is no python3\n", __func__);
        return;
    }
    ck_assert_int_eq(system("python3 -B tests/cli/tuned_test.py"), 0);
}
END_TEST

START_TEST(compare_finds_another_build_and_names_cases_slower_than_it)
{
    if (system("python3 -c '' 2>/dev/null") != 0) {
        printf("skipped: %s: there is no python3\n", __func__);
        return;
    }
    ck_assert_int_eq(system("python3 -B tests/cli/builds_test.py"), 0);
}
END_TEST

START_TEST(drawn_specs_repeat_for_a_seed_and_slices_add_up)
{
    if (system("python3 -c '' 2>/dev/null") != 0) {
        printf("skipped: %s: there is no python3\n", __func__);
        return;
    }
    ck_assert_int_eq(system("python3 -B tests/cli/ops_test.py"), 0);
}
END_TEST

int main(void)
{
    use_kernels(kernels_timed);
    Suite *s = suite_create("tune");
    TCase *d = tcase_create("database"), *e = tcase_create("command"), *w = tcase_create("shipped"), *k = tcase_create("code"),
          *i = tcase_create("terminal"), *n = tcase_create("sizes");
    tcase_add_checked_fixture(d, make_folder, remove_folder);
    tcase_add_test(d, many_tuners_of_one_file_lose_nothing_and_a_kill_costs_its_trial_alone);
    tcase_add_test(d, a_database_returns_the_newest_result_of_each_tile_and_tiles_that_hung);
    tcase_add_test(d, results_under_a_former_family_name_are_found);
    tcase_add_test(d, the_best_result_of_other_ranks_has_the_same_kernel_size_and_sweep);
    tcase_add_loop_test(d, a_file_that_is_no_database_of_tfgen_or_is_newer_is_refused, 0, 4);
    tcase_add_test(d, clocks_of_a_device_or_the_reason_for_none_are_shown);
    tcase_set_timeout(e, 120);
    tcase_add_checked_fixture(e, make_folder, remove_folder);
    tcase_add_test(e, concurrent_phases_of_a_launch_are_each_listed);
    tcase_add_test(e, tuned_tiles_are_used_and_not_tuned_again);
    tcase_add_test(e, without_time_nothing_is_tried_and_a_users_tile_is_kept);
    tcase_add_test(e, a_sweep_with_a_size_that_is_refused_tunes_nothing);
    tcase_add_test(e, a_signal_ends_what_hangs_before_the_first_trial);
    tcase_add_loop_test(e, a_search_that_cannot_end_in_time_leaves_the_best_that_was_right, 0, 2);
    tcase_add_test(e, reports_have_every_trial_and_quote_what_is_in_them);
    tcase_add_loop_test(e, control_c_keeps_the_best_so_far_and_a_kill_leaves_a_sound_database, 0, 2);
    tcase_add_test(e, a_wrong_candidate_is_reported_and_not_kept);
    tcase_add_test(e, an_unjudged_tile_is_reported_and_not_kept);
    tcase_add_test(e, a_list_of_cases_is_tuned_in_slices);
    tcase_add_test(e, compare_finds_another_build_and_names_cases_slower_than_it);
    tcase_add_test(e, drawn_specs_repeat_for_a_seed_and_slices_add_up);
    tcase_add_test(e, candidates_are_not_refused_for_spills_of_the_default);
    tcase_add_test(e, the_same_code_with_another_grid_is_another_candidate);
    tcase_add_checked_fixture(w, make_folder, remove_folder);
    tcase_add_test(w, every_shipped_line_of_wisdom_is_used_by_default);
    tcase_set_timeout(k, 120);
    tcase_add_checked_fixture(k, make_folder, remove_folder);
    tcase_add_test(k, a_round_of_tuning_tries_tiles_with_different_predictions);
    tcase_add_test(k, candidates_with_the_same_code_are_timed_once);
    tcase_add_test(k, a_gpu_is_tuned_through_its_driver);
    tcase_set_timeout(i, 120);
    tcase_add_checked_fixture(i, make_folder, remove_folder);
    tcase_add_test(i, tuning_shows_its_progress_on_a_terminal);
    tcase_set_timeout(n, 120);
    tcase_add_checked_fixture(n, make_folder, remove_folder);
    tcase_add_test(n, a_tuned_size_of_attention_is_its_rows_and_its_keys);
    suite_add_tcase(s, w), suite_add_tcase(s, k), suite_add_tcase(s, i), suite_add_tcase(s, n);
    suite_add_tcase(s, d), suite_add_tcase(s, e);
    return run_suite(s);
}
