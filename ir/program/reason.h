/* In: ir/reason.def. Out: why two phases were not fused, as a name for code, a code for text and a sentence for people. */
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
const char *reason_sentence(const char *code); /* what a code means */
#endif
