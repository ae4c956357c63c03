/* Contract: runtime/module/plan_code.h. */
#include "runtime/module/plan_code.h"
#include "runtime/system/ranges.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks */
static const char mark_format[] = "tfgen: spills, %d bytes of scratch, %d vectors\n";

void spill_mark(const code_result *r, char mark[spill_mark_size])
{
    spilled_tile s;
    memset(mark, 0, spill_mark_size);
    (void)code_spills(r, &s);
    snprintf(mark, spill_mark_size, mark_format, s.scratch, s.vectors);
}

bool spill_mark_read(const void *code, size_t size, code_result *out)
{
    char text[spill_mark_size];
    int scratch, vectors;
    if (size != spill_mark_size) return false;
    memcpy(text, code, size);
    text[size - 1] = 0;
    if (sscanf(text, mark_format, &scratch, &vectors) != 2 || scratch < 0 || vectors < 0) return false;
    *out = (code_result){.status = build_failed, .kernels = calloc(1, sizeof *out->kernels)};
    if (!out->kernels) return true;
    *out->kernels = (kernel_facts){.scratch_bytes = (unsigned)scratch, .vgpr_spills = (unsigned)vectors};
    out->n_kernels = 1;
    return true;
}

/* ---- workspace */
static dim_table dims_at(const plan *p, bool high)
{
    dim_table at = p->ir->dims;
    for (int i = 0; i < at.count; i++)
        if (at.dims[i].dynamic) at.dims[i].value = high ? at.dims[i].high : at.dims[i].low;
    return at;
}

/* True if the plan has this scratch with at least as many bytes. Both sizes are bytes per row times rows rounded up to tiles, so
 * comparing them at the lowest and highest dims is enough. */
static bool has_room(const plan *p, const scratch *s)
{
    const dim_table low = dims_at(p, false), high = dims_at(p, true);
    for (int i = 0; i < p->scratch_count; i++) {
        const scratch *mine = &p->scratches[i];
        if (strcmp(mine->name, s->name) != 0) continue;
        return scratch_bytes(s, &low) <= scratch_bytes(mine, &low) && scratch_bytes(s, &high) <= scratch_bytes(mine, &high);
    }
    return false;
}

/* True if the plan stores this value in at least as many bytes. */
static bool stores(const plan *p, const storage *s)
{
    const dim_table low = dims_at(p, false), high = dims_at(p, true);
    for (int i = 0; i < p->stored_count; i++) {
        const storage *mine = &p->stored[i];
        if (strcmp(mine->value->name, s->value->name) != 0) continue;
        return storage_bytes(s, &low) <= storage_bytes(mine, &low) && storage_bytes(s, &high) <= storage_bytes(mine, &high);
    }
    return false;
}

static bool fits_workspace(const plan *p, const plan *again)
{
    bool fits = true;
    for (int i = 0; fits && i < again->stored_count; i++) fits = stores(p, &again->stored[i]);
    for (int i = 0; fits && i < again->scratch_count; i++) fits = has_room(p, &again->scratches[i]);
    return fits;
}

plan *plan_without_spills(arena *a, const plan *p, const code_result *const *results, bool same_workspace)
{
    spilled_tile *spilled = arena_alloc(a, ((size_t)p->launch_count + 1) * sizeof *spilled);
    bool any = false;
    for (int i = 0; i < p->launch_count; i++) any |= code_spills(results[p->pack_count + i], &spilled[i]);
    plan *again = any ? plan_again(a, p, spilled) : NULL;
    while (again && same_workspace && !fits_workspace(p, again)) again = plan_again(a, again, spilled);
    return again;
}

/* ---- compiling */
typedef struct round_job {
    arena *a;
    const plan_code_options *o;
    plan_code *c;
    int *missing; /* kernels to compile, longest first, so that no long compile starts last */
    bool *hit;    /* by index in `missing` */
    int count;
} round_job;

