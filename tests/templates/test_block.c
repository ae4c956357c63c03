/* Level block: all phases of a block in one launch (gen/plan/block.h, gen/plan/order.h, templates/frame/frame_list.h): what is planned,
 * that the proof of its waits finds what is missing, that results are right on a few workgroups, and the error of a wait without end. */
#include "gen/plan/block.h"
#include "gen/plan/order.h"
#include "gen/program/program.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decode step: a product with a norm, appends to caches, attention with split keys, a product with a residual; and a norm of its result,
 * which waits for whole rows. The last tiles of each phase are partial. */
#define DECODE(keys, head) \
    "block: t\ndtype: bf16\ndims: {B: 3, S: 1, L: " keys ", D: 96, H: 4, KV: 2, hd: " head "}\ninputs:\n  x: [B, S, D]\n" \
    "  pos: {shape: [B], dtype: i32, range: [0, L-S]}\n" \
    "params: {n: [D], wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], wo: [D, H*hd], m: [D]}\n" \
    "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\nops:\n" \
    "  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: q, op: linear, in: [h, wq]}\n  - {out: k, op: linear, in: [h, wk]}\n" \
    "  - {out: v, op: linear, in: [h, wv]}\n" \
    "  - {out: kk, op: kv_append, in: [k], state: kc, at: pos}\n" \
    "  - {out: vv, op: kv_append, in: [v], state: vc, at: pos}\n" \
    "  - {out: a, op: attention, in: [q, kk, vv], heads: H, kv_heads: KV, causal: true, at: pos}\n" \
    "  - {out: o, op: linear, in: [a, wo]}\n  - {out: r, op: add, in: [x, o]}\n" \
    "  - {out: y, op: layernorm, in: [r, m, m]}\noutputs: {y: y}\n"
static const char decode_yaml[] = DECODE("37", "24"), split_yaml[] = DECODE("150", "32");

/* Two phases that read the same input and wait for nothing, one that waits for both, and one for which a wait implies another. */
static const char branches_yaml[] =
    "block: t\ndtype: bf16\ndims: {B: 3, D: 96}\ninputs: {x: [B, D]}\nparams: {w: [D, D], v: [D, D], n: [D]}\nops:\n"
    "  - {out: s, op: softmax, in: [x]}\n  - {out: p, op: linear, in: [x, w]}\n  - {out: q, op: softmax, in: [p]}\n"
    "  - {out: r, op: linear, in: [s, v]}\n  - {out: t, op: add, in: [r, q]}\n  - {out: u, op: layernorm, in: [t, n, n]}\n"
    "  - {out: y, op: add, in: [u, s]}\noutputs: {y: y}\n";

static rig *plan_block(const char *yaml, const char *target, const tuning *t)
{
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_block, .target = target, .tuning = t, .check = true,
                                     .multiprocessors = 3});
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    return r;
}

static const char *const register_fed_line = "gemm: layer=register_fed";
static const tuning register_fed = {.lines = &register_fed_line, .count = 1}; /* not ring, which blocks of up to 4 rows take */

static const char *const targets[] = {"host", "sm_80", "sm_90a", "gfx90a", "gfx942", "gfx1100", "gfx1201"};
enum { target_count = sizeof targets / sizeof *targets };

START_TEST(a_block_is_one_launch_whose_phases_have_equal_numbers_of_threads)
{
    rig *r = plan_block(decode_yaml, targets[_i], NULL);
    const launch *l = r->c.plan->launches;
    const int computing = l->threads - (l->ring_pages ? r->c.plan->target->wave : 0); /* a ring has a loading warp */
    ck_assert_int_ge(l->work_count, 4);
    ck_assert(l->together && l->overlap == r->c.plan->target->overlaps && l->resident == 1);
    for (int i = 0; i < l->work_count; i++) {
        ck_assert_int_eq(tile_threads(l->work[i].tile), computing);
        ck_assert(frame_table[program_table[l->work[i].program->kind].frame].list);
    }
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_ptr_nonnull(strstr(text, "kernel k0 frame=list {"));
    ck_assert_str_eq(ir_print(r->a, ir_read(r->a, text, strlen(text), "again")), text);
    rig_close(r);
}
END_TEST

