/* The kernel cache shared by processes and threads, some of which are killed; archives; the command that manages it. */
#define _GNU_SOURCE
#include "tests/runtime/cache_rig.h"

/* ---- many at once ---- */

START_TEST(thirty_two_processes_compile_each_kernel_once_or_twice)
{
    enum { processes = 32 };
    requests q;
    pid_t all[processes];
    int gate[2], bad = 0;
    char c;
    make_requests(&q, 6);
    if (!use_fake_compiler("sleep 0.2")) return;
    ck_assert_int_eq(pipe(gate), 0);
    for (int p = 0; p < processes; p++)
        if ((all[p] = fork()) == 0) {
            close(gate[1]);
            if (read(gate[0], &c, 1) < 0) _exit(2); /* all at once */
            cache *own = cache_open(NULL);
            code_result r[most_requests];
            bool ok = cache_compile_all(own, q.list, q.n, 1 + p % 3, r, NULL, NULL, NULL) == build_ok;
            for (size_t i = 0; i < q.n; i++) ok = ok && right(&q, i, &r[i]);
            _exit(!ok);
        }
    close(gate[1]);
    for (int p = 0; p < processes; p++) {
        int status;
        ck_assert_int_eq(waitpid(all[p], &status, 0), all[p]);
        bad += !WIFEXITED(status) || WEXITSTATUS(status);
    }
    ck_assert_int_eq(bad, 0);
    for (size_t i = 0; i < q.n; i++) {
        q.names[i][2] = 0;
        const int n = calls(q.names[i]);
        ck_assert_msg(n >= 1 && n <= 2, "%s was compiled %d times", q.names[i], n);
    }
}
END_TEST

/* Half of the processes are killed while they compile, wait or write: the others still get everything, and only what the dead were working
 * on is compiled again. */
