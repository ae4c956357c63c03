/* Writes the table of a rope's frequencies, which precedes the spec struct. Its unit is 2^-64 of a revolution per token
 * (templates/base/rope.h). Refuses (code_unsupported) more than max_tables tables in a phase. */
#include "gen/emit/emit.h"
#include "ir/graph/layer_kinds.h"
#include "ir/graph/scaling.h"
#include <math.h>

static double llama3_frequency(const rope_scaling *s, double frequency)
{
    const double turn = 6.283185307179586476925286766559;
    const double wavelength = turn / frequency, longest = s->original / s->low_freq, shortest = s->original / s->high_freq;
    if (wavelength > longest) return frequency / s->factor;
    if (wavelength < shortest) return frequency;
    const double smooth = (s->original / wavelength - s->low_freq) / (s->high_freq - s->low_freq);
    return (1 - smooth) * frequency / s->factor + smooth * frequency;
}

/* The index, with a fraction, of the pair that makes this many turns within the model's original context length (YaRN, B. Peng et al.,
 * 2023). */
static double yarn_correction(const ir_attributes *t, double turns)
{
    const double turn = 6.283185307179586476925286766559;
    return (double)t->rotary * log(t->scaling.original / (turns * turn)) / (2 * log(t->theta));
}

static double yarn_frequency(const ir_attributes *t, long long i, double frequency)
{
    const rope_scaling *s = &t->scaling;
    const double fast = yarn_correction(t, s->beta_fast), slow = yarn_correction(t, s->beta_slow);
    const double low = fmax(s->truncate != 0 ? floor(fast) : fast, 0), last = (double)t->rotary - 1;
    double high = fmin(s->truncate != 0 ? ceil(slow) : slow, last);
    if (high == low) high += 0.001;
    const double ramp = fmin(fmax(((double)i - low) / (high - low), 0), 1);
    return frequency / s->factor * ramp + frequency * (1 - ramp);
}

/* Dynamic NTK scaling: theta grows with the context length. */
static double dynamic_frequency(const ir_attributes *t, long long i)
{
    const rope_scaling *s = &t->scaling;
    const double size = (double)t->rotary, length = fmax(s->length, s->original);
    const double theta = t->theta * pow(s->factor * length / s->original - (s->factor - 1), size / (size - 2));
    return i == 0 ? 1 : pow(theta, -2.0 * (double)i / size);
}

static double pair_frequency(const ir_attributes *t, long long i)
{
    const rope_scaling *s = &t->scaling;
    const double frequency = pow(t->theta, -2.0 * (double)i / (double)t->rotary);
    switch (s->kind) {
    case scaling_linear: return frequency / s->factor;
    case scaling_llama3: return llama3_frequency(s, frequency);
    case scaling_dynamic: return dynamic_frequency(t, i);
    case scaling_yarn: return yarn_frequency(t, i, frequency);
    case scaling_longrope: return frequency / s->factors[i];
    case scaling_proportional: return i < (long long)(s->share * (double)t->rotary / 2) ? frequency / s->factor : 0;
    default: return frequency;
    }
}

static bool same_frequencies(const ir_attributes *a, const ir_attributes *b)
{
    return a->theta == b->theta && a->rotary == b->rotary && scaling_same(&a->scaling, &b->scaling);
}

static const char *table_name(const emission *e, const ir_op *op, int kind)
{
    const char *value = e->names->values[op->outputs[0]->id], *name = kind ? arena_printf(e->a, "%s_%d", e->name, kind) : e->name;
    return name_marked(e->a, arena_printf(e->a, "%s_%s", name, value), name_table);
}

/* t: the op's attributes in layers of this kind. */
static const expression *table_of_kind(emission *e, const ir_op *op, const ir_attributes *t, int kind)
{
    enum { a_row = 6 };
    const double turn = 6.283185307179586476925286766559;
    for (int i = 0; i < e->tables_made; i++)
        if (same_frequencies(e->tables_of[i].of, t)) return e->tables_of[i].name;
    const char *name = table_name(e, op, kind);
    if (e->tables_made == max_tables) bail(e->a, code_unsupported, op->at, "more than %d rotations in one phase", max_tables);
    const expression *made = c_name(e->pool, name);
    e->tables_of[e->tables_made++] = (struct rope_table){t, made};
    write_comment(&e->tables, "Frequencies of the rotated pairs of columns, in 2^-64 of a revolution per token.");
    write_head(&e->tables, op->at, "TF_TABLE unsigned long long %s[%lld] =", name, t->rotary / 2);
    text row = {.a = e->a};
    for (long long i = 0; i < t->rotary / 2; i++) {
        const double turns = pair_frequency(t, i) / turn;
        text_printf(&row, "0x%llxull", (unsigned long long)ldexp(turns - floor(turns), 64));
        const bool last = i + 1 == t->rotary / 2, full = i % a_row == a_row - 1;
        text_printf(&row, last ? "" : full ? "," : ", ");
        if (!last && !full) continue;
        write_line(&e->tables, "%s", row.data);
        row = (text){.a = e->a};
    }
    end_head(&e->tables, "};");
    return made;
}

const expression *rope_table(emission *e, const ir_op *op)
{
    const expression *of_kinds[most_layer_kinds];
    for (int k = 0; k < kinds_count(e->plan->ir); k++) of_kinds[k] = table_of_kind(e, op, kinds_attributes(e->plan->ir, op, k), k);
    return use_by_kind(e, of_kinds);
}
