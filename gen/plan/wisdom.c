/* Contract: gen/plan/wisdom.h. The text is not trusted. Whether a tile is legal for a phase is checked by gen/plan/tile.c, when an entry is
 * used. */
#include "gen/plan/wisdom.h"
#include "gen/source/template_text.h"
#include "ir/base/number.h"
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char wisdom_head[] = "wisdom 1\n";

/* ---- versions */
static uint64_t mixed(uint64_t hash, const char *s, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3ull; /* FNV-1a */
    return hash;
}

/* The index of the first character after the comment that begins at i. */
static size_t comment_end(const char *s, size_t size, size_t i)
{
    if (s[i + 1] == '/') {
        const char *end = memchr(s + i, '\n', size - i);
        return end ? (size_t)(end - s) : size;
    }
    for (i += 2; i + 1 < size && !(s[i] == '*' && s[i + 1] == '/'); i++) {}
    return i + 2;
}

/* Hashes code without comments, blanks, and what emission leaves out: some lines, and TF_TRACED parts. */
static uint64_t mixed_code(uint64_t hash, const char *s, size_t size)
{
    bool begins = true; /* at the start of a line */
    for (size_t i = 0, skip; i < size; i += skip) {
        const char c = s[i], next = i + 1 < size ? s[i + 1] : 0;
        const char *end = begins && template_line_is_left_out(s + i, size - i) ? memchr(s + i, '\n', size - i) : NULL;
        skip = 1;
        if (end) skip = (size_t)(end - s) - i;
        else if (c == '/' && (next == '/' || next == '*')) skip = comment_end(s, size, i) - i;
        else if (c == ' ') skip += template_traced(s + i, size - i) ? template_traced(s + i, size - i) - 1 : 0;
        else if (c != '\t' && c != '\n') hash = mixed(hash, &c, 1);
        begins = c == '\n' && !end;
    }
    return hash;
}

/* Computes a program's version. Templates that every source includes are left out. */
static uint64_t count_version(program_kind kind)
{
    const program_info *p = &program_table[kind];
    const template_choice common = templates_common();
    template_choice own = {0};
    program_templates(&own, program_at(kind), NULL);
    uint64_t hash = mixed(0xcbf29ce484222325ull, p->name, strlen(p->name));
    for (int i = 0; i < template_count; i++) {
        const template_text t = template_at((template_id)i);
        if (own.has[i] && !common.has[i]) hash = mixed_code(hash, t.data, t.size);
    }
    for (int i = 0; i < p->field_count; i++)
        if (p->fields[i].help) hash = mixed(hash, p->fields[i].name, strlen(p->fields[i].name) + 1);
    return hash ^ hash >> 32;
}

const char *program_version(program_kind kind)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char known[program_count][9];
    pthread_mutex_lock(&lock);
    if (!*known[kind]) snprintf(known[kind], sizeof known[kind], "%08x", (unsigned)count_version(kind));
    pthread_mutex_unlock(&lock);
    return known[kind];
}

typedef struct former_program {
    program_kind program;
    const char *name, *version;
} former_program;

static const former_program formers[] = {
#define FORMER(program, name, former) {program_##program, name, former},
#include "gen/plan/former.def"
};
static const char *const followers[program_count] = { /* by program: the version to which the rows of former.def apply */
#define VERSION(program, version) [program_##program] = version,
#include "gen/plan/former.def"
};
enum { former_count = sizeof formers / sizeof *formers };

program_kind program_recalled(const char *name)
{
    program_kind kind = program_named(name);
    for (int i = 0; i < former_count && !kind; i++)
        if (strcmp(formers[i].name, name) == 0) kind = formers[i].program;
    return kind;
}

bool version_serves(program_kind kind, const char *now, const char *version)
{
    if (strcmp(version, now) == 0) return true;
    if (!followers[kind] || strcmp(followers[kind], now) != 0) return false;
    for (int i = 0; i < former_count; i++)
        if (formers[i].program == kind && strcmp(formers[i].version, version) == 0) return true;
    return false;
}