START_TEST(processes_that_are_killed_do_not_hold_up_the_others)
{
    enum { processes = 16 };
    requests q;
    pid_t all[processes];
    make_requests(&q, 6);
    if (!use_fake_compiler("sleep 0.2")) return;
    for (int p = 0; p < processes; p++)
        if ((all[p] = fork()) == 0) {
            cache *own = cache_open(NULL);
            code_result r[most_requests];
            bool ok = cache_compile_all(own, q.list, q.n, 2, r, NULL, NULL, NULL) == build_ok;
            for (size_t i = 0; i < q.n; i++) ok = ok && right(&q, i, &r[i]);
            _exit(!ok);
        }
    for (int p = 0; p < processes; p += 2) {
        nanosleep(&(struct timespec){0, 1000000 + random() % 100000000}, NULL);
        kill(all[p], SIGKILL);
    }
    for (int p = 0; p < processes; p++) {
        int status;
        ck_assert_int_eq(waitpid(all[p], &status, 0), all[p]);
        ck_assert(p % 2 == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    ck_assert_int_le(calls(NULL), (int)q.n * 2 + processes / 2 * 2); /* each killed process was working on at most two */
}
END_TEST

START_TEST(many_processes_compile_once_for_the_host_engine)
{
    enum { processes = 8 };
    static const char source[] = "extern \"C\" __global__ void f(int *p) { *p = 1; }\nTF_EXPORT(f)\n";
    char path[128], wrapper[512];
    char *clang = clang_find();
    if (!clang) return (void)printf("skipped: no clang\n");
    snprintf(path, sizeof path, "%s/host-clang", folder);
    const int n = snprintf(wrapper, sizeof wrapper, "#!/bin/sh\necho host >>%s\nexec %s \"$@\"\n", calls_file, clang);
    spill(path, wrapper, (size_t)n);
    chmod(path, 0755);
    free(clang);
    pid_t all[processes];
    for (int p = 0; p < processes; p++)
        if ((all[p] = fork()) == 0) {
            host_module *m;
            host_log log = {0};
            const host_compile_options o = {.cache_dir = place, .compiler = path, .optimise = 0};
            const bool ok = host_compile(source, sizeof source - 1, &o, &m, &log) == HOST_OK && host_module_has(m, "f");
            if (ok) host_module_free(m);
            host_log_free(&log);
            _exit(!ok);
        }
    for (int p = 0; p < processes; p++) {
        int status;
        ck_assert_int_eq(waitpid(all[p], &status, 0), all[p]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_le(calls("host"), 2);
    ck_assert_int_ge(calls("host"), 1);
}
END_TEST

typedef struct crew {
    cache *c;
    const requests *q;
    int hits[8];
    _Atomic int next;
} crew;

static void *compile_in_thread(void *argument)
{
    crew *all = argument;
    const int i = all->next++;
    all->hits[i] = compile_all(all->c, all->q, 2);
    return NULL;
}

START_TEST(eight_threads_share_one_cache)
{
    requests q;
    pthread_t threads[8];
    make_requests(&q, 4);
    if (!use_fake_compiler("sleep 0.05")) return;
    crew all = {.c = open_cache(), .q = &q};
    for (int i = 0; i < 8; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_in_thread, &all), 0);
    int hits = 0;
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) hits += all.hits[i];
    ck_assert_int_eq(hits, 8 * 4 - calls(NULL));
    ck_assert_int_eq(calls(NULL), 4);
    cache_close(all.c);
}
END_TEST

START_TEST(killed_writers_leave_nothing_wrong)
{
    enum { names = 4, bytes = 1 << 18 };
    static const char *const name[names] = {"w0", "w1", "w2", "w3"};
    cache *c = open_cache();
    int found = 0;
    for (int round = 0; round < 20 || !found; round++) { /* later rounds let the writer live longer */
        const pid_t writer = fork();
        if (writer == 0)
            for (int i = round;; i++) store_named(c, name[i % names], bytes);
        const long ms = 1 + random() % 20 + round / 4;
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        for (int i = 0; i < names; i++) found += find_named(c, name[i], bytes); /* or missing; never wrong */
    }
    ck_assert_int_gt(found, 0);
    cache_sweep(c, 0);
    char path[128];
    snprintf(path, sizeof path, "%s/code", place);
    ck_assert_int_eq(files_in(path), 0);
    cache_close(c);
}
END_TEST

/* ---- marks: each names the process that is compiling an entry, so that others wait for it ---- */

static char *mark_of(const cache *c, const char *key)
{
    char id[cache_id_length + 1];
    entry_id(key, strlen(key), id);
    const int folder = folder_open(c, cache_code, true, NULL);
    ck_assert_int_ge(folder, 0);
    close(folder);
    return folder_file(c, cache_code, id, ".busy");
}

START_TEST(a_dead_owner_is_not_waited_for)
{
    cache *c = cache_open(&(cache_options){.directory = place, .wait_seconds = 1e6}); /* whoever waits for a dead process hangs */
    cache_claim *claim;
    code_result r;
    char *key = key_named("dead");
    const pid_t owner = fork();
    if (owner == 0) {
        cache_find_or_claim(c, cache_code, key, &r, &claim);
        for (;;) pause();
    }
    char *mark = mark_of(c, key), text[160];
    while (readlink(mark, text, sizeof text) <= 0) usleep(1000);
    kill(owner, SIGKILL); /* a zombie until waited for, but dead */
    siginfo_t end;
    ck_assert_int_eq(waitid(P_PID, (id_t)owner, &end, WEXITED | WNOWAIT), 0);
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    ck_assert_ptr_nonnull(claim);
    cache_claim_end(claim);
    ck_assert_int_ne(readlink(mark, text, sizeof text), 1);
    ck_assert_int_eq(errno, ENOENT);
    waitpid(owner, NULL, 0);
    free(mark);
    free(key);
    cache_close(c);
}
END_TEST

/* The owner's process id belongs to another, living process by now. */
START_TEST(an_owner_whose_process_id_was_reused_is_dead)
{
    cache *c = cache_open(&(cache_options){.directory = place, .wait_seconds = 30});
    cache_claim *claim;
    code_result r;
    char *key = key_named("again"), *mark = mark_of(c, key), text[160], earlier[180];
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    const ssize_t n = readlink(mark, text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n] = 0;
    cache_claim_end(claim);
    char *number = strrchr(text, ' '), *start = NULL; /* machine, PID namespace, process, its start time, thread */
    *number = 0;
    start = strrchr(text, ' ');
    snprintf(earlier, sizeof earlier, "%.*s %llu %s", (int)(start - text), text, strtoull(start, NULL, 10) - 1, number + 1);
    ck_assert_int_eq(symlink(earlier, mark), 0);
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    ck_assert_ptr_nonnull(claim);
    cache_claim_end(claim);
    free(mark);
    free(key);
    cache_close(c);
}
END_TEST

static void mark_of_elsewhere(const char *mark) { ck_assert_int_eq(symlink("another-machine pid:[1] 1 2 3.4", mark), 0); }
static void mark_is_nonsense(const char *mark) { ck_assert_int_eq(symlink("/etc/passwd", mark), 0); }
static cache_claim *of_the_living;
static void mark_of_the_living(const char *mark)
{
    cache *c = open_cache();
    cache_watch w = {0};
    char *key = key_named("wait");
    ck_assert_int_eq(claim_take(c, cache_code, key, &w, &of_the_living), claim_mine);
    free(key);
    cache_close(c);
    (void)mark;
}
static void (*const marks[])(const char *) = {mark_of_elsewhere, mark_is_nonsense, put_fifo, put_directory, put_loop, mark_of_the_living};

START_TEST(waiting_has_a_limit)
{
    cache *c = cache_open(&(cache_options){.directory = place, .wait_seconds = 0.4});
    cache_claim *claim;
    code_result r;
    char *key = key_named("wait"), *mark = mark_of(c, key);
    marks[_i](mark);
    const double start = seconds();
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    ck_assert_msg(seconds() - start > 0.15, "%g", seconds() - start); /* without a working time limit this would hang */
    cache_claim_end(claim);
    ck_assert(store_named(c, "wait", 300) && find_named(c, "wait", 300));
    cache_claim_end(of_the_living);
    free(mark);
    free(key);
    cache_close(c);
}
END_TEST

START_TEST(a_waiting_process_gets_the_entry_that_another_made)
{
    cache *c = open_cache();
    cache_claim *claim;
    code_result r, wanted = result_named("slow", 300);
    char *key = key_named("slow");
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    const pid_t waiter = fork();
    if (waiter == 0) {
        const bool hit = cache_find_or_claim(c, cache_code, key, &r, &claim);
        _exit(!hit || claim || !same_results(&r, &wanted));
    }
    usleep(200000);
    int status;
    ck_assert_int_eq(waitpid(waiter, &status, WNOHANG), 0);
    ck_assert(store_named(c, "slow", 300));
    cache_claim_end(claim);
    ck_assert_int_eq(waitpid(waiter, &status, 0), waiter);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    code_result_free(&wanted);
    free(key);
    cache_close(c);
}
END_TEST

/* ---- archives ---- */

static FILE *archive_of(cache *c, long long expected)
{
    cache_counts n;
    char error[cache_error_size];
    FILE *f = tmpfile();
    ck_assert_msg(cache_export(c, f, &n, error), "%s", error);
    ck_assert_int_eq(n.kept, expected);
    rewind(f);
    return f;
}

static cache_counts import_bytes(cache *c, const void *bytes, size_t size, bool *ok)
{
    cache_counts n;
    char error[cache_error_size] = "";
    FILE *f = fmemopen((void *)bytes, size ? size : 1, "rb");
    if (!size) getc(f);
    *ok = cache_import(c, f, &n, error);
    ck_assert(*ok == !*error);
    fclose(f);
    return n;
}

START_TEST(an_archive_carries_entries_to_another_folder)
{
    requests q;
    char other[128], error[cache_error_size];
    cache_counts n;
    make_requests(&q, 3);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    FILE *f = archive_of(c, 3);
    snprintf(other, sizeof other, "%s/other", folder);
    cache *d = open_at(other, 0);
    ck_assert_msg(cache_import(d, f, &n, error), "%s", error);
    ck_assert(n.kept == 3 && n.known == 0 && n.refused == 0);
    ck_assert_int_eq(compile_all(d, &q, 1), 3);
    rewind(f);
    ck_assert(cache_import(d, f, &n, error) && n.known == 3 && n.kept == 0);
    fclose(f);
    cache_close(c);
    cache_close(d);
}
END_TEST

START_TEST(an_archive_may_hold_anything_and_adds_only_what_is_good)
{
    requests q;
    char other[128];
    bool ok;
    make_requests(&q, 2);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    free(stored_file(c, "no code object", 300)); /* left out */
    FILE *f = archive_of(c, 2);
    static unsigned char bytes[1 << 20], copy[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    snprintf(other, sizeof other, "%s/other", folder);
    cache *d = open_at(other, 0);
    for (int round = 0; round < 400; round++) {
        memcpy(copy, bytes, size);
        const size_t cut = round % 4 == 0 ? (size_t)random() % size : size;
        if (cut == size) copy[round < 100 ? (size_t)round : (size_t)random() % size] ^= (unsigned char)(1 << random() % 8);
        const cache_counts n = import_bytes(d, copy, cut, &ok);
        ck_assert(n.kept + n.known + n.refused <= 2);
        ck_assert(!ok || n.refused || cut < size); /* every flipped bit is noticed */
        ck_assert(!(ok && cut < size));
    }
    int found[2] = {0};
    cache_walk(d, walk_counts, found);
    ck_assert_int_eq(found[1], 0);
    for (unsigned shift = 0; shift < 64; shift += 3) { /* wrong sizes */
        const unsigned long long lie = 1ull << shift;
        memcpy(copy, bytes, size);
        memcpy(copy + 24, &lie, 8);
        import_bytes(d, copy, size, &ok);
        ck_assert(!ok);
    }
    cache_close(c);
    cache_close(d);
}
END_TEST

/* ---- the command ---- */

static char output[1 << 16];

static int tfgen(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int tfgen(const char *format, ...)
{
    char arguments[512], command[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "%s %s 2>&1", getenv("TFGEN") ? getenv("TFGEN") : "./tfgen", arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    return WEXITSTATUS(pclose(pipe));
}
#define says(part) ck_assert_msg(strstr(output, part), "no '%s' in:\n%s", part, output)

START_TEST(the_cache_command_manages_the_cache)
{
    requests q;
    make_requests(&q, 2);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    char *path = stored_file(c, "no code object", 300);
    cache_close(c);
    ck_assert_int_eq(tfgen("cache path"), 0);
    ck_assert_int_eq(strncmp(output, place, strlen(place)), 0);
    ck_assert_int_eq(tfgen("cache ls"), 0);
    says("k0.hip");
    says("gfx942");
    says("3 entries");
    ck_assert_int_eq(tfgen("cache ls --json"), 0);
    says("\"kernel\": \"k1.hip\"");
    says("\"fault\": null");
    ck_assert_int_eq(tfgen("cache verify"), 1);
    says("it holds no code object");
    says("1 of 3 entries");
    unlink(path);
    ck_assert_int_eq(tfgen("cache verify"), 0);
    ck_assert_int_eq(tfgen("cache export %s/archive", folder), 0);
    ck_assert_int_eq(tfgen("cache clear"), 0);
    says("removed 2 entries");
    ck_assert_int_eq(tfgen("cache import %s/archive", folder), 0);
    says("added 2 entries");
    setenv("TFGEN_CACHE_SIZE", "1", 1);
    ck_assert_int_eq(tfgen("cache gc"), 0);
    says("removed 2 entries");
    unsetenv("TFGEN_CACHE_SIZE");
    free(path);
}
END_TEST

START_TEST(the_cache_command_refuses_wrong_arguments)
{
    char path[128];
    ck_assert_int_eq(tfgen("cache"), 2);
    ck_assert_int_eq(tfgen("cache veryfy"), 2);
    says("did you mean 'verify'?");
    ck_assert_int_eq(tfgen("cache export"), 2);
    ck_assert_int_eq(tfgen("cache path more"), 2);
    ck_assert_int_eq(tfgen("cache import %s/none", folder), 3);
    snprintf(path, sizeof path, "%s/bad", folder);
    spill(path, "tfgen archive 2\n", 16);
    ck_assert_int_eq(tfgen("cache import %s", path), 3);
    says("not an archive");
    ck_assert_int_eq(tfgen("cache export /dev/null/x"), 7);
    setenv("TFGEN_CACHE_DIR", "", 1);
    ck_assert_int_eq(tfgen("cache ls"), 7);
    says("off");
}
END_TEST

START_TEST(emit_says_what_was_cached)
{
    if (access(object_file, R_OK)) return (void)printf("skipped: no clang\n");
    unsetenv("TFGEN_CLANG");
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    ck_assert_ptr_null(strstr(output, ", cached"));
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    says(", cached");
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code --no-cache -o %s/out", folder), 0);
    ck_assert_ptr_null(strstr(output, ", cached"));
    setenv("TFGEN_CACHE_DIR", "/dev/null/x", 1);
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    says("warning: the kernel cache /dev/null/x cannot be written");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache shared");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, thirty_two_processes_compile_each_kernel_once_or_twice);
    tcase_add_test(t, processes_that_are_killed_do_not_hold_up_the_others);
    tcase_add_test(t, many_processes_compile_once_for_the_host_engine);
    tcase_add_test(t, eight_threads_share_one_cache);
    tcase_add_test(t, killed_writers_leave_nothing_wrong);
    tcase_add_test(t, a_dead_owner_is_not_waited_for);
    tcase_add_test(t, an_owner_whose_process_id_was_reused_is_dead);
    tcase_add_loop_test(t, waiting_has_a_limit, 0, sizeof marks / sizeof *marks);
    tcase_add_test(t, a_waiting_process_gets_the_entry_that_another_made);
    tcase_add_test(t, an_archive_carries_entries_to_another_folder);
    tcase_add_test(t, an_archive_may_hold_anything_and_adds_only_what_is_good);
    tcase_add_test(t, the_cache_command_manages_the_cache);
    tcase_add_test(t, the_cache_command_refuses_wrong_arguments);
    tcase_add_test(t, emit_says_what_was_cached);
    suite_add_tcase(s, t);
    return run_cache_suite(s);
}
