/* Holds the text of the templates, and finds the templates that a source needs: those that its program names (gen/program/program.h), and
 * those that they include. */
#ifndef TFGEN_GEN_TEMPLATE_TEXT_H
#define TFGEN_GEN_TEMPLATE_TEXT_H
#include "gen/program/program.h"

/* Each template comes after those that it includes. */
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

/* Adds a template and all that it includes. path: one of gen/source/template.def. */
void template_choose(template_choice *c, const char *path);
/* Adds the templates of a program's kernels on a target (NULL: on all targets), without those that only some kernels need
 * (ropes, traces). */
void program_templates(template_choice *c, const program *p, const target_info *target);
/* The templates that every program's kernels include. */
template_choice templates_common(void);
void template_target(text *out, const target_info *target); /* appends the target's #defines, which precede all templates */
template_text template_at(template_id i);
/* Appends a #line and a template's text. #pragma once and #include lines of templates become empty lines, so that line numbers stay the
 * same. Without `traced`, TF_TRACED(...) parts are cut out of their lines. Returns the number of lines appended. */
int template_append(text *out, template_id i, bool traced);
/* True for #pragma once and the #include of a template, which a source made of joined templates does not need. */
bool template_line_is_left_out(const char *line, size_t size);
/* Length of the " TF_TRACED(...);" with which `s` begins; 0: it does not begin so. */
size_t template_traced(const char *s, size_t size);

/* A set of templates and their joined text, shared by all sources with this set. */
typedef struct template_set {
    template_choice choice;
    const char *text;
    int lines;
    struct template_set *next;
} template_set;
/* The set with this choice of templates. known: the list of sets made so far, to which a new one is added. */
const template_set *templates_find(arena *a, template_set **known, const template_choice *choice);
#endif