/* Tiles of a block are for one workgroup per unit: attention has no more workgroups than units, and products have as much in flight as
 * registers hold. */
START_TEST(tiles_of_a_block_are_for_one_workgroup_per_unit)
{
    static const int splits[] = {4, 2}, simt_splits[] = {8, 4}; /* for B = 1 and B = 8: 8 and 64 pairs of a sequence and a key head */
    const dim_override dims[] = {{"B", _i % 2 ? 8 : 1}, {"L", 1024}, {"D", 2048}, {"H", 32}, {"KV", 8}, {"hd", 64}, {"F", 8192}};
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-decode.yaml", .level = fusion_block, .target = _i < 2 ? "sm_90a" : "gfx942",
                                     .dims = dims, .dim_count = sizeof dims / sizeof *dims, .tuning = _i < 2 ? &register_fed : NULL});
    const launch *l = r->c.plan->launches;
    for (int i = 0; i < l->work_count; i++) {
        const ir_tile *t = l->work[i].tile;
        if (strcmp(l->work[i].phase->name, "attention") == 0) {
            ck_assert_int_eq(t->program, _i < 2 ? program_decode_mma : program_decode);
            ck_assert_int_eq(_i < 2 ? t->decode_whole.splits : t->decode.splits, _i < 2 ? splits[_i] : simt_splits[_i % 2]);
        }
        if (t->program != program_gemm_register_fed || strcmp(l->work[i].phase->name, "o") == 0 || _i >= 2) continue;
        ck_assert_msg(t->gemm_register_fed.n * t->gemm_register_fed.ahead == 128, "%s", l->work[i].phase->name);
    }
    rig_close(r);
}
END_TEST

/* mma is predicted to take 1 us less with 9 rows and 256 threads, but its weights arrive after the wait. skinny reads weights once for each
 * block of rows. */
START_TEST(products_of_a_block_in_16_bits_are_on_register_fed)
{
    static const dim_override dims[][7] = {
        {{"B", 1}, {"L", 300}, {"D", 896}, {"H", 14}, {"KV", 2}, {"hd", 64}, {"F", 4864}},
        {{"B", 9}, {"L", 131}, {"D", 2304}, {"H", 35}, {"KV", 5}, {"hd", 80}, {"F", 6920}}};
    static const char *const said[] = {"not skinny: register_fed reads each weight once for all rows (9.8 us, register_fed 7.38 us)",
                                       "not mma: register_fed loads weights before it waits for rows"};
    static const char *const lines[] = {"gemm: threads=512", "gemm: threads=256"}; /* given threads also rule out a ring */
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-decode.yaml", .level = fusion_block, .target = "sm_90a", .dtype = "bf16",
                                     .dims = dims[_i > 0], .dim_count = 7,
                                     .tuning = &(tuning){.lines = &lines[_i == 2], .count = 1}});
    const launch *l = r->c.plan->launches;
    ck_assert_int_eq(l->threads, _i == 2 ? 256 : 512);
    for (int i = 0; i < l->work_count; i++)
        if (l->work[i].phase->family == family_gemm)
            ck_assert_msg(l->work[i].tile->program == program_gemm_register_fed, "%s", l->work[i].phase->name);
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), said[_i > 0]));
    rig_close(r);
}
END_TEST

/* 64 or 132 tiles of 64 columns; 128 of 32 columns have a multiprocessor each, 264 do not. */
START_TEST(joined_products_spread_over_idle_multiprocessors)
{
    static const dim_override dims[][7] = {{{"B", 1}, {"L", 512}, {"D", 768}, {"H", 12}, {"KV", 12}, {"hd", 64}, {"F", 2048}},
                                           {{"B", 8}, {"L", 500}, {"D", 1536}, {"H", 12}, {"KV", 2}, {"hd", 128}, {"F", 4224}}};
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-decode.yaml", .level = fusion_block, .target = "sm_90a", .dtype = "bf16",
                                     .dims = dims[_i], .dim_count = 7, .tuning = &register_fed});
    const launch_phase *w = r->c.plan->launches->work;
    while (strcmp(w->phase->name, "gate_up") != 0) w++;
    ck_assert_int_eq(w->tile->gemm_register_fed.n, _i ? 64 : 32);
    rig_close(r);
}
END_TEST

