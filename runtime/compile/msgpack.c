/* In: MessagePack bytes. Out: values one by one, or one skipped whole. Refuses truncated input, nesting beyond
 * max_depth and wrong types, by setting `bad`. */
#include "runtime/compile/msgpack.h"
#include <string.h>

enum { max_depth = 64 };

typedef enum kind {
    kind_none,
    kind_nil,
    kind_bool,
    kind_uint,
    kind_int,
    kind_float,
    kind_str,
    kind_bin,
    kind_ext,
    kind_array,
    kind_map
} kind;
/* A value's first byte, its kind, and how many bytes of big-endian length (or value) follow the first byte. */
typedef struct form {
    unsigned char first;
    kind what;
    unsigned char bytes;
} form;
static const form forms[] = {
    {0xc0, kind_nil, 0},   {0xc2, kind_bool, 0}, {0xc3, kind_bool, 0},  {0xc4, kind_bin, 1},   {0xc5, kind_bin, 2},
    {0xc6, kind_bin, 4},   {0xc7, kind_ext, 1},  {0xc8, kind_ext, 2},   {0xc9, kind_ext, 4},   {0xca, kind_float, 4},
    {0xcb, kind_float, 8}, {0xcc, kind_uint, 1}, {0xcd, kind_uint, 2},  {0xce, kind_uint, 4},  {0xcf, kind_uint, 8},
    {0xd0, kind_int, 1},   {0xd1, kind_int, 2},  {0xd2, kind_int, 4},   {0xd3, kind_int, 8},   {0xd9, kind_str, 1},
    {0xda, kind_str, 2},   {0xdb, kind_str, 4},  {0xdc, kind_array, 2}, {0xdd, kind_array, 4}, {0xde, kind_map, 2},
    {0xdf, kind_map, 4},
};

static size_t left(const msgpack *m) { return (size_t)(m->end - m->at); }

static uint64_t fail(msgpack *m)
{
    m->bad = true;
    m->at = m->end;
    return 0;
}

static uint64_t big_endian(msgpack *m, unsigned bytes)
{
    if (left(m) < bytes) return fail(m);
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) v = v << 8 | *m->at++;
    return v;
}

/* The head of the next value: its kind, and its value or length. */
static kind head(msgpack *m, uint64_t *value)
{
    *value = 0;
    if (m->bad || !left(m)) return fail(m), kind_none;
    const unsigned char first = *m->at++;
    if (first < 0x80) return *value = first, kind_uint;
    if (first < 0x90) return *value = first & 15, kind_map;
    if (first < 0xa0) return *value = first & 15, kind_array;
    if (first < 0xc0) return *value = first & 31, kind_str;
    if (first >= 0xe0) return kind_int;
    if (first >= 0xd4 && first <= 0xd8) return *value = 1u << (first - 0xd4), kind_ext;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].first == first) {
            *value = big_endian(m, forms[i].bytes);
            return m->bad ? kind_none : forms[i].what;
        }
    return fail(m), kind_none;
}

static size_t count_of(msgpack *m, kind want, unsigned values_each)
{
    uint64_t n;
    if (head(m, &n) != want || n > left(m) / values_each) return fail(m);
    return n;
}

size_t msgpack_map(msgpack *m) { return count_of(m, kind_map, 2); }
size_t msgpack_array(msgpack *m) { return count_of(m, kind_array, 1); }

uint64_t msgpack_unsigned(msgpack *m)
{
    uint64_t v;
    return head(m, &v) == kind_uint ? v : fail(m);
}

const char *msgpack_string(msgpack *m, size_t *length)
{
    uint64_t n;
    *length = 0;
    if (head(m, &n) != kind_str || n > left(m)) return fail(m), NULL;
    const char *s = (const char *)m->at;
    m->at += n;
    *length = n;
    return s;
}

static void skip_deep(msgpack *m, int depth)
{
    uint64_t n;
    const kind k = head(m, &n);
    if (k == kind_str || k == kind_bin || k == kind_ext) {
        n += k == kind_ext; /* the type byte */
        if (n > left(m))
            fail(m);
        else
            m->at += n;
    } else if (k == kind_map || k == kind_array) {
        const unsigned each = k == kind_map ? 2 : 1;
        if (depth == 0 || n > left(m) / each) fail(m);
        for (uint64_t i = 0; i < n * each && !m->bad; i++) skip_deep(m, depth - 1);
    }
}

void msgpack_skip(msgpack *m) { skip_deep(m, max_depth); }
