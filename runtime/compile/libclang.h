/* In: emitted source, or a template's text. Out: what clang's parser finds: messages with both the position given by #line and the real
 * one, kernels with the layout of their arguments, shared variables; the members of S that a template uses. libclang is loaded in the
 * worker, not in this process, since it installs signal handlers and clashes with other LLVMs. */
#ifndef TFGEN_LIBCLANG_H
#define TFGEN_LIBCLANG_H
#include "gen/gen.h"
#include "runtime/compile/compiler.h"

typedef struct libclang_message {
    const char *severity; /* note, warning, error; a note belongs to the message before it */
    const char *file;     /* as given by #line: specs/llama-block.yaml, templates/gemm/gemm.h */
    unsigned line, column;
    unsigned generated_line, generated_column; /* in the text that was passed; 0: not in it */
    const char *text;
} libclang_message;

typedef struct libclang_field {
    const char *name, *type;
    long long offset, size; /* bytes */
} libclang_field;

typedef struct libclang_parameter {
    const char *name, *type; /* the canonical type: k1_qkv::args */
    long long size, align;
    libclang_field *fields; /* if it is a struct passed by value */
    size_t n_fields;
} libclang_parameter;

typedef struct libclang_shared {
    const char *name, *type;
    long long size, align; /* bytes; size -1: dynamic (extern, of no length) */
} libclang_shared;

typedef struct libclang_kernel {
    const char *name;
    unsigned generated_line;
    libclang_parameter *parameters;
    size_t n_parameters;
    libclang_shared *shared; /* shared variables that it uses, directly or through (instantiated) functions that it calls */
    size_t n_shared;
} libclang_kernel;

typedef struct libclang_requirement {
    const char *name; /* a member of S; each once, in order of first use */
    unsigned line;
    bool guarded; /* only used in branches of `if constexpr`: need not exist */
} libclang_requirement;

typedef struct libclang_facts {
    const char *version; /* "Debian clang version 22.1.8 (…)" */
    libclang_message *messages;
    libclang_kernel *kernels;
    libclang_requirement *requirements;
    size_t n_messages, n_kernels, n_requirements;
    /* storage: all strings; parameters, fields and shared variables of all kernels */
    char *text;
    libclang_parameter *parameters;
    libclang_field *fields;
    libclang_shared *shared;
} libclang_facts;

/* build_ok: no errors. build_failed: see the messages. build_unsupported: no libclang here, or it does not know the architecture. *log: a
 * sentence for every other status. The caller frees it and the facts in every case. TFGEN_LIBCLANG names the library's file. */
code_status libclang_check(const char *source, size_t size, const char *name, const char *arch, double time_limit,
                           libclang_facts *out, char **log);

/* libclang_check() of many, `jobs` at a time. */
typedef struct libclang_answer {
    code_status status;
    libclang_facts facts;
    char *log;
} libclang_answer;
void libclang_check_all(const code_request *requests, size_t n, int jobs, libclang_answer *out);
void libclang_answers_free(libclang_answer *answers, size_t n);

/* What the plan expects of a kernel. libclang_difference() returns the first difference (name, its one argument, a field's name, offset or
 * size, the size of all arguments, static shared memory), which the caller frees, or NULL if they agree. */
typedef struct libclang_expected {
    const char *kernel, *symbol; /* its name for users, and in the source */
    const argument *arguments;
    int argument_count;
    unsigned argument_bytes;
    int shared_bytes;
} libclang_expected;
char *libclang_difference(const libclang_facts *f, const libclang_expected *e);

/* Finds `S::name` in the body of `template <class S …> struct template_name`, by tokens, without expanding macros. template_name "": in all
 * templates, functions too, whose first parameter is called S. build_failed: the file has no such template. */
code_status libclang_template_requirements(const char *text, size_t size, const char *file, const char *template_name,
                                           libclang_facts *out, char **log);

/* Errors and warnings, a line each: "spec.yaml:13:5: error: … (generated line 16)", without those that `log` (may be NULL) already has, and
 * without their notes. The caller frees it. */
char *libclang_report(const libclang_facts *f, const char *log);
void libclang_facts_free(libclang_facts *f);
#endif
