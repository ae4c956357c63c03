/* The words of the IR text for roles and value kinds. Private to ir/text. */
#ifndef TFGEN_WORDS_H
#define TFGEN_WORDS_H
#include "ir/ir.h"

const char *const *role_names(void);               /* by op_role; none is "" */
const char *const *value_kind_names(void);         /* in par state, then "" */
#endif
