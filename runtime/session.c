/* In: a plan. Out: compiled kernels, memory and runs on the host engine. Every value has an allocation of its own that ends at a
 * guard page, so that an access past its end is caught. Refuses nothing silently: the engine's status becomes an exit code. */
#define _GNU_SOURCE
#include "runtime/session.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct unit { /* a pack kernel or a launch */
    const char *name, *source;
    host_module *module;
    host_status status;
    host_log log;
} unit;

typedef struct memory {
    void *data;
    size_t bytes;
} memory;

struct session {
    const plan *plan;
    host_engine *engine;
    unit *units; /* packs, then launches */
    int unit_count;
    memory *values; /* by value id, at roots */
    memory *packed, *scratch;
    int launches;
};

static tfgen_code code_of(host_status status)
{
    switch (status) {
    case HOST_OK: return code_ok;
    case HOST_NO_COMPILER: return code_unsupported;
    case HOST_COMPILE_FAILED:
    case HOST_COMPILE_TIMEOUT: return code_compile_failed;
    case HOST_IO: return code_io;
    case HOST_CHECKED: return code_check_failed;
    default: return code_device;
    }
}

static void log_append(host_log *log, const host_log *from)
{
    if (!from->size) return;
    char *grown = realloc(log->text, log->size + from->size + 1);
    if (!grown) return;
    memcpy(grown + log->size, from->text, from->size);
    log->text = grown;
    log->size += from->size;
    log->room = log->size + 1;
    grown[log->size] = '\0';
}

/* ---- compiling: a few threads take units in order; each compile is a subprocess of the engine */
typedef struct compile_crew {
    session *s;
    host_compile_options options;
    atomic_int next, done;
} compile_crew;

static void *compile_units(void *argument)
{
    compile_crew *crew = argument;
    for (int i; (i = atomic_fetch_add(&crew->next, 1)) < crew->s->unit_count;) {
        unit *u = &crew->s->units[i];
        host_compile_options options = crew->options;
        options.name = u->name;
        u->status = host_compile(u->source, strlen(u->source), &options, &u->module, &u->log);
        atomic_fetch_add(&crew->done, 1);
    }
    return NULL;
}

static int default_jobs(int jobs)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return jobs > 0 ? jobs : cpus > 0 ? (int)cpus : 1;
}

static tfgen_code compile_all(session *s, const session_options *o, host_log *log)
{
    enum { most_jobs = 64 };
    pthread_t threads[most_jobs];
    compile_crew crew = {.s = s, .options = {.cache_dir = o->cache_dir, .cache = o->cache, .optimise = -1, .check = o->check}};
    int jobs = default_jobs(o->jobs), started = 0;
    if (jobs > s->unit_count) jobs = s->unit_count;
    if (jobs > most_jobs) jobs = most_jobs;
    for (int i = 0; i < jobs; i++) started += pthread_create(&threads[started], NULL, compile_units, &crew) == 0;
    if (!started) compile_units(&crew);
    for (int reported = 0; o->compiled && reported < s->unit_count;) {
        if (reported < atomic_load(&crew.done)) o->compiled(o->context, s->units[reported++].name);
        else nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < s->unit_count; i++) {
        if (s->units[i].status == HOST_OK) continue;
        log_append(log, &s->units[i].log);
        return code_of(s->units[i].status);
    }
    return code_ok;
}

static bool list_units(session *s)
{
    const plan *p = s->plan;
    s->units = calloc((size_t)(p->pack_count + p->launch_count + 1), sizeof *s->units);
    if (!s->units) return false;
    for (int i = 0; i < p->pack_count; i++)
        s->units[s->unit_count++] = (unit){.name = p->packs[i].name, .source = p->packs[i].source};
    for (int i = 0; i < p->launch_count; i++)
        s->units[s->unit_count++] = (unit){.name = p->launches[i].name, .source = p->launches[i].source};
    return true;
}

/* ---- memory */
static bool allocate(session *s, memory *m, long long bytes, const char *name)
{
    if (bytes <= 0) bytes = 1; /* an empty tensor still needs an address */
    m->bytes = (size_t)bytes;
    m->data = host_alloc(s->engine, m->bytes, name);
    return m->data != NULL;
}

static bool allocate_all(session *s)
{
    const plan *p = s->plan;
    const ir_program *program = p->program;
    const dim_table *dims = &program->dims;
    s->values = calloc((size_t)program->value_count + 1, sizeof *s->values);
    s->packed = calloc((size_t)p->pack_count + 1, sizeof *s->packed);
    s->scratch = calloc((size_t)p->scratch_count + 1, sizeof *s->scratch);
    if (!s->values || !s->packed || !s->scratch) return false;
    for (int i = 0; i < program->value_count; i++) {
        const ir_value *v = program->values[i];
        const bool callers = v->kind == value_input || v->kind == value_param || v->kind == value_state || v->output;
        if (!callers || v->kind == value_constant || value_root(v) != v) continue;
        if (!allocate(s, &s->values[v->id], value_count(v, dims) * dtype_size(v->type), v->name)) return false;
    }
    for (int i = 0; i < p->stored_count; i++) {
        const ir_value *v = p->stored[i].value;
        if (s->values[v->id].data) continue;
        if (!allocate(s, &s->values[v->id], storage_bytes(&p->stored[i], dims), v->name)) return false;
    }
    for (int i = 0; i < p->pack_count; i++)
        if (!allocate(s, &s->packed[i], p->packs[i].columns * p->packs[i].length * dtype_size(p->packs[i].type), p->packs[i].name))
            return false;
    for (int i = 0; i < p->scratch_count; i++)
        if (!allocate(s, &s->scratch[i], extent_value(&p->scratches[i].floats, dims) * 4, p->scratches[i].name)) return false;
    return true;
}

