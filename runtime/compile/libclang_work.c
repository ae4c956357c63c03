/* In: a worker job with source text. Out: facts as lines of tab-separated words in DIRECTORY/code, which
 * runtime/compile/libclang.c reads. Refuses an architecture that this libclang does not know. Runs in the worker only: libclang
 * may crash, and keeps global state. */
#define _GNU_SOURCE
#include "ir/base/embed.h"
#include "runtime/compile/libclang_abi.h"
#include "runtime/compile/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct libclang {
#define FUNCTION(result, name, arguments) result(*name) arguments;
    LIBCLANG_FUNCTIONS
#undef FUNCTION
} libclang;

typedef struct cursor_set { /* open addressing; kind 0 is an empty slot */
    CXCursor *slots;
    size_t capacity, count;
} cursor_set;

enum { most_calls = 200 /* call depth to follow */ };

typedef struct walker {
    libclang api;
    cursor_set seen;
    int depth;
    CXTranslationUnit unit;
    const worker_job *job;
    FILE *out;
    int errors;
    const char *outer;      /* within a struct of arguments that is a field of another: the field's name and a dot; else "" */
    long long outer_offset; /* that field's offset in bytes */
} walker;

/* runtime/compile/libclang_cuda.h as bytes, so that its GPU code is a file of its own. */
EMBED_FILE(libclang_cuda, "runtime/compile/libclang_cuda.h");

static bool load(libclang *api, const char *tool)
{
    const worker_symbol wanted[] = {
#define FUNCTION(result, name, arguments) {"clang_" #name, &api->name, false},
        LIBCLANG_FUNCTIONS
#undef FUNCTION
    };
    return worker_load(tool, wanted, sizeof wanted / sizeof *wanted);
}

/* ---- writing ---- */

static void put_text(FILE *out, const char *s)
{
    fputc('\t', out);
    for (; s && *s; s++) fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
}

static void put_string(walker *w, CXString s)
{
    put_text(w->out, w->api.getCString(s));
    w->api.disposeString(s);
}

static void put_number(walker *w, long long v) { fprintf(w->out, "\t%lld", v); }

/* The line counted in the text itself, without regard to #line. */
static unsigned generated(walker *w, CXSourceLocation at, unsigned *column)
{
    unsigned line = 0, offset;
    CXFile file;
    w->api.getExpansionLocation(at, &file, &line, column, &offset);
    return line;
}

/* ---- messages ---- */

static void put_messages(walker *w, CXDiagnosticSet set)
{
    static const char *const severities[] = {"note", "note", "warning", "error", "error"};
    for (unsigned i = 0; i < w->api.getNumDiagnosticsInSet(set); i++) {
        CXDiagnostic d = w->api.getDiagnosticInSet(set, i);
        const int severity = w->api.getDiagnosticSeverity(d);
        const CXSourceLocation at = w->api.getDiagnosticLocation(d);
        unsigned line = 0, column = 0, real_column = 0;
        CXString file;
        w->errors += severity >= 3;
        fprintf(w->out, "message\t%s", severities[severity < 0 || severity > 4 ? 4 : severity]);
        w->api.getPresumedLocation(at, &file, &line, &column);
        put_string(w, file);
        put_number(w, line);
        put_number(w, column);
        put_number(w, generated(w, at, &real_column));
        put_number(w, real_column);
        put_string(w, w->api.getDiagnosticSpelling(d));
        fputc('\n', w->out);
        put_messages(w, w->api.getChildDiagnostics(d));
    }
}

/* ---- kernels ---- */

typedef struct search {
    int kind;
    bool found;
} search;

