/* In: requests for memory, deferred calls and error reports of one compile. Out: zeroed memory that is freed together,
 * rendered diagnostics, the unwinding of bail(). Refuses: more than arena_limit bytes or max_diagnostics errors. Text
 * of the spec reaches a diagnostic only through ir/base/diagnostic.c, which removes what could harm a terminal. */
#define _GNU_SOURCE
#include "ir/base/arena.h"
#include "ir/base/diagnostic.h"
#include "ir/base/format.h"
#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { alignment = 16, least_block = 64 << 10, most_block = 4 << 20, most_message = 1024 };

typedef struct block {
    struct block *next;
    size_t size, used;
    _Alignas(alignment) unsigned char data[];
} block;

typedef struct deferred {
    struct deferred *next;
    void (*call)(void *);
    void *argument;
} deferred;

struct arena {
    block *blocks; /* the first one is being filled */
    deferred *deferred;
    size_t total;
    jmp_buf exit;
    bool running;
    tfgen_code code;
    diagnostic_source source;
    diagnostic_buffer diagnostics, warnings; /* malloc'ed, not in the blocks, so that "not enough memory" can still be reported */
    complaint *said; /* malloc'ed, too; an entry is left out if there is no memory for it */
    int said_count;
    int complaints, warned;
    tfgen_code complained; /* code_ok: no error yet */
};

arena *arena_new(void) { return calloc(1, sizeof(arena)); }

