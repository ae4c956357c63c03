/* In: the text of a YAML file. Out: its tree, every node with line and column. Refuses: what is not YAML; anchors,
 * aliases, tags, several documents, duplicate keys; more than the limits below. */
#ifndef TFGEN_YAML_H
#define TFGEN_YAML_H
#include "ir/base/arena.h"

enum { yaml_most_bytes = 4 << 20, yaml_most_depth = 16, yaml_most_nodes = 256 << 10, yaml_most_items = 16384 };

typedef enum spec_node_kind { spec_scalar, spec_list, spec_map } spec_node_kind;

typedef struct spec_node {
    spec_node_kind kind;
    position at;
    const char *text; /* scalar; never holds a NUL */
    position text_at; /* position of its first character, after an opening quote */
    bool quoted;
    int count;                /* list and map */
    struct spec_node **items; /* list: items; map: values */
    struct spec_node **keys;  /* map: scalars; each key once */
} spec_node;

/* Makes text the arena's source, called `name`, and parses it. A duplicate key is reported; the first one is kept. */
spec_node *yaml_read(arena *a, const char *text, size_t size, const char *name);
const spec_node *spec_find(const spec_node *map, const char *key); /* the value, or NULL */
#endif
