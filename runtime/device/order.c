/* One event per context follows the last launch that was ordered. It is recorded after each launch, not only when another stream launches:
 * at that time the first stream may have been destroyed, or have much more work queued. */
#include "runtime/device/order.h"
#include <pthread.h>
#include <stdlib.h>

struct launch_order {
    const order_calls *calls;
    const void *context;
    int users;
    pthread_mutex_t lock; /* protects the following; held while a launch waits, is launched and is recorded */
    void *event;          /* NULL until the first launch */
    bool recorded, known;
    unsigned long long number; /* of the stream that it was recorded on, if known */
    launch_order *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static launch_order *orders;

static launch_order *order_new(const order_calls *calls, const void *context)
{
    launch_order *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    *o = (launch_order){.calls = calls, .context = context, .next = orders};
    pthread_mutex_init(&o->lock, NULL);
    return orders = o;
}

launch_order *order_open(const order_calls *calls, const void *context)
{
    pthread_mutex_lock(&list_lock);
    launch_order *o = orders;
    while (o && (o->calls != calls || o->context != context)) o = o->next;
    if (!o) o = order_new(calls, context);
    if (o) o->users++;
    pthread_mutex_unlock(&list_lock);
    return o;
}

void order_close(launch_order *o, tfgen_device *d)
{
    pthread_mutex_lock(&list_lock);
    const bool last = --o->users == 0;
    launch_order **at = &orders;
    while (*at != o) at = &(*at)->next;
    if (last) *at = o->next;
    pthread_mutex_unlock(&list_lock);
    if (!last) return;
    if (o->event) o->calls->event_destroy(d, o->event);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

/* Called with the lock held. */
static tfgen_status wait_for_last(launch_order *o, tfgen_device *d, void *stream, order_turn *turn, tfgen_error *error)
{
    tfgen_status status = o->event ? TFGEN_OK : o->calls->event_create(d, &o->event, error);
    turn->known = o->calls->stream_number(d, stream, &turn->number);
    const bool same = turn->known && o->known && turn->number == o->number;
    if (status == TFGEN_OK && o->recorded && !same) status = o->calls->event_wait(d, o->event, stream, error);
    return status;
}

tfgen_status order_begin(launch_order *o, tfgen_device *d, void *stream, order_turn *turn, tfgen_error *error)
{
    bool capturing = false;
    *turn = (order_turn){0};
    tfgen_status status = o->calls->is_capturing(d, stream, &capturing, error);
    if (status != TFGEN_OK || capturing) return status;
    pthread_mutex_lock(&o->lock);
    status = wait_for_last(o, d, stream, turn, error);
    turn->taken = status == TFGEN_OK;
    if (!turn->taken) pthread_mutex_unlock(&o->lock);
    return status;
}

tfgen_status order_end(launch_order *o, tfgen_device *d, void *stream, const order_turn *turn, tfgen_status status, tfgen_error *error)
{
    if (!turn->taken) return status;
    if (status == TFGEN_OK && (status = o->calls->event_record(d, o->event, stream, error)) == TFGEN_OK)
        o->recorded = true, o->known = turn->known, o->number = turn->number;
    pthread_mutex_unlock(&o->lock);
    return status;
}