void arena_free(arena *a)
{
    if (!a) return;
    while (a->deferred) { /* a deferred call may defer another */
        deferred *d = a->deferred;
        a->deferred = d->next;
        d->call(d->argument);
    }
    for (block *b = a->blocks; b;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    for (int i = 0; i < a->said_count; i++) {
        free(a->said[i].file);
        free(a->said[i].message);
    }
    free(a->said);
    free(a->diagnostics.data);
    free(a->warnings.data);
    free(a);
}

static _Noreturn void unwind(arena *a, tfgen_code code)
{
    assert(a->running && "bail() outside arena_run()");
    a->code = code;
    longjmp(a->exit, 1);
}

static block *add_block(arena *a, size_t bytes)
{
    size_t size = a->blocks ? 2 * a->blocks->size : least_block;
    if (size > most_block) size = most_block;
    if (size < bytes) size = bytes;
    block *b = calloc(1, sizeof *b + size);
    if (!b) bail(a, code_device, (position){0}, "not enough memory");
    b->size = size;
    if (a->blocks && bytes > a->blocks->size - a->blocks->used && size == bytes && bytes > least_block) {
        b->next = a->blocks->next; /* a large allocation gets its own block; the current block continues to be filled */
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > arena_limit || a->total + bytes > arena_limit)
        bail(a, code_bad_input, (position){0}, "this input asks for more than the %d MB that one compile may use",
             arena_limit >> 20);
    bytes = bytes ? (bytes + alignment - 1) / alignment * alignment : alignment;
    block *b = a->blocks;
    if (!b || bytes > b->size - b->used) b = add_block(a, bytes);
    void *p = b->data + b->used;
    b->used += bytes;
    a->total += bytes;
    return p;
}

char *arena_strndup(arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(arena *a, const char *format, va_list list)
{
    char most[256]; /* long enough for nearly every text, which is then formatted only once */
    va_list again;
    va_copy(again, list);
    const int n = format_bounded(most, sizeof most, format, list);
    if (n < 0) bail(a, code_bad_input, (position){0}, "a message could not be formatted");
    char *s = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof most) memcpy(s, most, (size_t)n + 1);
    else format_bounded(s, (size_t)n + 1, format, again);
    va_end(again);
    return s;
}

char *arena_printf(arena *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *s = arena_vprintf(a, format, list);
    va_end(list);
    return s;
}

void *arena_more(arena *a, void *list, int count, int *room, size_t size)
{
    if (count < *room) return list;
    *room = *room ? 2 * *room : 64;
    void *more = arena_alloc(a, (size_t)*room * size);
    return count ? memcpy(more, list, (size_t)count * size) : more;
}

size_t arena_used(const arena *a) { return a->total; }

void arena_defer(arena *a, void (*call)(void *), void *argument)
{
    deferred *d = arena_alloc(a, sizeof *d);
    *d = (deferred){a->deferred, call, argument};
    a->deferred = d;
}

void arena_source(arena *a, const char *name, const char *text, size_t size)
{
    a->source = (diagnostic_source){name, text, text ? size : 0, false};
}

void arena_source_marked(arena *a, const char *name, const char *text, size_t size)
{
    a->source = (diagnostic_source){name, text, size, true};
}

void arena_source_unmarked(arena *a) { a->source.marked = false; }

const char *arena_source_name(const arena *a) { return a->source.name ? a->source.name : ""; }

tfgen_code arena_run(arena *a, void (*body)(void *), void *argument)
{
    assert(!a->running && "arena_run() inside arena_run()");
    a->running = true;
    a->code = code_ok;
    if (setjmp(a->exit) == 0) {
        body(argument);
        a->code = a->complained;
    }
    a->running = false;
    return a->code;
}

static void keep(arena *a, position at, bool warning, const char *message)
{
    complaint *more = realloc(a->said, ((size_t)a->said_count + 1) * sizeof *more);
    if (!more) return;
    a->said = more;
    const bool named = *arena_source_name(a);
    more[a->said_count] = (complaint){named ? strdup(a->source.name) : NULL, diagnostic_place(&a->source, at), strdup(message), warning};
    a->said_count++;
}

/* True if the text from `before` on occurs earlier in the buffer. A spec may be read twice, but its warnings are shown once. */
static bool is_said(diagnostic_buffer *b, size_t before)
{
    return before && memmem(b->data, before, b->data + before, b->size - before);
}

static void say(arena *a, position at, bool warning, const char *format, va_list list)
{
    diagnostic_buffer *b = warning ? &a->warnings : &a->diagnostics;
    const size_t before = b->size;
    char message[most_message];
    int n = format_bounded(message, sizeof message, format, list);
    if (n >= (int)sizeof message) memcpy(message + sizeof message - 4, "...", 4);
    diagnostic_render(b, &a->source, at, warning ? "warning" : "error", n < 0 ? format : message);
    if (warning && is_said(b, before)) b->data[b->size = before] = 0;
    else keep(a, at, warning, n < 0 ? format : message);
}

static void record(arena *a, position at, const char *format, va_list list)
{
    say(a, at, false, format, list);
    a->complaints++;
}

void warn(arena *a, position at, const char *format, ...)
{
    va_list list;
    if (a->warned++ >= max_diagnostics) return;
    va_start(list, format);
    say(a, at, true, format, list);
    va_end(list);
}

static void add_complaint(arena *a, tfgen_code code, position at, const char *format, va_list list)
{
    if (a->complaints >= max_diagnostics)
        bail(a, a->complained, (position){0}, "more than %d errors; the rest is not shown", max_diagnostics);
    record(a, at, format, list);
    if (a->complained != code_bad_input) a->complained = code;
}

void complain(arena *a, position at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_complaint(a, code_bad_input, at, format, list);
    va_end(list);
}

void complain_usage(arena *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_complaint(a, code_usage, (position){0}, format, list);
    va_end(list);
}

void bail(arena *a, tfgen_code code, position at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    record(a, at, format, list);
    va_end(list);
    unwind(a, code);
}

void bail_with_log(arena *a, tfgen_code code, position at, const char *log, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    record(a, at, format, list);
    va_end(list);
    diagnostic_log(&a->diagnostics, log);
    unwind(a, code);
}

void bail_if_complained(arena *a)
{
    if (a->complaints) unwind(a, a->complained);
}

int arena_complaints(const arena *a) { return a->complaints; }

const complaint *arena_complaint(const arena *a, int i) { return i < a->said_count ? &a->said[i] : NULL; }

const char *arena_warnings(const arena *a) { return a->warnings.data ? a->warnings.data : ""; }
const char *arena_diagnostics(const arena *a) { return a->diagnostics.data ? a->diagnostics.data : ""; }

const char *arena_first_error(arena *a, const arena *of)
{
    const char *said = arena_diagnostics(of), *mark = strstr(said, "error: ");
    const char *from = mark ? mark + strlen("error: ") : said;
    return arena_strndup(a, from, strcspn(from, "\n"));
}
