/* In: launches, copies, fills and events in the order of the calls. Out: their execution in stream order, as late as the rules allow: a
 * stream runs only when something waits for it, so a program that forgets to wait reads old data. Captures become graphs instead. Unknown
 * handles, and calls that cannot be captured during a capture, are violations. */
#define _GNU_SOURCE
#include "tests/doubles/hip_double.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int captures; /* streams that this thread captures */

int forbidden_in_capture(const char *call)
{
    if (!captures) return hip_success;
    violate("%s while the thread captures a stream", call);
    return hip_capture_unsupported;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- lists of operations */
static void append(op_list *list, op *o)
{
    if (!list->first) list->last = &list->first;
    *list->last = o;
    list->last = &o->next;
    o->next = NULL;
    list->count++;
}

static op *take_first(op_list *list)
{
    op *o = list->first;
    list->first = o->next;
    list->count--;
    return o;
}

static void drop(op *o)
{
    if (o->kind == op_launch) o->kernel->module->queued--;
    free(o->arguments);
    free(o);
}

void queue_drop(op_list *list)
{
    while (list->first) drop(take_first(list));
}

static op *copy_of(const op *from)
{
    op *o = malloc(sizeof *o);
    void *arguments = from->argument_bytes ? malloc(from->argument_bytes) : NULL;
    if (!o || (from->argument_bytes && !arguments)) {
        free(o);
        free(arguments);
        return NULL;
    }
    *o = *from;
    o->arguments = arguments;
    if (arguments) memcpy(arguments, from->arguments, from->argument_bytes);
    if (o->kind == op_launch) o->kernel->module->queued++;
    return o;
}

/* ---- running. An operation of a blocking stream waits for earlier work of the null stream, and the null stream waits for the blocking
 * streams. */
static void run_until(stream *s, unsigned long number);

static void run_before(stream *s, unsigned long number)
{
    device *d = s->device;
    if (!s->blocking) return;
    if (s != &d->null_stream) {
        run_until(&d->null_stream, number);
        return;
    }
    for (stream *other = d->streams; other; other = other->next)
        if (other->blocking) run_until(other, number);
}

static void run_one(device *d, op *o)
{
    int code = hip_success;
    if (d->sticky) code = d->sticky;
    else if (o->kind == op_launch) code = double_run(d, o);
    else if (o->kind == op_record) {
        o->event->seconds = seconds_now();
        o->event->done = true;
    } else if (o->kind == op_wait) {
        run_until(&d->null_stream, o->number); /* the record is among what was queued before the wait */
        for (stream *s = d->streams; s; s = s->next) run_until(s, o->number);
    } else {
        memory_wake(d, o->to), memory_wake(d, o->from);
        if (o->kind == op_copy) memmove(o->to, o->from, o->bytes);
        else memset(o->to, o->byte, o->bytes);
        memory_sleep(d, o->to), memory_sleep(d, o->from);
    }
    if (code && !d->pending_error) d->pending_error = code;
    drop(o);
}

/* Runs all operations of the stream that were queued before call `number`. */
static void run_until(stream *s, unsigned long number)
{
    if (!s->ops.first || s->ops.first->number >= number) return;
    while (s->ops.first && s->ops.first->number < number) {
        op *o = take_first(&s->ops);
        run_before(s, o->number);
        run_one(s->device, o);
    }
}

static int told_error(device *d)
{
    const int code = d->sticky ? d->sticky : d->pending_error;
    d->pending_error = hip_success;
    return code;
}

int stream_wait(stream *s)
{
    run_before(s, (unsigned long)-1);
    run_until(s, (unsigned long)-1);
    return told_error(s->device);
}

int device_wait(device *d)
{
    run_until(&d->null_stream, (unsigned long)-1);
    for (stream *s = d->streams; s; s = s->next) run_until(s, (unsigned long)-1);
    return told_error(d);
}

int stream_push(stream *s, op *o)
{
    enum { most_queued = 4096 };
    o->number = ++double_state()->calls;
    if (!s->capture) {
        append(&s->ops, o);
        if (s->ops.count > most_queued) run_until(s, o->number);
        return hip_success;
    }
    if (s->broken_capture) {
        drop(o);
        return hip_capture_invalidated;
    }
    append(&s->capture->ops, o);
    return hip_success;
}

/* ---- streams */
stream *stream_of(void *handle, device *d)
{
    if (!handle) return &d->null_stream;
    for (stream *s = d->streams; s; s = s->next)
        if (s == handle) return s;
    violate("a stream that is not one of the current device");
    return NULL;
}

static int begin(const char *call, void *handle, stream **s)
{
    const int code = double_begin(call);
    if (code) return code;
    *s = stream_of(handle, current_device());
    return *s ? hip_success : hip_invalid_handle;
}

EXPORT int hipStreamCreateWithFlags(hip_stream *handle, unsigned flags)
{
    int code = double_begin("hipStreamCreateWithFlags");
    device *d = current_device();
    stream *s = code ? NULL : calloc(1, sizeof *s);
    if (!code && !s) code = hip_out_of_memory;
    if (s) {
        *s = (stream){.magic = "stream", .device = d, .blocking = !(flags & hip_stream_non_blocking), .next = d->streams};
        *handle = d->streams = s;
    }
    return double_end(code);
}

EXPORT int hipStreamCreate(hip_stream *handle) { return hipStreamCreateWithFlags(handle, 0); }

EXPORT int hipStreamDestroy(hip_stream handle)
{
    stream *s;
    int code = begin("hipStreamDestroy", handle, &s);
    if (!code && !handle) code = hip_invalid_handle;
    if (!code) {
        run_until(s, (unsigned long)-1);
        stream **at = &s->device->streams;
        while (*at != s) at = &(*at)->next;
        *at = s->next;
        free(s);
    }
    return double_end(code);
}

EXPORT int hipStreamSynchronize(hip_stream handle)
{
    stream *s;
    int code = begin("hipStreamSynchronize", handle, &s);
    if (code && double_state()->count) device_wait(current_device()); /* a wait that returns an error has still waited */
    if (!code && s->capture) {
        s->broken_capture = true;
        violate("hipStreamSynchronize of a stream that is being captured");
        code = hip_capture_unsupported;
    }
    if (!code) code = stream_wait(s);
    return double_end(code);
}

EXPORT int hipDeviceSynchronize(void)
{
    int code = double_begin("hipDeviceSynchronize");
    if (!code) code = forbidden_in_capture("hipDeviceSynchronize");
    if (!code) code = device_wait(current_device());
    return double_end(code);
}

EXPORT int hipStreamIsCapturing(hip_stream handle, int *status)
{
    stream *s;
    const int code = begin("hipStreamIsCapturing", handle, &s);
    *status = code || !s->capture ? 0 : s->broken_capture ? 2 : 1;
    return double_end(code);
}

/* ---- graphs */
static graph *graph_new(device *d)
{
    graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    *g = (graph){.magic = "graph", .device = d, .next = double_state()->graphs};
    return double_state()->graphs = g;
}

static graph *graph_of(const void *handle)
{
    for (graph *g = double_state()->graphs; g; g = g->next)
        if (g == handle) return g;
    violate("a graph that does not exist");
    return NULL;
}

static int graph_free(graph *g)
{
    graph **at = &double_state()->graphs;
    if (!g) return hip_invalid_handle;
    while (*at != g) at = &(*at)->next;
    *at = g->next;
    queue_drop(&g->ops);
    free(g);
    return hip_success;
}

static bool append_copies(op_list *to, const graph *from, unsigned long number)
{
    for (const op *o = from->ops.first; o; o = o->next) {
        op *copy = copy_of(o);
        if (!copy) return false;
        copy->number = number;
        append(to, copy);
    }
    return true;
}

EXPORT int hipStreamBeginCapture(hip_stream handle, int mode)
{
    stream *s;
    int code = begin("hipStreamBeginCapture", handle, &s);
    (void)mode;
    if (!code && (!handle || s->capture)) code = hip_capture_unsupported;
    if (!code && !(s->capture = graph_new(s->device))) code = hip_out_of_memory;
    if (!code) captures++, s->broken_capture = false;
    return double_end(code);
}

EXPORT int hipStreamEndCapture(hip_stream handle, hip_graph *out)
{
    stream *s;
    int code = begin("hipStreamEndCapture", handle, &s);
    *out = NULL;
    if (!code && !s->capture) code = hip_capture_unmatched;
    if (!code) {
        captures--;
        if (s->broken_capture) graph_free(s->capture), code = hip_capture_invalidated;
        else *out = s->capture;
        s->capture = NULL;
    }
    return double_end(code);
}

EXPORT int hipGraphInstantiate(hip_graph_exec *exec, hip_graph handle, void **bad_node, char *log, size_t log_size)
{
    int code = double_begin("hipGraphInstantiate");
    (void)bad_node, (void)log, (void)log_size;
    const graph *from = code ? NULL : graph_of(handle);
    graph *made = from ? graph_new(from->device) : NULL;
    *exec = made;
    if (!code && !made) code = from ? hip_out_of_memory : hip_invalid_handle;
    if (made && !append_copies(&made->ops, from, 0)) code = hip_out_of_memory;
    return double_end(code);
}

EXPORT int hipGraphDestroy(hip_graph handle)
{
    int code = double_begin("hipGraphDestroy");
    if (!code) code = graph_free(graph_of(handle));
    return double_end(code);
}

EXPORT int hipGraphExecDestroy(hip_graph_exec handle)
{
    int code = double_begin("hipGraphExecDestroy");
    if (!code) code = graph_free(graph_of(handle));
    return double_end(code);
}

EXPORT int hipGraphLaunch(hip_graph_exec exec, hip_stream handle)
{
    stream *s;
    int code = begin("hipGraphLaunch", handle, &s);
    const graph *g = code ? NULL : graph_of(exec);
    if (!code && !g) code = hip_invalid_handle;
    if (!code && !append_copies(&s->ops, g, ++double_state()->calls)) code = hip_out_of_memory;
    return double_end(code);
}

/* ---- events */
static event *event_of(const void *handle)
{
    for (event *e = double_state()->events; e; e = e->next)
        if (e == handle) return e;
    violate("an event that does not exist");
    return NULL;
}

EXPORT int hipEventCreate(hip_event *handle)
{
    int code = double_begin("hipEventCreate");
    event *e = code ? NULL : calloc(1, sizeof *e);
    if (!code && !e) code = hip_out_of_memory;
    if (e) {
        *e = (event){.magic = "event", .device = current_device(), .next = double_state()->events};
        *handle = double_state()->events = e;
    }
    return double_end(code);
}

EXPORT int hipEventCreateWithFlags(hip_event *handle, unsigned flags)
{
    (void)flags;
    return hipEventCreate(handle);
}

EXPORT int hipStreamWaitEvent(hip_stream stream_handle, hip_event handle, unsigned flags)
{
    stream *s;
    int code = begin("hipStreamWaitEvent", stream_handle, &s);
    const event *e = code ? NULL : event_of(handle);
    op *o = e && !flags && !s->capture ? calloc(1, sizeof *o) : NULL;
    if (!code && e && s->capture) violate("hipStreamWaitEvent for an event from outside of the capture");
    if (o && e->device == s->device && s->ordered < e->ordered) s->ordered = e->ordered;
    if (o) *o = (op){.kind = op_wait}, code = stream_push(s, o);
    else if (!code) code = hip_invalid_handle;
    code = double_end(code);
    usleep(50); /* yields to a thread that would launch out of order */
    return code;
}

EXPORT int hipEventRecord(hip_event handle, hip_stream stream_handle)
{
    stream *s;
    int code = begin("hipEventRecord", stream_handle, &s);
    event *e = code ? NULL : event_of(handle);
    if (e && e->device != s->device) violate("an event recorded on another device than its own"), e = NULL;
    op *o = e ? calloc(1, sizeof *o) : NULL;
    if (o) {
        *o = (op){.kind = op_record, .event = e};
        e->recorded = true;
        e->done = false;
        e->stream = s;
        e->ordered = s->ordered;
        code = stream_push(s, o);
    } else if (!code) code = e ? hip_out_of_memory : hip_invalid_handle;
    return double_end(code);
}

static int event_wait(event *e) { return e->recorded && !e->done ? device_wait(e->device) : told_error(e->device); }

EXPORT int hipEventSynchronize(hip_event handle)
{
    int code = double_begin("hipEventSynchronize");
    event *e = code ? NULL : event_of(handle);
    if (!code) code = e ? event_wait(e) : hip_invalid_handle;
    return double_end(code);
}

EXPORT int hipEventElapsedTime(float *milliseconds, hip_event start, hip_event end)
{
    int code = double_begin("hipEventElapsedTime");
    const event *s = code ? NULL : event_of(start), *e = code ? NULL : event_of(end);
    if (!code && (!s || !e || !s->recorded || !e->recorded)) code = hip_invalid_handle;
    if (!code && (!s->done || !e->done)) code = hip_not_ready;
    if (!code) *milliseconds = (float)((e->seconds - s->seconds) * 1e3);
    return double_end(code);
}

EXPORT int hipEventDestroy(hip_event handle)
{
    int code = double_begin("hipEventDestroy");
    event *e = code ? NULL : event_of(handle), **at = &double_state()->events;
    if (!code && !e) code = hip_invalid_handle;
    if (!code) {
        if (e->recorded && !e->done) device_wait(e->device);
        while (*at != e) at = &(*at)->next;
        *at = e->next;
        free(e);
    }
    return double_end(code);
}
