/* In: edited kernels, plans. Out: plans with the edits (runtime/cli/source_edits.h). A three-way merge: texts are compared by lines, then
 * by words, ignoring blanks and #line (Myers, An O(ND) difference algorithm, Algorithmica 1, 1986), and a change is repeated in the
 * matching line of the other text, or in the line that has all its words. */
#include "runtime/cli/source_edits.h"
#include "runtime/cli/cli.h"
#include "gen/source/by_hand.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- sources of a plan */
static int unit_count(const plan *p) { return p->pack_count + p->launch_count; }

static source_text *unit_source(const plan *p, int i)
{
    return i < p->pack_count ? &p->packs[i].source : &p->launches[i - p->pack_count].source;
}

static const char *unit_file(arena *a, const plan *p, int i)
{
    return i < p->pack_count ? arena_printf(a, "%s.hip", p->packs[i].name) : p->launches[i - p->pack_count].file;
}

static void replace(arena *a, source_text *s, const char *whole) { *s = (source_text){whole, arena_strdup(a, ""), arena_strdup(a, "")}; }

/* ---- pieces: lines of a text, words of a line */
typedef struct piece {
    const char *start; /* where the piece before ended: includes leading blanks, and #line before a line */
    const char *at;
    int size;
} piece;

typedef struct piece_list {
    piece *items;
    int count;
} piece_list;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static piece next_word(const char *from, const char *end)
{
    piece p = {from, from, 0};
    while (p.at < end && isspace((unsigned char)*p.at)) p.at++;
    if (p.at < end && !is_word(*p.at)) p.size = 1;
    while (p.at + p.size < end && is_word(p.at[p.size])) p.size++;
    return p;
}

static piece_list words_of(arena *a, const piece *line)
{
    piece_list l = {arena_alloc(a, ((size_t)line->size + 1) * sizeof *l.items), 0};
    const char *end = line->at + line->size;
    for (piece p = next_word(line->at, end); p.size; p = next_word(p.at + p.size, end)) l.items[l.count++] = p;
    return l;
}

static piece_list lines_of(arena *a, const char *text)
{
    size_t room = 2;
    for (const char *p = text; *p; p++) room += *p == '\n';
    piece_list l = {arena_alloc(a, room * sizeof *l.items), 0};
    for (const char *start = text, *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, "#line", 5) == 0) continue;
        l.items[l.count++] = (piece){start, at, (int)strcspn(at, "\n")};
        start = at + strcspn(at, "\n");
    }
    return l;
}

/* Equal apart from blanks. */
static bool same_piece(const piece *x, const piece *y)
{
    int i = 0, k = 0;
    while (true) {
        while (i < x->size && isspace((unsigned char)x->at[i])) i++;
        while (k < y->size && isspace((unsigned char)y->at[k])) k++;
        if (i == x->size || k == y->size) return i == x->size && k == y->size;
        if (x->at[i++] != y->at[k++]) return false;
    }
}

/* ---- differences */
enum { most_differences = 3000 }; /* between two lists; the search needs memory in proportion to its square */

typedef struct search {
    const piece *x, *y;
    int n, m;
    int *reached[most_differences + 1]; /* by number of differences d: the furthest x on diagonal k at [k + d] */
} search;

static void free_search(void *search_)
{
    search *s = search_;
    for (int d = 0; d <= most_differences; d++) free(s->reached[d]);
}

static bool goes_down(const search *s, int d, int k)
{
    return k == -d || (k != d && s->reached[d - 1][k - 1 + d - 1] < s->reached[d - 1][k + 1 + d - 1]);
}

/* Extends every diagonal by one difference, then by all equal pieces. True: the end is reached. */
static bool extend(search *s, int d)
{
    bool done = false;
    for (int k = -d; k <= d && !done; k += 2) {
        int x = d == 0 ? 0 : goes_down(s, d, k) ? s->reached[d - 1][k + 1 + d - 1] : s->reached[d - 1][k - 1 + d - 1] + 1;
        while (x < s->n && x - k < s->m && x - k >= 0 && same_piece(&s->x[x], &s->y[x - k])) x++;
        s->reached[d][k + d] = x;
        done = x >= s->n && x - k >= s->m;
    }
    return done;
}

/* Walks the path back from the end and records the pairs of equal pieces. */
static void pair_up(const search *s, int d, int *map, int first)
{
    int x = s->n, y = s->m;
    for (; d >= 0; d--) {
        const int k = x - y;
        const bool down = d > 0 && goes_down(s, d, k);
        const int from = d == 0 ? 0 : down ? s->reached[d - 1][k + 1 + d - 1] : s->reached[d - 1][k - 1 + d - 1] + 1;
        while (x > from) x--, y--, map[first + x] = first + y;
        if (d == 0) return;
        if (down)
            y--;
        else
            x--;
    }
}

