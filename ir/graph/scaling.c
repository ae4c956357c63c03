/* In: the SCALING rows of ir/op.def. Out: ir/graph/scaling.h. */
#include "ir/graph/scaling.h"
#include <math.h>
#include <string.h>

const char *const scaling_names[scaling_count] = {
    "none",
#define SCALING(type) #type,
#include "ir/op.def"
};

const scaling_number scaling_numbers[] = {
#define SCALING_NUMBER(type, key, otherwise) {scaling_##type, #key, offsetof(rope_scaling, key), otherwise, false},
#define SCALING_FLAG(type, key, otherwise) {scaling_##type, #key, offsetof(rope_scaling, key), otherwise, true},
#include "ir/op.def"
};
const int scaling_number_count = sizeof scaling_numbers / sizeof *scaling_numbers;

bool numbers_same(const number_list *x, const number_list *y)
{
    return x->count == y->count && (x->count == 0 || memcmp(x->at, y->at, (size_t)x->count * sizeof *x->at) == 0);
}

bool scaling_same(const rope_scaling *x, const rope_scaling *y)
{
    if (x->kind != y->kind) return false;
    for (int i = 0; i < scaling_number_count; i++) {
        const scaling_number *n = &scaling_numbers[i];
        if (n->kind == x->kind && scaling_value(x, n) != scaling_value(y, n)) return false;
    }
    return numbers_same(&(number_list){x->factors, x->factor_count}, &(number_list){y->factors, y->factor_count});
}

const char *scaling_fault(const rope_scaling *s, double theta, long long rotary)
{
    for (int i = 0; i < scaling_number_count; i++) {
        const double v = scaling_value(s, &scaling_numbers[i]);
        if (scaling_numbers[i].kind != s->kind) continue;
        if (!isfinite(v) || (scaling_numbers[i].is_flag ? v != 0 && v != 1 : v <= 0))
            return strcmp(scaling_numbers[i].key, "factor") == 0 ? "the scaling's factor is not above 0"
                                                                 : "the scaling's bounds are out of order";
    }
    for (int i = 0; i < s->factor_count; i++)
        if (!isfinite(s->factors[i]) || s->factors[i] <= 0) return "a factor of the scaling is not above 0";
    if (s->kind == scaling_llama3 && s->low_freq >= s->high_freq) return "the scaling's bounds are out of order";
    if (s->kind == scaling_yarn && s->beta_slow >= s->beta_fast) return "the scaling's betas are out of order";
    if (s->kind == scaling_yarn && theta <= 1) return "yarn takes a base above 1";
    if (s->kind == scaling_dynamic && s->factor < 1) return "a dynamic scaling's factor is below 1";
    if (s->kind == scaling_proportional && s->share > 1) return "the scaling's share is above 1";
    if (s->kind == scaling_longrope && rotary && 2ll * s->factor_count != rotary)
        return "longrope needs one factor for each rotated pair of elements";
    return NULL;
}
