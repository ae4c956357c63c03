/* Contract: gen/program/beginnings.h. */
#include "gen/program/beginnings.h"
#include "gen/program/staging.h"

double count_of_byte(const beginnings *of, bool lines, bool sectors) { return lines ? of->lines : sectors ? of->sectors : of->elsewhere; }

double count_of_columns(const problem *p, const beginnings *of)
{
    const ir_value *b = p->product->inputs[1];
    const bool packed = p->product->kind != op_matmul;
    return count_of_byte(of, packed || lies_at_lines(b), packed || lies_at_sectors(b));
}

double cycles_of_unaligned(const problem *p, unaligned cycles)
{
    const int unit = results_unit(p);
    if (unit == gemm_vector) return 0;
    return unit == 1 ? cycles.halves : unit == 2 || product_is_rounded(p) ? cycles.words : cycles.pairs;
}
