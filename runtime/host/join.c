/* In: pages (emitted kernel sources: defines, templates, the kernel's own part).
 * Out: groups of pages that compile as one text, and that text, in which a template that several pages share is parsed once.
 * A page stays alone if it is structured differently, if its defines affect another page of the group, or if its text of a template
 * differs. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/host/engine.h"
#include "runtime/system/printed.h"

enum { MOST_PARTS = 96, MOST_DEFINES = 16, MOST_PAGES = 32 };

typedef struct span {
    const char *at;
    size_t size;
} span;

/* After the head, each part begins with `#line N "NAME"`; the last is the kernel's own. */
typedef struct part {
    span name, text;
} part;

typedef struct page {
    span defines[MOST_DEFINES]; /* lines */
    part parts[MOST_PARTS];
    size_t define_count, part_count;
    bool checked; /* compiled with HS_CHECK */
} page;

typedef struct group {
    const page *pages[MOST_PAGES];
    size_t count;
} group;

static bool same(span a, span b) { return a.size == b.size && memcmp(a.at, b.at, a.size) == 0; }

static bool begins(span s, const char *with) { return s.size >= strlen(with) && memcmp(s.at, with, strlen(with)) == 0; }

static bool contains(span s, const char *what) { return memmem(s.at, s.size, what, strlen(what)) != NULL; }

static span line_at(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (span){at, (size_t)((stop ? stop + 1 : end) - at)};
}

/* ---- reading a page */
static bool read_head(page *p, span line)
{
    if (begins(line, "//") || *line.at == '\n') return true;
    if (!begins(line, "#define TF_") || p->define_count == MOST_DEFINES) return false;
    p->defines[p->define_count++] = line;
    return true;
}

static bool begin_part(page *p, span line)
{
    const char *from = memchr(line.at, '"', line.size), *to = memrchr(line.at, '"', line.size);
    if (p->part_count == MOST_PARTS || !from || to == from) return false;
    p->parts[p->part_count++] = (part){{from + 1, (size_t)(to - from - 1)}, {line.at, 0}};
    return true;
}

static bool read_page(page *p, const host_page *of)
{
    const char *const end = of->text + of->size;
    *p = (page){.define_count = 0};
    for (const char *at = of->text; at < end;) {
        const span line = line_at(at, end);
        const bool begun = begins(line, "#line ");
        if (begun ? !begin_part(p, line) : !p->part_count && !read_head(p, line)) return false;
        if (p->part_count) p->parts[p->part_count - 1].text.size += line.size;
        at += line.size;
    }
    return p->part_count && end[-1] == '\n';
}

/* ---- whether a page's defines affect another page */
static span define_name(span line)
{
    const char *at = line.at + strlen("#define ");
    return (span){at, strcspn(at, " \n")};
}

/* True if the macro mentioned at `at` has no effect there: it is in a comment, or in a condition that is false under clang for any value of
 * the macro (`#if defined(__CUDACC_RTC__) && defined(M)`, `#if defined(M) && !defined(__clang__)`), or in one
 * that is false without checks (`#if defined(HS_CHECK) && defined(M)`). */
static bool is_deaf(span line, const char *at, bool checked)
{
    const char *comment = memmem(line.at, line.size, "//", 2);
    if (comment && comment < at) return true;
    return begins(line, "#if ") && !contains(line, "||") &&
           (contains(line, "#if defined(__CUDACC_RTC__)") || contains(line, "!defined(__clang__)") ||
            (contains(line, "#if defined(HS_CHECK)") && !checked));
}

static bool hears(span text, span name, bool checked)
{
    for (const char *at = text.at, *end = text.at + text.size; (at = memmem(at, (size_t)(end - at), name.at, name.size)); at += name.size) {
        const char *line = memrchr(text.at, '\n', (size_t)(at - text.at));
        if (!is_deaf(line_at(line ? line + 1 : text.at, end), at, checked)) return true;
    }
    return false;
}

static const span *define_of(const page *p, span name)
{
    for (size_t i = 0; i < p->define_count; i++)
        if (same(define_name(p->defines[i]), name)) return &p->defines[i];
    return NULL;
}

/* True if no define of page `from` would change what page `to` means when both are one text. */
static bool bears(const page *to, const page *from)
{
    for (size_t i = 0; i < from->define_count; i++) {
        const span name = define_name(from->defines[i]), *own = define_of(to, name);
        if (own && !same(*own, from->defines[i])) return false;
        for (size_t k = 0; k < to->part_count && !own; k++)
            if (hears(to->parts[k].text, name, to->checked)) return false;
    }
    return true;
}

/* ---- groups */
static const part *part_of(const page *p, span name, size_t from)
{
    for (size_t i = from; i < p->part_count; i++)
        if (same(p->parts[i].name, name)) return &p->parts[i];
    return NULL;
}

