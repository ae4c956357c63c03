/* In: pieces of text.
 * Out: one growing string, always terminated.
 * Never fails: text beyond HOST_LOG_MAX, or for which memory is short, is dropped. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/host/engine.h"

void log_bytes(host_log *log, const char *bytes, size_t size)
{
    if (!log || log->size >= HOST_LOG_MAX) return;
    if (size > HOST_LOG_MAX - log->size) size = HOST_LOG_MAX - log->size;
    if (log->size + size + 1 > log->room) {
        const size_t room = 2 * log->room + size + 256;
        char *text = realloc(log->text, room);
        if (!text) return;
        log->text = text;
        log->room = room;
    }
    memcpy(log->text + log->size, bytes, size);
    log->size += size;
    log->text[log->size] = 0;
}

void host_log_add(host_log *log, const char *bytes, size_t size) { log_bytes(log, bytes, size); }

void log_vadd(host_log *log, const char *format, va_list arguments)
{
    char line[1024];
    const int n = vsnprintf(line, sizeof line, format, arguments);
    if (n > 0) log_bytes(log, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void log_add(host_log *log, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_vadd(log, format, arguments);
    va_end(arguments);
}

void log_place(host_log *log, size_t before, const page_places *places)
{
    char *placed = log && log->size > before ? page_places_log(places, log->text + before) : NULL;
    if (!placed) return;
    log->size = before;
    log_bytes(log, placed, strlen(placed));
    free(placed);
}

void host_log_free(host_log *log)
{
    free(log->text);
    *log = (host_log){0};
}

const char *host_status_name(host_status status)
{
    static const char *const names[HOST_STATUS_COUNT] = {
        [HOST_OK] = "ok",
        [HOST_BAD_CALL] = "bad call",
        [HOST_NO_MEMORY] = "not enough memory",
        [HOST_NO_COMPILER] = "no compiler",
        [HOST_COMPILE_FAILED] = "compile failed",
        [HOST_COMPILE_TIMEOUT] = "compile timed out",
        [HOST_IO] = "input or output failed",
        [HOST_NO_KERNEL] = "no such kernel",
        [HOST_TRAP] = "trap",
        [HOST_FAULT] = "fault",
        [HOST_DEADLOCK] = "deadlock",
        [HOST_HANG] = "hang",
        [HOST_CHECKED] = "check failed",
    };
    return (unsigned)status < HOST_STATUS_COUNT ? names[status] : "unknown status";
}
