/* Several processes of one tuning sweep: they share candidates and decisions through the database, each has its own device, and one that
 * dies blocks none of the others. Uses Open MPI's launcher if there is one, else its environment variables. */
#define _GNU_SOURCE
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/ranks.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-ranks-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

static const char *tfgen_path(void) { return getenv("TFGEN") ? getenv("TFGEN") : "./tfgen"; }

/* by_script: launchers may start a script that starts the command. */
static pid_t start_rank(int rank, int size, const char *const *arguments, bool by_script)
{
    char text[3][16], paths[2][128], out[128];
    const char *list[20] = {"/bin/sh", "-c", "\"$@\"; exit $?", "sh", tfgen_path(), "tune"};
    const char *const *command = by_script ? list : list + 4;
    for (int i = 0; i < 13 && arguments[i]; i++) list[6 + i] = arguments[i];
    snprintf(text[0], sizeof text[0], "%d", rank), snprintf(text[1], sizeof text[1], "%d", size);
    snprintf(paths[0], sizeof paths[0], "%s/wisdom", folder), snprintf(paths[1], sizeof paths[1], "%s/trials.db", folder);
    snprintf(out, sizeof out, "%s/rank%d.txt", folder, rank);
    const pid_t child = fork();
    if (child) return child;
    setenv("OMPI_COMM_WORLD_RANK", text[0], 1), setenv("OMPI_COMM_WORLD_LOCAL_RANK", text[0], 1);
    setenv("OMPI_COMM_WORLD_SIZE", text[1], 1), setenv("OMPI_COMM_WORLD_LOCAL_SIZE", text[1], 1);
    setenv("PMIX_NAMESPACE", folder, 1), setenv("TFGEN_WISDOM", paths[0], 1), setenv("TFGEN_TRIALS", paths[1], 1);
    if (!freopen(out, "w", stdout) || dup2(1, 2) < 0) _exit(126);
    execv(command[0], (char *const *)command);
    _exit(127);
}

static int exit_of(pid_t process)
{
    int status;
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static long long shared_number(const char *sql)
{
    long long x = -1;
    char path[128];
    sqlite3 *db;
    sqlite3_stmt *s = NULL;
    snprintf(path, sizeof path, "%s/trials.db", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        x = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return x;
}

static void read_rank(int rank) { ck_assert_int_eq(shell("cat %s/rank%d.txt", folder, rank), 0); }

static long long lines_of(const char *name)
{
    ck_assert_int_eq(shell("wc -l <%s/%s", folder, name), 0);
    return atoll(output);
}

/* The ranks share a database: no candidate is timed by two ranks (except in the final comparison with the default), and one line is
 * kept. */
static void check_shared(int ranks)
{
    ck_assert_int_eq(shared_number("SELECT count(*) FROM sessions"), ranks);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM sessions WHERE how <> 'done'"), 0);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM trials WHERE ended IS NULL"), 0);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM trials WHERE status = 'kept'"), 1);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM (SELECT tile FROM trials WHERE status IN ('dropped', 'same', 'refused')"
                                   " GROUP BY tile HAVING count(*) > 1)"), 0);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM shared WHERE key <> 'session'"), 0); /* deleted at the end */
    ck_assert_int_eq(lines_of("wisdom"), 2);
}

START_TEST(ranks_share_the_candidates_and_one_database_results)
{
    enum { ranks = 3 };
    const char *const arguments[] = {"specs/softmax.yaml", "--device=host", "--dim=S=5", "--budget=1h", "--json", NULL};
    pid_t list[ranks];
    for (int i = 0; i < ranks; i++) list[i] = start_rank(i, ranks, arguments, i == 1);
    for (int i = 0; i < ranks; i++) ck_assert_int_eq(exit_of(list[i]), 0);
    check_shared(ranks);
    read_rank(1);
    ck_assert_str_eq(output, ""); /* only the first rank prints */
    read_rank(0);
    json_t *all = json_loads(output, 0, NULL), *kernel = json_array_get(json_object_get(json_array_get(all, 0), "kernels"), 0);
    ck_assert_msg(kernel != NULL, "%s", output);
    ck_assert_int_eq(json_integer_value(json_object_get(kernel, "tried")),
                     shared_number("SELECT count(DISTINCT tile) FROM trials") - 1); /* all ranks together; one tile is the default */
    json_decref(all);
}
END_TEST