static bool same_parts(const page *a, const page *b)
{
    for (size_t i = 0; i < a->part_count; i++) {
        const part *other = part_of(b, a->parts[i].name, 0);
        if (other && !same(other->text, a->parts[i].text)) return false;
    }
    return true;
}

static bool joins(const group *g, const page *p)
{
    for (size_t i = 0; i < g->count; i++)
        if (!same_parts(g->pages[i], p) || !bears(g->pages[i], p) || !bears(p, g->pages[i])) return false;
    return g->count < MOST_PAGES;
}

/* ---- the text of a group */
static void put_defines(const group *g, FILE *to)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->pages[i]->define_count; k++) {
            const span line = g->pages[i]->defines[k];
            bool known = false;
            for (size_t j = 0; j < i && !known; j++) known = define_of(g->pages[j], define_name(line)) != NULL;
            if (!known) fwrite(line.at, 1, line.size, to);
        }
}

/* True if p can be written now: it is the next part of every page that still needs it. */
static bool is_next(const group *g, const size_t *done, const part *p)
{
    for (size_t i = 0; i < g->count; i++) {
        const part *own = part_of(g->pages[i], p->name, done[i]);
        if (own && own != &g->pages[i]->parts[done[i]]) return false;
    }
    return true;
}

static bool put_next(const group *g, size_t *done, FILE *to)
{
    for (size_t i = 0; i < g->count; i++) {
        if (done[i] == g->pages[i]->part_count) continue;
        const part *p = &g->pages[i]->parts[done[i]];
        if (!is_next(g, done, p)) continue;
        fwrite(p->text.at, 1, p->text.size, to);
        for (size_t k = 0; k < g->count; k++)
            if (done[k] < g->pages[k]->part_count && same(g->pages[k]->parts[done[k]].name, p->name)) done[k]++;
        return true;
    }
    return false;
}

/* All parts once, in an order that agrees with each page's. NULL: there is no such order, or no memory. The caller frees it. */
static char *text_of(const group *g, size_t *size)
{
    size_t done[MOST_PAGES] = {0}, left = 0;
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) return NULL;
    put_defines(g, to);
    while (put_next(g, done, to)) {
    }
    for (size_t i = 0; i < g->count; i++) left += g->pages[i]->part_count - done[i];
    if (fclose(to) == 0 && !left) return text;
    free(text);
    return NULL;
}

/* ---- compiling them */
static void take(group *groups, size_t *count, const page *p)
{
    size_t i = 0;
    while (i < *count && !joins(&groups[i], p)) i++;
    if (i == *count) groups[(*count)++].count = 0;
    groups[i].pages[groups[i].count++] = p;
}

/* NULL: it failed, or the compiler had messages. Each page is then compiled alone, so that messages name the right one. */
static host_module *compile_group(const group *g, const page *first, const host_page *pages, const host_compile_options *options)
{
    host_log log = {0};
    host_module *m = NULL;
    size_t size = 0;
    char *text = text_of(g, &size), *name = printed("%s and %zu more", pages[g->pages[0] - first].name, g->count - 1);
    host_compile_options o = *options;
    o.name = name;
    if (text && name && host_compile(text, size, &o, &m, &log) == HOST_OK && log.size) {
        host_module_free(m);
        m = NULL;
    }
    for (size_t i = 0; m && i < g->count; i++) {
        const host_page *p = &pages[g->pages[i] - first];
        m->places = page_places_join(page_places_read(p->text, p->size, p->name), m->places);
    }
    host_log_free(&log);
    free(text);
    free(name);
    return m;
}

static void compile_groups(const group *groups, size_t count, const page *first, const host_page *pages, const host_compile_options *o,
                           host_module **out)
{
    for (size_t i = 0; i < count; i++) {
        const group *g = &groups[i];
        host_module *m = g->count > 1 ? compile_group(g, first, pages, o) : NULL;
        for (size_t k = 0; m && k < g->count; k++) out[g->pages[k] - first] = host_module_share(m);
        host_module_free(m);
    }
}

void host_compile_together(const host_page *pages, size_t count, const host_compile_options *o, host_module **out)
{
    page *read = count > 1 && cc_level(o) == 0 ? malloc(count * sizeof *read) : NULL;
    group *groups = read ? malloc(count * sizeof *groups) : NULL;
    size_t group_count = 0;
    for (size_t i = 0; groups && i < count; i++)
        if (read_page(&read[i], &pages[i])) read[i].checked = o->check, take(groups, &group_count, &read[i]);
    if (groups) compile_groups(groups, group_count, read, pages, o, out);
    free(groups);
    free(read);
}
