/* In: HIP source text.
 * Out: a shared object for this machine's processor, compiled by clang in a subprocess; clang's messages.
 * Fails without clang, with a message that names the package. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include "runtime/host/engine.h"
#include "runtime/host/process.h"
#include "runtime/compile/worker.h"
#include "runtime/system/input.h"

enum { MAX_ARGUMENTS = 96, DEFAULT_LIMIT_MS = 120000, NEWEST_CLANG = 22, OLDEST_CLANG = 14 };

/* ---- finding the compiler ---- */

static char *in_path(const char *name)
{
    if (strchr(name, '/')) return access(name, X_OK) || input_refusal(name) ? NULL : strdup(name);
    const char *path = secure_getenv("PATH");
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        const size_t n = strcspn(p, ":");
        char *full;
        if (asprintf(&full, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name) < 0) return NULL;
        if (!access(full, X_OK) && !input_refusal(full)) return full;
        free(full);
        p += n + (p[n] == ':');
    }
    return NULL;
}

/* Optimisation level where the caller asks for the default: $TFGEN_HOST_OPTIMISE, 0 to 3, 3 if unset; -1: invalid. Lower levels pay where
 * compiling takes longer than running, as in most tests. */
static int usual_level(void)
{
    const char *wish = secure_getenv("TFGEN_HOST_OPTIMISE");
    if (!wish || !*wish) return 3;
    return wish[0] >= '0' && wish[0] <= '3' && !wish[1] ? wish[0] - '0' : -1;
}

host_status cc_find(const host_compile_options *o, char **path, host_log *log)
{
    if (usual_level() < 0) {
        log_add(log, "TFGEN_HOST_OPTIMISE=%s is not an optimisation level from 0 to 3\n", secure_getenv("TFGEN_HOST_OPTIMISE"));
        return HOST_NO_COMPILER;
    }
    const char *named = o->compiler ? o->compiler : secure_getenv("TFGEN_HOST_CC");
    if (named && *named) {
        if ((*path = in_path(named))) return HOST_OK;
        log_add(log, "the host compiler %s%s does not exist or cannot be run\n", named, o->compiler ? "" : " ($TFGEN_HOST_CC)");
        return HOST_NO_COMPILER;
    }
    for (int version = NEWEST_CLANG; version >= OLDEST_CLANG - 1; version--) {
        char name[24] = "clang"; /* fits any int, else compilers warn of truncation */
        if (version >= OLDEST_CLANG) snprintf(name, sizeof name, "clang-%d", version);
        if ((*path = in_path(name))) return HOST_OK;
    }
    log_add(log, "no clang on this machine; the host engine compiles kernels with it: apt-get install --no-install-recommends "
                 "clang (or set TFGEN_HOST_CC)\n");
    return HOST_NO_COMPILER;
}

/* ---- the command ---- */

typedef struct arguments {
    char *items[MAX_ARGUMENTS];
    unsigned count;
    bool failed;
} arguments;

static void add(arguments *a, const char *text, size_t size)
{
    char *copy = a->count + 1 < MAX_ARGUMENTS ? strndup(text, size) : NULL;
    if (!copy) a->failed = true;
    else a->items[a->count++] = copy, a->items[a->count] = NULL;
}

static void add_words(arguments *a, const char *words)
{
    for (size_t n; words && *(words += strspn(words, " \t\n")); words += n) add(a, words, n = strcspn(words, " \t\n"));
}

static void arguments_free(arguments *a)
{
    for (unsigned i = 0; i < a->count; i++) free(a->items[i]);
}

/* The version in a path such as /usr/lib/llvm-14/bin/clang; 0: it has none. */
static int version_of(const char *compiler)
{
    char *real = realpath(compiler, NULL);
    int version = 0;
    const char *at = real ? strstr(real, "llvm-") : NULL;
    if (at) version = atoi(at + 5);
    else if (real && (at = strstr(real, "clang-"))) version = atoi(at + 6);
    free(real);
    return version;
}

