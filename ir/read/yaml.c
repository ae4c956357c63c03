/* In: the text of a YAML file, which may be hostile. Out: its tree, every node with line and column. Refuses: see
 * ir/read/yaml.h; every error has its place. libyaml's event parser reads the syntax; no object of it outlives yaml_read(). */
#include "ir/read/yaml.h"
#include "ir/base/names.h"
#include <string.h>
#include <yaml.h>

typedef struct yaml_reader {
    arena *a;
    yaml_parser_t parser;
    yaml_event_t event;
    const char *text;
    size_t size;
    int nodes;
} yaml_reader;

static void release(void *argument)
{
    yaml_reader *r = argument;
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser); /* zeroes the parser, so a second call does nothing */
}

static position place(yaml_mark_t mark) { return (position){(int)mark.line + 1, (int)mark.column + 1}; }

/* libyaml gives only an offset for a byte that it cannot read. */
static position place_of_offset(const char *text, size_t offset)
{
    position at = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            at = (position){at.line + 1, 1};
        else if ((text[i] & 0xc0) != 0x80)
            at.column++;
    }
    return at;
}

static bool tab_indents(const char *text, size_t size, yaml_mark_t mark)
{
    const char *s = text, *end = text + size;
    for (size_t line = 0; s < end && line < mark.line; s++) line += *s == '\n';
    for (size_t column = 0; s < end && column < mark.column && *s == ' '; column++) s++;
    return s < end && *s == '\t';
}

static _Noreturn void bail_parser(yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "unreadable";
    if (p->error == YAML_MEMORY_ERROR) bail(r->a, code_device, (position){0}, "not enough memory");
    if (p->error == YAML_READER_ERROR)
        bail(r->a, code_bad_input, place_of_offset(r->text, p->problem_offset), "not readable as YAML: %s", problem);
    if (tab_indents(r->text, r->size, p->problem_mark))
        bail(r->a, code_bad_input, place(p->problem_mark), "a tab cannot indent in YAML; use spaces");
    if (p->context && p->context_mark.line != p->problem_mark.line)
        bail(r->a, code_bad_input, place(p->problem_mark), "not readable as YAML: %s, %s at line %d", problem,
             p->context, (int)p->context_mark.line + 1);
    bail(r->a, code_bad_input, place(p->problem_mark), "not readable as YAML: %s", problem);
}

static yaml_event_type_t next_event(yaml_reader *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event)) bail_parser(r);
    return r->event.type;
}

static void refuse_extras(yaml_reader *r, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        complain(r->a, place(r->event.start_mark), "anchors (&%.40s) are not part of the spec language",
                 (const char *)anchor);
    if (tag)
        complain(r->a, place(r->event.start_mark), "tags (%.40s) are not part of the spec language", (const char *)tag);
}

static spec_node *new_node(yaml_reader *r, spec_node_kind kind)
{
    position at = place(r->event.start_mark);
    if (++r->nodes > yaml_most_nodes)
        bail(r->a, code_bad_input, at, "more than %d YAML nodes in one spec", yaml_most_nodes);
    spec_node *node = arena_alloc(r->a, sizeof *node);
    *node = (spec_node){.kind = kind, .at = at, .text_at = at, .text = ""};
    return node;
}

static spec_node *read_scalar(yaml_reader *r)
{
    refuse_extras(r, r->event.data.scalar.anchor, r->event.data.scalar.tag);
    spec_node *node = new_node(r, spec_scalar);
    const char *value = (const char *)r->event.data.scalar.value;
    size_t length = r->event.data.scalar.length;
    if (memchr(value, 0, length)) complain(r->a, node->at, "a NUL character in a text");
    node->text = arena_strndup(r->a, value, length);
    node->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (node->quoted) node->text_at.column++;
    return node;
}

/* The items of a list or map until its length is known. */
typedef struct pile {
    spec_node **items;
    int count, capacity;
} pile;

static void push(yaml_reader *r, pile *p, spec_node *item, position at)
{
    if (p->count == yaml_most_items) bail(r->a, code_bad_input, at, "more than %d items in one place", yaml_most_items);
    if (p->count == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 8;
        spec_node **items = arena_alloc(r->a, (size_t)capacity * sizeof *items);
        if (p->count) memcpy(items, p->items, (size_t)p->count * sizeof *items);
        p->items = items;
        p->capacity = capacity;
    }
    p->items[p->count++] = item;
}

