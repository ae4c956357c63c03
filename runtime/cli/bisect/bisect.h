/* In: a spec, options. Out: where its kernels part from the float64 reference, or from the cost model: one structure that text and JSON are
 * written from. Shared by the files of this folder. */
#ifndef TFGEN_CLI_BISECT_H
#define TFGEN_CLI_BISECT_H
#include "runtime/cli/source_edits.h"
#include "runtime/cli/trial.h"
#include "runtime/device/device.h"

typedef enum bisect_what { bisect_diff, bisect_nan, bisect_slow } bisect_what;

/* Why an element's number is wrong, where that can be told from the numbers alone. */
typedef enum parting_kind {
    parting_none,      /* every element is right */
    parting_beyond,    /* beyond its bound */
    parting_unwritten, /* nobody wrote it */
    parting_infinite,  /* NaN or infinite, and should not be */
    parting_together   /* each element is within its bound, but their RMS is too large: REF_MOST_SPREAD */
} parting_kind;

/* How one value's numbers part from what they should be. */
typedef struct parting {
    const ir_value *value;                                      /* of the graph that judged it */
    bool end_to_end;                                            /* an output, from the inputs on */
    parting_kind kind;                                          /* of the first wrong element */
    long long elements, bad, unwritten, infinite, first, worst; /* indices */
    double got, expected, bound, ratio;                         /* of the first */
    double worst_ratio, spread;
    double factor;                           /* the wrong numbers are this many times what they should be, or 0 */
    bool zeros;                              /* the wrong numbers are all 0 */
    long long low[max_rank], high[max_rank]; /* indices by axis between which all wrong elements lie */
    bool overflows; /* of nan: what it should be is no number of its dtype either, though all that it is made of are */
} parting;

/* Where in the plan a value is made. */
typedef struct place_made {
    const ir_op *op;       /* of the graph: what the spec calls it */
    const char *spec_text; /* the line of the spec, or NULL */
    const launch *launch;  /* NULL: no kernel makes it */
    const ir_phase *phase;
    const char *computes;      /* the kernel's ops */
    const char *tile, *within; /* "m=32 n=128 ..."; "rows 0 to 31, packed columns 128 to 255" or NULL */
    const char *file, *text;   /* the emitted line */
    int line;
} place_made;

typedef struct finding {
    parting parting;
    place_made made;
} finding;

/* What is in memory, for another phase, without the spec having a name for it: sums of rows that a norm is made of, parts of an attention,
 * aligned copies. */
typedef struct unnamed_step {
    const ir_op *op; /* of the plan, or a sum of the lowered graph */
    /* Of what it reads, as the device has it; of parts what the attention should be. value NULL: the run has not come to it. */
    ref_tensor known;
} unnamed_step;

/* A run of a plan, value after value on the device's own inputs. */
typedef struct walk {
    arena *a;
    bisect_what what;
    const ir_program *graph; /* whose values are judged */
    const plan *plan;
    parting *list; /* in order of the graph's ops, then steps */
    int count;
    unnamed_step *steps;
    int step_count;
    progress *bar; /* of kernels that are compiled, or NULL */
} walk;

/* What another framework computed, value after value on its own numbers. */
typedef struct expected_result {
    const char *file;
    int given;            /* values that the file has */
    parting *list;        /* of those, in order */
    const char *unknown;  /* names of tensors that are no values, or NULL */
    const char *between;  /* values on the way to the first that parts that the file does not have, or NULL */
    const parting *first; /* that parts; NULL: none */
} expected_result;

typedef struct slow_launch {
    const launch *launch;
    double chained, alone, predicted;
    const char *limit;
} slow_launch;

typedef struct bisection {
    arena *a;
    const cli_options *o;
    const char *path;
    bisect_what what;
    tfgen_device *device; /* NULL: the host engine */
    compile_request request;
    const plan *plan;
    const ir_program *graph;
    source_edits edits;
    trial_options trial;
    /* ---- what came of it */
    const char *on;    /* the device */
    long long runs;    /* until something was wrong, or as many as were asked for */
    double operations; /* of the graph */
    const char *fault; /* how the host engine stopped a kernel, or NULL: then nothing was compared */
    bool sampled;      /* of products and attention only some rows were judged */
    walk whole;        /* the plan as it is */
    bool found;
    const char *unjudged;    /* of diff: the first value of which no element is judged, or NULL */
    finding stored;          /* the first value in memory that is wrong; launch NULL and no parting: none */
    finding first;           /* what of it is wrong first, with the phase's own values stored; the same where that tells no more */
    int shown;               /* values that were stored for that */
    bool vanished;           /* with them the fault is gone */
    const char *hidden;      /* why values of the phase could not be stored, or NULL */
    const char *lost;        /* changes of --replace-source that such a plan could not have, or NULL */
    const char *checker;     /* what the host engine's checker says, or NULL */
    bool checked;            /* it was asked */
    const parting *overflow; /* of nan: the first value that the dtype cannot hold, by the reference itself; or NULL */
    expected_result expected;
    /* ---- of slow */
    const plan *timed;
    slow_launch *launches;      /* of that plan, in order */
    const slow_launch *slowest; /* the furthest above the model */
    double tolerance;
} bisection;

/* parting.c: got against what it should be. */
parting parting_of(const ir_value *v, const dim_table *dims, const ref_tensor *expected, const double *got, bisect_what what);

/* locate.c: where plan `p` makes that value; the graph and the spec say what the op is called there. */
place_made locate(bisection *b, const plan *p, const parting *found);

/* shown.c: the plan once more, with the values of a phase in memory. */
void bisect_inside(bisection *b);

/* walk.c */
trial_options walk_options(const bisection *b, walk *w);
const parting *walk_first(const walk *w, const plan *p); /* in the order of the plan; NULL: all is right */
void walk_outputs(walk *w, const ir_program *graph, const trial_result *r);

void bisect_expected(bisection *b);
void bisect_times(bisection *b);

/* print.c */
void bisect_print(const bisection *b);
void bisect_print_json(const bisection *b);
#endif
