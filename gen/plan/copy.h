/* Inserts a kernel that copies a value into another layout, for a phase whose program cannot read the value's own. */
#ifndef TFGEN_GEN_COPY_H
#define TFGEN_GEN_COPY_H
#include "ir/graph/edit.h"

typedef struct copy_request {
    ir_value *copy;
    op_kind op; /* the op that computes `copy` */
    phase_family family; /* of the new kernel's phase */
    const char *kernel;  /* the new kernel's name */
} copy_request;
/* Inserts a kernel that computes q->copy from v, before kernel k, which has phase `reader`. Returns the new kernel's op. If v is a view in
 * `reader`, it moves into the new kernel, with the views that it reads. */
ir_op *edit_copy(editor *e, int k, ir_phase *reader, ir_value *v, const copy_request *q);
#endif
