/* In: a value whose layout a program cannot read. Out: a kernel before the reader that copies it into another layout. */
#ifndef TFGEN_GEN_COPY_H
#define TFGEN_GEN_COPY_H
#include "ir/graph/edit.h"

typedef struct copy_request {
    ir_value *copy;
    op_kind op; /* computes `copy` */
    phase_family family;
    const char *kernel; /* its name */
} copy_request;
/* Inserts a kernel before kernel k, to which phase `reader` belongs, that computes q->copy from v; returns its op. If v is a view in
 * `reader`, it moves into the new kernel with the views that it reads. */
ir_op *edit_copy(editor *e, int k, ir_phase *reader, ir_value *v, const copy_request *q);
#endif
