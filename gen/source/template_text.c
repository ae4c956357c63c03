/* In: nothing at run time; the templates' files at build time. Out: their texts by name. Refuses (NULL) unknown names.
 * The assembler brings the files in as they are, so the binary needs no folder of templates. */
#include "gen/source/template_text.h"
#include "gen/emit/writer.h"
#include <string.h>

#define TEMPLATE(id, path, users)                                                                                                      \
    __asm__(".pushsection .rodata\n.global tfgen_template_" #id "\n.hidden tfgen_template_" #id "\ntfgen_template_" #id                \
            ":\n.incbin \"" path "\"\n.global tfgen_template_end_" #id "\n.hidden tfgen_template_end_" #id "\ntfgen_template_end_" #id \
            ":\n.byte 0\n.popsection\n");                                                                                              \
    extern const char tfgen_template_##id[] __attribute__((visibility("hidden")));                                                     \
    extern const char tfgen_template_end_##id[] __attribute__((visibility("hidden")));
#include "gen/source/template.def"

typedef struct template_bounds {
    const char *name, *begin, *end;
    unsigned users;
} template_bounds;

static const template_bounds bounds[] = {
#define TEMPLATE(id, path, users) {path, tfgen_template_##id, tfgen_template_end_##id, users},
#include "gen/source/template.def"
};
enum { template_count = sizeof bounds / sizeof *bounds };

unsigned template_uses(program_kind kind, const target_info *target)
{
    const unsigned own = 1u << kind;
    if (kind != program_gemm_frag) return own;
    if (!target) return own | use_pieces_mma | use_pieces_mfma | use_pieces_wmma;
    return own | (target_has(target, layer_mfma) ? use_pieces_mfma : target_has(target, layer_wmma) ? use_pieces_wmma : use_pieces_mma);
}

void template_target(text *out, const target_info *target)
{
    static const char *const vendors[] = {"HOST", "AMD", "NVIDIA"};
    text_printf(out, "#define TF_TARGET_%s 1\n#define TF_WAVE %d\n", vendors[target->vendor], target->wave);
}

size_t template_total(void) { return template_count; }

template_text template_at(size_t i)
{
    return (template_text){bounds[i].name, bounds[i].begin, (size_t)(bounds[i].end - bounds[i].begin), bounds[i].users};
}

static bool starts(const char *line, size_t size, const char *with)
{
    const size_t n = strlen(with);
    return size >= n && memcmp(line, with, n) == 0;
}

/* What another file of the same text would say again. */
static bool is_left_out(const char *line, size_t size) { return starts(line, size, "#pragma once") || starts(line, size, "#include \""); }

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

void template_append(text *out, size_t i, bool traced)
{
    const template_text t = template_at(i);
    text_printf(out, "#line 1 \"%s\"\n", t.name);
    for (size_t at = 0; at < t.size;) {
        const char *end = memchr(t.data + at, '\n', t.size - at);
        const size_t size = end ? (size_t)(end - t.data) - at : t.size - at;
        if (!is_left_out(t.data + at, size)) append_line(out, t.data + at, size, traced);
        text_append(out, "\n", 1);
        at += size + 1;
    }
}

static size_t total_size(unsigned uses)
{
    size_t size = 1;
    for (size_t i = 0; i < template_count; i++)
        if (bounds[i].users & uses) size += (size_t)(bounds[i].end - bounds[i].begin) + strlen(bounds[i].name) + sizeof "#line 1 \"\"\n\n";
    return size;
}

const template_set *templates_find(arena *a, template_set **known, unsigned uses)
{
    for (const template_set *s = *known; s; s = s->next)
        if (s->uses == uses) return s;
    const size_t size = total_size(uses);
    text out = {.a = a, .data = arena_alloc(a, size), .capacity = size};
    template_set *made = arena_alloc(a, sizeof *made);
    for (size_t i = 0; i < template_count; i++)
        if (bounds[i].users & uses) template_append(&out, i, uses & use_trace);
    *made = (template_set){uses, out.data, count_lines(out.data), *known};
    return *known = made;
}
