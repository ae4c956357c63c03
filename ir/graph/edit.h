/* In: a graph of one-phase kernels during planning. Out: the graph with ops moved, kernels added and values removed.
 * Edits are batched: removals are marked, new kernels are queued at their position, and edit_finish() applies all in one pass, since each
 * edit alone would walk the whole graph. ir_check() finds what an edit breaks. */
#ifndef TFGEN_EDIT_H
#define TFGEN_EDIT_H
#include "ir/graph/build.h"

typedef struct edit_place edit_place; /* kernels queued before and after one kernel */

typedef struct editor {
    builder *b;
    bool changed;
    /* ---- private to edit.c */
    name_map kernels, phases, replaced;
    ir_phase **maker; /* by value id */
    int maker_room;
    edit_place *places; /* by kernel index before the edits */
    bool *gone;         /* by value id */
    int value_count, kernel_count, note_count; /* before the first edit */
    int *first_note, *note_at;                 /* index of notes by value id, built on first use; NULL: not built */
} editor;

editor edit_begin(builder *b);
/* The phase that makes v, after the edits so far; NULL: none. */
ir_phase *edit_maker(const editor *e, const ir_value *v);
/* Adds an empty phase in its own kernel before or after kernel k. A name that is taken gets a number. */
ir_phase *edit_add_phase(editor *e, int k, bool behind, phase_family family, const char *phase, const char *kernel);
void edit_run_after(editor *e, ir_phase *phase, ir_phase *earlier); /* adds a dependency, once; NULL `earlier`: no effect */
/* Phases that run after `old` run after `new` instead. */
void edit_replace_phase(editor *e, ir_phase *old, ir_phase *new);
void edit_insert_op(editor *e, ir_phase *phase, int at, ir_op *op);
void edit_remove_op(ir_phase *phase, const ir_op *op);
/* Moves ops `first` to `first + count - 1` to index `at` of phase `to`, which then produces their results. */
void edit_move_ops(editor *e, ir_phase *from, int first, int count, ir_phase *to, int at);
void edit_remove_value(editor *e, const ir_value *v); /* no op may produce or read it any more */
void edit_add_note(editor *e, const char *code, ir_value *v, ir_op *user);
/* The first note on the edge from v to `user` that existed before editing; NULL: none. Setting the note's value to NULL removes it. */
fusion_note *edit_note(editor *e, const ir_value *v, const ir_op *user);
/* Applies the edits and removes empty phases with their kernels. False: nothing changed. If true, the caller runs ir_check(). */
bool edit_finish(editor *e);
#endif