/* ---- reading */
typedef struct line_reader {
    arena *a;
    const char *at; /* ends in a NUL */
} line_reader;

/* The next word of the line; "" at its end. */
static const char *next_word(line_reader *r)
{
    r->at += strspn(r->at, " \t");
    const size_t size = strcspn(r->at, " \t");
    const char *word = arena_strndup(r->a, r->at, size);
    r->at += size;
    return word;
}

static bool read_count(const char *s, long long most, long long *out)
{
    char *end;
    if (*s < '0' || *s > '9') return false;
    *out = strtoll(s, &end, 10);
    return !*end && *out <= most;
}

static program_kind read_program(line_reader *r, wisdom_entry *e)
{
    const char *word = next_word(r), *at = strchr(word, '@');
    const char *name = at ? arena_strndup(r->a, word, (size_t)(at - word)) : word;
    e->version = at ? at + 1 : "";
    const program_kind kind = program_recalled(name);
    if (!kind) e->stale = arena_printf(r->a, "there is no program '%s'", name);
    return kind;
}

static void read_sizes(line_reader *r, wisdom_entry *e)
{
    const char *word = next_word(r);
    if (strncmp(word, "rows=", 5) != 0 || !read_count(word + 5, 1ll << 40, &e->size.rows)) {
        e->stale = "expected rows=NUMBER after the device";
        return;
    }
    const char *before = r->at;
    word = next_word(r);
    if (strncmp(word, "keys=", 5) != 0) r->at = before;
    else if (!read_count(word + 5, 1ll << 40, &e->size.keys)) e->stale = "expected keys=NUMBER";
}

static void read_signature(line_reader *r, wisdom_entry *e)
{
    const char *word = next_word(r);
    const size_t size = strlen(word);
    e->signature = size ? signature_today(r->a, arena_strndup(r->a, word, size - 1)) : "";
    if (size < 2 || word[size - 1] != ':') e->stale = "expected a signature followed by a colon";
}

static bool is_date(const char *s)
{
    static const char form[] = "0000-00-00";
    if (strlen(s) != sizeof form - 1) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-' ? s[i] != '-' : s[i] < '0' || s[i] > '9') return false;
    return true;
}

/* Reads what follows #; unknown words are ignored. */
static void read_measured(line_reader *r, wisdom_entry *e)
{
    e->date = "";
    for (const char *word = next_word(r); *word; word = next_word(r)) {
        const char *equals = strchr(word, '=');
        if (!equals) continue;
        const size_t key = (size_t)(equals - word);
        double us;
        const bool sensible = number_parse(equals + 1, &us) && us > 0 && us < 1e12;
        if (key == 2 && memcmp(word, "us", key) == 0 && sensible) e->seconds = us * 1e-6;
        if (key == 10 && memcmp(word, "default_us", key) == 0 && sensible) e->default_seconds = us * 1e-6;
        if (key == 4 && memcmp(word, "date", key) == 0 && is_date(equals + 1)) e->date = equals + 1;
    }
}

static void read_settings(line_reader *r, wisdom_entry *e)
{
    const char *word;
    for (word = next_word(r); !e->stale && *word && *word != '#'; word = next_word(r)) e->stale = tile_read_setting(r->a, word, &e->tile);
    if (*word == '#') read_measured(r, e);
    tile_add_new_fields(&e->tile);
    const program_info *p = &program_table[e->tile.program];
    for (int i = 0; !e->stale && i < p->field_count; i++)
        if (p->fields[i].help && !(e->tile.given & 1u << i))
            e->stale = arena_printf(r->a, "it lacks the field %s of %s", p->fields[i].name, p->name);
}

/* Called when the tile has been read, so that an entry with an old version still has its key and tile. An entry that is still valid gets
 * today's version, and is written with it. */
static void check_version(line_reader *r, wisdom_entry *e)
{
    const program_kind kind = e->tile.program;
    const char *now = program_version(kind);
    e->former = strcmp(e->version, now) != 0; /* also if a name changed: names are part of the version */
    if (version_serves(kind, now, e->version)) e->version = now;
    else e->stale = arena_printf(r->a, "%s has changed: its version is %s, the line's is '%s'", program_table[kind].name, now, e->version);
}

