/* What the suites of the host engine share: a cache for the compiled kernels of tests/host_kernels, modules by file name,
 * launches that must succeed, and memory by the number of elements. */
#ifndef TEST_HOST_COMMON_H
#define TEST_HOST_COMMON_H

#define _GNU_SOURCE
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "runtime/host/host.h"

static char cache[64] = "/tmp/tfgen-test-XXXXXX"; /* one folder for all tests of a suite, each of which runs in its own process */
static host_engine *engine;

static inline char *source_of(const char *file, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "tests/host_kernels/%s", file);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    char *text = malloc(1 << 20);
    *size = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

static inline host_module *load_with(const char *file, host_compile_options o)
{
    size_t size;
    char *text = source_of(file, &size);
    host_log log = {0};
    host_module *m = NULL;
    o.name = file;
    o.cache_dir = cache;
    const host_status s = host_compile(text, size, &o, &m, &log);
    ck_assert_msg(s == HOST_OK, "%s: %s", host_status_name(s), log.text ? log.text : "");
    ck_assert_msg(log.size == 0, "the compiler warns: %s", log.text ? log.text : "");
    host_log_free(&log);
    free(text);
    return m;
}
static inline host_module *load(const char *file) { return load_with(file, (host_compile_options){.optimise = -1}); }
static inline host_module *load_checked(const char *file) { return load_with(file, (host_compile_options){.check = true}); }

/* The number of the line that ends in "// line: mark". */
static inline int line_of(const char *file, const char *mark)
{
    size_t size;
    char *text = source_of(file, &size), wanted[64];
    text[size] = 0;
    snprintf(wanted, sizeof wanted, "// line: %s\n", mark);
    const char *at = strstr(text, wanted);
    ck_assert_msg(at != NULL, "no line is marked %s", mark);
    int line = 1;
    for (const char *p = text; p < at; p++) line += *p == '\n';
    free(text);
    return line;
}

static inline void launch_ok(host_module *m, const char *kernel, host_launch_dims d, void *argument)
{
    host_log log = {0};
    void *params[] = {argument};
    const host_status s = host_launch(engine, m, kernel, &d, params, &log);
    ck_assert_msg(s == HOST_OK, "%s: %s: %s", kernel, host_status_name(s), log.text ? log.text : "");
    ck_assert_msg(log.size == 0, "%s: %s", kernel, log.text ? log.text : "");
    host_log_free(&log);
}

/* Fails unless the launch ends with this status; returns its message, which stays until the next failure. */
static host_log failure;
static inline const host_log *launch_bad(host_module *m, const char *kernel, host_launch_dims d, void *argument, host_status expected)
{
    host_log_free(&failure);
    void *params[] = {argument};
    const host_status s = host_launch(engine, m, kernel, &d, params, &failure);
    ck_assert_msg(s == expected, "%s: %s: %s", kernel, host_status_name(s), failure.text ? failure.text : "");
    ck_assert_msg(failure.size > 0, "%s failed without a text", kernel);
    return &failure;
}
static inline void says(const host_log *log, const char *what)
{
    ck_assert_msg(strstr(log->text, what) != NULL, "\"%s\" is not in:\n%s", what, log->text);
}
static inline void says_line(const host_log *log, const char *file, const char *mark)
{
    char place[96];
    snprintf(place, sizeof place, "%s:%d", file, line_of(file, mark));
    says(log, place);
}

static inline void *memory(size_t bytes, const char *name)
{
    void *p = host_alloc(engine, bytes, name);
    ck_assert_ptr_nonnull(p);
    return p;
}
static inline float *floats(size_t n, const char *name) { return memory(n * sizeof(float), name); }

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Test data that are the same on every machine: small and exact in bf16. */
static inline float number(size_t i) { return (float)((int)(i * 2654435761u >> 7) % 17 - 8) / 4; }

static inline void open_engine(void)
{
    engine = host_engine_open(&(host_engine_options){.poison = true, .workers = 3, .stall_limit_ms = 30000});
    ck_assert_ptr_nonnull(engine);
}
static inline void close_engine(void)
{
    host_engine_close(engine);
    host_log_free(&failure);
}

static inline int run_suite(Suite *s)
{
    if (!mkdtemp(cache)) return 1;
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command) || failed;
}
#endif
