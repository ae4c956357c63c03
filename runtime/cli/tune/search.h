/* In: candidates of one kernel, proposed, prepared and timed through callbacks (a device, or a test's model of one). Out: the one that is
 * fastest beyond noise, or the default. Independent of tiles, compilers and devices: decisions follow from the seed and the times alone.
 * Failed candidates are skipped.
 *
 * Candidates come in waves: neighbours of the best so far, the most promising first. Each round of a wave times its candidates and the
 * default in a fresh random order; a candidate's figure is the ratio of its time to the default's in the same round, so that clock drift
 * cancels. Clearly slower candidates are dropped early. Waves end when `patience` in a row improve nothing, when no proposals are left, or
 * when the time is up. Then the best is timed against the default in pairs and kept only if it wins by more than the noise; if it does not,
 * the next best gets the same comparison. */
#ifndef TFGEN_TUNE_SEARCH_H
#define TFGEN_TUNE_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include "ir/base/arena.h"

typedef enum candidate_status {
    candidate_new,     /* proposed, not prepared yet */
    candidate_ready,   /* compiled; timed, or about to be */
    candidate_refused, /* no code: it spills, or the compiler refused it or took too long */
    candidate_same,    /* its code equals another candidate's */
    candidate_wrong,   /* outside the reference's bound: a bug of ours */
    candidate_unjudged, /* for some value that it stores, no element could be judged */
    candidate_failed,  /* device error */
    candidate_dropped, /* clearly slower */
    candidate_beaten,  /* not faster than the best beyond noise */
    candidate_kept,    /* the best */
    candidate_statuses
} candidate_status;
extern const char *const candidate_status_names[candidate_statuses];

typedef struct candidate {
    void *item;       /* owned by the proposer */
    double predicted; /* seconds, by the model; 0: unknown */
    candidate_status status;
    const char *reason; /* one line, or NULL */
    bool checked;       /* against the reference */
    double *seconds, *against; /* seconds by round: its own time and the default's */
    int rounds, room;
    double ratio;       /* median of seconds / against; 0: not timed */
} candidate;

enum { search_most_wave = 64, search_most_joined = 4 };

typedef struct search_side { /* the proposer, the device, the clock */
    /* Up to `most` new candidates, the most promising first: neighbours of `best`, or of the default if it is NULL. Returns how many. */
    int (*propose)(void *context, const candidate *best, int most, candidate *out);
    void (*prepare)(void *context, candidate *const *list, int count); /* makes each ready, or sets its status and reason */
    /* Seconds per run, from a batch of runs; false: it failed, see its reason. The default is timed the same way. */
    bool (*time)(void *context, candidate *c, double *seconds);
    void (*timed)(void *context, const candidate *c); /* called after each round of a candidate, its ratio updated */
    /* Compares with the reference before a candidate is kept; false: sets its status (wrong or unjudged) and reason. */
    bool (*check)(void *context, candidate *c);
    /* Called with a checked best so far, to keep if the search is interrupted. NULL: only the final winner is checked. */
    void (*found)(void *context, const candidate *c);
    /* Called after the last wave: fills in candidates that other ranks found, with their ratios, to be timed against the default as well;
     * -1: another rank decides. NULL: no other ranks. */
    int (*join)(void *context, int most, candidate *out);
    void (*release)(void *context, candidate *c); /* not timed again; its status is final unless candidate_ready */
    double (*now)(void *context);                 /* seconds */
    bool (*stopped)(void *context);               /* the user asked to stop */
    void *context;
} search_side;

typedef struct search_options {
    int wave;          /* candidates per wave, at most search_most_wave */
    int most;          /* limit of candidates in all */
    int patience;      /* waves without improvement before the search ends */
    int rounds, pairs; /* limits: rounds per wave, pairs in the final comparison */
    double until;      /* a time of search_side.now after which no wave starts */
    double end;        /* no wave starts that is expected to end later; 0: no limit */
    double wave_seconds; /* duration of a wave in earlier searches; 0: unknown */
    double margin;     /* least relative gain worth keeping: 0.005 is half a percent */
    unsigned long long seed;
} search_options;

typedef struct search_result {
    candidate *standard; /* the default */
    candidate *kept;     /* the winner, or the default */
    double ratio;        /* time of `kept` over the default's in the final comparison; 1 if the default is kept */
    double noise;        /* standard error of log(ratio) */
    candidate **list;    /* all, the default first */
    int count;
    double wave_seconds; /* duration of a wave, averaged with weight 1/2 for the last */
    bool elsewhere; /* another rank decides: `kept` is meaningless */
    bool ended; /* ran to its end: neither out of time nor stopped by the user */
} search_result;

/* standard: the default, already prepared. Bails if out of memory. */
search_result search_run(arena *a, candidate *standard, const search_side *side, const search_options *o);
#endif
