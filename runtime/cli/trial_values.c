/* In: values of a running trial. Out: the device's numbers for them. Device errors name the kernel that caused them. */
#include "runtime/cli/trial_inside.h"
#include "ir/graph/half.h"
#include <stdlib.h>
#include <string.h>

const ir_value *trial_planned(const trial *t, const ir_value *v) { return graph_value(t->plan->ir, v->name); }

void trial_need(trial *t, tfgen_code code)
{
    const char *log = t->log.text ? t->log.text : "";
    if (code == code_ok) return;
    if (code == code_device) bail_if_a_kernel_stopped(t->a, code, t->graph, t->plan, log);
    bail_with_log(t->a, code, (position){0}, log, "%s",
                  code == code_compile_failed || code == code_unsupported ? "a kernel did not compile for this device"
                  : code == code_check_failed                             ? "the checker found faults"
                  : code == code_io                                       ? "no file or folder can be made for a kernel"
                                                                          : "the device stopped");
}

/* True in the layers after the first of a stack for the input that the layer before stored, and for its views: the caller's tensor is the
 * first layer's. */
static bool is_handed_on(const trial *t, const ir_value *planned)
{
    return t->at > 0 && value_root(planned) == t->plan->stack.in;
}

bool trial_in_memory(const trial *t, const ir_value *graph_value)
{
    const ir_value *p = trial_planned(t, graph_value);
    return p && !is_handed_on(t, p) && guarded_bytes(t->s, p) && (p->kind == value_result || p->kind == value_state || p->output);
}

double trial_element(dtype type, const void *data, size_t at)
{
    return guarded_is_poison(type, data, at) ? ref_unwritten() : dtype_get(type, data, at);
}

static double sum_of_parts(dtype type, const void *data, size_t at, int parts)
{
    double sum = 0;
    for (size_t i = at; i < at + (size_t)parts; i++) {
        if (guarded_is_poison(type, data, i)) return ref_unwritten();
        sum += dtype_get(type, data, i);
    }
    return sum;
}

tfgen_code trial_no_memory(trial *t)
{
    static const char said[] = "not enough memory for a value of it\n";
    host_log_add(&t->log, said, sizeof said - 1);
    return code_device;
}

void *trial_fetched(trial *t, const ir_value *v, tfgen_code *code)
{
    const size_t bytes = guarded_bytes(t->s, v);
    void *data = malloc(bytes ? bytes : 1);
    *code = data ? guarded_get(t->s, v, data, bytes, &t->log) : trial_no_memory(t);
    if (*code == code_ok) return data;
    free(data);
    return NULL;
}

/* True if a kernel wrote between the rows of an output, which belongs to the caller. */
static bool wrote_between_rows(trial *t, const ir_value *v, const void *data)
{
    const dim_table *dims = &t->plan->ir->dims;
    const long long columns = value_columns(v), stride = value_stride_at(v, dims), span = value_span(v, dims);
    bool wrote = false;
    for (long long row = 0; v->output && !v->root && row + stride < span; row += stride)
        for (long long i = columns; i < stride; i++) wrote = wrote || !guarded_is_poison(v->type, data, (size_t)(row + i));
    if (!wrote) return false;
    const char *said = arena_printf(t->a, "a kernel writes between the rows of %s\n", v->output);
    host_log_add(&t->log, said, strlen(said));
    return true;
}

tfgen_code trial_try_download(trial *t, const ir_value *v, double *out)
{
    tfgen_code code;
    void *data = trial_fetched(t, v, &code);
    if (!data) return code;
    const long long count = value_count(v, &t->plan->ir->dims), columns = value_columns(v);
    const long long stride = value_stride_at(v, &t->plan->ir->dims), offset = v->root ? v->root_offset : 0;
    const int parts = t->plan->partials[v->id] > 1 ? t->plan->partials[v->id] : 1; /* partial sums per row, one per column tile */
    for (long long i = 0; i < count; i++) {
        const size_t at = (size_t)(i / columns * stride + offset + i % columns);
        out[i] = parts > 1 ? sum_of_parts(v->type, data, at * (size_t)parts, parts) : trial_element(v->type, data, at);
    }
    const bool good = !wrote_between_rows(t, v, data);
    free(data);
    return good ? code_ok : code_device;
}

void trial_download(trial *t, const ir_value *v, double *out) { trial_need(t, trial_try_download(t, v, out)); }
