/* Contract: stop.h. A thread of its own waits for the alarm and writes the wisdom: unlike a signal handler it may allocate and take locks,
 * and it does not depend on the other threads. */
#define _GNU_SOURCE
#include "runtime/cli/tune/stop.h"
#include "runtime/wisdom/wisdom_file.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_seconds_to_stop = 20, seconds_before_trials = 1 };
volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t tries;
static sem_t time_is_up;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *held_path, *held_text;

static void stop(int number)
{
    stop_signal = number;
    alarm(tries ? most_seconds_to_stop : seconds_before_trials);
}

static void leave(int number) { (void)number, (void)sem_post(&time_is_up); }

static void add_held(void *argument)
{
    arena *a = argument;
    (void)wisdom_add(a, held_path, wisdom_read(a, held_text, strlen(held_text)));
}

static void *wait_for_the_alarm(void *unused)
{
    static const char text[] = "tfgen: tune was told to stop and did not end in time; tiles kept before that are in the wisdom file\n",
                      more[] = "tfgen: so is the fastest correct tile of the kernel being tuned, though it was not yet compared with the "
                               "default\n";
    while (sem_wait(&time_is_up)) continue;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    pthread_mutex_lock(&lock);
    arena *a = held_text ? arena_new() : NULL;
    if (a && arena_run(a, add_held, a) == code_ok) (void)!write(STDERR_FILENO, more, sizeof more - 1);
    signal((int)stop_signal, SIG_DFL);
    kill(getpid(), (int)stop_signal);
    return unused;
}

void stop_listen(arena *a)
{
    struct sigaction first = {.sa_handler = stop, .sa_flags = SA_RESETHAND}, last = {.sa_handler = leave};
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals go to the working threads */
    const bool waits = sem_init(&time_is_up, 0, 0) == 0 && pthread_create(&thread, NULL, wait_for_the_alarm, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!waits) bail(a, code_device, (position){0}, "tune: cannot start a thread");
    pthread_detach(thread);
    sigemptyset(&first.sa_mask);
    sigemptyset(&last.sa_mask);
    sigaction(SIGALRM, &last, NULL);
    sigaction(SIGINT, &first, NULL);
    sigaction(SIGTERM, &first, NULL);
}

void stop_listened(void) { alarm(0); }
void stop_has_trials(void) { tries = 1; }

void stop_hold(arena *a, const char *wisdom, const wisdom_entry *line)
{
    text t = {.a = a};
    if (line) text_printf(&t, "%s", wisdom_head), wisdom_put(&t, line);
    pthread_mutex_lock(&lock);
    free(held_path), free(held_text);
    held_path = line ? strdup(wisdom) : NULL;
    held_text = held_path ? strdup(t.data) : NULL;
    pthread_mutex_unlock(&lock);
}
