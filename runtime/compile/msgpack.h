/* In: MessagePack bytes. Out: values, one call each, in order. Refuses what does not fit the bytes: `bad` then stays
 * set, every further call returns 0, and nothing beyond the end is read. */
#ifndef TFGEN_MSGPACK_H
#define TFGEN_MSGPACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct msgpack {
    const unsigned char *at, *end;
    bool bad;
} msgpack;

/* Counts never exceed the bytes that are left, so a loop over them is bounded by the input. */
size_t msgpack_map(msgpack *m);   /* number of key-value pairs that follow */
size_t msgpack_array(msgpack *m); /* number of values that follow */
uint64_t msgpack_unsigned(msgpack *m);
const char *msgpack_string(msgpack *m, size_t *length); /* not NUL-terminated; NULL when bad */
void msgpack_skip(msgpack *m);                          /* one value with everything in it */
#endif
