/* In: roles, families, frames, levels, kinds of values. Out: the words that the text form has for them. Refuses: nothing. Private to
 * ir/text. */
#ifndef TFGEN_WORDS_H
#define TFGEN_WORDS_H
#include "ir/ir.h"

const char *const *role_names(void);               /* by op_role; none is "" */
const char *const *family_names(size_t *count);    /* by phase_family */
const char *const *frame_names(size_t *count);     /* by frame_kind; unset is "" */
const char *const *level_names(size_t *count);     /* by fusion_level */
const char *const *value_kind_names(void);         /* in par state, then "" */
#endif