/* ---- the proof that waits suffice */
/* More phases than a word has bits. */
static const char *long_yaml(void)
{
    static char yaml[8192];
    size_t n = (size_t)snprintf(yaml, sizeof yaml, "%s",
                                "block: t\ndtype: f32\ndims: {B: 3, D: 16}\ninputs: {x0: [B, D]}\nparams: {w: [D, D]}\nops:\n");
    for (int i = 0; i < 36; i++)
        n += (size_t)snprintf(yaml + n, sizeof yaml - n, "  - {out: p%d, op: linear, in: [x%d, w]}\n"
                              "  - {out: x%d, op: softmax, in: [p%d]}\n", i, i, i + 1, i);
    snprintf(yaml + n, sizeof yaml - n, "outputs: {y: x36}\n");
    return yaml;
}

START_TEST(a_wait_that_is_dropped_is_found)
{
    rig *r = plan_block(_i == 0 ? decode_yaml : _i == 1 ? branches_yaml : long_yaml(), "sm_90a", NULL);
    launch *l = r->c.plan->launches;
    int waits = 0;
    ck_assert_ptr_null(order_fault(r->a, r->c.plan->ir, l));
    for (int i = 0; i < l->work_count; i++)
        for (int n = 0; n < l->work[i].await_count; n++, waits++) {
            const launch_phase was = l->work[i];
            int *fewer = arena_alloc(r->a, (size_t)was.await_count * sizeof *fewer);
            for (int k = 0, at = 0; k < was.await_count; k++)
                if (k != n) fewer[at++] = was.awaits[k];
            l->work[i].awaits = fewer, l->work[i].await_count--;
            const char *fault = order_fault(r->a, r->c.plan->ir, l);
            const char *name = _i == 1 ? "" : l->work[was.awaits[n]].phase->name; /* branches: any phase, as one wait implies others */
            const char *missed = arena_printf(r->a, "without waiting for phase %s", name);
            ck_assert_msg(fault && strstr(fault, missed), "phase %d without its wait %d: %s", i, n, fault);
            l->work[i] = was;
        }
    ck_assert_int_ge(waits, _i == 1 ? 4 : l->work_count - 1);
    ck_assert(_i < 2 || l->work_count > 64);
    rig_close(r);
}
END_TEST

/* Pieces of a concat: no data passes between the phases that write them, and the proof asks that one waits for the other. */
START_TEST(phases_that_write_one_tensor_are_ordered)
{
    static const char pieces[] = "block: t\ndtype: bf16\ndims: {B: 3, D: 96}\ninputs: {x: [B, D]}\nparams: {w: [D, D]}\nops:\n"
                                 "  - {out: s, op: softmax, in: [x]}\n  - {out: p, op: linear, in: [x, w]}\n"
                                 "  - {out: y, op: concat, in: [s, p]}\noutputs: {y: y}\n";
    rig *r = plan_block(pieces, "sm_90a", NULL);
    const launch *l = r->c.plan->launches;
    ck_assert_int_eq(l->work_count, 2);
    ck_assert(l->work[1].phase->after_count == 0 && l->work[1].await_count == 1 && l->work[1].awaits[0] == 0);
    rig_close(r);
}
END_TEST

