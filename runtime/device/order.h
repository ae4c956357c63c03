/* In: launches that must not run concurrently (cooperative ones), of any stream and thread. Out: they run in the order of their calls,
 * across streams: each begins after the previous one has ended. All tfgen_device of one context share an order. Streams that are being
 * captured are not ordered: a graph cannot wait for an event recorded outside, and its launches run when the caller replays it
 * (docs/runtime.md). */
#ifndef TFGEN_ORDER_H
#define TFGEN_ORDER_H
#include "runtime/device/device.h"

/* The calls of a driver that an order makes. An event stays valid when the stream that it was recorded on is destroyed. */
typedef struct order_calls {
    tfgen_status (*event_create)(tfgen_device *d, void **event, tfgen_error *error); /* need not measure time */
    void (*event_destroy)(tfgen_device *d, void *event);
    tfgen_status (*event_record)(tfgen_device *d, void *event, void *stream, tfgen_error *error);
    tfgen_status (*event_wait)(tfgen_device *d, void *event, void *stream, tfgen_error *error);
    tfgen_status (*is_capturing)(tfgen_device *d, void *stream, bool *capturing, tfgen_error *error);
    /* A number that no other stream of the process ever has, unlike a handle, which drivers reuse. False: unknown. */
    bool (*stream_number)(tfgen_device *d, void *stream, unsigned long long *number);
} order_calls;

typedef struct launch_order launch_order;

/* A launch from order_begin() to order_end(). */
typedef struct order_turn {
    bool taken; /* the launch is ordered and holds the lock */
    bool known;
    unsigned long long number; /* of its stream, if known */
} order_turn;

/* The order of `context` (identified by calls and context together), created if nobody has it open; NULL: no memory. */
launch_order *order_open(const order_calls *calls, const void *context);
/* The last user's call also destroys the event. */
void order_close(launch_order *o, tfgen_device *d);

/* Before a launch on `stream`: makes the stream wait for the launch before it. The lock is held until order_end(), unless this fails. */
tfgen_status order_begin(launch_order *o, tfgen_device *d, void *stream, order_turn *turn, tfgen_error *error);
/* After the launch, whose status is `status`. Returns it, or the status of recording the event. */
tfgen_status order_end(launch_order *o, tfgen_device *d, void *stream, const order_turn *turn, tfgen_status status, tfgen_error *error);
#endif