/* The engine runs the layers whose instructions it has; a plan for it is made with tuning.portable. */
static bool runs_elsewhere(const plan *p, host_log *log)
{
    static const char text[] = "a kernel of this plan is for matrix units that the host engine does not have: plan with layer simt\n";
    for (int i = 0; i < p->launch_count; i++)
        if (p->launches[i].kernel->frame == frame_ws) {
            log_append(log, &(host_log){(char *)text, sizeof text - 1, 0});
            return true;
        }
    return false;
}

session *session_open(const plan *p, const session_options *options, tfgen_code *code, host_log *log)
{
    session *s = calloc(1, sizeof *s);
    *code = code_device;
    if (!s) return NULL;
    s->plan = p;
    if (runs_elsewhere(p, log)) {
        *code = code_unsupported;
        session_close(s);
        return NULL;
    }
    s->engine = host_engine_open(&(host_engine_options){.workers = (unsigned)(options->jobs > 0 ? options->jobs : 0), .poison = true});
    if (s->engine && list_units(s)) {
        *code = compile_all(s, options, log);
        if (*code == code_ok && !allocate_all(s)) {
            static const char text[] = "not enough memory for the values of this plan\n";
            log_append(log, &(host_log){(char *)text, sizeof text - 1, 0});
            *code = code_device;
        }
        if (*code == code_ok) return s;
    }
    session_close(s);
    return NULL;
}

static void free_memories(session *s, memory *m, int count)
{
    for (int i = 0; m && i < count; i++)
        if (m[i].data) host_free(s->engine, m[i].data);
    free(m);
}

void session_close(session *s)
{
    if (!s) return;
    for (int i = 0; i < s->unit_count; i++) {
        if (s->units[i].module) host_module_free(s->units[i].module);
        host_log_free(&s->units[i].log);
    }
    free(s->units);
    free_memories(s, s->values, s->plan->program->value_count);
    free_memories(s, s->packed, s->plan->pack_count);
    free_memories(s, s->scratch, s->plan->scratch_count);
    if (s->engine) host_engine_close(s->engine);
    free(s);
}

void *session_data(const session *s, const ir_value *v, size_t *bytes)
{
    const memory *m = &s->values[value_root(v)->id];
    if (bytes) *bytes = m->bytes;
    return m->data;
}

void session_poison(session *s)
{
    const ir_program *program = s->plan->program;
    for (int i = 0; i < program->value_count; i++)
        if (program->values[i]->kind == value_result && s->values[i].data) host_poison(s->engine, s->values[i].data);
    for (int i = 0; i < s->plan->pack_count; i++) host_poison(s->engine, s->packed[i].data);
    for (int i = 0; i < s->plan->scratch_count; i++) host_poison(s->engine, s->scratch[i].data);
}

/* ---- launching */
static void *pointer_of(const session *s, const argument *g)
{
    switch (g->kind) {
    case argument_value: return s->values[value_root(g->value)->id].data;
    case argument_packed: return s->packed[g->index].data;
    case argument_scratch: return s->scratch[g->index].data;
    case argument_map:
    case argument_dim: break;
    }
    return NULL;
}

static void fill_arguments(const session *s, const argument *list, int count, unsigned char *bytes)
{
    for (int i = 0; i < count; i++) {
        const argument *g = &list[i];
        if (g->kind == argument_dim) {
            const int value = (int)s->plan->program->dims.dims[g->index].value;
            memcpy(bytes + g->offset, &value, sizeof value);
        } else {
            void *pointer = pointer_of(s, g);
            memcpy(bytes + g->offset, &pointer, sizeof pointer);
        }
    }
}

static tfgen_code launch_unit(session *s, unit *u, const argument *list, int count, unsigned argument_bytes, long long grid, int threads,
                              int shared_bytes, host_log *log)
{
    unsigned char *bytes = calloc(1, argument_bytes + 16u);
    if (!bytes) return code_device;
    fill_arguments(s, list, count, bytes);
    const host_launch_dims dims = {.grid = {(unsigned)grid, 1, 1}, .block = {(unsigned)threads, 1, 1},
                                   .shared_bytes = (unsigned)shared_bytes, .wave = (unsigned)s->plan->target->wave};
    void *params[] = {bytes};
    s->launches++;
    const host_status status = host_launch(s->engine, u->module, u->name, &dims, params, log);
    free(bytes);
    return code_of(status);
}

tfgen_code session_pack(session *s, host_log *log)
{
    const plan *p = s->plan;
    for (int i = 0; i < p->pack_count; i++) {
        const packed_weight *w = &p->packs[i];
        const tfgen_code code = launch_unit(s, &s->units[i], w->arguments, w->argument_count, w->argument_bytes, pack_grid(w), w->threads, 16, log);
        if (code != code_ok) return code;
    }
    return code_ok;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tfgen_code session_execute(session *s, double *seconds, host_log *log)
{
    const plan *p = s->plan;
    for (int i = 0; i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        const double start = now();
        const tfgen_code code = launch_unit(s, &s->units[p->pack_count + i], l->arguments, l->argument_count, l->argument_bytes,
                                            launch_grid(l, &p->program->dims), l->threads, l->shared_bytes, log);
        if (code != code_ok) return code;
        if (seconds) seconds[i] = now() - start;
    }
    return code_ok;
}

int session_launches(const session *s) { return s->launches; }