static bool has_avx512(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

int cc_level(const host_compile_options *o)
{
    const int asked = o->optimise < 0 || o->optimise > 3 ? usual_level() : o->optimise;
    return o->check && asked > 1 ? 1 : asked;
}

/* No -ffast-math: it would permit the removal of compensation terms. No contraction at level 0, where clang has two instruction selectors,
 * of which one contracts: columns of a product that hold the same numbers would be rounded differently. Kernels link libm and libc by file
 * name, so that neither a development package nor symbols of this process are needed. */
static void build(arguments *a, const char *compiler, const host_compile_options *o)
{
    const int level = cc_level(o);
    char optimise[4] = {'-', 'O', (char)('0' + level), 0};
    add(a, compiler, SIZE_MAX >> 1);
    add_words(
        a,
        "-x c++ -std=c++17 -march=native -fno-math-errno -fPIC -fno-exceptions "
        "-fno-rtti -fvisibility=hidden -fno-stack-protector -fstack-size-section -fno-asynchronous-unwind-tables -fno-threadsafe-statics "
        "-Xclang -fconvergent-functions -fdebug-compilation-dir=. -Wno-unknown-attributes -Wno-ignored-attributes -Wno-unknown-pragmas "
        "-Wno-builtin-macro-redefined -Wno-pragma-once-outside-header");
    add_words(a, optimise);
    add_words(a, level ? "-ffp-contract=fast" : "-ffp-contract=off");
    const int version = version_of(compiler);
    if (version && version < 15) add_words(a, "-Xclang -fallow-half-arguments-and-returns"); /* its f16 is __fp16 */
    if (has_avx512()) add_words(a, "-mprefer-vector-width=512");
    /* Not DWARF 5: there addr2line (binutils 2.40) does not find inlined calls whose code is split into several ranges. */
    if (o->lines || o->check) add_words(a, "-gdwarf-4 -gline-tables-only");
    if (o->check)
        add_words(a, "-DHS_CHECK -fno-vectorize -fno-slp-vectorize -fno-omit-frame-pointer -fsanitize=kernel-address "
                     "-mllvm -asan-stack=0 -mllvm -asan-globals=0 -mllvm -asan-instrument-atomics=0 "
                     "-mllvm -asan-instrumentation-with-call-threshold=0 "
                     /* by -Xclang: the driver would link a runtime library */
                     "-Xclang -fsanitize=alignment -Xclang -fsanitize-recover=alignment");
#ifdef HS_UCONTEXT
    add_words(a, "-DHS_UCONTEXT");
#endif
    add_words(a, o->flags);
}

static void describe_cpu(host_log *out)
{
#ifdef __x86_64__
    static const unsigned leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x14, 0}, {0x19, 0}, {0x24, 0}, {0x80000001, 0}};
    for (unsigned i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
        if (leaves[i][0] == 1) b = 0; /* has the id of the current core, which varies */
        log_add(out, "cpu %x %x %x %x\n", a, b, c, d);
    }
#else
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Features", 8) || !strncmp(line, "CPU ", 4)) log_add(out, "%s", line);
    if (f) fclose(f);
#endif
}

