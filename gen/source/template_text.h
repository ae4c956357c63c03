/* In: the index of a template in gen/source/template.def. Out: its text, which is part of the binary. Refuses nothing. */
#ifndef TFGEN_GEN_TEMPLATE_TEXT_H
#define TFGEN_GEN_TEMPLATE_TEXT_H
#include "ir/base/arena.h"
#include "ir/ir.h"
#include "ir/program/tile.h"

/* Who needs a template: programs, the packing of weights, phases that rotate, by the target's matrix units a program of several, and what
 * measures a device (gen/source/probe.h). */
typedef enum template_use {
#define PROGRAM(id, family, layer, frame, help) use_##id = 1 << program_##id,
#include "ir/tile.def"
    use_pack = 1 << program_count,
    use_rope = 2 << program_count,
    use_pieces_mma = 4 << program_count,
    use_pieces_mfma = 8 << program_count,
    use_pieces_wmma = 16 << program_count,
    use_probe = 32 << program_count,
    use_trace = 64 << program_count, /* kernels that say when (docs/insight.md) */
    use_registers = use_gemm_simt | use_gemm_few,
    use_waves = use_gemm_mfma | use_gemm_wmma | use_attention_mfma | use_attention_wmma,
    use_decode_waves = use_decode_mfma | use_decode_wmma,
    use_decode_runs = use_decode_mma | use_decode_waves,
    use_amd = use_waves | use_decode_waves | use_pieces_mfma | use_pieces_wmma,
    use_warpgroups = use_gemm_wgmma | use_gemm_turned | use_gemm_wgmma3 | use_attention_wgmma,
    use_mixed = use_rows | use_registers | use_attention_simt | use_decode | use_combine | use_pack | use_align,
    use_all = use_mixed | use_warpgroups | use_waves | use_gemm_mma | use_decode_runs | use_gemm_frag | use_probe
} template_use;

typedef struct template_text {
    const char *name; /* templates/gemm/gemm.h */
    const char *data;
    size_t size;
    unsigned users;
} template_text;

/* Of what a program's kernels have templates: use_... of its own, and of the products of pieces that one of several machines takes. target
 * NULL: on any. */
unsigned template_uses(program_kind kind, const target_info *target);
void template_target(text *out, const target_info *target); /* what all templates are told of it, ahead of them */
size_t template_total(void);
template_text template_at(size_t i); /* in order of inclusion */
/* Appends its text under a #line. Lines that include another template or say #pragma once become empty, so line numbers
 * stay. Without `traced` what traces is left out of its lines. */
void template_append(text *out, size_t i, bool traced);
/* Characters of " TF_TRACED(...);" at the beginning of `s`; 0: it begins otherwise. */
size_t template_traced(const char *s, size_t size);

/* The texts of the templates that a source needs, joined once for all sources that need the same ones. */
typedef struct template_set {
    unsigned uses;
    const char *text;
    int lines;
    struct template_set *next;
} template_set;
const template_set *templates_find(arena *a, template_set **known, unsigned uses);
#endif
