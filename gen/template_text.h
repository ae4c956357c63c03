/* In: the index of a template in gen/template.def. Out: its text, which is part of the binary. Refuses nothing. */
#ifndef TFGEN_GEN_TEMPLATE_TEXT_H
#define TFGEN_GEN_TEMPLATE_TEXT_H
#include "ir/base/arena.h"

typedef enum template_use {
    use_rows = 1,
    use_gemm = 2,
    use_attention = 4,
    use_decode = 8,
    use_combine = 16,
    use_pack = 32,
    use_rope = 64,
    use_gemm_ws = 128,
    use_mfma = 256, /* gemm on AMD's matrix units */
    use_wmma = 512,
    use_attention_ws = 1024,
    use_attention_mfma = 2048,
    use_attention_wmma = 8192,
    use_gemm_split = 4096,
    use_align = 16384,
    use_gemm_mma = 32768, /* gemm on sm_80 */
    use_mixed = use_rows | use_gemm | use_attention | use_decode | use_combine | use_pack | use_align, /* by frame */
    use_ws = use_gemm_ws | use_gemm_split | use_attention_ws,
    use_pump = use_mfma | use_wmma | use_attention_mfma | use_attention_wmma,
    use_all = use_mixed | use_ws | use_pump | use_gemm_mma
} template_use;

typedef struct template_text {
    const char *name; /* templates/gemm/gemm.h */
    const char *data;
    size_t size;
    unsigned users;
} template_text;

size_t template_total(void);
template_text template_at(size_t i); /* in order of inclusion */
/* Appends its text under a #line. Lines that include another template or say #pragma once become empty, so line numbers
 * stay. */
void template_append(text *out, size_t i);

/* The texts of the templates that a source needs, joined once for all sources that need the same ones. */
typedef struct template_set {
    unsigned uses;
    const char *text;
    int lines;
    struct template_set *next;
} template_set;
const template_set *templates_find(arena *a, template_set **known, unsigned uses);
#endif
