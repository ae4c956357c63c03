/* In: a value that a program cannot read as it lies. Out: a kernel that copies it ahead of the reader. */
#ifndef TFGEN_GEN_COPY_H
#define TFGEN_GEN_COPY_H
#include "ir/graph/edit.h"

/* A kernel ahead of kernel k, which has phase `reader`, that computes `copy` from v by an op; views that v is made of and that stand in
 * `reader` move there. Returns the op. */
typedef struct copy_request {
    ir_value *copy;
    op_kind op;
    phase_family family;
    const char *kernel;
} copy_request;
ir_op *edit_copy(editor *e, int k, ir_phase *reader, ir_value *v, const copy_request *q);
#endif
