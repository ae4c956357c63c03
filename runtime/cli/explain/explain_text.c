/* In: an explanation. Out: text on standard output. */
#include "runtime/cli/explain/explanation.h"
#include "runtime/cli/spread.h"
#include <limits.h>
#include <string.h>

static const char *bytes_text(arena *a, double bytes)
{
    return bytes < 1e4   ? arena_printf(a, "%.0f B", bytes)
           : bytes < 1e6 ? arena_printf(a, "%.1f kB", bytes * 1e-3)
                         : arena_printf(a, "%.1f MB", bytes * 1e-6);
}

static const char *time_text(arena *a, double seconds) { return spread_time_text(a, seconds, seconds < 1e-4); }

static double bytes_of(const work *w) { return w->read + w->written; }

static double operations_of(const work *w) { return w->products + w->others; }

static const char *bold(void) { return colour_code(stdout, colour_bold); }
static const char *plain(void) { return colour_code(stdout, colour_none); }

static void print_head(const explanation *e)
{
    const ir_graph *p = e->levels[0].plan->ir;
    printf("%s%s  %s%s ", bold(), p->name, dtype_name(p->type), plain());
    for (int i = 0; i < p->dims.count; i++) printf(" %s=%lld", p->dims.dims[i].name, p->dims.dims[i].value);
    printf("\nfor %s, tiles for %s (%s)\n", e->device->target->name, e->device->name, e->device->label);
    if (e->device->target->vendor == vendor_amd) printf("every time is a prediction: no AMD GPU was measured\n");
}

/* ---- a level's kernels */
static void print_kernel_row(arena *a, const explained_kernel *k)
{
    const work *w = &k->work;
    printf("  %-24s %9.3f %10s %8.1f", k->launch->name, operations_of(w) * 1e-9, bytes_text(a, bytes_of(w)),
           operations_of(w) / (bytes_of(w) > 0 ? bytes_of(w) : 1));
    if (k->foreseen)
        printf(" %10s %10s %10s %10s  %-10s", bytes_text(a, k->predicted.asked), bytes_text(a, k->predicted.moved), time_text(a, k->floor),
               time_text(a, k->predicted.seconds), predicted_limit_names[k->predicted.limit]);
    printf("  %s\n", k->ops);
}

static void print_table(const explanation *e, const explained_level *l)
{
    arena *a = e->a;
    const bool foreseen = l->count > 0 && l->kernels[0].foreseen;
    printf("  %-24s %9s %10s %8s%s  computes\n", "launch", "GFLOP", "bytes", "FLOP/B",
           foreseen ? "         L2       DRAM      floor  predicted  limited by" : "");
    for (int i = 0; i < l->count; i++) print_kernel_row(a, &l->kernels[i]);
    printf("  %-24s %9.3f %10s %8.1f", "all", operations_of(&l->all) * 1e-9, bytes_text(a, bytes_of(&l->all)),
           operations_of(&l->all) / (bytes_of(&l->all) > 0 ? bytes_of(&l->all) : 1));
    if (foreseen) printf(" %10s %10s %10s %10s", "", "", time_text(a, l->floor), time_text(a, l->seconds));
    putchar('\n');
}

/* ---- what a kernel is */
static void print_tile(const ir_phase *phase)
{
    const program_info *info = &program_table[phase->tile.program];
    printf("%s on %s, frame %s:", explained_family(phase), explained_layer(info->layer), explained_frame(info->frame));
    for (int i = 0; i < info->field_count; i++)
        if (info->fields[i].help) printf(" %s=%d", info->fields[i].name, phase->tile.at[i]);
    printf("\n");
}

static void print_code(arena *a, const device_model *d, const explained_code *c)
{
    const bool amd = d->target->vendor == vendor_amd;
    if (c->missing) {
        printf("      code: %s\n", c->missing);
        return;
    }
    printf("      %s: %u %s", c->compiler ? c->compiler : "code", c->facts.vgprs, amd ? "VGPRs" : "registers");
    const bool apart = c->holds && c->held.by[by_sums] != INT_MAX;
    if (amd) printf(apart ? " and %u AGPRs, %u SGPRs" : ", %u of them AGPRs, %u SGPRs", c->facts.agprs, c->facts.sgprs);
    if (c->facts.scratch_bytes || c->facts.vgpr_spills)
        printf(", SPILLS: %u bytes of scratch a thread, %u vector registers", c->facts.scratch_bytes, c->facts.vgpr_spills);
    else
        printf(", no spills");
    printf(", %lld bytes of shared memory", c->need.shared);
    if (c->matrix >= 0) printf(", %lld matrix instructions", c->matrix);
    printf("\n");
    if (c->holds) printf("      %s\n", occupancy_text(a, d, &c->need, &c->held));
}

