/* In: the lowered program while it is grouped. Out: what the fusion passes share: groups of ops (phases to be), their users, legality
 * of a merge, and the way back to kernels of phases. Refuses: merges that no phase can run, with a reason. Private to ir/. */
#ifndef TFGEN_FUSE_H
#define TFGEN_FUSE_H
#include "ir/program/build.h"
#include "ir/program/reason.h"
#include "ir/program/segments.h"

enum { most_phase_ops = 64, no_group = -1 };

typedef struct group {
    ir_op **ops; /* in executable order */
    int count;   /* 0: merged into another */
    phase_family family;
} group;

typedef struct edge_list {
    ir_op **ops;
    int *start; /* by index in p->ops, of the op that comes first; one more at the end */
    int room, start_room;
} edge_list;

typedef struct state_uses state_uses;
typedef struct found_edge {
    int from; /* index in p->ops */
    ir_op *to;
} found_edge;

/* A walk from group to group along edges, which can be stopped at each edge and taken up again. */
typedef struct group_walk {
    const edge_list *edges;
    int *met, count;  /* groups, in order; the first is where it began */
    int at, op, edge; /* index in met, in that group's ops, among that op's edges: the next to look at */
    int stamp;
} group_walk;

typedef struct fusing {
    builder b;
    arena *a;
    ir_program *p;
    const fuse_options *options;
    bool disabled[32]; /* by index of fusion_names() */
    const char *last_pass; /* that changed something */
    ir_phase **phases;     /* by sequence, of the last fuse_settle; without names and dependencies until they are finished */
    group *groups;
    int group_count;
    int *home;  /* by value id: the group of the op that makes it. no_group: a view, which is part of no group */
    int *stands; /* by value id, after fuse_settle: home, or of a view the group with whose phase it is printed */
    int *place;  /* by value id, in fuse_settle: index in the group that is settled of the op that makes it */
    int *order; /* by value id: index in p->ops of the op that makes it */
    int room;   /* of home and order */
    edge_list users; /* who reads an op's out, views too */
    edge_list after; /* ops with code that must run after one: those that read its out or a view of it, and hazards on states */
    edge_list before; /* the same edges, by the op that comes later */
    found_edge *found; /* of a refresh: edges as they are met */
    int found_room;
    int *uses; /* by value id: how often ops read it */
    state_uses *states; /* of a refresh, by value id */
    int uses_room;
    int *rank, *sequence, sequence_count; /* a valid order of the groups: position by group, group by position (-1: merged) */
    int *waits, *ready, waits_room;       /* of fuse_schedule */
    int *marks, marks_room, marks_now;    /* of fuse_products.c */
    ir_op **lists; /* what the groups' op lists lie in after a refresh */
    int lists_room;
    int *stamp, stamp_room, stamp_now; /* by group: the walk that met it last */
    group_walk walks[2];               /* of fuse_legal.c: from the earlier group forward, from the later one back */
    int *slots;                        /* ranks of what they met */
    bool *is_root; /* by value id, of fuse_views.c: others live in it */
    int is_root_room;
} fusing;

/* fuse_group.c */
void fuse_refresh(fusing *f); /* after ops or their order changed: recomputes order, after and the groups' op lists */
void fuse_schedule(fusing *f); /* ranks the groups anew: after groups were added */
void fuse_set_home(fusing *f, const ir_value *v, int group);
/* no_group for declared values and views */
static inline int fuse_home(const fusing *f, const ir_value *v) { return v->def && v->id < f->room ? f->home[v->id] : no_group; }
int fuse_source(const fusing *f, const ir_value *v); /* the group that makes what v shows; no_group: none, or several do */
int fuse_new_group(fusing *f);
int fuse_users(const fusing *f, const ir_value *v, ir_op **users, int most); /* returns how many there are, views among them */
bool fuse_only_used_by(const fusing *f, const ir_value *v, const ir_op *user);
bool op_reads(const ir_op *op, const ir_value *v);
void fuse_insert(fusing *f, int index, ir_op *op, int group); /* before p->ops[index]; refresh when done */

/* fuse_legal.c: would these two groups make one phase? fuse_merge does it when so. */
reason fuse_why_not(fusing *f, int x, int y);
bool fuse_merge(fusing *f, int x, int y);
bool op_is_product(const ir_op *op);
bool group_reduces(const group *g); /* holds a row reduction */
bool group_reads(const group *g, const ir_value *v);
bool value_is_full(arena *a, const ir_value *v, const ir_value *like); /* the same rows and columns */

/* fuse_settle.c: roles and order; fuse_finish: kernels of one phase each, then the verifier, naming the pass that was settled last. */
void fuse_settle(fusing *f, const char *pass); /* finishes unless check_once */
void fuse_finish(fusing *f);

/* The passes: true when something changed. */
bool fuse_origins(fusing *f);
bool fuse_reshapes(fusing *f);
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
bool fuse_split(fusing *f);
bool fuse_concat(fusing *f);
bool fuse_input_sums(fusing *f);

/* Parts of statistics, gate_up and elementwise. */
bool fuse_sums(fusing *f);
bool fuse_join(fusing *f);
bool fuse_epilogue_elementwise(fusing *f);

/* What the notes ask: the fusion that serves an edge (index in fusion_names(), -1: none), and why a norm was not folded. */
int fusion_index(const char *name);
int fuse_epilogue_fusion(fusing *f, const ir_op *op, int product_group);
bool fuse_epilogue_allowed(fusing *f, int group, int product_group, reason *why); /* the fusion of each of its ops may run */
int fuse_rows_fusion(fusing *f, int producer, int user);
reason fuse_why_not_folded(fusing *f, const ir_value *a_operand); /* reason_none: it is no norm */
reason fuse_why_not_packed(fusing *f, int x, int y);                  /* two gemm groups; reason_none: nothing forbids it */
bool fuse_may_run(const fusing *f, int fusion, reason *why); /* level and --no-fuse */
void fuse_notes(fusing *f);

int remove_dead_ops(arena *a, ir_program *p); /* dce.c: how many it removed */
#endif
