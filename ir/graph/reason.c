/* In: ir/reason.def. Out: its codes and sentences. An unknown code has no sentence. */
#include "ir/graph/reason.h"
#include <string.h>

static const char *const codes[] = {
#define REASON(name, code, sentence) code,
#include "ir/reason.def"
};
static const char *const sentences[] = {
#define REASON(name, code, sentence) sentence,
#include "ir/reason.def"
};

const char *const *reason_codes(size_t *count)
{
    *count = sizeof codes / sizeof *codes;
    return codes;
}

const char *reason_code(reason r) { return codes[r]; }

const char *reason_sentence(const char *code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i], code) == 0) return sentences[i];
    return "";
}