static void print_kernel(const explanation *e, const explained_level *l, const explained_kernel *k)
{
    printf("  %s%s%s\n", bold(), k->launch->name, plain());
    for (int i = 0; i < k->launch->kernel->phase_count; i++) {
        const ir_phase *phase = k->launch->kernel->phases[i];
        printf("      ");
        print_tile(phase);
        for (int r = 0; r < phase->refused_count; r++)
            printf("      not %s: %s\n", explained_layer(phase->refused[r].layer), phase->refused[r].why);
    }
    const long long grid = launch_grid(k->launch, &l->plan->ir->dims);
    if (k->launch->resident)
        printf("      %lld tiles, %s", grid, text_counted(e->a, k->launch->resident, "persistent workgroup"));
    else
        printf("      %s", text_counted(e->a, grid, "workgroup"));
    printf(" of %d threads%s; fuses %s: %s\n", k->launch->threads, k->launch->resident ? " per unit" : "",
           text_counted(e->a, k->op_count, "op"), k->ops);
    flight f;
    if (launch_flight(l->plan, k->launch, &f))
        printf("      %s in flight: %s per unit; a unit's share of bandwidth times the latency of %s%s is %s\n",
               phase_first(f.of->phase, class_ATTENTION) ? "keys and values" : "weights", bytes_text(e->a, f.bytes),
               time_text(e->a, f.latency), f.assumed ? " (assumed: an H200's)" : "", bytes_text(e->a, f.needed));
    print_code(e->a, l->plan->device, &k->code);
}

/* ---- edges, devices */
static void print_edges(const explanation *e, const explained_level *l)
{
    double bytes = 0, seconds = 0;
    printf("  %snot fused, and what that costs%s\n", bold(), plain());
    for (int i = 0; i < l->edge_count; i++) {
        const explained_edge *edge = &l->edges[i];
        const double own = edge->read + edge->written;
        bytes += own, seconds += edge->seconds;
        printf("  %10s %10s  %%%s -> %%%s: %s\n", bytes_text(e->a, own), seconds > 0 || own > 0 ? time_text(e->a, edge->seconds) : "",
               edge->note->value->name, edge->note->user->outputs[0]->name, edge->sentence);
    }
    if (!l->edge_count)
        printf("  nothing: every edge lies inside one launch\n");
    else
        printf("  %10s %10s  in all, written and read again\n", bytes_text(e->a, bytes), time_text(e->a, seconds));
}

static const char *assumed_text(arena *a, unsigned assumed)
{
    static const char *const words[] = {"bandwidth", "products", "launch"};
    text t = {.a = a};
    for (int i = 0; i < 3; i++)
        if (assumed >> i & 1) text_printf(&t, "%s%s", t.size ? ", " : "", words[i]);
    return t.data ? t.data : "nothing";
}

static void print_devices(const explanation *e, const explained_level *l)
{
    printf("  %spredicted on each device%s\n", bold(), plain());
    printf("  %-12s %-9s %8s %12s %12s  longest launch, limited by; not measured on this device, so assumed\n", "device", "target",
           "launches", "floor", "predicted");
    for (int i = 0; i < l->device_count; i++) {
        const explained_device *d = &l->devices[i];
        if (d->refused) {
            printf("  %-12s %-9s no plan: %s\n", d->model->name, d->model->target->name, d->refused);
            continue;
        }
        if (!d->foreseen) continue;
        const explained_kernel *longest = d->kernels;
        for (int k = 1; k < d->count; k++)
            if (d->kernels[k].predicted.seconds > longest->predicted.seconds) longest = &d->kernels[k];
        printf("  %-12s %-9s %8d %12s %12s  %s, %s; %s\n", d->model->name, d->model->target->name, d->count, time_text(e->a, d->floor),
               time_text(e->a, d->seconds), longest->launch->name, predicted_limit_names[longest->predicted.limit],
               assumed_text(e->a, d->assumed));
    }
}

static void print_level(const explanation *e, const explained_level *l)
{
    const int ops = e->graph ? e->graph->op_count : l->plan->ir->op_count;
    printf("\n%slevel %s%s: %s for %d ops; workspace %s, packed weights %s\n", bold(), fusion_level_name(l->level), plain(),
           text_counted(e->a, l->count, "launch"), ops, bytes_text(e->a, l->workspace), bytes_text(e->a, l->packed));
    print_table(e, l);
    for (int i = 0; i < l->count; i++) print_kernel(e, l, &l->kernels[i]);
    print_edges(e, l);
    print_devices(e, l);
}

void explain_print(const explanation *e)
{
    print_head(e);
    for (int i = 0; i < e->level_count; i++) print_level(e, &e->levels[i]);
}
