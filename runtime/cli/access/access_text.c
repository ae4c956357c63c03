/* In: a report. Out: text on standard output, a line for each source line that accesses memory. */
#include "runtime/cli/access/report.h"
#include <string.h>

static const char *bytes_text(arena *a, double bytes)
{
    return bytes < 1e4   ? arena_printf(a, "%.0f B", bytes)
           : bytes < 1e7 ? arena_printf(a, "%.1f kB", bytes * 1e-3)
                         : arena_printf(a, "%.1f MB", bytes * 1e-6);
}

static const char *bold(void) { return colour_code(stdout, colour_bold); }
static const char *bad(void) { return colour_code(stdout, colour_bad); }
static const char *plain(void) { return colour_code(stdout, colour_none); }

static void print_head(const access_report *r)
{
    const target_info *t = r->plan->target;
    const ir_graph *p = r->plan->ir;
    printf("%s%s  %s  level %s%s ", bold(), p->name, dtype_name(p->type), fusion_level_name(p->level), plain());
    for (int i = 0; i < p->dims.count; i++) printf(" %s=%lld", p->dims.dims[i].name, p->dims.dims[i].value);
    printf("\nin the geometry of %s, as %s has it: waves of %d; sectors of %d bytes, lines of %d; %d banks of 4 bytes\n", t->name,
           r->plan->device->name, t->wave, t->sector_bytes, t->line_bytes, t->lds_banks);
}

static const char *width_text(arena *a, const access_row *row)
{
    return row->bulk || !row->width ? access_name(row) : arena_printf(a, "%s %d B", access_name(row), row->width);
}

/* "!  x  read 16 B  requests  lanes  sectors  least  used  kept  place" */
static void print_row(const access_report *r, const access_launch *l, const access_row *row)
{
    const double all = row->memory ? row->sectors : row->cycles, least = row->memory ? row->least : row->least_cycles;
    const char *spec = access_spec(r, l, row), *used = "";
    if (row->memory) used = arena_printf(r->a, "%4.0f %% %4.0f %%", 100 * access_share(r, row), 100 * access_kept(r, row));
    else used = arena_printf(r->a, row->ways > 1 ? "%d-way" : "", row->ways);
    printf("%s%c %-14s %-16s %9.0f %6.1f %8.2f %8.2f  %-13s%s %s%s%s%s%s\n", row->fault ? bad() : "", row->fault ? '!' : ' ',
           row->memory ? row->memory : "shared", width_text(r->a, row), row->requests, row->lanes / row->requests, all / row->requests,
           least / row->requests, used, row->fault ? plain() : "", row->place.source ? row->place.source : "?", spec ? "  " : "",
           spec ? spec : "", row->fault ? "  " : "", access_faults[row->fault]);
}

static void print_rows(const access_report *r, const access_launch *l, bool memory)
{
    bool head = false;
    for (int i = 0; i < l->row_count; i++) {
        if (!l->rows[i].memory == memory) continue;
        if (!head)
            printf("  %-14s %-16s %9s %6s %8s %8s  %-13s line\n", memory ? "memory" : "shared memory", "", "requests", "lanes",
                   memory ? "sectors" : "cycles", "least", memory ? "  used   kept" : "");
        head = true;
        print_row(r, l, &l->rows[i]);
    }
}

static void print_totals(const access_report *r, const access_launch *l)
{
    double sectors = 0, used = 0, brought = 0, kept = 0, cycles = 0, least = 0;
    for (int i = 0; i < l->row_count; i++) {
        sectors += l->rows[i].sectors, used += l->rows[i].used;
        brought += l->rows[i].brought * r->plan->target->sector_bytes, kept += l->rows[i].kept;
        cycles += l->rows[i].cycles, least += l->rows[i].least_cycles;
    }
    if (sectors > 0)
        printf("  requested from caches: %s in %.0f sectors, %.0f %% used; distinct sectors per workgroup and source line, summed: %s, "
               "%.0f %% kept\n",
               bytes_text(r->a, sectors * r->plan->target->sector_bytes), sectors, 100 * used / (sectors * r->plan->target->sector_bytes),
               bytes_text(r->a, brought), 100 * kept / brought);
    if (cycles > 0) printf("  banks: %.0f cycles, %.0f of them lost to conflicts\n", cycles, cycles - least);
}

