/* In: ir/format.def. Out: what ir/program/format.h says. Where there is no format the answer is NULL. */
#include "ir/program/format.h"

#define H(type) (1u << dtype_##type)
static const weight_format formats[] = {
#define FORMAT(name, type, terms, bits, pack, holds, folds) {#name, dtype_##type, terms, bits, pack, holds, folds},
#include "ir/format.def"
};
#undef H

const weight_format *format_at(format_kind kind) { return &formats[kind]; }

const weight_format *format_in(dtype type, dtype from)
{
    for (int i = 0; i < format_count; i++)
        if (formats[i].type == type && formats[i].holds >> from & 1) return &formats[i];
    return NULL;
}

const weight_format *format_plain(dtype type) { return format_in(type, type); }
