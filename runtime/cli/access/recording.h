/* In: recorder.h. Out: what its files share of the launch that is recorded. Nothing of this is seen outside of them. */
#ifndef TFGEN_CLI_RECORDING_H
#define TFGEN_CLI_RECORDING_H
#include "runtime/cli/access/recorder.h"

typedef struct event { /* one access of one lane, of at most 16 bytes; or one row of a bulk copy */
    unsigned long long offset;
    unsigned block, meetings, code, bytes;
    unsigned time, order; /* in the launch; of this lane's accesses by this code since its last meeting */
    unsigned short wave, memory; /* memory 0: shared */
    unsigned char lane, kind, bulk, matrix;
} event;
_Static_assert(sizeof(event) == 40, "as --limit says (runtime/cli/options.def)");

typedef struct touch { /* of a line, by a request */
    unsigned block, time, line;
} touch;

typedef struct number_table { /* keys, numbered as they come */
    unsigned *slots; /* number plus one, by hash */
    size_t room, count;
    unsigned long long *keys, *marks; /* by number; marks are the user's, zero at first */
} number_table;

/* A list that grows; `failed` once memory was short. */
typedef struct list {
    void *items;
    size_t count, room;
} list;
void *list_add(list *l, size_t size, bool *failed); /* zeroed; NULL: no memory */

typedef struct recording {
    const access_options *o;
    const host_module *module;
    access_launch *launch;
    bool active, cooperative, full, failed;
    unsigned block; /* whose accesses `events` has, where one block runs after the other */
    unsigned time;
    list events, touches, memories /* struct memory */, rows /* access_row, by number of row_keys */;
    list stream, starts; /* numbers of lines, block after block; where each block begins: struct start */
    list places; /* access_place: lines of the source that code is of */
    list placed; /* of each code the number of its place: unsigned */
    number_table codes, row_keys, lines; /* keys of lines: memory << 48 | line; marked with a bit for each chiplet that reads it */
    number_table sectors; /* of the events: row << 44 | sector; marked with a bit for each 64th of it that is used */
} recording;

struct start {
    size_t at;
    unsigned block;
};

struct memory {
    const char *is; /* the engine's pointer, which tells it */
    char *name;
};

/* Makes requests of the events, and rows and touches of those; the events are gone then. */
void requests_make(recording *r);
/* Of all touches: reuse, working sets, chiplets. */
void caches_count(recording *r);
unsigned number_of(number_table *t, unsigned long long key, bool *failed);
void number_close(number_table *t);
/* Of all codes that have none yet. */
void places_find(recording *r);
/* Rows of the launch, the worst first. */
void rows_make(recording *r);
#endif
