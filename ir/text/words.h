/* The words of the IR text for roles and value kinds. Private to ir/text. */
#ifndef TFGEN_WORDS_H
#define TFGEN_WORDS_H
#include "ir/ir.h"

const char *const *role_names(void);               /* by op_role; "" for role_none */
const char *const *value_kind_names(void);         /* by value_kind: in, par, state; "" for constants and results */
#endif