/* For each piece of x the index of the matching piece of y, or -1. */
static int *align(arena *a, piece_list x, piece_list y)
{
    int *map = arena_alloc(a, ((size_t)x.count + 1) * sizeof *map), first = 0, last = 0;
    const int least = x.count < y.count ? x.count : y.count;
    for (int i = 0; i < x.count; i++) map[i] = -1;
    for (; first < least && same_piece(&x.items[first], &y.items[first]); first++) map[first] = first;
    for (; last < least - first && same_piece(&x.items[x.count - 1 - last], &y.items[y.count - 1 - last]); last++)
        map[x.count - 1 - last] = y.count - 1 - last;
    search *s = arena_alloc(a, sizeof *s);
    *s = (search){x.items + first, y.items + first, x.count - first - last, y.count - first - last, {0}};
    arena_defer(a, free_search, s);
    for (int d = 0; d <= most_differences; d++) {
        if (!(s->reached[d] = malloc((2 * (size_t)d + 1) * sizeof(int)))) bail(a, code_device, (position){0}, "not enough memory");
        if (!extend(s, d)) continue;
        pair_up(s, d, map, first);
        break;
    }
    return map;
}

/* ---- repeating a change in another text */
/* Pieces [from, to) of the text before became [start, end) of the text after. */
typedef struct change {
    int from, to, start, end;
} change;

/* The next change at or after piece *i of `before` and *j of `after`; false: there is none. */
static bool next_change(int before, int after, const int *in_after, int *i, int *j, change *out)
{
    while (*i < before && in_after[*i] == *j) ++*i, ++*j;
    if (*i == before && *j == after) return false;
    *out = (change){*i, *i, *j, *j};
    while (out->to < before && in_after[out->to] < 0) out->to++;
    out->end = out->to < before ? in_after[out->to] : after;
    *i = out->to, *j = out->end;
    return true;
}

static bool is_whole(const int *map, const change *c)
{
    for (int i = c->from; i < c->to; i++)
        if (map[i] < 0 || map[i] != map[c->from] + i - c->from) return false;
    return true;
}

static void copy_pieces(text *out, piece_list l, int from, int to)
{
    if (from < to) text_append(out, l.items[from].start, (size_t)(l.items[to - 1].at + l.items[to - 1].size - l.items[from].start));
}

/* Finds the pieces [*at, *end) of the other list that the change replaces: the matches of the changed pieces, or, if they have none, what
 * lies between the matches of their neighbours. False: the change has no place there. */
static bool span_in_other(const int *in_other, int before, int other, const change *c, int *at, int *end)
{
    const int low = c->from > 0 ? in_other[c->from - 1] : -1, high = c->to < before ? in_other[c->to] : other;
    if (c->from < c->to && in_other[c->from] >= 0 && is_whole(in_other, c)) {
        *at = in_other[c->from], *end = *at + c->to - c->from;
        return true;
    }
    if ((c->from > 0 && low < 0) || high < 0) return false;
    *at = low + 1, *end = c->from == c->to ? low + 1 : high;
    return *end >= *at;
}

/* The other text's version of a changed line, with the changed words replaced; NULL: a change has no place in it. */
static const char *merged_line(arena *a, const piece *before, const piece *after, const piece *other)
{
    const piece_list b = words_of(a, before), x = words_of(a, after), o = words_of(a, other);
    const int *in_after = align(a, b, x), *in_other = align(a, b, o);
    text out = {.a = a};
    int done = 0, at, end;
    change c;
    for (int i = 0, j = 0; next_change(b.count, x.count, in_after, &i, &j, &c);) {
        if (!span_in_other(in_other, b.count, o.count, &c, &at, &end) || at < done) return NULL;
        copy_pieces(&out, o, done, at);
        copy_pieces(&out, x, c.start, c.end);
        done = end;
        if (c.end == x.count || done == o.count || !same_piece(&x.items[c.end], &o.items[done])) continue;
        copy_pieces(&out, x, c.end, c.end + 1); /* keep the next word's blanks: "+=" is two words */
        done++;
    }
    copy_pieces(&out, o, done, o.count);
    return out.data;
}

typedef struct merging {
    arena *a;
    const source_edit *edit;
    piece_list before, after, other;
    int *in_other;                  /* by line of `before` */
    const char **instead, **behind; /* by line of `other`: its replacement, an insertion after it; or NULL */
    text *lost;
} merging;

/* The number of words up to the first "=", the target of a declaration or assignment; 0: none. */
static int assigned(piece_list words)
{
    for (int i = 0; i < words.count; i++)
        if (*words.items[i].at == '=') return i + 1;
    return 0;
}

