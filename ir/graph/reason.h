/* Why two phases were not fused (ir/reason.def): an enum for C, a code for IR text, a sentence for users. */
#ifndef TFGEN_REASON_H
#define TFGEN_REASON_H
#include <stddef.h>

typedef enum reason {
#define REASON(name, code, sentence) reason_##name,
#include "ir/reason.def"
    reason_count
} reason;

const char *reason_code(reason r);
const char *const *reason_codes(size_t *count);
const char *reason_sentence(const char *code); /* explains a code */
#endif
