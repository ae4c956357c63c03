/* In: a packed weight of an emitted plan. Out: signature.h: a hash of what its pack kernel computes, then the names of the params that it
 * reads. Refuses nothing: what differs in the text alone is packed twice. */
#define _GNU_SOURCE
#include "runtime/module/signature.h"
#include <ctype.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The names of kernel and struct end so; they are of the plan, not of what is packed. */
static bool is_own_name(const char *word, size_t size)
{
    static const char end[] = "_pack";
    return size > sizeof end - 1 && memcmp(word + size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* A line of the source without the names of its own. Where the spec has it, in #line and in a comment behind it, is no matter. */
static void add_line(text *t, const char *line, size_t size)
{
    const char *comment = memmem(line, size, " // !", 5);
    if (*line == '#') return;
    if (comment) size = (size_t)(comment - line);
    for (size_t at = 0; at < size;) {
        size_t n = 0;
        while (at + n < size && is_word(line[at + n])) n++;
        if (!n) n = 1;
        if (is_own_name(line + at, n)) text_printf(t, "_pack");
        else text_append(t, line + at, n);
        at += n;
    }
    text_printf(t, "\n");
}

const char *pack_signature(arena *a, const packed_weight *w)
{
    text kernel = {.a = a}, signature = {.a = a};
    for (const char *p = w->source.body; *p;) {
        const size_t n = strcspn(p, "\n");
        add_line(&kernel, p, n);
        p += n + (p[n] == '\n');
    }
    const XXH128_hash_t hash = XXH3_128bits(kernel.data, kernel.size);
    text_printf(&signature, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    for (int i = 0; i < w->argument_count; i++)
        if (w->arguments[i].kind == argument_value) text_printf(&signature, " %s", w->arguments[i].value->name);
    return signature.data;
}