static void read_entry(line_reader *r, wisdom_entry *e)
{
    e->signature = e->device = e->target = e->date = "";
    e->tile = tile_of_program(read_program(r, e));
    e->target = next_word(r);
    e->device = next_word(r);
    if (!e->stale) read_sizes(r, e);
    if (!e->stale) read_signature(r, e);
    if (!e->stale && !target_find(e->target)) e->stale = arena_printf(r->a, "there is no target '%s'", e->target);
    if (!e->stale) read_settings(r, e);
    if (!e->stale) check_version(r, e);
}

static void add_entry(wisdom *w, wisdom_entry *e)
{
    wisdom_entry *first = names_find(&w->signatures, e->signature);
    if (e->stale) return;
    if (first) e->other = first->other, first->other = e;
    else names_add(&w->signatures, e->signature, e);
}

static void read_line(line_reader *r, wisdom *w, const char *line, size_t size, int number)
{
    const bool zero = memchr(line, 0, size) != NULL;
    r->at = text_harmless(r->a, line);
    r->at += strspn(r->at, " \t");
    if (!zero && (!*r->at || *r->at == '#')) return;
    wisdom_entry *e = &w->list[w->count++];
    *e = (wisdom_entry){.line = number, .text = r->at};
    read_entry(r, e);
    if (zero) e->stale = "it has a zero byte";
    add_entry(w, e);
}

static wisdom *refused(arena *a, wisdom *w, size_t size, const char *why)
{
    if (size) w->refused = why;
    w->list = arena_alloc(a, sizeof *w->list);
    w->list[0] = (wisdom_entry){.line = 1, .text = "", .signature = "", .device = "", .target = "", .date = "", .stale = why};
    w->count = 1;
    return w;
}

/* Why the first line is not that of a wisdom file of this version. */
static const char *head_refusal(arena *a, const char *data, size_t size)
{
    static const char word[] = "wisdom ";
    const size_t n = sizeof word - 1;
    size_t digits = 0;
    if (size < n || memcmp(data, word, n) != 0) return "the file does not begin with 'wisdom 1'";
    while (n + digits < size && data[n + digits] >= '0' && data[n + digits] <= '9') digits++;
    const bool version = digits && digits < 10 && n + digits < size && data[n + digits] == '\n';
    if (!version) return "the file does not begin with 'wisdom 1'";
    return arena_printf(a, "the file is wisdom of version %.*s; this tfgen reads version 1", (int)digits, data + n);
}

wisdom *wisdom_read(arena *a, const char *data, size_t size)
{
    wisdom *w = arena_alloc(a, sizeof *w);
    w->signatures = (name_map){.a = a};
    const size_t head = sizeof wisdom_head - 1;
    if (size > most_wisdom_bytes) return refused(a, w, size, arena_printf(a, "the file has more than %d bytes", most_wisdom_bytes));
    if (size < head || memcmp(data, wisdom_head, head) != 0) return refused(a, w, size, head_refusal(a, data, size));
    size_t lines = 1;
    for (size_t i = head; i < size; i++) lines += data[i] == '\n';
    if (lines > most_wisdom_lines) return refused(a, w, size, arena_printf(a, "the file has more than %d lines", most_wisdom_lines));
    line_reader *r = arena_alloc(a, sizeof *r);
    r->a = a;
    w->list = arena_alloc(a, (lines + 1) * sizeof *w->list);
    int number = 1;
    for (const char *at = data + head, *end = data + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at), own = length - (length && at[length - 1] == '\r');
        read_line(r, w, arena_strndup(a, at, own), own, ++number);
        at += length + 1;
    }
    return w;
}

/* ---- writing */
/* Writes microseconds to a tenth of a nanosecond, so that reading and writing again does not change the text. */
static void put_time(text *t, const char *name, double seconds)
{
    if (!(seconds > 0)) return;
    text_printf(t, " %s=", name);
    text_number(t, round(seconds * 1e10) / 1e4);
}