static int look_for(CXCursor c, CXCursor parent, void *argument)
{
    search *s = argument;
    (void)parent;
    s->found = s->found || c.kind == s->kind;
    return s->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool has_attribute(walker *w, CXCursor c, int kind)
{
    search s = {kind, false};
    w->api.visitChildren(c, look_for, &s);
    return s.found;
}

static bool is_arguments(walker *w, CXType type)
{
    static const char wanted[] = "::args";
    const CXString spelling = w->api.getTypeSpelling(type);
    const char *name = w->api.getCString(spelling);
    const size_t length = name ? strlen(name) : 0, tail = sizeof wanted - 1;
    const bool found = type.kind == CXType_Record && length > tail && strcmp(name + length - tail, wanted) == 0;
    w->api.disposeString(spelling);
    return found;
}

static int put_field(CXCursor c, void *argument);

/* A kernel with several phases side by side takes a struct of structs, one for each phase: field x of the second is listed as phase_1.x. */
static int put_fields_within(walker *w, CXCursor c, CXType type)
{
    char outer[64];
    const CXString name = w->api.getCursorSpelling(c);
    snprintf(outer, sizeof outer, "%s.", w->api.getCString(name));
    w->api.disposeString(name);
    w->outer = outer, w->outer_offset = w->api.Cursor_getOffsetOfField(c) / 8;
    w->api.Type_visitFields(type, put_field, w);
    w->outer = "", w->outer_offset = 0;
    return CXChildVisit_Continue;
}

static int put_field(CXCursor c, void *argument)
{
    walker *w = argument;
    const CXType type = w->api.getCursorType(c), canonical = w->api.getCanonicalType(type);
    if (!*w->outer && is_arguments(w, canonical)) return put_fields_within(w, c, canonical);
    const CXString name = w->api.getCursorSpelling(c);
    fprintf(w->out, "field\t%s%s", w->outer, w->api.getCString(name));
    w->api.disposeString(name);
    put_string(w, w->api.getTypeSpelling(type));
    put_number(w, w->outer_offset + w->api.Cursor_getOffsetOfField(c) / 8);
    put_number(w, w->api.Type_getSizeOf(type));
    fputc('\n', w->out);
    return CXChildVisit_Continue;
}

static void put_parameter(walker *w, CXCursor parameter)
{
    const CXType type = w->api.getCanonicalType(w->api.getCursorType(parameter));
    fprintf(w->out, "parameter");
    put_string(w, w->api.getCursorSpelling(parameter));
    put_string(w, w->api.getTypeSpelling(type));
    put_number(w, w->api.Type_getSizeOf(type));
    put_number(w, w->api.Type_getAlignOf(type));
    fputc('\n', w->out);
    if (type.kind == CXType_Record) w->api.Type_visitFields(type, put_field, w);
}

static void put_shared(walker *w, CXCursor c)
{
    const CXType type = w->api.getCursorType(c);
    const long long size = w->api.Type_getSizeOf(type);
    fprintf(w->out, "shared");
    put_string(w, w->api.getCursorSpelling(c));
    put_string(w, w->api.getTypeSpelling(type));
    put_number(w, size < 0 ? -1 : size);
    put_number(w, w->api.Type_getAlignOf(type));
    fputc('\n', w->out);
}

/* Adds c to the set; false: it was in it, or out of memory. */
static bool first_time(walker *w, CXCursor c)
{
    cursor_set *s = &w->seen;
    if (2 * s->count >= s->capacity) {
        const size_t old = s->capacity, capacity = old ? 2 * old : 256;
        CXCursor *before = s->slots, *slots = calloc(capacity, sizeof *slots);
        if (!slots) return false;
        *s = (cursor_set){slots, capacity, 0};
        for (size_t i = 0; i < old; i++)
            if (before[i].kind) first_time(w, before[i]);
        free(before);
    }
    size_t at = w->api.hashCursor(c) % s->capacity;
    for (; s->slots[at].kind; at = (at + 1) % s->capacity)
        if (w->api.equalCursors(s->slots[at], c)) return false;
    s->slots[at] = c;
    s->count++;
    return true;
}

/* Follows what a kernel calls into instantiated templates, where the sizes of shared variables are known. */
static int follow(CXCursor c, CXCursor parent, void *argument)
{
    walker *w = argument;
    (void)parent;
    if (c.kind == CXCursor_VarDecl && has_attribute(w, c, CXCursor_CUDASharedAttr) && first_time(w, c)) put_shared(w, c);
    if (c.kind < CXCursor_DeclRefExpr || c.kind > CXCursor_CallExpr) return CXChildVisit_Recurse;
    const CXCursor to = w->api.getCursorReferenced(c);
    const bool variable = to.kind == CXCursor_VarDecl && has_attribute(w, to, CXCursor_CUDASharedAttr);
    const bool function = to.kind == CXCursor_FunctionDecl || to.kind == CXCursor_Method;
    if ((variable || function) && w->depth < most_calls && first_time(w, to)) {
        w->depth++;
        if (variable) put_shared(w, to);
        if (function) w->api.visitChildren(to, follow, w);
        w->depth--;
    }
    return CXChildVisit_Recurse;
}

static void put_kernel(walker *w, CXCursor c)
{
    unsigned column;
    fprintf(w->out, "kernel");
    put_string(w, w->api.getCursorSpelling(c));
    put_number(w, generated(w, w->api.getCursorLocation(c), &column));
    fputc('\n', w->out);
    for (int i = 0; i < w->api.Cursor_getNumArguments(c); i++) put_parameter(w, w->api.Cursor_getArgument(c, (unsigned)i));
    free(w->seen.slots);
    w->seen = (cursor_set){0};
    w->api.visitChildren(c, follow, w);
}

static int visit(CXCursor c, CXCursor parent, void *argument)
{
    walker *w = argument;
    (void)parent;
    const bool kernel = c.kind == CXCursor_FunctionDecl && has_attribute(w, c, CXCursor_CUDAGlobalAttr);
    if (kernel) put_kernel(w, c);
    return c.kind == CXCursor_LinkageSpec || c.kind == CXCursor_Unexposed || c.kind == CXCursor_Namespace
               ? CXChildVisit_Recurse
               : CXChildVisit_Continue;
}

/* ---- the two jobs ---- */

static bool parse(walker *w, const char *const *options, int count)
{
    struct CXUnsavedFile files[] = {{w->job->name, w->job->source, w->job->size},
                                    {"/tfgen/cuda.h", libclang_cuda, (unsigned long)(libclang_cuda_end - libclang_cuda)}};
    const CXIndex index = w->api.createIndex(0, 0);
    const int bad =
        index ? w->api.parseTranslationUnit2(index, w->job->name, options, count, files, 2, 0, &w->unit) : 1;
    if (bad) fprintf(stderr, "%s: libclang cannot parse for %s (error %d)\n", w->job->name, w->job->arch, bad);
    return !bad;
}

static bool begin(walker *w, const worker_job *job, char **text, size_t *size)
{
    *w = (walker){.job = job, .outer = ""};
    if (!load(&w->api, job->tool)) return false;
    w->out = open_memstream(text, size);
    if (!w->out) return false;
    fprintf(w->out, "version");
    put_string(w, w->api.getClangVersion());
    fputc('\n', w->out);
    return true;
}

static int end(walker *w, char *const *text, const size_t *size)
{
    return fclose(w->out) == 0 && worker_put(w->job, "code", *text, *size) ? code_ok : code_io;
}

int libclang_check_work(const worker_job *job)
{
    walker w;
    size_t size;
    char *text, *hip = printed("--offload-arch=%s", job->arch), *cuda = printed("--cuda-gpu-arch=%s", job->arch);
    const bool nvidia = !strncmp(job->arch, "sm_", 3);
    const char *const for_hip[] = {"-x",        "hip",       "--cuda-device-only", hip,
                                   "-nogpuinc", "-nogpulib", "-std=c++17",         "-Wall"};
    const char *const for_cuda[] = {
        "-x",         "cuda",  "--cuda-device-only",        cuda,       "-nocudainc",   "-nocudalib",
        "-std=c++17", "-Wall", "-Wno-unknown-cuda-version", "-U__clang__", "-include", "/tfgen/cuda.h"};
    if (!hip || !cuda || !begin(&w, job, &text, &size)) return code_unsupported;
    const int count = nvidia ? sizeof for_cuda / sizeof *for_cuda : sizeof for_hip / sizeof *for_hip;
    if (!parse(&w, nvidia ? for_cuda : for_hip, count)) return code_unsupported;
    put_messages(&w, w.api.getDiagnosticSetFromTU(w.unit));
    w.api.visitChildren(w.api.getTranslationUnitCursor(w.unit), visit, &w);
    return end(&w, &text, &size);
}

/* ---- members of S that a template uses ---- */

typedef struct tokens {
    walker *w;
    char **text; /* spellings, without comments */
    unsigned *line;
    bool *guarded;
    size_t count;
} tokens;

static bool read_tokens(walker *w, tokens *t)
{
    const CXFile file = w->api.getFile(w->unit, w->job->name);
    CXToken *all = NULL;
    unsigned n = 0, column;
    w->api.tokenize(w->unit,
                    w->api.getRange(w->api.getLocationForOffset(w->unit, file, 0),
                                    w->api.getLocationForOffset(w->unit, file, (unsigned)w->job->size)),
                    &all, &n);
    *t = (tokens){.w = w,
                  .text = calloc(n + 1, sizeof *t->text),
                  .line = calloc(n + 1, sizeof *t->line),
                  .guarded = calloc(n + 1, sizeof *t->guarded)};
    if (!t->text || !t->line || !t->guarded) return false;
    for (unsigned i = 0; i < n; i++) {
        if (w->api.getTokenKind(all[i]) > CXToken_Identifier + 1) continue; /* comments */
        const CXString s = w->api.getTokenSpelling(w->unit, all[i]);
        t->line[t->count] = generated(w, w->api.getTokenLocation(w->unit, all[i]), &column);
        t->text[t->count++] = strdup(w->api.getCString(s));
        w->api.disposeString(s);
    }
    return true;
}

static bool is(const tokens *t, size_t i, const char *text) { return i < t->count && !strcmp(t->text[i], text); }

/* The token after the bracket that closes the one at i. */
static size_t bracket_end(const tokens *t, size_t i)
{
    for (int depth = 0; i < t->count; i++) {
        if (is(t, i, "(") || is(t, i, "{") || is(t, i, "[")) depth++;
        if ((is(t, i, ")") || is(t, i, "}") || is(t, i, "]")) && --depth == 0) return i + 1;
    }
    return t->count;
}

/* The token after the statement at i, its else included: both branches are guarded. */
static size_t statement_end(const tokens *t, size_t i)
{
    while (i < t->count) {
        const bool block = is(t, i, "{"), bracket = block || is(t, i, "(") || is(t, i, "[");
        if (is(t, i, "}")) return i; /* end of the enclosing block */
        const bool last = is(t, i, ";");
        i = bracket ? bracket_end(t, i) : i + 1;
        const bool goes_on = is(t, i, ";") || is(t, i, ",") || is(t, i, ".") || is(t, i, "(") || is(t, i, ")");
        if (!last && !(block && !goes_on)) continue;
        if (!is(t, i, "else")) return i;
        i++;
    }
    return i;
}

/* Marks the branches of `if constexpr (...)`, which may not be instantiated. */
static void mark_guarded(tokens *t)
{
    for (size_t i = 0; i + 2 < t->count; i++) {
        if (!is(t, i, "if") || !is(t, i + 1, "constexpr") || !is(t, i + 2, "(")) continue;
        const size_t from = bracket_end(t, i + 2), to = statement_end(t, from);
        for (size_t k = from; k < to; k++) t->guarded[k] = true;
    }
}

typedef struct member {
    const char *name;
    unsigned line;
    bool guarded;
} member;

typedef struct member_list {
    member *items;
    size_t count;
} member_list;

/* Adds the members of `parameter` that tokens from..to use, unless the list has them. */
static void add_members(const tokens *t, size_t from, size_t to, const char *parameter, member_list *list)
{
    for (size_t i = from; i + 2 < to; i++) {
        if (!is(t, i, parameter) || !is(t, i + 1, "::") || (i && is(t, i - 1, "::"))) continue;
        const size_t at = i + 2 + is(t, i + 2, "template");
        size_t k = 0;
        if (at >= to) continue;
        while (k < list->count && strcmp(list->items[k].name, t->text[at])) k++;
        if (k == list->count) list->items[list->count++] = (member){t->text[at], t->line[at], true};
        list->items[k].guarded = list->items[k].guarded && t->guarded[at];
    }
}

static void put_members(const tokens *t, const member_list *list)
{
    for (size_t k = 0; k < list->count; k++) {
        fprintf(t->w->out, "requires");
        put_text(t->w->out, list->items[k].name);
        put_number(t->w, list->items[k].line);
        put_number(t->w, list->items[k].guarded);
        fputc('\n', t->w->out);
    }
}

/* The token after the declaration that starts at i, which ends in its body's brace or its semicolon. */
static size_t declaration_end(const tokens *t, size_t i)
{
    for (int depth = 0; i < t->count; i++) {
        if (is(t, i, "{")) depth++;
        if (is(t, i, "}") && --depth <= 0) return i + 1;
        if (is(t, i, ";") && depth == 0) return i + 1;
    }
    return t->count;
}

/* The token after the > that closes the < at i. */
static size_t angle_end(const tokens *t, size_t i)
{
    size_t depth = 0;
    do depth += is(t, i, "<"), depth -= is(t, i, ">"), i++;
    while (i < t->count && depth);
    return i;
}

/* template < class S ... > struct NAME ...; name "": all templates with a parameter S, functions too. */
static bool put_requirements(const tokens *t, const char *name)
{
    member_list list = {calloc(t->count + 1, sizeof *list.items), 0};
    size_t found = 0;
    for (size_t i = 0; list.items && i + 4 < t->count; i++) {
        if (!is(t, i, "template") || !is(t, i + 1, "<") || !(is(t, i + 2, "class") || is(t, i + 2, "typename")))
            continue;
        const size_t at = angle_end(t, i + 1);
        const bool record = is(t, at, "struct") || is(t, at, "class");
        if (*name ? !(record && is(t, at + 1, name)) : !is(t, i + 3, "S")) continue;
        const size_t end_at = declaration_end(t, at);
        const size_t body = record && is(t, at + 2, "<") ? angle_end(t, at + 2) : at; /* arguments of a specialization */
        add_members(t, body, end_at, t->text[i + 3], &list);
        found++;
        i = *name ? end_at - 1 : i; /* templates inside templates have an S of their own */
    }
    put_members(t, &list);
    free(list.items);
    return found > 0;
}

int libclang_requires_work(const worker_job *job)
{
    static const char *const options[] = {"-x", "c++", "-std=c++17", "-fsyntax-only"};
    const char *name = strcmp(job->arch, "*") ? job->arch : "";
    walker w;
    tokens t;
    size_t size;
    char *text;
    if (!begin(&w, job, &text, &size) || !parse(&w, options, sizeof options / sizeof *options)) return code_unsupported;
    if (!read_tokens(&w, &t)) return code_io;
    mark_guarded(&t);
    if (!put_requirements(&t, name))
        return fprintf(stderr, "%s: no template <class S> struct %s\n", job->name, name), code_compile_failed;
    return end(&w, &text, &size);
}