START_TEST(no_phase_waits_for_more_than_it_must)
{
    static const struct {
        const char *name, *awaits;
    } phases[] = {{"s", ""}, {"p", ""}, {"q", "p "}, {"r", "q s "}, {"y", "r "}};
    rig *r = plan_block(branches_yaml, "sm_90a", NULL);
    const launch *l = r->c.plan->launches;
    ck_assert_int_eq(l->work_count, 5);
    for (int i = 0; i < 5; i++) {
        text awaits = {.a = r->a};
        for (int n = 0; n < l->work[i].await_count; n++) text_printf(&awaits, "%s ", l->work[l->work[i].awaits[n]].phase->name);
        ck_assert_str_eq(l->work[i].phase->name, phases[i].name);
        ck_assert_str_eq(awaits.size ? awaits.data : "", phases[i].awaits);
    }
    rig_close(r);
}
END_TEST

START_TEST(a_wait_for_an_earlier_phase_than_the_one_that_writes_is_found)
{
    rig *r = plan_block(decode_yaml, "sm_90a", NULL);
    launch *l = r->c.plan->launches;
    launch_phase *last = &l->work[l->work_count - 1];
    const int early[] = {last->awaits[0] - 1};
    ck_assert_int_ge(early[0], 0);
    last->awaits = early, last->await_count = 1;
    ck_assert_ptr_nonnull(order_fault(r->a, r->c.plan->ir, l));
    rig_close(r);
}
END_TEST

START_TEST(waits_in_a_cycle_are_found)
{
    rig *r = plan_block(decode_yaml, "sm_90a", NULL);
    launch *l = r->c.plan->launches;
    const int own[] = {0}, later[] = {l->work_count - 1};
    l->work[0].await_count = 1;
    l->work[0].awaits = own;
    ck_assert_ptr_nonnull(strstr(order_fault(r->a, r->c.plan->ir, l), "waits for one that does not come earlier"));
    l->work[0].awaits = later;
    ck_assert_ptr_nonnull(strstr(order_fault(r->a, r->c.plan->ir, l), "waits for one that does not come earlier"));
    rig_close(r);
}
END_TEST

/* ---- level auto */
#define DEVICE(launch, hop)                                                                                                 \
    "name: made\nlabel: x\ntarget: sm_90a\nunits: {is: 8, chosen: x}\nchiplets: {is: 1, chosen: x}\n"                       \
    "clock: {is: 1e9, chosen: x}\nbandwidth: {is: 2e12, chosen: x}\nproducts: {bf16: 2e14, chosen: x}\n"                     \
    "vector: {f32: 1e13, chosen: x}\nlatency: {is: 5e-7, chosen: x}\nlaunch_cost: {is: " launch ", chosen: x}\n"             \
    "overlap_cost: {is: " launch ", chosen: x}\nhop_cost: {is: " hop ", chosen: x}\n"
static const struct {
    const char *device, *line, *refused; /* line: a tile that the user sets; refused: why there is no plan at level block */
    fusion_level level;
    const char *text; /* NULL: a decode block */
} choices[] = {{DEVICE("2e-5", "1e-8"), NULL, NULL, fusion_block, NULL},
               {DEVICE("1e-6", "1e-6"), NULL, NULL, fusion_tile, NULL},
               {DEVICE("2e-5", "1e-8"), "gemm: layer=swap_ab", "its frame, ws_tile, cannot run several phases", fusion_tile, NULL},
               /* here block would be predicted to be faster, by a program that level tile does not offer at 37 rows */
               {DEVICE("2e-5", "1e-8"), NULL, "level tile has a single launch as well", fusion_tile,
                "block: t\ndtype: bf16\ndims: {M: 37, D: 256}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\n"
                "ops: [{out: y, op: linear, in: [x, w]}]\noutputs: {y: y}\n"},
               {NULL, NULL, NULL, fusion_tile, NULL}}; /* nothing is predicted for the host */

