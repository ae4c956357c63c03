/* In, out: ir/devices/occupancy.h. A workgroup starts only if all of its waves fit; waves are assigned to SIMDs in turn. */
#include "ir/devices/occupancy.h"
#include <limits.h>
#include <string.h>

typedef struct machine {
    const char *target;
    int simds, waves, granule, apart, scalars, groups, lone, piece, reserved;
} machine;

static const machine machines[] = {
#define OCCUPANCY(target, simds, waves, granule, apart, scalars, groups, lone, piece, reserved) \
    {#target, simds, waves, granule, apart, scalars, groups, lone, piece, reserved},
#include "ir/devices/occupancy.def"
};

const char *const occupancy_limit_names[occupancy_limit_count] =
    {"registers", "accumulation registers", "scalar registers", "shared memory", "waves", "workgroups"};

static const machine *machine_of(const target_info *target)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i].target, target->name) == 0) return &machines[i];
    return NULL;
}

static long long up(long long x, long long step) { return (x + step - 1) / step * step; }

unit_room unit_room_of(const target_info *target)
{
    const machine *m = machine_of(target);
    if (!m) return (unit_room){0};
    const int lanes = m->simds * target->wave;
    return (unit_room){m->simds, m->waves * lanes, target->registers * lanes, m->reserved};
}

static int waves_with(const machine *m, int file, int registers)
{
    const int waves = (int)(file / up(registers > 0 ? registers : 1, m->granule));
    return waves < m->waves ? waves : m->waves;
}

static int waves_by_scalars(const machine *m, int scalars)
{
    const int waves = m->scalars && scalars > 0 ? m->scalars / scalars : m->waves;
    return waves < m->waves ? waves : m->waves;
}

/* Most registers per lane at which a SIMD holds `waves` waves; -1: none. */
static long long registers_for(const machine *m, int file, long long waves)
{
    const long long most = waves <= m->waves && waves > 0 ? file / waves / m->granule * m->granule : 0;
    return most > 0 ? most : -1;
}

/* Most shared memory per workgroup, in bytes, at which a unit holds `groups` workgroups; -1: none. */
static long long shared_for(const machine *m, long long unit, long long groups)
{
    const long long most = unit / groups / m->piece * m->piece - m->reserved;
    return most >= 0 ? most : -1;
}

static void find_limits(occupancy *o)
{
    o->groups = INT_MAX;
    for (int i = 0; i < occupancy_limit_count; i++)
        if (o->by[i] < o->groups) o->groups = o->by[i];
    for (int i = 0; i < occupancy_limit_count; i++)
        if (o->by[i] == o->groups) o->limits |= 1u << i;
}

static void find_steps(const machine *m, const device_model *d, long long waves, occupancy *o)
{
    const int file = d->target->registers;
    const long long wanted = (waves * (o->groups + 1) + m->simds - 1) / m->simds; /* per SIMD, for one more workgroup */
    o->step[by_registers] = registers_for(m, file, wanted);
    o->step[by_sums] = m->apart ? registers_for(m, file, wanted) : -1;
    o->step[by_scalars] = m->scalars && wanted <= m->waves ? m->scalars / wanted : -1;
    o->step[by_shared] = shared_for(m, (long long)d->numbers[number_shared].value, o->groups + 1ll);
    o->step[by_waves] = o->step[by_groups] = -1;
}

bool occupancy_of(const device_model *d, const kernel_need *need, occupancy *out)
{
    const machine *m = machine_of(d->target);
    const long long unit = (long long)d->numbers[number_shared].value;
    if (!m || unit <= 0 || need->threads < 1) return false;
    const long long waves = (need->threads + d->target->wave - 1) / d->target->wave;
    const long long shared = need->shared + m->reserved > 0 ? up(need->shared + m->reserved, m->piece) : 0;
    const int file = d->target->registers;
    *out = (occupancy){.most_waves = m->waves};
    out->by[by_registers] = (int)(waves_with(m, file, need->registers) * (long long)m->simds / waves);
    out->by[by_sums] = m->apart ? (int)(waves_with(m, file, need->sums) * (long long)m->simds / waves) : INT_MAX;
    out->by[by_scalars] = m->scalars ? (int)(waves_by_scalars(m, need->scalars) * (long long)m->simds / waves) : INT_MAX;
    out->by[by_shared] = shared > 0 ? (int)(unit / shared) : INT_MAX;
    out->by[by_waves] = (int)((long long)m->waves * m->simds / waves);
    out->by[by_groups] = waves > 1 || m->lone ? m->groups : INT_MAX;
    find_limits(out);
    /* If the hardware's wave limit binds, report it alone, without the register limits that tie with it. */
    if (out->limits >> by_waves & 1) out->limits &= ~(1u << by_registers | 1u << by_sums | 1u << by_scalars);
    out->waves = (int)((waves * out->groups + m->simds - 1) / m->simds);
    find_steps(m, d, waves, out);
    return true;
}

static long long need_of(const kernel_need *need, occupancy_limit limit)
{
    const long long of[] = {need->registers, need->sums, need->scalars, need->shared};
    return limit <= by_shared ? of[limit] : 0;
}

const char *occupancy_text(arena *a, const device_model *d, const kernel_need *need, const occupancy *o)
{
    const vendor_words *w = target_words(d->target);
    const int waves = (need->threads + d->target->wave - 1) / d->target->wave;
    text t = {.a = a}, more = {.a = a};
    text_printf(&t, "%s of %s per %s, %d %ss per %s of at most %d, limited by ", text_counted(a, o->groups, "workgroup"),
                text_counted(a, waves, w->wave), w->unit, o->waves, w->wave, w->simd, o->most_waves);
    for (int i = 0, n = 0; i < occupancy_limit_count; i++) {
        if (!(o->limits >> i & 1)) continue;
        text_printf(&t, "%s%s", n++ ? " and " : "", occupancy_limit_names[i]);
        if (o->step[i] < 0) continue;
        text_printf(&more, "%s%lld %s instead of %lld", more.size ? " and " : "", o->step[i],
                    i == by_shared ? "bytes of shared memory" : occupancy_limit_names[i], need_of(need, (occupancy_limit)i));
    }
    if (more.size) text_printf(&t, "; one more with %s", more.data);
    return t.data;
}
