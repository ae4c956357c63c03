/* In: a program of one-phase kernels that planning may change. Out: the same with ops moved, kernels added and values taken out, in order.
 * Changes are collected: what goes is marked, what comes waits beside the kernel that it is for, and edit_finish() puts all in place in one
 * pass, since each by itself would walk the whole program. Ir_check() finds what an edit breaks. */
#ifndef TFGEN_EDIT_H
#define TFGEN_EDIT_H
#include "ir/program/build.h"

typedef struct edit_place edit_place; /* kernels that come ahead of one, or behind it */

typedef struct editor {
    builder *b;
    bool changed;
    /* ---- edit.c's own */
    name_map kernels, phases, replaced;
    ir_phase **maker; /* by value id */
    int maker_room;
    edit_place *places; /* by kernel, as they were before */
    bool *gone;         /* by value id */
    int value_count, kernel_count, note_count; /* before the first edit */
    int *first_note, *note_at;                 /* by value id: its notes; NULL: nobody has asked for one */
} editor;

editor edit_begin(builder *b);
/* The phase that makes v, after the edits so far; NULL: none. */
ir_phase *edit_maker(const editor *e, const ir_value *v);
/* A phase without ops in a kernel of its own ahead of kernel k, or behind it. Both get the names that are wanted, with a number where those
 * are taken. */
ir_phase *edit_add_phase(editor *e, int k, bool behind, phase_family family, const char *phase, const char *kernel);
void edit_run_after(editor *e, ir_phase *phase, ir_phase *earlier); /* once, however often it is said */
/* Phases that run after `old` run after `new` instead. */
void edit_replace_phase(editor *e, ir_phase *old, ir_phase *new);
void edit_insert_op(editor *e, ir_phase *phase, int at, ir_op *op);
void edit_remove_op(ir_phase *phase, const ir_op *op);
/* Ops `first` to `first + count - 1` go to index `at` of `to`, which makes their results from then on. */
void edit_move_ops(editor *e, ir_phase *from, int first, int count, ir_phase *to, int at);
void edit_remove_value(editor *e, const ir_value *v); /* that no op makes or reads any more */
void edit_add_note(editor *e, const char *code, ir_value *v, ir_op *user);
/* Of the notes that were there when the editing began: of v as `user` reads it, from the first on; without a value it is taken out. NULL:
 * there is none. */
fusion_note *edit_note(editor *e, const ir_value *v, const ir_op *user);
/* Takes out phases without ops, with their kernels. False: nothing had changed. The program is to be checked then (ir_check()). */
bool edit_finish(editor *e);
#endif
