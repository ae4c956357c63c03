/* In: a call's workspace. Out: zeroed counters of multi-phase launches (templates/frame/workspace.h), and after the launches an error that
 * names the wait that timed out, if any. The counters' addresses depend on the call's dims, so a call cannot rely on what an earlier one
 * left there. */
#include "runtime/module/counters.h"

/* The low half of marks::late (templates/frame/marks.h). A mark that an earlier call left at this address has the same low half, but not
 * late_bit. */
static const unsigned mark_word = 0x93f8c26bu;
static const unsigned late_bit = 1u << 31; /* set by late_wait() of templates/frame/workspace.h */

static tfgen_status clear(const tfgen_module *m, const call *c, int scratch, tfgen_error *error)
{
    const plan *p = m->plan;
    const long long bytes = scratch_bytes(&p->scratches[scratch], c->dims ? c->dims : &p->ir->dims);
    return m->device->api->fill(m->device, c->workspace[p->stored_count + scratch], 0, (size_t)bytes, c->stream, error);
}

tfgen_status counters_clear(const tfgen_module *m, const call *c, tfgen_error *error)
{
    const plan *p = m->plan;
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < p->scratch_count && status == TFGEN_OK; i++)
        if (p->scratches[i].kind == scratch_of_counters) status = clear(m, c, i, error);
    return status;
}

/* The launch whose counters or marks are in this scratch buffer. */
static const launch *launch_with(const plan *p, int scratch)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].argument_count; k++) {
            const argument *a = &p->launches[i].arguments[k];
            if (a->kind == argument_scratch && a->index == scratch) return &p->launches[i];
        }
    return NULL;
}

static tfgen_status report(const launch *l, unsigned word, tfgen_error *error)
{
    const int phase = (int)(word >> 24 & 127), counter = (int)(word & 0xffffff);
    const bool named = l && phase < l->work_count;
    return device_report(error, TFGEN_DEVICE_ERROR, "%s: phase %d%s%s waited too long for counter %d: its results are wrong",
                         l ? l->name : "a launch", phase, named ? " " : "", named ? l->work[phase].phase->name : "", counter);
}

tfgen_status counters_check(const tfgen_module *m, const call *c, tfgen_error *error)
{
    const plan *p = m->plan;
    const device_api *api = m->device->api;
    for (int i = 0; i < p->scratch_count; i++) {
        const bool marks = p->scratches[i].kind == scratch_of_marks;
        unsigned words[2];
        if (p->scratches[i].kind == scratch_of_floats) continue;
        void *at = c->workspace[p->stored_count + i];
        tfgen_status status = api->copy(m->device, words, at, sizeof words, TFGEN_FROM_DEVICE, c->stream, error);
        if (status == TFGEN_OK) status = api->synchronize(m->device, c->stream, error);
        if (status != TFGEN_OK) return status;
        if (!(words[1] & late_bit) || (marks && words[0] != mark_word)) continue;
        if (marks) status = clear(m, c, i, error); /* so that the next check starts clean */
        return status != TFGEN_OK ? status : report(launch_with(p, i), words[1], error);
    }
    return TFGEN_OK;
}