START_TEST(auto_takes_the_level_that_is_predicted_to_be_faster)
{
    arena *a = arena_new();
    const tuning asked = {.lines = &choices[_i].line, .count = choices[_i].line != NULL};
    const char *text = choices[_i].text ? choices[_i].text : decode_yaml;
    compile_request request = {.name = "t", .text = text, .size = strlen(text), .level = fusion_auto, .tuning = &asked,
                               .target = choices[_i].device ? "sm_90a" : "host", .device_model = choices[_i].device};
    compiled c, known;
    ck_assert_msg(compile(a, &request, &c) == code_ok, "%s", arena_diagnostics(a));
    const struct level_choice made = c.plan->choice;
    ck_assert(made.made && c.plan->ir->level == choices[_i].level && (made.block < made.tile) == (choices[_i].level == fusion_block));
    request.level = choices[_i].level;
    ck_assert_int_eq(compile(a, &request, &known), code_ok);
    ck_assert_str_eq(ir_print(a, c.plan->ir), ir_print(a, known.plan->ir));
    ck_assert(!known.plan->choice.made && !strstr(manifest_json(a, known.plan), "\"auto\""));
    ck_assert(!choices[_i].refused == !made.refused && (!made.refused || strstr(made.refused, choices[_i].refused)));
    const char *manifest = manifest_json(a, c.plan), *said = strstr(manifest, "\"auto\"");
    ck_assert(said && strstr(manifest, choices[_i].level == fusion_block ? "\"fusion\": \"block\"" : "\"fusion\": \"tile\""));
    ck_assert(!made.refused || strstr(said, choices[_i].refused));
    arena_free(a);
}
END_TEST

