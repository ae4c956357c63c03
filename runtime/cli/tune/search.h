/* In: candidates of one kernel that somebody proposes, makes ready and times: a device, or a test's model of one. Out: which is fastest
 * beyond noise, or the default. Knows nothing of tiles, compilers or devices; what it decides follows from its seed and from the times
 * alone. What fails is a candidate less.
 *
 * Candidates come in waves: neighbours of the best so far, the likeliest first. Those of a wave are timed in turn with the default, round
 * after round, in an order drawn anew each time, and each is measured by the ratio of its time to the default's of the same round, so that
 * clocks that drift change both. Who is clearly slower drops out early. Waves end when two in a row bring nothing better, when nobody
 * proposes more, or when the time is up. Then the best meets the default in pairs, and is kept only if it wins by more than the noise;
 * else the next one does. */
#ifndef TFGEN_TUNE_SEARCH_H
#define TFGEN_TUNE_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include "ir/base/arena.h"

typedef enum candidate_status {
    candidate_new,     /* proposed, and not looked at */
    candidate_ready,   /* compiled; timed, or about to be */
    candidate_refused, /* no code: it spills, or the compiler refused it or took too long */
    candidate_same,    /* its code is another's */
    candidate_wrong,   /* outside the reference's bound: a bug of ours */
    candidate_unjudged, /* of a value that it stores no element can be judged */
    candidate_failed,  /* the device stopped */
    candidate_dropped, /* clearly slower */
    candidate_beaten,  /* not faster than the best beyond noise */
    candidate_kept,    /* the best */
    candidate_statuses
} candidate_status;
extern const char *const candidate_status_names[candidate_statuses];

typedef struct candidate {
    void *item;       /* the proposer's */
    double predicted; /* seconds, by the model; 0: not known */
    candidate_status status;
    const char *reason; /* one line, or NULL */
    bool checked;       /* against the reference */
    double *seconds, *against; /* of its rounds: its own time, and the default's of the same round */
    int rounds, room;
    double ratio;       /* median of seconds / against; 0: not timed */
} candidate;

enum { search_most_wave = 64, search_most_joined = 4 };

typedef struct search_side { /* the proposer, the device, the clock */
    /* Up to `most` candidates that were not proposed yet, the likeliest first: neighbours of `best`, or of the default where it is NULL. */
    int (*propose)(void *context, const candidate *best, int most, candidate *out);
    void (*prepare)(void *context, candidate *const *list, int count); /* each is ready then, or says why not */
    /* Seconds of one run, of a batch; false: it failed, and its reason says how. The default is timed like any other. */
    bool (*time)(void *context, candidate *c, double *seconds);
    void (*timed)(void *context, const candidate *c); /* it has one round more, and its ratio is that of all */
    /* Against the reference, before it is kept; false: it says how it is wrong, or why it is unjudged, which its status is then. */
    bool (*check)(void *context, candidate *c);
    /* The best so far is right: what to keep if the search cannot come to its end. NULL: only what is kept at the end is checked. */
    void (*found)(void *context, const candidate *c);
    /* When waves have ended: candidates that others found, their ratio filled in, which meet the default as well; -1: it is not for this
     * search to decide. NULL: there are no others. */
    int (*join)(void *context, int most, candidate *out);
    void (*release)(void *context, candidate *c); /* it is timed no more; its status is final unless it is ready */
    double (*now)(void *context);                 /* seconds */
    bool (*stopped)(void *context);               /* the user has enough */
    void *context;
} search_side;

typedef struct search_options {
    int wave;          /* candidates of a wave, at most search_most_wave */
    int most;          /* candidates in all */
    int patience;      /* waves that bring nothing */
    int rounds, pairs; /* most of a wave, of the last meeting */
    double until;      /* by search_side.now: no wave begins later */
    double end;        /* nor one that would end behind this, by what waves took; 0: it may */
    double wave_seconds; /* what a wave took in earlier searches; 0: nobody knows */
    double margin;     /* how much faster is worth keeping: 0.005 is half a percent */
    unsigned long long seed;
} search_options;

typedef struct search_result {
    candidate *standard; /* the default */
    candidate *kept;     /* the default, or what won */
    double ratio;        /* of kept, in the last meeting; 1: the default */
    double noise;        /* standard error of its logarithm */
    candidate **list;    /* all, the default first */
    int count;
    double wave_seconds; /* what a wave takes: the last one counts half */
    bool elsewhere; /* others decide: `kept` says nothing */
    bool ended; /* not by the time, and not by the user */
} search_result;

/* standard: the default, ready. Bails without memory. */
search_result search_run(arena *a, candidate *standard, const search_side *side, const search_options *o);
#endif
