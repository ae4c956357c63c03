/* The libclang checks of `tfgen emit --code`, before and after a target's kernels are compiled. */
#ifndef TFGEN_EMIT_CHECK_H
#define TFGEN_EMIT_CHECK_H
#include "runtime/compile/libclang.h"

typedef struct emit_check {
    arena *a;
    const code_request *requests;
    libclang_answer *answers; /* one per request; NULL without libclang */
    int count;
    bool *noted; /* per command: the note on unchecked kernels was printed */
} emit_check;

/* Parses all sources, `jobs` at a time. Bails with code_compile_failed (internal error) if a kernel differs from its plan.
 * If libclang is missing or does not know the target, prints one note per command on stderr. */
emit_check emit_check_start(arena *a, const code_request *requests, const libclang_expected *expected, int count, int jobs,
                            bool *noted);

/* Diagnostics of libclang for source i that its compiler did not give. If it compiled anyway, prints them as a note on stderr and
 * returns ""; else returns them for the error message. */
const char *emit_check_report(const emit_check *c, int i, const code_result *compiled);
#endif
