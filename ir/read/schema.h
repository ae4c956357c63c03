/* In: the tables of ir/op.def. Out: a JSON Schema (draft 7) of the spec language, for editors and other tools. */
#ifndef TFGEN_SCHEMA_H
#define TFGEN_SCHEMA_H
#include "ir/base/arena.h"

char *schema_json(arena *a); /* ends in a newline; the same bytes every time */
#endif
