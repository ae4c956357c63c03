/* In: a spec, options. Out: where its kernels first differ from the float64 reference, or from the cost model: one structure that text and
 * JSON are written from. Shared by the files of this folder. */
#ifndef TFGEN_CLI_BISECT_H
#define TFGEN_CLI_BISECT_H
#include "runtime/cli/source_edits.h"
#include "runtime/cli/trial.h"
#include "runtime/device/device.h"

typedef enum bisect_what { bisect_diff, bisect_nan, bisect_slow } bisect_what;

/* The kind of error of an element, as far as the numbers show it. */
typedef enum mismatch_kind {
    mismatch_none,      /* every element is right */
    mismatch_beyond,    /* beyond its bound */
    mismatch_unwritten, /* never written */
    mismatch_infinite,  /* NaN or infinite, where the reference is finite */
    mismatch_together   /* each element is within its bound, but their RMS is too large: REF_MOST_SPREAD */
} mismatch_kind;

/* How one value's numbers differ from the expected ones. */
typedef struct mismatch {
    const ir_value *value;                                      /* a value of walk.graph */
    bool end_to_end;                                            /* an output, compared end to end */
    mismatch_kind kind;                                          /* of the first wrong element */
    long long elements, bad, unwritten, infinite, first;        /* numbers of elements: all, wrong, never written, not finite; first: index
                                                                 * of the first wrong element */
    double got, expected, bound, ratio;                         /* of the first wrong element */
    double worst_ratio, spread;
    double factor;                           /* got / expected if it is the same for all wrong numbers, or 0 */
    bool zeros;                              /* all wrong numbers are 0 */
    long long low[max_rank], high[max_rank]; /* bounding box of the wrong elements, by axis */
    bool overflows; /* bisect_nan: the expected value exceeds the dtype's range too, from finite operands */
} mismatch;

/* Where a plan computes a value. */
typedef struct place_made {
    const ir_op *op;       /* an op of the graph, under the name that the spec gives its result */
    const char *spec_text; /* the line of the spec, or NULL */
    const launch *launch;  /* NULL: no kernel makes it */
    const ir_phase *phase;
    const char *computes;      /* the kernel's ops */
    const char *tile, *within; /* "m=32 n=128 ..."; "rows 0 to 31, packed columns 128 to 255" or NULL */
    const char *file, *text;   /* the line of the emitted source: its file and its text */
    int line;
} place_made;

typedef struct finding {
    mismatch mismatch;
    place_made made;
} finding;

/* An intermediate in memory that the spec does not name: row sums of a norm, partials of split attention, aligned copies. */
typedef struct unnamed_step {
    const ir_op *op; /* in the plan, or a sum in the lowered graph */
    /* Expected, from the device's numbers of its operands; for partials: the attention's result. value NULL: not reached yet. */
    ref_tensor known;
} unnamed_step;

/* The comparison of a run, value by value, each on the device's own inputs. */
typedef struct walk {
    arena *a;
    bisect_what what;
    const ir_graph *graph; /* the graph whose values are judged */
    const plan *plan;
    mismatch *list; /* in order of the graph's ops, then steps */
    int count;
    unnamed_step *steps;
    int step_count;
    progress *bar; /* progress of kernel compilation, or NULL */
} walk;

/* Comparison with another framework's values: each is compared with what the spec computes from that framework's own numbers of the values
 * before it. */
typedef struct expected_result {
    const char *file;
    int given;            /* values in the file */
    mismatch *list;        /* one per value in the file, in order */
    const char *unknown;  /* names of tensors in the file that are not values of the graph, or NULL */
    const char *between;  /* values missing from the file on the path to the first that differs, or NULL */
    const mismatch *first; /* the first that differs; NULL: none */
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
    const ir_graph *graph;
    source_edits edits;
    trial_options trial;
    /* ---- results */
    const char *on;    /* name of the device */
    long long runs;    /* runs up to the first failure, or the number requested */
    double operations; /* of the graph */
    const char *fault; /* the host engine's error if it stopped a kernel (nothing is compared then), or NULL */
    bool sampled;      /* only some rows of products and attention were judged */
    walk whole;        /* the comparison of the unmodified plan */
    bool found;
    const char *unjudged;    /* bisect_diff: the first value of which no element could be judged, or NULL */
    finding stored;          /* the first wrong value in memory; none if it has neither launch nor mismatch */
    finding first;           /* the first wrong value once the phase's intermediates are stored too; equal to `stored` if none is earlier */
    int shown;               /* how many intermediates were stored to find `first` */
    bool vanished;           /* storing them made the error disappear */
    const char *hidden;      /* why intermediates of the phase could not be stored, or NULL */
    const char *lost;        /* edits of --replace-source that could not be merged into the plan that stores them, or NULL */
    const char *checker;     /* report of the host engine's checker, or NULL */
    bool checked;            /* the checker was run */
    const mismatch *overflow; /* bisect_nan: the first value that exceeds its dtype's range in the reference too, or NULL */
    expected_result expected;
    /* ---- bisect_slow */
    const plan *timed;
    slow_launch *launches;      /* of `timed`, in order */
    const slow_launch *slowest; /* the launch whose time is furthest above the model's */
    double tolerance;
} bisection;

/* mismatch.c: compares got with expected. */
mismatch mismatch_of(const ir_value *v, const dim_table *dims, const ref_tensor *expected, const double *got, bisect_what what);

/* locate.c: where plan `p` computes that value, with the op's name in the graph and its line in the spec. */
place_made locate(bisection *b, const plan *p, const mismatch *found);

/* shown.c: runs the plan again with the intermediates of a phase stored to memory. */
void bisect_inside(bisection *b);

/* walk.c */
trial_options walk_options(const bisection *b, walk *w);
const mismatch *walk_first(const walk *w, const plan *p); /* the first wrong value in the plan's order; NULL: none */
void walk_outputs(walk *w, const ir_graph *graph, const trial_result *r);

void bisect_expected(bisection *b);
void bisect_times(bisection *b);

/* print.c */
void bisect_print(const bisection *b);
void bisect_print_json(const bisection *b);
#endif
