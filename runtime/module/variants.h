/* In: a module and the dims of a call. Out: which of the plans that the module holds runs it: its own, or a variant, which is the same spec
 * planned for calls of at most some dims (tfgen_module_prepare). A variant is a module whose weights are those of the first. Refuses dims
 * that the spec does not allow, and variants that would read other weights. */
#ifndef TFGEN_VARIANTS_H
#define TFGEN_VARIANTS_H
#include "runtime/module/module.h"

/* The plan's dims with the caller's values of dynamic ones; refuses unknown names, static dims and values outside the range. */
tfgen_status dims_take(const plan *p, const tfgen_dim *dims, size_t count, dim_table *out, tfgen_error *error);

/* Of the module and its variants whose every dynamic dim is at least that of the call and whose workspace fits in `room` bytes (0: what the
 * module's own plan takes), the one with the smallest product of dynamic dims; among equals the first that was prepared, a variant ahead of
 * the module. None: the module. No lock. */
const tfgen_module *variant_pick(const tfgen_module *m, const dim_table *dims, size_t room);

/* The variant for calls of at most these dims; NULL: none was prepared. */
const tfgen_module *variant_find(const tfgen_module *m, const dim_table *dims);
/* Joins `v`, built beside `m` with a plan in v->plan_arena, to its variants; the module owns it then. Call with m->preparing held. */
tfgen_status variant_join(tfgen_module *m, tfgen_module *v, tfgen_error *error);
#endif
