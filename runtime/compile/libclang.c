/* In: source text. Out: the facts that the worker's libclang printed, as structures. Refuses what the worker refuses. */
#define _GNU_SOURCE
#include "runtime/compile/libclang.h"
#include "runtime/system/parallel.h"
#include "runtime/compile/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { newest = 40, oldest = 14, check_time_limit = 60 };

char *libclang_find(void)
{
    const char *given = secure_getenv("TFGEN_LIBCLANG"), *const lists[] = {system_libraries};
    if (given && *given) return strdup(given);
    for (int v = newest; v >= oldest; v--) {
        char name[64], *path;
        snprintf(name, sizeof name, "libclang-%d.so.1", v);
        if ((path = path_search(lists, 1, name))) return path;
        char directory[64];
        const char *const of_llvm[] = {directory};
        snprintf(directory, sizeof directory, "/usr/lib/llvm-%d/lib:/usr/lib/llvm%d/lib", v, v);
        if ((path = path_search(of_llvm, 1, "libclang.so"))) return path;
        snprintf(name, sizeof name, "libclang.so.%d", v);
        if ((path = path_search(lists, 1, name))) return path;
    }
    const char *const rocm[] = {"/opt/rocm/llvm/lib"};
    return path_search(rocm, 1, "libclang.so");
}

/* ---- reading the worker's lines ---- */

/* Cuts the next tab-separated word off *line. */
static const char *word(char **line)
{
    char *start = *line, *tab = strchr(start, '\t');
    if (tab) *tab = 0;
    *line = tab ? tab + 1 : start + strlen(start);
    return start;
}

static long long number(char **line) { return strtoll(word(line), NULL, 10); }

static size_t count_lines(const char *text, const char *kind)
{
    size_t n = 0;
    const size_t length = strlen(kind);
    for (const char *p = text; p && *p; p = strchr(p, '\n'), p += p != NULL)
        n += !strncmp(p, kind, length) && p[length] == '\t';
    return n;
}

typedef struct reader {
    libclang_facts *f;
    size_t parameters, fields, shared;
} reader;

/* A parameter and a shared variable belong to the kernel above them, a field to the parameter above it. */
static void read_layout(reader *r, const char *kind, char **line)
{
    libclang_facts *f = r->f;
    libclang_kernel *kernel = f->n_kernels ? &f->kernels[f->n_kernels - 1] : NULL;
    libclang_parameter *parameter = r->parameters ? &f->parameters[r->parameters - 1] : NULL;
    const char *name = word(line), *type = word(line);
    if (!strcmp(kind, "parameter") && kernel) {
        parameter = &f->parameters[r->parameters++];
        if (!kernel->n_parameters++) kernel->parameters = parameter;
        *parameter = (libclang_parameter){.name = name, .type = type};
        parameter->size = number(line);
        parameter->align = number(line);
    } else if (!strcmp(kind, "field") && parameter) {
        libclang_field *field = &f->fields[r->fields++];
        if (!parameter->n_fields++) parameter->fields = field;
        *field = (libclang_field){.name = name, .type = type};
        field->offset = number(line);
        field->size = number(line);
    } else if (!strcmp(kind, "shared") && kernel) {
        libclang_shared *shared = &f->shared[r->shared++];
        if (!kernel->n_shared++) kernel->shared = shared;
        *shared = (libclang_shared){.name = name, .type = type};
        shared->size = number(line);
        shared->align = number(line);
    }
}

static void read_message(libclang_message *m, char **line)
{
    m->severity = word(line);
    m->file = word(line);
    m->line = (unsigned)number(line);
    m->column = (unsigned)number(line);
    m->generated_line = (unsigned)number(line);
    m->generated_column = (unsigned)number(line);
    m->text = word(line);
}

static void read_line(reader *r, char *line)
{
    libclang_facts *f = r->f;
    const char *kind = word(&line);
    if (!strcmp(kind, "version"))
        f->version = word(&line);
    else if (!strcmp(kind, "message"))
        read_message(&f->messages[f->n_messages++], &line);
    else if (!strcmp(kind, "kernel")) {
        libclang_kernel *k = &f->kernels[f->n_kernels++];
        k->name = word(&line);
        k->generated_line = (unsigned)number(&line);
    } else if (!strcmp(kind, "requires")) {
        libclang_requirement *q = &f->requirements[f->n_requirements++];
        q->name = word(&line);
        q->line = (unsigned)number(&line);
        q->guarded = number(&line) != 0;
    } else {
        read_layout(r, kind, &line);
    }
}