static pid_t child_of(pid_t process)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%d", &child) != 1) child = 0;
    if (f) fclose(f);
    return child;
}

static void wait_for(const char *sql, long long least)
{
    while (shared_number(sql) < least) usleep(50000);
}

/* First the working process of a rank is killed, which the launcher does not see: the rank goes on. Then the process that the launcher
 * sees: the other ranks go on. Then all are told to end, and none waits for those that are gone. */
START_TEST(a_rank_that_dies_loses_its_candidate_but_not_the_sweep)
{
    enum { ranks = 3 };
    const char *const arguments[] = {"specs/softmax.yaml", "specs/llama-block.yaml", "--device=host", "--budget=1h", "-q", NULL};
    static const char all_try[] = "SELECT count(DISTINCT session) FROM trials WHERE ratio > 0 AND status <> 'kept'";
    pid_t list[ranks];
    for (int i = 0; i < ranks; i++) list[i] = start_rank(i, ranks, arguments, false);
    wait_for(all_try, ranks);
    const long long before = shared_number("SELECT count(*) FROM trials WHERE ended IS NOT NULL");
    const pid_t victim = _i ? list[2] : child_of(list[2]);
    ck_assert_int_gt(victim, 1);
    ck_assert_int_eq(kill(victim, SIGKILL), 0);
    if (_i) ck_assert_int_eq(exit_of(list[2]), 128 + SIGKILL);
    else wait_for("SELECT count(*) FROM sessions", ranks + 1);
    wait_for("SELECT count(*) FROM trials WHERE ended IS NOT NULL", before + 2);
    for (int i = 0; i < (_i ? 2 : 3); i++) ck_assert_int_eq(kill(list[i], SIGTERM), 0);
    for (int i = 0; i < (_i ? 2 : 3); i++) ck_assert_int_eq(exit_of(list[i]), 0);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM sessions WHERE how = 'stopped'"), _i ? 2 : 3);
    ck_assert_int_eq(shared_number("SELECT count(*) FROM trials WHERE status = 'kept'"),
                     shared_number("SELECT count(DISTINCT signature) FROM trials WHERE status = 'kept'"));
    ck_assert_int_ge(shared_number("SELECT count(*) FROM trials WHERE status = 'kept'"), 1);
    if (_i) return;
    read_rank(2);
    ck_assert_msg(strstr(output, "rank 2 was ended by signal 9 (Killed); it begins again") != NULL, "%s", output);
}
END_TEST

/* Each rank uses its own device. If there is none for the third, the others go on, and the first reports that in its exit code. */
START_TEST(each_rank_has_a_device_of_its_own)
{
    enum { ranks = 3 };
    const char *const arguments[] = {"specs/softmax.yaml", "--device=hip", "--effort=quick", "--dim=B=16,S=128", "--budget=1h", NULL};
    pid_t list[ranks];
    use_hip_double();
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx90a", 1);
    for (int i = 0; i < ranks; i++) list[i] = start_rank(i, ranks, arguments, false);
    for (int i = 0; i < ranks; i++) ck_assert_int_eq(exit_of(list[i]), i ? 0 : code_usage);
    check_shared(2);
    read_rank(2);
    ck_assert_msg(strstr(output, "hip:2") != NULL, "%s", output);
}
END_TEST

START_TEST(ranks_are_started_by_open_mpi)
{
    if (system("mpirun --version >/dev/null 2>&1") != 0) {
        printf("skipped: %s: there is no mpirun (openmpi-bin)\n", __func__);
        return;
    }
    char command[1024];
    snprintf(command, sizeof command, "TFGEN_WISDOM=%s/wisdom TFGEN_TRIALS=%s/trials.db OMPI_ALLOW_RUN_AS_ROOT=1"
             " OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 %s tune specs/softmax.yaml --device=host --effort=quick"
             " --dim=S=5 --budget=1h --report=%s/r.csv >%s/rank0.txt 2>&1 </dev/null", folder, folder, tfgen_path(), folder, folder);
    const int code = system(command);
    read_rank(0);
    ck_assert_msg(code == 0, "%s", output);
    check_shared(2);
    ck_assert_int_eq(lines_of("r.csv"), shared_number("SELECT count(*) FROM trials") + 1); /* the trials of both ranks, and the head */
}
END_TEST

