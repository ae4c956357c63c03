/* State shared by the parts of the spec reader while they fill an ir_graph. A part that finds an error complains, marks the item as
 * broken and goes on; items already broken cause no further complaints. Private to ir/read. */
#ifndef TFGEN_GRAPH_H
#define TFGEN_GRAPH_H
#include "ir/graph/attribute_table.h"
#include "ir/base/names.h"
#include "ir/read/yaml.h"

enum {
    most_ops = 4096,
    most_values = 16384,
    most_inputs = 16,
    most_outputs = 256, /* of a split */
    most_number = 2147483647
};
#define MOST_ELEMENTS (1LL << 40)

typedef struct named {
    const char *name;
    position at;
    ir_value *value; /* NULL: declared, but broken */
    bool used;
    bool contested; /* declared twice, already reported */
    bool phantom;   /* never declared; entered so that it is reported once */
} named;

typedef struct graph_reader {
    arena *a;
    const graph_options *options;
    const spec_node *root;
    ir_graph *p;
    name_map names; /* of named */
    named **declared;
    int declared_count;
    name_map made_later;   /* names that ops make, to the ops' nodes */
    name_map unknown_dims; /* names that were reported as no dims, so that each is reported once */
    bool dim_broken[max_dims];
    const ir_op *writer[most_values]; /* by id of a state: the kv_append that writes it */
    /* Set if a part of the spec could not be read, so that the errors which would follow from that are not reported: */
    bool names_lost; /* true if declarations of values could not be read: then an undefined value is not reported */
    bool dims_lost;  /* the dims: unknown dims are not reported */
    bool lost;       /* any part: unused names are not reported */
} graph_reader;

/* One op while it is read; inputs that are broken are NULL. */
typedef struct op_draft {
    graph_reader *r;
    const spec_node *node;
    ir_op *op;
    const char *name; /* of the op's kind */
    position in_at[most_inputs];
    bool broken;
    const spec_node *list_node; /* sizes of a split, shape of a reshape */
    extent *list;
    int list_count;
} op_draft;

/* graph_tools.c */
position graph_attribute_at(const op_draft *d, const char *key); /* of the attribute's value; of the op if not given */
bool graph_check_map(graph_reader *r, const spec_node *node, const char *what);
/* Complains of every key of `map` that is not in `keys`; `what` names the map. True if such a key looks like a misspelt one of `keys`. */
bool graph_check_keys(graph_reader *r, const spec_node *map, const char *const *keys, size_t n, const char *what);
/* graph_check_keys() for an op's map; also knows the names that other frameworks use for its attributes. */
bool graph_check_op_keys(const op_draft *d, const char *const *keys, size_t n);
bool graph_check_name(graph_reader *r, const spec_node *node, const char *what);
const char *graph_hint(graph_reader *r, const char *word, const char *const *names,
                       size_t n); /* "; did you mean X?" or "" */
/* Copies the next name of an expression into `name` (most_name + 1 bytes) and advances *s past it; false at the end. */
bool graph_next_name(const char **s, char *name);
bool graph_extent(graph_reader *r, const spec_node *node, const char *what, extent *out);
bool graph_static(graph_reader *r, const spec_node *node, const char *what, long long *out); /* 1 to most_number */
bool graph_real(graph_reader *r, const spec_node *node, const char *what, double *out);      /* within the range of a float */
bool graph_bool(graph_reader *r, const spec_node *node, const char *what, bool *out);
bool graph_dtype(graph_reader *r, const spec_node *node, const char *what, dtype *out);
const char *graph_shape_text(graph_reader *r, const ir_value *v); /* [B, S, 256] */
const char *graph_extent_text(graph_reader *r, const extent *e);
long long graph_lowest(const extent *e, const dim_table *dims); /* minimum with each dynamic dim at either end of its range */

/* graph_dims.c, graph_values.c, graph_ops.c */
void graph_read_dims(graph_reader *r);
void graph_read_values(graph_reader *r);
void graph_read_ops(graph_reader *r);
void graph_read_outputs(graph_reader *r);
void graph_report_unused(graph_reader *r);

ir_value *graph_new_value(graph_reader *r, const char *name, value_kind kind, dtype type, position at);
bool graph_declare(graph_reader *r, const char *name, position at,
                   ir_value *value); /* false: the name is taken, already reported */
ir_value *graph_lookup(graph_reader *r, const spec_node *node, const op_draft *user); /* NULL: broken; marks as used */
bool graph_value_fits(graph_reader *r, const ir_value *v, const char *what, position at);
bool graph_shape(graph_reader *r, const spec_node *node, const char *what, ir_value *v);

/* attributes.c, shape.c: set d->broken after a complaint */
void attributes_read(op_draft *d);
void shape_infer(
    op_draft *d); /* needs unbroken inputs; fills defaults that depend on shapes, and the outputs' shapes and types */
#endif
