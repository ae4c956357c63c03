/* In: HIP source text and an architecture. Out: a code object, what its kernels need, and the compiler's own messages.
 * An architecture without a compiler on this machine, an invalid source, a hang and a crash each have a status and a
 * message. Compilers run in child processes, so none of these affects the caller's process; all calls are thread-safe. */
#ifndef TFGEN_COMPILER_H
#define TFGEN_COMPILER_H
#include "ir/ir.h"
#include "runtime/compile/codeobject.h"

typedef enum compiler_kind { compiler_auto, compiler_clang, compiler_hiprtc, compiler_nvrtc } compiler_kind;

typedef enum code_status {
    build_ok,
    build_unsupported, /* no compiler for this architecture on this machine; the log says what to install */
    build_failed,      /* the compiler rejected the source; NVIDIA: also spills, local memory and ptxas warnings */
    build_timed_out,
    build_crashed,
    build_io /* no worker program, no room for temporary files, no memory */
} code_status;

typedef struct code_request {
    const char *source;
    size_t size;
    const char *name; /* as shown in messages: "llama_stats.hip" */
    const char *arch; /* gfx90a, gfx942:xnack-, sm_90a */
    compiler_kind compiler;
    double time_limit; /* seconds; 0: compiler_time_limit */
} code_request;

enum { compiler_time_limit = 300 };

typedef struct code_result {
    code_status status;
    unsigned char *code;
    size_t code_size;
    char *compiler; /* the one that ran: "clang 22.1.8", "HIPRTC 5.2.21153", "NVRTC 13.0"; NULL: none did */
    char *log;      /* messages, with their places in the spec (page_places.h); "": none; NULL only without memory */
    kernel_facts *kernels; /* also if build_failed because of their resource usage */
    size_t n_kernels;
} code_result;

/* compiler_auto: for AMD the newest clang, and HIPRTC when that clang is missing or does not know the architecture; for
 * NVIDIA NVRTC. Warnings are errors. The caller frees `out` whatever the status. Environment: TFGEN_CLANG,
 * TFGEN_HIPRTC, TFGEN_NVRTC name a compiler's file, TFGEN_WORKER the worker program. */
code_status code_compile(const code_request *request, code_result *out);
void code_result_free(code_result *r);

/* True: a kernel uses scratch memory or spills vector registers. Scalar registers spilled to lanes of vector registers cost no memory and
 * do not count. *out (may be NULL) has the amounts. */
bool code_spills(const code_result *r, spilled_tile *out);

/* code_compile() for many requests, `jobs` at a time (0: one per processor); out[i] belongs to requests[i]. progress (may
 * be NULL) is called after each, from any thread but never concurrently. Returns the first status that is not build_ok. */
typedef void code_progress(void *context, size_t index, const code_result *result);
code_status code_compile_all(const code_request *requests, size_t n, int jobs, code_result *out,
                             code_progress *progress, void *context);

/* One line, part of a cache key, that identifies the compilers that may run for this architecture (file, size, time, flags).
 * Starts no process. NULL: there is no such compiler. The caller frees it. */
char *code_compiler_identity(const char *arch, compiler_kind kind);

bool compiler_by_name(const char *name, compiler_kind *out); /* auto, clang, hiprtc, nvrtc */
tfgen_code code_exit(code_status s);                         /* the command's exit code for a status */
#endif