static spec_node *read_node(yaml_reader *r, int depth);

static spec_node *read_list(yaml_reader *r, int depth)
{
    refuse_extras(r, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag);
    spec_node *node = new_node(r, spec_list);
    pile items = {0};
    while (next_event(r) != YAML_SEQUENCE_END_EVENT) {
        spec_node *item = read_node(r, depth + 1);
        push(r, &items, item, item->at);
    }
    node->items = items.items;
    node->count = items.count;
    return node;
}

/* False: the map has the key already, which is reported. Bails if the key is not a word. */
static bool check_key(yaml_reader *r, name_map *seen, const spec_node *key)
{
    if (key->kind != spec_scalar) bail(r->a, code_bad_input, key->at, "a key must be a word");
    if (names_add(seen, key->text, (void *)key)) return true;
    const spec_node *first = names_find(seen, key->text);
    complain(r->a, key->at, "%.40s is given twice; first at line %d", key->text, first->at.line);
    return false;
}

static spec_node *read_map(yaml_reader *r, int depth)
{
    refuse_extras(r, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag);
    spec_node *node = new_node(r, spec_map);
    pile keys = {0}, values = {0};
    name_map seen = {.a = r->a};
    while (next_event(r) != YAML_MAPPING_END_EVENT) {
        spec_node *key = read_node(r, depth + 1);
        next_event(r);
        spec_node *value = read_node(r, depth + 1);
        if (!check_key(r, &seen, key)) continue;
        push(r, &keys, key, key->at);
        push(r, &values, value, value->at);
    }
    node->keys = keys.items;
    node->items = values.items;
    node->count = keys.count;
    return node;
}

/* Reads the node that the current event begins. */
static spec_node *read_node(yaml_reader *r, int depth)
{
    position at = place(r->event.start_mark);
    if (depth > yaml_most_depth) bail(r->a, code_bad_input, at, "nested more than %d levels deep", yaml_most_depth);
    switch (r->event.type) {
    case YAML_SCALAR_EVENT: return read_scalar(r);
    case YAML_SEQUENCE_START_EVENT: return read_list(r, depth);
    case YAML_MAPPING_START_EVENT: return read_map(r, depth);
    case YAML_ALIAS_EVENT:
        bail(r->a, code_bad_input, at, "aliases (*%.40s) are not part of the spec language",
             (const char *)r->event.data.alias.anchor);
    default: bail(r->a, code_bad_input, at, "not readable as YAML");
    }
}

static spec_node *read_document(yaml_reader *r)
{
    next_event(r); /* stream start */
    if (next_event(r) == YAML_STREAM_END_EVENT) bail(r->a, code_bad_input, (position){1, 1}, "the spec is empty");
    next_event(r);
    spec_node *root = read_node(r, 1);
    next_event(r); /* document end */
    if (next_event(r) != YAML_STREAM_END_EVENT)
        bail(r->a, code_bad_input, place(r->event.start_mark), "a second document begins here; a file holds one spec");
    return root;
}

spec_node *yaml_read(arena *a, const char *text, size_t size, const char *name)
{
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3, size -= 3;
    arena_source(a, name, NULL, 0);
    if (size > yaml_most_bytes) bail(a, code_bad_input, (position){0}, "larger than %d MB", yaml_most_bytes >> 20);
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        bail(a, code_bad_input, (position){0}, "this file is UTF-16; a spec is UTF-8");
    arena_source(a, name, text, size);
    yaml_reader *r = arena_alloc(a, sizeof *r);
    r->a = a;
    r->text = text;
    r->size = size;
    arena_defer(a, release, r);
    if (!yaml_parser_initialize(&r->parser)) bail(a, code_device, (position){0}, "not enough memory");
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, size);
    spec_node *root = read_document(r);
    release(r);
    return root;
}

const spec_node *spec_find(const spec_node *map, const char *key)
{
    for (int i = 0; map && map->kind == spec_map && i < map->count; i++)
        if (strcmp(map->keys[i]->text, key) == 0) return map->items[i];
    return NULL;
}