static bool assigns_same(arena *a, const piece *x, const piece *y)
{
    const piece_list one = words_of(a, x), two = words_of(a, y);
    const int count = assigned(one);
    bool same = count > 0 && count == assigned(two);
    for (int i = 0; same && i < count; i++) same = same_piece(&one.items[i], &two.items[i]);
    return same;
}

/* The matching line of the other text: an equal one, else the only one with the same assignment target; -1: none. */
static int line_in_other(const merging *m, int i)
{
    int found = -1;
    if (m->in_other[i] >= 0) return m->in_other[i];
    for (int exact = 1; exact >= 0 && found < 0; exact--)
        for (int k = 0; k < m->other.count; k++) {
            const piece *mine = &m->before.items[i], *other = &m->other.items[k];
            if (!(exact ? same_piece(mine, other) : assigns_same(m->a, mine, other))) continue;
            if (found >= 0) return -1;
            found = k;
        }
    return found;
}

static bool change_line(merging *m, int i, int j)
{
    const int at = line_in_other(m, i);
    const piece *after = &m->after.items[j];
    if (at < 0) return false;
    m->instead[at] = same_piece(&m->before.items[i], &m->other.items[at])
                         ? arena_strndup(m->a, after->at, (size_t)after->size)
                         : merged_line(m->a, &m->before.items[i], after, &m->other.items[at]);
    return m->instead[at] != NULL;
}

static bool change_lines(merging *m, const change *c)
{
    text t = {.a = m->a};
    if (c->to - c->from == c->end - c->start) {
        for (int i = 0; i < c->to - c->from; i++)
            if (!change_line(m, c->from + i, c->start + i)) return false;
        return true;
    }
    for (int j = c->start; j < c->end; j++) text_printf(&t, "%s%.*s", t.size ? "\n" : "", m->after.items[j].size, m->after.items[j].at);
    if (c->from == c->to) {
        const int at = c->from > 0 ? line_in_other(m, c->from - 1) : -1;
        if (at >= 0) m->behind[at] = t.data;
        return at >= 0;
    }
    if (!is_whole(m->in_other, c)) return false;
    for (int i = c->from; i < c->to; i++) m->instead[m->in_other[i]] = "";
    m->instead[m->in_other[c->from]] = t.data ? t.data : "";
    return true;
}

static int line_number(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

static const char *merged_text(const merging *m)
{
    text out = {.a = m->a};
    for (int i = 0; i < m->other.count; i++) {
        const piece *p = &m->other.items[i];
        text_append(&out, p->start, (size_t)(p->at - p->start));
        if (m->instead[i])
            text_append(&out, m->instead[i], strlen(m->instead[i]));
        else
            text_append(&out, p->at, (size_t)p->size);
        if (m->behind[i]) text_printf(&out, "\n%s", m->behind[i]);
    }
    text_append(&out, "\n", 1);
    return out.data;
}

static const char *merged(arena *a, const source_edit *e, const char *other, text *lost)
{
    merging m = {a, e, lines_of(a, e->before), lines_of(a, e->after), lines_of(a, other), .lost = lost};
    const int *in_after = align(a, m.before, m.after);
    m.in_other = align(a, m.before, m.other);
    m.instead = arena_alloc(a, ((size_t)m.other.count + 1) * sizeof *m.instead);
    m.behind = arena_alloc(a, ((size_t)m.other.count + 1) * sizeof *m.behind);
    change c;
    for (int i = 0, j = 0; next_change(m.before.count, m.after.count, in_after, &i, &j, &c);)
        if (!change_lines(&m, &c))
            text_printf(lost, "%sthe edit at %s:%d does not apply there", lost->size ? "; " : "", e->file,
                        c.start < m.after.count ? line_number(e->after, m.after.items[c.start].at) : 1);
    return merged_text(&m);
}

/* ---- the folder */
/* False: nothing is there. Bails if it is not a regular file: reading a pipe would block. */
static bool is_file(arena *a, const char *path)
{
    struct stat at;
    if (stat(path, &at) != 0) return false;
    if (!S_ISREG(at.st_mode)) bail(a, code_usage, (position){0}, "--replace-source: %s is not a file", path);
    return true;
}

/* "// Written by tfgen: llama_o of specs/llama-block.yaml for host, wave 1. ...": host, wave 1. */
static const char *made_for(arena *a, const char *source)
{
    const char *line = arena_strndup(a, source, strcspn(source, "\n")), *at = NULL;
    for (const char *p = strstr(line, " for "); p; p = strstr(p + 1, " for ")) at = p + 5;
    return at ? arena_strndup(a, at, strcspn(at, ".")) : "an unknown target";
}

static bool same_but_places(arena *a, const char *x, const char *y)
{
    const piece_list one = lines_of(a, x + strcspn(x, "\n")), two = lines_of(a, y + strcspn(y, "\n"));
    bool same = one.count == two.count;
    for (int i = 0; same && i < one.count; i++) same = same_piece(&one.items[i], &two.items[i]);
    return same;
}

/* The next line of a plan's text without notes, reasons and spec positions, which do not change kernels. size 0: none. */
static piece next_said(const char *at)
{
    static const char *const unsaid[] = {"not ", "from ", "note "};
    for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *line = at + strspn(at, " "), *place = strstr(line, " !");
        const int size = (int)strcspn(line, "\n");
        bool says = size > 0;
        for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) says &= strncmp(line, unsaid[i], strlen(unsaid[i])) != 0;
        if (says) return (piece){at, line, place && place < line + size ? (int)(place - line) : size};
    }
    return (piece){at, at, 0};
}

