/* What the fusion passes share while they work on a lowered graph: groups of ops (the phases to be), the edges between ops, whether two
 * groups may be merged, and the conversion of groups to kernels of phases. Refuses, with a reason: merges that no phase could run. Private
 * to ir/. */
#ifndef TFGEN_FUSE_H
#define TFGEN_FUSE_H
#include "ir/graph/build.h"
#include "ir/graph/reason.h"
#include "ir/graph/segments.h"

enum { most_phase_ops = 64, no_group = -1 };

typedef struct group {
    ir_op **ops; /* in executable order */
    int count;   /* 0: it was merged into another group */
    phase_family family;
    bool beside; /* shares the launch of group `leader`, which comes earlier */
    int leader;
} group;

typedef struct edge_list {
    ir_op **ops;
    int *start; /* CSR offsets into ops, by the earlier op's index in p->ops; one extra entry at the end */
    int room, start_room;
} edge_list;

typedef struct state_uses state_uses;
typedef struct found_edge {
    int from; /* index in p->ops */
    ir_op *to;
} found_edge;

/* A breadth-first walk over groups along edges, resumable at every edge. */
typedef struct group_walk {
    const edge_list *edges;
    int *met, count;  /* groups visited, in order; the first is the start */
    int at, op, edge; /* the edge to follow next: index of its group in met, of its op in that group, of the edge among that op's edges */
    int stamp;        /* number of this walk: fusing.stamp of the groups that it visited */
} group_walk;

typedef struct fusing {
    builder b;
    arena *a;
    ir_graph *p;
    const fuse_options *options;
    bool disabled[32]; /* by index of fusion_names() */
    const char *last_pass; /* last pass that changed something */
    ir_phase **phases;     /* made by the last fuse_settle(), in the order of `sequence`; fuse_finish() adds names and dependencies */
    group *groups;
    int group_count;
    int *home;  /* by value id: group of the producing op; no_group: a view, which belongs to none */
    int *printed_in; /* by value id, after fuse_settle: home; for a view: the group whose phase prints it */
    int *place;  /* by value id, during fuse_settle(): index of the producing op in the group being settled */
    int *order; /* by value id: index in p->ops of the producing op */
    int room;   /* capacity of home and order */
    edge_list users; /* ops that read an op's result, views included */
    edge_list after; /* ops with code that must run after an op: they read its result or a view of it, or conflict on a state */
    edge_list before; /* the same edges, by the op that comes later */
    found_edge *found; /* scratch of fuse_refresh: edges in discovery order */
    int found_room;
    int *uses; /* by value id: number of reads */
    state_uses *states; /* scratch of fuse_refresh, by value id */
    int uses_room;
    int *rank, *sequence, sequence_count; /* a valid order of the groups: position by group, group by position (-1: merged) */
    int *waits, *ready, waits_room;       /* scratch of fuse_schedule */
    int *marks, marks_room, marks_now;    /* scratch of fuse_products.c */
    ir_op **lists; /* storage of the groups' op lists after a refresh */
    int lists_room;
    int *stamp, stamp_room, stamp_now; /* by group: the last walk that visited it */
    group_walk walks[2];               /* fuse_legal.c: forward from the earlier group, backward from the later one */
    int *slots;                        /* ranks of the groups visited */
    bool has_beside; /* group.beside of some group is set */
    bool *is_root; /* by value id, after fuse_find_roots(): other values live in its storage */
    int is_root_room;
} fusing;

/* fuse_group.c */
void fuse_refresh(fusing *f); /* call after ops or their order changed: recomputes order, edges and the groups' op lists */
void fuse_schedule(fusing *f); /* call after adding groups: recomputes their ranks */
void fuse_set_home(fusing *f, const ir_value *v, int group);
/* no_group for declared values and views */
static inline int fuse_home(const fusing *f, const ir_value *v) { return v->def && v->id < f->room ? f->home[v->id] : no_group; }
int fuse_source(const fusing *f, const ir_value *v); /* the group that makes v's data, perhaps through views; no_group: none or several */
int fuse_new_group(fusing *f);
int fuse_users(const fusing *f, const ir_value *v, ir_op **users, int most); /* returns the total, views included; fills at most `most` */
bool fuse_only_used_by(const fusing *f, const ir_value *v, const ir_op *user);
bool op_reads(const ir_op *op, const ir_value *v);
void fuse_insert(fusing *f, int index, ir_op *op, int group); /* before p->ops[index]; call fuse_refresh() when done */

/* fuse_legal.c: why two groups cannot be one phase (reason_none: they can); fuse_merge merges them if they can. */
reason fuse_why_not(fusing *f, int x, int y);
bool fuse_merge(fusing *f, int x, int y);
bool op_is_product(const ir_op *op);
bool group_reduces(const group *g); /* it has a row reduction */
bool value_is_full(arena *a, const ir_value *v, const ir_value *like); /* v has the rows and columns of `like` */

/* fuse_settle.c: assigns roles and order; fuse_finish builds one kernel per phase and runs the verifier, which names the last pass. */
void fuse_settle(fusing *f, const char *pass); /* also calls fuse_finish() unless check_once */
void fuse_finish(fusing *f);

/* Passes; each returns true if it changed something. */
void fuse_find_roots(fusing *f); /* fuse_views.c */
bool fuse_reshapes(fusing *f);
bool fuse_regroup(fusing *f);
bool fuse_product_sum(fusing *f);
bool fuse_qkv(fusing *f);
bool fuse_gate_up(fusing *f);
bool fuse_rmsnorm(fusing *f);
bool fuse_bias(fusing *f);
bool fuse_activation(fusing *f);
bool fuse_residual(fusing *f);
bool fuse_rope(fusing *f);
bool fuse_kv_append(fusing *f);
bool fuse_statistics(fusing *f);
bool fuse_elementwise(fusing *f);
bool fuse_norm_prologue(fusing *f);
bool fuse_rope_prologue(fusing *f);
bool fuse_shared_norm(fusing *f);
bool fuse_split(fusing *f);
bool fuse_concat(fusing *f);
bool fuse_input_sums(fusing *f);
bool fuse_side_by_side(fusing *f);

void fuse_place_beside(fusing *f); /* part of fuse_schedule() */

/* Parts of the passes statistics, gate_up and elementwise. */
bool fuse_sums(fusing *f);
bool fuse_join(fusing *f);
bool fuse_epilogue_elementwise(fusing *f);

/* Queries for the notes: the fusion that would remove an edge (index in fusion_names(), -1: none), and why a norm was not folded. */
int fusion_index(const char *name);
int fuse_epilogue_fusion(fusing *f, const ir_op *op, int product_group);
bool fuse_epilogue_allowed(fusing *f, int group, int product_group, reason *why); /* the fusions of all its ops are enabled */
int fuse_rows_fusion(fusing *f, int producer, int user);
reason fuse_why_not_folded(fusing *f, const ir_value *a_operand); /* of a product; reason_none: it is not a norm */
reason fuse_why_not_packed(fusing *f, int x, int y);                  /* two gemm groups, in one packed weight; reason_none: they can be */
bool fuse_may_run(const fusing *f, int fusion, reason *why); /* enabled at this level, and not turned off by --no-fuse */
void fuse_notes(fusing *f);

int remove_dead_ops(arena *a, ir_graph *p); /* dce.c: returns the number removed */
#endif