/* Takes ownership of `text`. False without memory. */
static bool read_facts(libclang_facts *f, char *text)
{
    reader r = {.f = f};
    f->text = text;
    f->version = "";
    f->messages = calloc(count_lines(text, "message") + 1, sizeof *f->messages);
    f->kernels = calloc(count_lines(text, "kernel") + 1, sizeof *f->kernels);
    f->shared = calloc(count_lines(text, "shared") + 1, sizeof *f->shared);
    f->requirements = calloc(count_lines(text, "requires") + 1, sizeof *f->requirements);
    f->parameters = calloc(count_lines(text, "parameter") + 1, sizeof *f->parameters);
    f->fields = calloc(count_lines(text, "field") + 1, sizeof *f->fields);
    if (!f->messages || !f->kernels || !f->shared || !f->requirements || !f->parameters || !f->fields) return false;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        read_line(&r, line);
    }
    return true;
}

/* ---- calls ---- */

static code_status ask(const worker_call *without_tool, libclang_facts *out, char **log)
{
    worker_call call = *without_tool;
    worker_answer answer;
    char *tool = libclang_find();
    *out = (libclang_facts){0};
    *log = NULL;
    if (!tool) {
        *log = printed("%s: no libclang (Debian: apt install libclang1-22; or set TFGEN_LIBCLANG)\n", call.name);
        return build_unsupported;
    }
    call.tool = tool;
    code_status status = worker_run(&call, &answer);
    if (status == build_ok) {
        if (!read_facts(out, (char *)answer.data)) status = build_io;
        answer.data = NULL;
    }
    *log = answer.log;
    answer.log = NULL;
    worker_answer_free(&answer);
    free(tool);
    return status;
}

code_status libclang_check(const char *source, size_t size, const char *name, const char *arch, double time_limit,
                           libclang_facts *out, char **log)
{
    const worker_call call = {.mode = "check",
                              .arch = arch,
                              .name = name,
                              .source = source,
                              .size = size,
                              .time_limit = time_limit > 0 ? time_limit : check_time_limit};
    code_status status = ask(&call, out, log);
    for (size_t i = 0; i < out->n_messages; i++) {
        const libclang_message *m = &out->messages[i];
        if (strcmp(m->severity, "error") || status == build_unsupported) continue;
        status = clang_log_says_unsupported(m->text) ? build_unsupported : build_failed;
        if (status == build_unsupported) free(*log), *log = printed("%s: %s: %s\n", name, out->version, m->text);
    }
    return status;
}

code_status libclang_template_requirements(const char *text, size_t size, const char *file, const char *template_name,
                                           libclang_facts *out, char **log)
{
    const worker_call call = {.mode = "requires",
                              .arch = *template_name ? template_name : "*",
                              .name = file,
                              .source = text,
                              .size = size,
                              .time_limit = check_time_limit};
    return ask(&call, out, log);
}

typedef struct check_batch {
    const code_request *requests;
    libclang_answer *out;
} check_batch;

static void check_one(void *context, size_t i)
{
    const check_batch *b = context;
    const code_request *q = &b->requests[i];
    libclang_answer *r = &b->out[i];
    r->status = libclang_check(q->source, q->size, q->name, q->arch, 0, &r->facts, &r->log);
}

void libclang_check_all(const code_request *requests, size_t n, int jobs, libclang_answer *out)
{
    check_batch b = {requests, out};
    run_parallel(n, jobs, check_one, &b);
}

void libclang_answers_free(libclang_answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        libclang_facts_free(&answers[i].facts);
        free(answers[i].log);
    }
}

char *libclang_report(const libclang_facts *f, const char *log)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool said = false;
    if (!out) return NULL;
    for (size_t i = 0; i < f->n_messages; i++) {
        const libclang_message *m = &f->messages[i];
        if (strcmp(m->severity, "note")) said = log && strstr(log, m->text);
        if (said) continue;
        if (*m->file) fprintf(out, "%s:%u:%u: ", m->file, m->line, m->column);
        fprintf(out, "%s: %s", m->severity, m->text);
        if (m->generated_line) fprintf(out, " (generated line %u)", m->generated_line);
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

void libclang_facts_free(libclang_facts *f)
{
    free(f->messages);
    free(f->kernels);
    free(f->shared);
    free(f->requirements);
    free(f->parameters);
    free(f->fields);
    free(f->text);
    *f = (libclang_facts){0};
}