/* If two ranks see that the owner is gone, exactly one takes over. */
static void take_over(void *argument)
{
    arena *a = argument;
    char path[128];
    snprintf(path, sizeof path, "%s/trials.db", folder);
    database *d = database_open(a, path, false);
    int rank;
    ck_assert(database_tell(d, "sweep", "key", "tile 1", 0, "x") && !database_tell(d, "sweep", "key", "tile 1", 1, "y"));
    ck_assert(!database_take_over(d, "other", "key", "tile 1", 0, 1) && !database_take_over(d, "sweep", "other", "tile 1", 0, 1));
    ck_assert(!database_take_over(d, "sweep", "key", "tile 2", 0, 1) && !database_take_over(d, "sweep", "key", "tile 1", 2, 1));
    ck_assert(database_take_over(d, "sweep", "key", "tile 1", 0, 1) && !database_take_over(d, "sweep", "key", "tile 1", 0, 2));
    ck_assert_str_eq(database_told(d, a, "sweep", "key", "tile 1", &rank), "x");
    ck_assert_int_eq(rank, 1);
}

START_TEST(another_rank_takes_over_from_one_that_died)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, take_over, a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* Environment variables of launchers, and the rank that follows if some are missing. */
static const struct {
    const char *variables; /* NAME=VALUE NAME=VALUE */
    int rank, size, local;
    bool many_hosts;
} launched[] = {{"", 0, 1, 0, false},
                {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2", 3, 8, 1, true},
                {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8", 3, 8, 3, false},
                {"PMI_RANK=5 PMI_SIZE=6", 5, 6, 5, false},
                {"PMI_RANK=5 PMI_SIZE=6 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=3", 5, 6, 2, true},
                {"PMI_RANK=6 PMI_SIZE=6", 0, 1, 0, false},
                {"PMI_RANK=0 PMI_SIZE=1", 0, 1, 0, false}};

START_TEST(a_rank_reads_its_number_from_the_launchers_variables)
{
    char text[256];
    arena *a = arena_new();
    strcpy(text, launched[_i].variables);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) ck_assert_int_eq(putenv(at), 0);
    const ranks r = ranks_of(a);
    ck_assert_int_eq(r.rank, launched[_i].rank);
    ck_assert_int_eq(r.size, launched[_i].size);
    ck_assert_int_eq(r.local, launched[_i].local);
    ck_assert_int_eq(r.many_hosts, launched[_i].many_hosts);
    arena_free(a);
}
END_TEST

int main(void)
{
    use_kernels(kernels_timed);
    Suite *s = suite_create("ranks");
    TCase *c = tcase_create("ranks");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, make_folder, remove_folder);
    tcase_add_test(c, ranks_share_the_candidates_and_one_database_results);
    tcase_add_loop_test(c, a_rank_that_dies_loses_its_candidate_but_not_the_sweep, 0, 2);
    suite_add_tcase(s, c);
    TCase *places = tcase_create("places");
    tcase_add_loop_test(places, a_rank_reads_its_number_from_the_launchers_variables, 0, sizeof launched / sizeof *launched);
    suite_add_tcase(s, places);
    TCase *shared = tcase_create("shared");
    tcase_add_checked_fixture(shared, make_folder, remove_folder);
    tcase_add_test(shared, another_rank_takes_over_from_one_that_died);
    suite_add_tcase(s, shared);
    TCase *devices = tcase_create("devices");
    tcase_set_tags(devices, "long");
    tcase_set_timeout(devices, 120);
    tcase_add_checked_fixture(devices, make_folder, remove_folder);
    tcase_add_test(devices, each_rank_has_a_device_of_its_own);
    tcase_add_test(devices, ranks_are_started_by_open_mpi);
    suite_add_tcase(s, devices);
    return run_suite(s);
}