static void list_units(arena *a, const plan *p, const plan_code_options *o, plan_code *c)
{
    const size_t room = (size_t)p->pack_count + (size_t)p->launch_count + 1;
    *c = (plan_code){p, 0, arena_alloc(a, room * sizeof *c->requests), arena_alloc(a, room * sizeof *c->sources),
                     arena_alloc(a, room * sizeof *c->kernels), arena_alloc(a, room * sizeof *c->results), arena_alloc(a, room)};
    for (int i = 0; i < p->pack_count + p->launch_count; i++) {
        const launch *l = i < p->pack_count ? NULL : &p->launches[i - p->pack_count];
        const source_text *source = l ? &l->source : &p->packs[i].source;
        c->kernels[i] = l ? l->name : p->packs[i].name;
        c->sources[i] = source;
        c->requests[i] = (code_request){.size = source_size(source), .name = l ? l->file : arena_printf(a, "%s.hip", c->kernels[i]),
                                        .arch = o->arch, .compiler = o->compiler, .time_limit = o->time_limit};
        if (!(c->requests[i].source = source_whole(source))) bail(a, code_device, (position){0}, "not enough memory for the sources");
        c->count = i + 1;
    }
}

static void add_missing(round_job *j, int kernel)
{
    int at = j->count++;
    for (; at > 0 && j->c->requests[j->missing[at - 1]].size < j->c->requests[kernel].size; at--) j->missing[at] = j->missing[at - 1];
    j->missing[at] = kernel;
}

static void tell_done(void *context, size_t index, const code_result *result)
{
    const round_job *j = context;
    if (j->o->done) j->o->done(j->o->context, j->c->kernels[j->missing[index]], j->hit[index], result->status == build_ok);
}

static void compile_missing(round_job *j)
{
    code_request *requests = arena_alloc(j->a, ((size_t)j->count + 1) * sizeof *requests);
    code_result *results = arena_alloc(j->a, ((size_t)j->count + 1) * sizeof *results);
    for (int i = 0; i < j->count; i++) requests[i] = j->c->requests[j->missing[i]];
    if (j->count && j->o->begin) j->o->begin(j->o->context, j->count);
    if (j->count) {
        range_begin("tfgen compile", NULL);
        (void)cache_compile_all(j->o->cache, requests, (size_t)j->count, j->o->jobs, results, j->hit, tell_done, j);
        range_end();
    }
    for (int i = 0; i < j->count; i++) j->c->results[j->missing[i]] = results[i], j->c->hit[j->missing[i]] = j->hit[i];
}

/* Fills in the results; code of kernels whose source is unchanged is moved from `before`. */
static void fill(arena *a, plan_code *c, plan_code *before, const plan_code_options *o)
{
    round_job j = {a, o, c, arena_alloc(a, ((size_t)c->count + 1) * sizeof *j.missing), arena_alloc(a, (size_t)c->count + 1), 0};
    for (int i = 0; i < c->count; i++) {
        if (o->launches_only && i < c->plan->pack_count) {
            c->results[i] = (code_result){.status = build_ok};
        } else if (i < before->count && strcmp(c->kernels[i], before->kernels[i]) == 0 &&
                   strcmp(c->requests[i].source, before->requests[i].source) == 0) {
            c->results[i] = before->results[i], c->hit[i] = before->hit[i];
            before->results[i] = (code_result){0};
        } else if (!o->find || !o->find(o->context, &c->requests[i], c->sources[i], c->kernels[i], &c->results[i])) {
            add_missing(&j, i);
        }
    }
    compile_missing(&j);
}

static const plan *next_plan(arena *a, const plan_code *c, const plan_code_options *o)
{
    const code_result **results = arena_alloc(a, ((size_t)c->count + 1) * sizeof *results);
    for (int i = 0; i < c->count; i++) {
        results[i] = &c->results[i];
        if (results[i]->status != build_ok && !code_spills(results[i], NULL)) return NULL;
    }
    return plan_without_spills(a, c->plan, results, o->same_workspace);
}

static void free_code(void *c) { plan_code_free(c); }

void plan_code_free(plan_code *c)
{
    for (int i = 0; i < c->count; i++) {
        code_result_free(&c->results[i]);
        free((char *)c->requests[i].source);
    }
    c->count = 0;
}

plan_code *plan_code_make(arena *a, const plan *p, const plan_code_options *o)
{
    plan_code *c = arena_alloc(a, sizeof *c);
    arena_defer(a, free_code, c);
    for (; p; p = next_plan(a, c, o)) {
        plan_code *before = arena_alloc(a, sizeof *before);
        *before = *c;
        c->count = 0;
        arena_defer(a, free_code, before);
        list_units(a, p, o, c);
        fill(a, c, before, o);
        plan_code_free(before);
    }
    return c;
}
