/* What `tfgen emit --code` asks libclang before and after a target's kernels are compiled. */
#ifndef TFGEN_EMIT_CHECK_H
#define TFGEN_EMIT_CHECK_H
#include "runtime/compile/libclang.h"

typedef struct emit_check {
    arena *a;
    const code_request *requests;
    libclang_answer *answers; /* one a request; none when there is no libclang here */
    int count;
    bool *noted; /* of the whole command: said already why kernels go unchecked */
} emit_check;

/* Parses all sources, `jobs` at a time. Bails with code_compile_failed, as an internal error, when a kernel differs from
 * what the plan says of it. Without libclang, or one that does not know the target: a note on stderr, once a command. */
emit_check emit_check_start(arena *a, const code_request *requests, const libclang_expected *expected, int count, int jobs,
                            bool *noted);

/* What libclang says of source i beyond what its compiler said. When it was compiled all the same, as a note on stderr, and
 * "" is returned; else the lines, for the error. */
const char *emit_check_report(const emit_check *c, int i, const code_result *compiled);
#endif