void wisdom_put(text *t, const wisdom_entry *e)
{
    const program_info *p = &program_table[e->tile.program];
    text_printf(t, "%s@%s %s %s rows=%lld", p->name, e->version, e->target, e->device, e->size.rows);
    if (e->size.keys) text_printf(t, " keys=%lld", e->size.keys);
    text_printf(t, " %s:", e->signature);
    for (int i = 0; i < p->field_count; i++)
        if (p->fields[i].help) text_printf(t, " %s=%d", p->fields[i].name, e->tile.at[i]);
    const bool measured = e->seconds > 0 || e->default_seconds > 0 || *e->date;
    if (measured) text_printf(t, " #");
    put_time(t, "us", e->seconds), put_time(t, "default_us", e->default_seconds);
    if (*e->date) text_printf(t, " date=%s", e->date);
    text_printf(t, "\n");
}

wisdom_entry wisdom_of(arena *a, const ir_graph *p, const target_info *target, const char *device, const ir_phase *phase)
{
    return (wisdom_entry){.target = target->name,
                          .device = device,
                          .signature = phase_signature(a, p, phase),
                          .version = program_version(phase->tile.program),
                          .size = phase_size_of(a, p, phase),
                          .tile = phase->tile,
                          .date = "",
                          .text = ""};
}

bool wisdom_same_key(const wisdom_entry *x, const wisdom_entry *y)
{
    return strcmp(x->signature, y->signature) == 0 && strcmp(x->device, y->device) == 0 && strcmp(x->target, y->target) == 0 &&
           x->size.rows == y->size.rows && x->size.keys == y->size.keys;
}

const wisdom_entry *wisdom_better(const wisdom_entry *x, const wisdom_entry *y)
{
    if (!x->stale != !y->stale) return x->stale ? y : x;
    const int newer = strcmp(x->date, y->date);
    if (newer) return newer > 0 ? x : y;
    if (x->seconds != y->seconds && x->seconds > 0 && y->seconds > 0) return x->seconds < y->seconds ? x : y;
    for (int i = 0; i < most_tile_fields; i++)
        if (x->tile.at[i] != y->tile.at[i]) return x->tile.at[i] < y->tile.at[i] ? x : y; /* so that the order of files does not matter */
    return x;
}

/* ---- looking up */
const char *wisdom_device(arena *a, const device_model *d, const char *label)
{
    if (!label || !d->match || strstr(label, d->match)) return d->name;
    char *name = arena_strdup(a, label);
    for (char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '-';
    return *name ? name : d->name;
}

static double ratio(long long x, long long y) { return x == y ? 1 : x > 0 && y > 0 ? (x > y ? (double)x / y : (double)y / x) : INFINITY; }

static double distance(const wisdom_entry *e, phase_size size)
{
    const double rows = ratio(e->size.rows, size.rows), keys = ratio(e->size.keys, size.keys);
    return rows <= wisdom_reach && keys <= wisdom_reach ? rows * keys : INFINITY;
}

static void insert(const wisdom_entry **list, int count, const wisdom_entry *e, phase_size size)
{
    int at = count;
    for (; at > 0; at--) {
        const double before = distance(list[at - 1], size), mine = distance(e, size);
        if (before < mine || (before == mine && wisdom_better(list[at - 1], e) == list[at - 1])) break;
        list[at] = list[at - 1];
    }
    list[at] = e;
}

const wisdom_entry **wisdom_find(arena *a, const wisdom *w, const target_info *target, const char *device, const char *signature,
                                 phase_size size, int *count)
{
    enum { most = 8 };
    const wisdom_entry **list = arena_alloc(a, (most + 1) * sizeof *list);
    *count = 0;
    for (const wisdom_entry *e = names_find(&w->signatures, signature); e; e = e->other) {
        if (strcmp(e->target, target->name) != 0 || strcmp(e->device, device) != 0 || isinf(distance(e, size))) continue;
        insert(list, *count, e, size);
        if (*count < most) ++*count;
    }
    return list;
}
