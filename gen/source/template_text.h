/* In: templates by their paths. Out: their text, which is part of the binary, and of a source the templates that it needs: those that a
 * program names (gen/program/program.h), and what their own #include lines bring. */
#ifndef TFGEN_GEN_TEMPLATE_TEXT_H
#define TFGEN_GEN_TEMPLATE_TEXT_H
#include "gen/program/program.h"

/* In order of inclusion. */
typedef enum template_id {
#define TEMPLATE(id, path) template_##id,
#include "gen/source/template.def"
    template_count
} template_id;

typedef struct template_text {
    const char *name; /* templates/gemm/gemm.h */
    const char *data;
    size_t size;
} template_text;

typedef struct template_choice {
    bool has[template_count];
} template_choice;

/* Adds a template and whatever it includes. The path is one of gen/source/template.def. */
void template_choose(template_choice *c, const char *path);
/* Templates of a program's kernels on a target; target NULL: on any. Without those that only some kernels need (rotations, traces). */
void program_templates(template_choice *c, const program *p, const target_info *target);
/* What the kernels of every program have. */
template_choice templates_common(void);
void template_target(text *out, const target_info *target); /* what all templates are told of it, ahead of them */
template_text template_at(template_id i);
/* Appends its text under a #line. Lines that include another template or say #pragma once become empty, so line numbers
 * stay. Without `traced` what traces is left out of its lines. */
void template_append(text *out, template_id i, bool traced);
/* The line repeats, in a source of several templates, what another of its lines says: #pragma once, or the #include of a template. */
bool template_line_is_left_out(const char *line, size_t size);
/* Characters of " TF_TRACED(...);" at the beginning of `s`; 0: it begins otherwise. */
size_t template_traced(const char *s, size_t size);

/* The texts of the templates that a source needs, joined once for all sources that need the same ones. */
typedef struct template_set {
    template_choice choice;
    const char *text;
    int lines;
    struct template_set *next;
} template_set;
const template_set *templates_find(arena *a, template_set **known, const template_choice *choice);
#endif
