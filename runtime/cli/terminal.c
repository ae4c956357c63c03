/* In: a task and its progress. Out: a progress line with an ETA on stderr, and colour escapes; on terminals only. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_start(const char *what, long long total)
{
    return (progress){.start = seconds_now(), .what = what, .total = total, .terminal = isatty(STDERR_FILENO)};
}

void progress_step(progress *p, const char *item)
{
    const double now = seconds_now(), spent = now - p->start;
    p->done++;
    if (!p->terminal || spent < 2 || now - p->shown < 0.1) return;
    p->shown = now;
    const double left = spent / (double)p->done * (double)(p->total - p->done);
    fprintf(stderr, "\r\033[K%s %lld/%lld, %.0f s left  %.60s", p->what, p->done, p->total, left, item);
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (p->shown > 0) fputs("\r\033[K", stderr);
}

const char *colour_code(FILE *out, colour c)
{
    static const char *const codes[] = {"\033[0m", "\033[32m", "\033[31m", "\033[2m", "\033[1m"};
    const char *no = secure_getenv("NO_COLOR");
    return (no && *no) || !isatty(fileno(out)) ? "" : codes[c];
}
