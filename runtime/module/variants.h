/* In: a module and the dims of a call. Out: the module that runs it: itself, or one of its variants, the same spec planned for calls up to
 * certain dims (tfgen_module_prepare). A variant uses its owner's weights. Refuses dims that the spec does not allow, and variants that
 * would need other weights. */
#ifndef TFGEN_VARIANTS_H
#define TFGEN_VARIANTS_H
#include "runtime/module/module.h"

/* The plan's dims with the caller's values of dynamic ones; refuses unknown names, static dims and values outside the range. */
tfgen_status dims_take(const plan *p, const tfgen_dim *dims, size_t count, dim_table *out, tfgen_error *error);

/* Of the module and its variants whose dynamic dims are all at least the call's and whose workspace fits in `room` bytes (0: what the
 * module's own plan needs), the one with the smallest product of dynamic dims. Ties: variants first, in order of preparation. If none
 * qualifies, the module. Lock-free. */
const tfgen_module *variant_pick(const tfgen_module *m, const dim_table *dims, size_t room);

/* The variant prepared for exactly these dims; NULL: none. */
const tfgen_module *variant_find(const tfgen_module *m, const dim_table *dims);
/* Adds `v`, built with settings.beside = m and a plan in v->plan_arena; m owns it then. The caller holds m->preparing. */
tfgen_status variant_join(tfgen_module *m, tfgen_module *v, tfgen_error *error);
#endif