bool cc_describe(const char *compiler, const host_compile_options *o, host_log *out)
{
    arguments a = {0};
    struct stat s;
    char *real = realpath(compiler, NULL);
    const bool ok = real && !stat(real, &s);
    build(&a, compiler, o);
    if (ok) log_add(out, "%s %lld %lld.%09ld\n", real, (long long)s.st_size, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    for (unsigned i = 1; i < a.count; i++) log_bytes(out, a.items[i], strlen(a.items[i])), log_bytes(out, "\n", 1);
    log_add(out, "abi %d name %s\n", HS_ABI_VERSION, o->name ? o->name : "");
    describe_cpu(out);
    const bool whole = !a.failed && out->text;
    arguments_free(&a);
    free(real);
    return ok && whole;
}

/* ---- running it ---- */

static bool write_all(int to, const char *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(to, bytes, size);
        if (n <= 0) return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_line(int to, const char *name)
{
    char text[512];
    int n = snprintf(text, sizeof text, "\n#line 1 \"%.400s\"\n", name);
    for (int i = 10; i < n - 2; i++)
        if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < ' ') text[i] = '_';
    return write_all(to, text, (size_t)n);
}

/* A memfd with the embedded headers and the source, each with its own name for diagnostics; -1: errno says why not. */
static int whole_source(const char *source, size_t size, const host_compile_options *o)
{
    const int file = memfd_create("tfgen-host", MFD_CLOEXEC);
    bool ok = file >= 0;
    for (const embedded_part *p = embedded_parts(); ok && p->text; p++)
        ok = write_line(file, p->name) && write_all(file, p->text, (size_t)(p->end - p->text));
    ok = ok && write_line(file, compile_name(o)) && write_all(file, source, size) && write_all(file, "\n", 1);
    if (ok && lseek(file, 0, SEEK_SET) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

static host_status judge(process_end end, const char *compiler, unsigned limit_ms, host_log *log)
{
    switch (end) {
    case PROCESS_OK: return HOST_OK;
    case PROCESS_FAILED: break;
    case PROCESS_KILLED: log_add(log, "%s was killed by a signal\n", compiler); break;
    case PROCESS_TIMEOUT: log_add(log, "%s took longer than %u ms\n", compiler, limit_ms); return HOST_COMPILE_TIMEOUT;
    case PROCESS_NOT_STARTED: log_add(log, "%s could not be started\n", compiler); return HOST_NO_COMPILER;
    }
    return HOST_COMPILE_FAILED;
}

static unsigned until(uint64_t deadline_ms)
{
    const uint64_t now = watchdog_now();
    return now < deadline_ms ? (unsigned)(deadline_ms - now) : 0;
}

/* Paths in the temporary folder, which is removed even if this process dies. */
typedef struct built {
    const char *folder;
    char *object, *output;
} built;

static process_end compile_object(const char *compiler, int source, const host_compile_options *o, const built *b, unsigned limit,
                                  host_log *log)
{
    arguments a = {0};
    build(&a, compiler, o);
    add_words(&a, "-c - -o");
    add(&a, b->object, SIZE_MAX >> 1);
    const process_end end = a.failed ? PROCESS_NOT_STARTED : process_run(a.items, source, b->folder, limit, log);
    arguments_free(&a);
    return end;
}

/* `linker` is ld, or clang, which searches more library folders. */
static process_end link_by(const char *linker, const char *words, const built *b, unsigned limit, host_log *log)
{
    arguments a = {0};
    add(&a, linker, SIZE_MAX >> 1);
    add_words(&a, words);
    add(&a, b->output, SIZE_MAX >> 1);
    add(&a, b->object, SIZE_MAX >> 1);
    add_words(&a, "-l:libm.so.6 -l:libc.so.6");
    const process_end end = a.failed ? PROCESS_NOT_STARTED : process_run(a.items, -1, b->folder, limit, log);
    arguments_free(&a);
    return end;
}

/* Calls ld directly: a clang that also links compiles in a second process, whose start takes as long as parsing a kernel. If there is no
 * ld, or it does not find the libraries, clang links. */
static process_end link_object(const char *compiler, const built *b, uint64_t deadline, host_log *log)
{
    char *ld = in_path("ld");
    process_end end = ld ? link_by(ld, "-shared -o", b, until(deadline), NULL) : PROCESS_FAILED;
    if (end != PROCESS_OK && end != PROCESS_TIMEOUT) end = link_by(compiler, "-shared -nostdlib -o", b, until(deadline), log);
    free(ld);
    return end;
}

/* Whether the compiler's output is a regular file, which alone is linked: the linker would block on a pipe in its place. If it is not, the
 * caller reports that the compiler made no file. */
static bool is_file(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISREG(s.st_mode);
}

host_status cc_run(const char *compiler, const char *source, size_t size, const host_compile_options *o, const char *folder,
                   host_log *log)
{
    const unsigned limit = o->time_limit_ms ? o->time_limit_ms : DEFAULT_LIMIT_MS;
    const uint64_t deadline = watchdog_now() + limit;
    const built b = {folder, printed("%s/kernel.o", folder), printed("%s/kernel.so", folder)};
    errno = 0;
    const int file = b.object && b.output ? whole_source(source, size, o) : -1;
    host_status status = HOST_NO_MEMORY;
    if (file >= 0) {
        process_end end = compile_object(compiler, file, o, &b, limit, log);
        if (end == PROCESS_OK && is_file(b.object)) end = link_object(compiler, &b, deadline, log);
        status = judge(end, compiler, limit, log);
        close(file);
    } else {
        if (errno && errno != ENOMEM) status = HOST_IO;
        log_add(log, "cannot keep the source for %s: %s\n", compiler, errno ? strerror(errno) : "no memory");
    }
    free(b.object);
    free(b.output);
    return status;
}