/* A line of a plan's text with runs of blanks reduced to one. */
static const char *one_blank(arena *a, const piece *p)
{
    text t = {.a = a};
    for (int i = 0; i < p->size; i++)
        if (p->at[i] != ' ' || (i + 1 < p->size && p->at[i + 1] != ' ')) text_append(&t, &p->at[i], 1);
    return t.data ? t.data : "nothing more";
}

/* If the folder has the plan.ir that `tfgen emit` wrote, bails unless it has the same kernels, shapes and tiles as this plan. */
static void check_plan(arena *a, const char *folder, const plan *p)
{
    const char *path = arena_printf(a, "%s/plan.ir", folder);
    size_t size;
    if (!is_file(a, path)) return;
    const char *whole = cli_read_file(a, path, &size), *theirs = strstr(whole, "\nkernel ");
    const char *own = strstr(ir_print(a, p->ir), "\nkernel ");
    if (!theirs || !own) return;
    piece x = next_said(theirs), y = next_said(own);
    while (x.size && same_piece(&x, &y)) x = next_said(x.at + strcspn(x.at, "\n")), y = next_said(y.at + strcspn(y.at, "\n"));
    if (!same_piece(&x, &y))
        bail(a, code_usage, (position){0},
             "--replace-source: %s was emitted from another plan: line %d of its plan.ir is '%s', this plan has '%s'; give emit the same "
             "--dim, --dtype, --fusion, --tile and --device-model",
             folder, line_number(whole, x.at), one_blank(a, &x), one_blank(a, &y));
}

source_edits source_edits_apply(arena *a, const char *folder, plan *p)
{
    source_edits e = {folder, arena_alloc(a, ((size_t)unit_count(p) + 1) * sizeof *e.list), 0};
    int found = 0;
    for (int i = 0; folder && i < unit_count(p); i++) {
        const char *file = unit_file(a, p, i), *path = arena_printf(a, "%s/%s", folder, file);
        size_t size;
        if (!is_file(a, path)) continue;
        found++;
        const char *before = source_join(a, unit_source(p, i)), *after = cli_read_file(a, path, &size);
        if (strlen(after) != size) bail(a, code_bad_input, (position){0}, "%s: it has a NUL character", path);
        after = source_without_command(a, after);
        if (same_but_places(a, before, after)) continue;
        if (strcmp(made_for(a, before), made_for(a, after)) != 0)
            bail(a, code_usage, (position){0}, "--replace-source: %s was emitted for %s, this plan is for %s", path, made_for(a, after),
                 made_for(a, before));
        e.list[e.count++] = (source_edit){file, before, after};
        replace(a, unit_source(p, i), after);
    }
    if (found) check_plan(a, folder, p);
    if (folder && !found)
        bail(a, code_usage, (position){0}, "--replace-source: %s has no kernel of this plan (as %s, which `tfgen emit -o %s` writes)",
             folder, unit_file(a, p, p->pack_count), folder);
    return e;
}

void source_edits_merge(arena *a, const source_edits *edits, plan *p, text *lost)
{
    for (int i = 0; i < unit_count(p); i++)
        for (int k = 0; k < edits->count; k++)
            if (strcmp(edits->list[k].file, unit_file(a, p, i)) == 0)
                replace(a, unit_source(p, i), merged(a, &edits->list[k], source_join(a, unit_source(p, i)), lost));
}

void source_edits_check(arena *a, const source_edits *edits, const plan *given, const plan *ran)
{
    if (edits->count && given != ran)
        bail(a, code_compile_failed, (position){0},
             "--replace-source: a kernel spilled, and the plan that took its place has other sources");
}
