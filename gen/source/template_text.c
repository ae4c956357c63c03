/* Contract: gen/source/template_text.h. The build embeds the templates' files (.incbin), so the binary needs no folder of templates. */
#include "gen/source/template_text.h"
#include "gen/emit/writer.h"
#include "ir/base/embed.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE(id, path) EMBED_FILE(tfgen_template_##id, path);
#include "gen/source/template.def"

typedef struct template_bounds {
    const char *name, *begin, *end;
} template_bounds;

static const template_bounds bounds[template_count] = {
#define TEMPLATE(id, path) {path, tfgen_template_##id, tfgen_template_##id##_end},
#include "gen/source/template.def"
};

template_text template_at(template_id i)
{
    return (template_text){bounds[i].name, bounds[i].begin, (size_t)(bounds[i].end - bounds[i].begin)};
}

static bool starts(const char *line, size_t size, const char *with)
{
    const size_t n = strlen(with);
    return size >= n && memcmp(line, with, n) == 0;
}

/* ---- what a template includes */
static template_id named(const char *path, size_t size)
{
    int i = 0;
    while (i < template_count && (strlen(bounds[i].name) != size || memcmp(bounds[i].name, path, size) != 0)) i++;
    assert(i < template_count && "a template of gen/source/template.def");
    return (template_id)i;
}

/* The next two are filled in once per process, by read_includes(). */
static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static template_choice with[template_count]; /* by template: itself and all that it includes */
static template_choice common; /* those that every program's kernels include */

/* Adds template i and all that it includes. In a template, #include lines come before all code. */
static void choose(template_choice *c, template_id i)
{
    static const char include[] = "#include \"";
    if (c->has[i]) return;
    c->has[i] = true;
    const char *line = bounds[i].begin, *const all = bounds[i].end;
    for (const char *end; line < all && strchr("/#\n", *line) && (end = memchr(line, '\n', (size_t)(all - line))); line = end + 1)
        if (starts(line, (size_t)(end - line), include))
            choose(c, named(line + sizeof include - 1, (size_t)(end - line) - sizeof include));
}

static void add(template_choice *c, const char *path)
{
    const template_choice *more = &with[named(path, strlen(path))];
    for (int i = 0; i < template_count; i++) c->has[i] |= more->has[i];
}

static void add_program(template_choice *c, const program *p, const target_info *target)
{
    add(c, p->template);
    for (size_t i = 0; i < sizeof p->isa / sizeof *p->isa && p->isa[i].header; i++)
        if (!target || target_has(target, p->isa[i].layer)) add(c, p->isa[i].header);
}

static void read_includes(void)
{
    for (int i = 0; i < template_count; i++) choose(&with[i], (template_id)i), common.has[i] = true;
    for (int k = 1; k < program_count; k++) {
        template_choice own = {0};
        add_program(&own, program_at((program_kind)k), NULL);
        for (int i = 0; i < template_count; i++) common.has[i] &= own.has[i];
    }
}

void template_choose(template_choice *c, const char *path)
{
    pthread_once(&read_once, read_includes);
    add(c, path);
}

void program_templates(template_choice *c, const program *p, const target_info *target)
{
    pthread_once(&read_once, read_includes);
    add_program(c, p, target);
}

template_choice templates_common(void)
{
    pthread_once(&read_once, read_includes);
    return common;
}

/* ---- text */
void template_target(text *out, const target_info *target)
{
    text_printf(out, "#define TF_TARGET_%s 1\n#define TF_WAVE %d\n", target_words(target)->macro, target->wave);
}

bool template_line_is_left_out(const char *line, size_t size)
{
    return starts(line, size, "#pragma once") || starts(line, size, "#include \"");
}

size_t template_traced(const char *s, size_t size)
{
    static const char mark[] = " TF_TRACED(";
    size_t at = sizeof mark - 1;
    if (!starts(s, size, mark)) return 0;
    for (int open = 1; open && at < size; at++) open += (s[at] == '(') - (s[at] == ')');
    return at < size && s[at] == ';' ? at + 1 : at;
}

static void append_line(text *out, const char *line, size_t size, bool traced)
{
    size_t from = 0;
    for (size_t at = 0; at < size && !traced; at++) {
        const size_t skip = line[at] == ' ' ? template_traced(line + at, size - at) : 0;
        if (!skip) continue;
        text_append(out, line + from, at - from);
        from = at + skip;
        at = from - 1;
    }
    text_append(out, line + from, size - from);
}

typedef struct stripped {
    size_t size;
    int lines;
    char data[];
} stripped;

static text strip(arena *a, template_id i, bool traced)
{
    const template_text t = template_at(i);
    text out = {.a = a};
    text_printf(&out, "#line 1 \"%s\"\n", t.name);
    for (size_t at = 0; at < t.size;) {
        const char *end = memchr(t.data + at, '\n', t.size - at);
        const size_t size = end ? (size_t)(end - t.data) - at : t.size - at;
        if (!template_line_is_left_out(t.data + at, size)) append_line(&out, t.data + at, size, traced);
        text_append(&out, "\n", 1);
        at += size + 1;
    }
    return out;
}

/* A template's text without the lines that are left out. It is made once per process and never freed; if threads race, the first result is
 * kept. */
static const stripped *stripped_text(arena *a, template_id i, bool traced)
{
    static _Atomic(stripped *) known[template_count][2];
    stripped *own, *is = atomic_load_explicit(&known[i][traced], memory_order_acquire);
    if (is) return is;
    const text t = strip(a, i, traced);
    if (!(own = malloc(sizeof *own + t.size))) bail(a, code_device, (position){0}, "not enough memory for the templates");
    own->size = t.size, own->lines = count_lines(t.data);
    memcpy(own->data, t.data, t.size);
    if (atomic_compare_exchange_strong(&known[i][traced], &is, own)) return own;
    free(own);
    return is;
}

int template_append(text *out, template_id i, bool traced)
{
    const stripped *t = stripped_text(out->a, i, traced);
    text_append(out, t->data, t->size);
    return t->lines;
}

static size_t total_size(const template_choice *c)
{
    size_t size = 1;
    for (int i = 0; i < template_count; i++)
        if (c->has[i]) size += (size_t)(bounds[i].end - bounds[i].begin) + strlen(bounds[i].name) + sizeof "#line 1 \"\"\n\n";
    return size;
}

const template_set *templates_find(arena *a, template_set **known, const template_choice *choice)
{
    for (const template_set *s = *known; s; s = s->next)
        if (memcmp(s->choice.has, choice->has, sizeof choice->has) == 0) return s;
    const size_t size = total_size(choice);
    text out = {.a = a, .data = arena_alloc(a, size), .capacity = size};
    template_set *made = arena_alloc(a, sizeof *made);
    int lines = 0;
    for (int i = 0; i < template_count; i++)
        if (choice->has[i]) lines += template_append(&out, (template_id)i, choice->has[template_trace]);
    *made = (template_set){*choice, out.data, lines, *known};
    return *known = made;
}