START_TEST(text_of_a_plan_is_never_of_level_auto)
{
    arena *a = arena_new();
    static const char text[] = "ir 1 t\ntype f32\nlevel auto\n";
    compiled c;
    const compile_request request = {.name = "t.ir", .text = text, .size = sizeof text - 1, .from_ir = true, .from = stage_ir,
                                     .target = "host", .level = fusion_tile};
    ck_assert_int_eq(compile(a, &request, &c), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(a), "t.ir:3:"), "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* ---- results */
static const struct {
    const char *target, *line; /* line: a tile that the user sets, or NULL */
} runs[] = {{"host", NULL}, {"sm_90a", NULL}, {"sm_80", "gemm: layer=mma m=32 n=128 threads=128"}, {"gfx942", NULL}};

START_TEST(phases_of_one_launch_wait_for_each_other)
{
    const tuning asked = {.lines = &runs[_i].line, .count = runs[_i].line != NULL};
    rig *r = rig_open(&(rig_request){.yaml = decode_yaml, .level = fusion_block, .target = runs[_i].target, .tuning = &asked, .check = true,
                                     .multiprocessors = 3});
    rig_judge_twice(r); /* the second launch finds the marks with their first values */
    rig_close(r);
}
END_TEST

/* Workgroups hand each other parts of a sequence's keys, in words that the launch before must have cleared. Once all take part; once some
 * start late, and those that take part are fewer than the launch has. */
START_TEST(parts_of_keys_are_handed_over_in_each_launch)
{
    static const char *const lines[] = {"attention: threads=128"};
    const tuning asked = {.lines = lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = split_yaml, .level = fusion_block, .target = "sm_90a", .tuning = &asked, .check = true,
                                     .multiprocessors = 4, .late_workgroups = _i});
    rig_run(r);
    rig_judge(r);
    rig_fill(r, 2);
    for (int i = 0; i < r->graph->value_count; i++)
        if (r->given[i]) rig_upload(r, r->graph->values[i]->name);
    ck_assert_int_eq(guarded_pack(r->s, &r->log), code_ok);
    rig_execute(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* The phases after the second wait for a phase that never sets its mark. */
START_TEST(a_wait_without_end_is_an_error_that_names_the_phase)
{
    rig *r = plan_block(decode_yaml, "sm_90a", NULL);
    launch *l = r->c.plan->launches;
    static const char head[] = "static bool is_awaited(int phase) { return phase == 0 || phase == ";
    char *body = arena_printf(r->a, "%s", l->source.body), *at = strstr(body, head);
    tfgen_code code;
    ck_assert_ptr_nonnull(at);
    at[strlen(head)] = '9';
    l->source.body = body;
    l->source.head = arena_printf(r->a, "#define TF_MOST_POLLS 200\n%s", l->source.head);
    const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .multiprocessors = 3};
    r->s = guarded_open(r->c.plan, &options, &code, &r->log);
    ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
    rig_fill(r, 1);
    ck_assert_int_eq(guarded_poison(r->s, &r->log), code_ok);
    ck_assert_int_eq(guarded_pack(r->s, &r->log), code_ok);
    ck_assert_int_ne(guarded_execute(r->s, NULL, &r->log), code_ok);
    ck_assert_msg(strstr(r->log.text, "t_block: phase 2 ") && strstr(r->log.text, " waited too long for counter 1"), "%s", r->log.text);
    rig_close(r);
}
END_TEST

/* ---- refusals */
static const struct {
    const char *line, *target, *error;
    bool stacked;
} refusals[] = {{"gemm: layer=swap_ab", "sm_90a", "its frame, ws_tile, cannot run several phases in a launch", false},
                {"o: threads=100", "sm_90a", "threads", false},
                {"o: layer=wgmma_3xtf32", "sm_90a", "it cannot run in a launch of several phases", false},
                {"o: layer=wgmma", "sm_90a", "its frame, ws, needs a loading warp, which this launch does not have", true},
                {"gemm: layer=wgmma", "sm_90a", "its frame, ws, needs a loading warp, which this launch does not have", true},
                {"o: layer=wgmma", "gfx942", "the target lacks these instructions", false},
                {"gemm: layer=wgmma", "host", "the target lacks these instructions", false}};

START_TEST(features_that_launches_of_several_phases_lack_are_refused)
{
    arena *a = arena_new();
    const char *line = refusals[_i].line;
    const tuning asked = {.lines = &line, .count = 1};
    compiled c;
    const compile_request request = {.name = "t", .text = decode_yaml, .size = strlen(decode_yaml),
                                     .target = refusals[_i].target, .stacked = refusals[_i].stacked, .level = fusion_block,
                                     .tuning = &asked};
    ck_assert_int_ne(compile(a, &request, &c), code_ok);
    ck_assert_msg(strstr(arena_diagnostics(a), refusals[_i].error) != NULL, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("block");
    TCase *plans = tcase_create("plans"), *results = tcase_create("results");
    tcase_add_loop_test(plans, a_block_is_one_launch_whose_phases_have_equal_numbers_of_threads, 0, target_count);
    tcase_add_loop_test(plans, tiles_of_a_block_are_for_one_workgroup_per_unit, 0, 4);
    tcase_add_loop_test(plans, joined_products_spread_over_idle_multiprocessors, 0, 2);
    tcase_add_loop_test(plans, products_of_a_block_in_16_bits_are_on_register_fed, 0, 3);
    tcase_add_loop_test(plans, a_wait_that_is_dropped_is_found, 0, 3);
    tcase_add_test(plans, phases_that_write_one_tensor_are_ordered);
    tcase_add_test(plans, no_phase_waits_for_more_than_it_must);
    tcase_add_test(plans, a_wait_for_an_earlier_phase_than_the_one_that_writes_is_found);
    tcase_add_test(plans, waits_in_a_cycle_are_found);
    tcase_add_loop_test(plans, features_that_launches_of_several_phases_lack_are_refused, 0, sizeof refusals / sizeof *refusals);
    tcase_add_loop_test(plans, auto_takes_the_level_that_is_predicted_to_be_faster, 0, sizeof choices / sizeof *choices);
    tcase_add_test(plans, text_of_a_plan_is_never_of_level_auto);
    tcase_set_timeout(results, 120);
    tcase_add_loop_test(results, phases_of_one_launch_wait_for_each_other, 0, sizeof runs / sizeof *runs);
    tcase_add_test(results, a_wait_without_end_is_an_error_that_names_the_phase);
    tcase_add_loop_test(results, parts_of_keys_are_handed_over_in_each_launch, 0, 2);
    suite_add_tcase(s, plans);
    suite_add_tcase(s, results);
    return run_suite(s);
}
