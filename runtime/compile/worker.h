/* In: a compiler, its input and a time limit. Out: its output file and all its messages. The compiler runs in
 * `tfgen-worker`, in its own process group and temporary directory, both gone when worker_run() returns. Internal to
 * the compilers. */
#ifndef TFGEN_WORKER_H
#define TFGEN_WORKER_H
#include "runtime/system/printed.h"
#include "runtime/compile/compiler.h"
#include "runtime/system/temporary.h"

enum { worker_most_file = 256 << 20 }; /* bytes of one file that a compiler may write */

typedef struct worker_call {
    const char *mode; /* clang, hiprtc, nvrtc, check, requires */
    const char *tool; /* the compiler's file */
    const char *arch, *name, *source;
    size_t size;
    bool line_directive; /* prepend `#line 1 "name"`, so that no message names a temporary file */
    double time_limit;
} worker_call;

typedef struct worker_answer {
    unsigned char *data; /* the compiler's output, followed by a NUL; NULL: none */
    size_t size;
    char *log, *compiler;
} worker_answer;

char *worker_path(void); /* path of the worker program; NULL: there is none. The caller frees it */
/* NULL: the worker program exists and has this version; else a description of the fault, which the caller frees. */
char *worker_fault(void);
code_status worker_run(const worker_call *call, worker_answer *out);
void worker_answer_free(worker_answer *a);

/* ---- the child's side: what runtime/compile/worker_main.c calls; each returns a tfgen_code as exit status ---- */

typedef struct worker_job {
    const char *directory, *tool, *arch, *name;
    char *source; /* followed by a NUL */
    size_t size;
} worker_job;

int clang_work(const worker_job *job); /* does not return when clang starts */
int hiprtc_work(const worker_job *job);
int nvrtc_work(const worker_job *job);
int libclang_check_work(const worker_job *job);
int libclang_requires_work(const worker_job *job);
int worker_version_work(const worker_job *job); /* answers worker_fault() */

bool worker_put(const worker_job *job, const char *file, const void *data, size_t size);

typedef struct worker_symbol {
    const char *name;
    void *slot; /* address of a function pointer */
    bool optional;
} worker_symbol;

bool worker_load(const char *library, const worker_symbol *wanted, size_t count); /* false: stderr says why */

/* Compiler flags besides the architecture and, for clang, the output file. NULL-terminated. */
extern const char *const hiprtc_flags[], *const nvrtc_flags[]; /* clang_flags: gen/source/by_hand.h */

/* ---- where compilers are: each returns a path to free, or NULL ---- */

char *clang_find(void);
char *hiprtc_find(void);
char *nvrtc_find(void);
char *libclang_find(void);

/* Searches `count` lists of directories, each separated by colons or NULL, and returns the first `directory/file` that exists. */
char *path_search(const char *const *lists, size_t count, const char *file);
extern const char system_libraries[]; /* a list for path_search() */

/* ---- reading logs ---- */

/* True: clang reports that it does not know the architecture, or cannot link for it. */
bool clang_log_says_unsupported(const char *log);
/* Moves ptxas' resource reports from the log into the kernels; false: they contain what counts as an error here, which
 * the log then names. */
bool nvrtc_read_log(char **log, const char *name, kernel_facts *kernels, size_t n);
#endif