/* Of the touches of cache lines: the share that are first touches, and the shares whose line was touched before with at most N bytes of
 * other lines in between. */
static void print_reuse(const access_report *r, const char *who, const access_reuse *u)
{
    const int line = r->plan->target->line_bytes;
    double sum = 0;
    if (u->touches <= 0) return;
    printf("  %s: %.0f %% of touches of lines are the first;", who, 100 * u->first / u->touches);
    for (int i = 0; i < access_distances; i++) {
        sum += u->distance[i];
        if (i % 3 == 2 && u->distance[i] + u->distance[i - 1] + u->distance[i - 2] > 0)
            printf(" within %s %.0f %%", bytes_text(r->a, (double)line * (double)(1ll << i)), 100 * sum / u->touches);
    }
    if (u->rate < 1) printf(" (of a sample, %.1f %% of lines)", 100 * u->rate);
    putchar('\n');
}

static void print_caches(const access_report *r, const access_launch *l)
{
    const device_model *d = r->plan->device;
    print_reuse(r, "a workgroup", &l->own);
    print_reuse(r, "all at once", &l->shared);
    if (l->shared.touches > 0)
        printf("  L2: %s touched in all, at most %s by workgroups that run at once (up to %d)", bytes_text(r->a, l->touched),
               bytes_text(r->a, l->working_set), l->at_once);
    if (l->shared.touches > 0 && d->chiplets > 1)
        printf(", %s by those of a chiplet", bytes_text(r->a, l->chiplet_set));
    if (l->shared.touches > 0 && l->shared.bytes > 0)
        printf("; capacity %s%s, %.0f %% of touches hit", bytes_text(r->a, l->shared.bytes), d->chiplets > 1 ? " a chiplet" : "",
               100 * l->shared.hits / l->shared.touches);
    if (l->shared.touches > 0) putchar('\n');
    for (int i = 0; i < l->spread_count && d->chiplets > 1; i++) {
        const access_spread *s = &l->spread[i];
        if (s->fetched > s->lines)
            printf("  chiplets: %s is read by %.2f of %d on average, %s in all\n", s->memory, s->fetched / s->lines, d->chiplets,
                   bytes_text(r->a, s->fetched * r->plan->target->line_bytes));
    }
}

/* Which accesses were recorded. A cooperative launch runs all workgroups at once, so it may happen that no workgroup is recorded whole. */
static const char *recorded_text(arena *a, const access_launch *l)
{
    if (l->whole) return arena_printf(a, "those of %u whole workgroups", l->whole);
    return l->recorded ? "the first in time of all workgroups" : "because the first workgroup alone exceeds the limit";
}

static void print_launch(const access_report *r, const access_launch *l)
{
    printf("\n%s%s%s  %s  %u workgroups of %u threads\n", bold(), l->kernel, plain(), access_ops(r, l), l->workgroups, l->threads);
    if (l->recorded < l->accesses)
        printf("  %struncated%s: %llu of %llu accesses are analysed (--limit), %s\n", bad(), plain(), l->recorded, l->accesses,
               recorded_text(r->a, l));
    print_rows(r, l, true);
    print_rows(r, l, false);
    print_totals(r, l);
    print_caches(r, l);
}

void access_print(const access_report *r)
{
    int faults[access_fault_count] = {0};
    print_head(r);
    for (int i = 0; i < r->count; i++) {
        if (!r->launches[i].earlier_launches) print_launch(r, &r->launches[i]);
        for (int k = 0; k < r->launches[i].row_count && !r->launches[i].earlier_launches; k++) faults[r->launches[i].rows[k].fault]++;
    }
    printf("\nlines marked !: %d with conflicts, %d that fetch bytes they do not use, %d that request sectors again (docs/insight.md)\n",
           faults[access_conflicts], faults[access_waste], faults[access_again]);
}
