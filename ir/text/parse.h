/* The IR text reader's state, and the readers of dims, values, shapes, outputs and attributes. Private to
 * ir/text/parse.c, parse_values.c and parse_fields.c. */
#ifndef TFGEN_PARSE_H
#define TFGEN_PARSE_H
#include "ir/graph/build.h"
#include "ir/text/scan.h"

enum { max_values = 262144, max_list = 256 };

/* A use of a value on a line before the one that makes the value. */
typedef struct pending {
    ir_value *view;     /* a view whose root is pending; NULL: an output */
    const char *output; /* the spec's name for it */
    const char *name;
    position at;
} pending;

typedef struct declared { /* an input, parameter or state, with its position in the text */
    ir_value *value;
    position here, spec;
} declared;

typedef struct reader {
    arena *a;
    scanner in;
    builder b;
    pending *pending;
    declared *declared;
    position *op_places, *spec_places;        /* by op: its place in this text; in the spec, as the text says (!line:column) */
    int pending_count, declared_count, depth; /* 0: file, 1: in a kernel, 2: in a phase */
    ir_kernel *kernel;
    ir_phase *phase;
    bool has_frame; /* the line of `kernel` has frame= */
    frame_kind frame;
    const former_name *layers; /* former layer names of the phase's family */
    name_map kernels, phases;
} reader;

dtype read_dtype(reader *r);
position read_place(reader *r); /* !line:column at the end of a line: position in the spec; 0:0 if absent */
ir_value *read_value(reader *r); /* %name of a value declared on an earlier line */
ir_value *read_new_value(reader *r, value_kind kind);
void read_fields(reader *r, ir_op *op); /* the attributes at the end of an op's line */
void read_kinds(reader *r);             /* `kinds 2` and the lines of what ops have in each kind of layers, if there are any */
void read_dim(reader *r);
void read_declared(reader *r, value_kind kind); /* an input, parameter or state */
void read_output(reader *r);
#endif
