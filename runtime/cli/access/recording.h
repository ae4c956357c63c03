/* See recorder.h. State of the launch being recorded, private to the recorder's files. */
#ifndef TFGEN_CLI_RECORDING_H
#define TFGEN_CLI_RECORDING_H
#include "runtime/cli/access/recorder.h"

typedef struct event { /* one access of one lane, of at most 16 bytes; or one row of a bulk copy */
    unsigned long long offset;
    unsigned block, meetings, code, bytes;
    unsigned time, order; /* order: number of the access among those by this lane and code since the lane's last barrier or collective */
    unsigned short wave, memory; /* memory 0: shared */
    unsigned char lane, kind, bulk, matrix;
} event;
_Static_assert(sizeof(event) == 40, "as --limit says (runtime/cli/options.def)");

typedef struct touch { /* a request touches a cache line */
    unsigned block, time, line;
} touch;

typedef struct number_table { /* hash table that numbers keys in order of insertion */
    unsigned *slots; /* key number + 1 in the slot of its hash; 0: empty */
    size_t room, count;
    unsigned long long *keys, *marks; /* by number; marks: for the caller, initially 0 */
} number_table;

/* A growing list. */
typedef struct list {
    void *items;
    size_t count, room;
} list;
void *list_add(list *l, size_t size, bool *failed); /* a zeroed item; out of memory: NULL and *failed = true */

typedef struct recording {
    const access_options *o;
    const host_module *module;
    access_launch *launch;
    bool active, cooperative, full, failed;
    unsigned block; /* the block whose accesses are in `events`, if blocks run one by one */
    unsigned time;
    list events, touches, memories /* struct memory */, rows /* access_row, indexed by the numbers that row_keys gives */;
    list stream, starts; /* stream: line numbers, block by block; starts (struct start): where each block begins */
    list places; /* access_place: source lines of the code */
    list placed; /* unsigned: for each code (by its number in `codes`) the index of its place */
    number_table codes, row_keys, lines; /* codes: keys are code addresses. lines: keys are memory << 48 | line, marks have a bit per
                                          * chiplet that reads the line */
    number_table sectors; /* of the events, keys: row << 44 | sector; marks: a bit per 64th of the sector that is used */
} recording;

struct start {
    size_t at;
    unsigned block;
};

struct memory {
    const char *identity; /* the host engine's pointer to the name; compared as a pointer, since names may be equal */
    char *name;
};

/* Groups the events into requests, adds those to rows and touches, and clears the events. */
void requests_make(recording *r);
/* Computes reuse, working sets and chiplet reads from all touches. */
void caches_count(recording *r);
unsigned number_of(number_table *t, unsigned long long key, bool *failed);
void number_close(number_table *t);
/* Finds the places of all codes that have none yet. */
void places_find(recording *r);
/* Writes the launch's rows, the worst first. */
void rows_make(recording *r);
#endif
