/* Rows that phases of a launch pass on in words (templates/frame/words.h, gen/plan/words.h): launches whose memory holds anything, whose
 * epochs begin anew, or that follow one with a wait that took too long; which plans have words; the proof, which finds each mutant; results
 * on the host engine. */
#include "tests/templates/two_phases.h"
#include "gen/plan/words.h"
#include "gen/program/program.h"
#include "tests/support.h"

/* ---- two phases by hand */
enum { row_floats = 4 * groups };

typedef struct words_args {
    float *row, *sums;
    int first, slow;
    unsigned long long *marks, epoch;
    int phase;
} words_args;

static const unsigned long long magic = 0xffb3; /* marks::next_epochs */

static host_module *module_of(bool counted, int fewer, const char *more)
{
    static char text[256];
    const char *const templates[] = {"templates/frame/frame_list.h", "templates/frame/words.h"};
    snprintf(text, sizeof text, "#define TF_TARGET_HOST 1\n#define TF_WAVE 32\n#define TF_COUNTED %d\n#define TF_FEWER %d\n%s", counted,
             fewer, more);
    return kernels_under(text, templates, 2, "tests/templates/words.hip");
}

static words_args fresh(int slow)
{
    words_args p = {.row = memory(row_floats * sizeof *p.row, "row"), .sums = memory(groups * sizeof *p.sums, "sums"), .first = 10,
                    .slow = slow, .marks = memory(word_count * sizeof *p.marks, "marks")};
    memset(p.marks, 0xa5, word_count * sizeof *p.marks);
    memset(p.row, 0xff, row_floats * sizeof *p.row);
    return p;
}

static void check(const void *args, int fewer)
{
    const words_args *p = args;
    for (int i = 0; i < groups; i++) ck_assert_msg(p->sums[i] == (float)sum_from(p->first, fewer), "%d: %g", i, (double)p->sums[i]);
    marks_are_none(p->marks);
    ck_assert_msg(p->marks[3] >> 48 == magic, "%llx", p->marks[3]);
}

static two_phases phases_of(words_args *p)
{
    return (two_phases){.args = p, .threads = 32, .first = &p->first, .slow = &p->slow, .words = p->marks, .check = check};
}

/* The epoch's word is lost in part or whole between launches; what is left may look like an epoch. Begun with the time, one launch in 256
 * would get an epoch that words still have. */
START_TEST(epochs_begin_anew_in_memory_with_any_content)
{
    host_module *m = module_of(_i > 0, _i == 2, "");
    words_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    p.marks[3] = magic << 48 | 0x5a5a5a5a5a5aull;
    for (size_t bytes = 0; bytes <= sizeof *p.marks; bytes++) {
        memset(&p.marks[3], bytes % 2 ? 0 : 0xff, bytes);
        for (int again = 0; again < 2; again++) {
            launch_two(&both, m, true);
            check(&p, _i == 2);
        }
    }
    host_module_free(m);
}
END_TEST

START_TEST(each_launch_has_an_epoch_of_its_own_also_after_the_last_one)
{
    host_module *m = module_of(false, 0, "");
    words_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    p.marks[3] = magic << 48 | 0xfffffffffffeull;
    static const unsigned long long then[] = {0xffffffffffffull, 0, 1, 2};
    for (int i = 0; i < 4; i++) {
        launch_two(&both, m, true);
        check(&p, 0);
        ck_assert_msg(p.marks[3] == (magic << 48 | then[i]), "%llx", p.marks[3]);
    }
    host_module_free(m);
}
END_TEST

/* Words of a call with other sizes may lie where the marks are. Their tags must not become epochs again. */
START_TEST(a_tag_is_not_taken_for_the_next_epoch)
{
    host_module *m = module_of(_i, 0, "");
    words_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    for (int i = 0; i < 3; i++) {
        launch_two(&both, m, true);
        check(&p, 0);
        memcpy(&p.marks[3], (char *)p.row + 8, sizeof *p.marks); /* the first word's tag */
    }
    host_module_free(m);
}
END_TEST

/* The late launch's words are wrong, but have its own epoch. Each workgroup is the slow one once. */
START_TEST(a_launch_after_one_whose_wait_timed_out_is_right)
{
    const unsigned long long late = 1ull << 63 | 1ull << 56 | 1ull << 32 | 0x93f8c26bu; /* phase 1 waited for words */
    words_args p = fresh(_i);
    const two_phases both = phases_of(&p);
    right_after_a_late_one(&both, module_of(false, 0, "#define TF_MOST_POLLS 1\n"), module_of(false, 0, ""), late);
}
END_TEST

START_TEST(late_workgroups_do_the_work_of_those_that_gave_up)
{
    words_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    const char *polls = _i % 2 ? "#define TF_CENSUS_POLLS 9\n" : "#define TF_CENSUS_POLLS 0\n";
    late_workgroups_do_it_all(&both, module_of(true, _i / 2, polls), _i / 2);
}
END_TEST

/* ---- plans */
#define DECODE "specs/llama-decode.yaml"
static const dim_override small[] = {{"B", 3}, {"L", 37}, {"D", 192}, {"H", 4}, {"KV", 2}, {"hd", 48}, {"F", 644}};
enum { small_count = sizeof small / sizeof *small };

static compiled plan_of(arena *a, const char *path, bool stacked, const char *line, const dim_override *dims, size_t count)
{
    char *text = slurp(path);
    const tuning t = {.lines = &line, .count = line != NULL};
    compiled c;
    const compile_request request = {.name = path, .text = text, .size = strlen(text), .target = "sm_90a", .level = fusion_block,
                                     .stacked = stacked, .tuning = &t,
                                     .graph = {.overrides = dims, .override_count = count, .dtype = "bf16"}};
    ck_assert_msg(compile(a, &request, &c) == code_ok, "%s", arena_diagnostics(a));
    free(text);
    return c;
}

static const struct {
    const char *path, *line;
    bool stacked, words;
} places[] = {{DECODE, NULL, false, true},
              {DECODE, NULL, true, true},
              {DECODE, "o: layer=register_fed threads=256", false, false}, /* reads no words */
              {DECODE, "attention: layer=decode_simt", false, false},
              {"specs/gpt2-decode.yaml", NULL, false, false}};              /* its norms are phases */

START_TEST(rows_come_in_words_if_every_program_of_the_launch_can_read_them)
{
    arena *a = arena_new();
    const bool llama = strcmp(places[_i].path, DECODE) == 0;
    const compiled c = plan_of(a, places[_i].path, places[_i].stacked, places[_i].line, small, llama ? small_count : 0);
    const launch *l = c.plan->launches;
    int waits = 0;
    for (int i = 0; i < l->work_count; i++) waits += l->work[i].await_count + l->work[i].await_before_count;
    ck_assert_int_eq(l->words, places[_i].words);
    ck_assert_int_eq(waits == 0, places[_i].words);
    ck_assert_int_eq(strstr(l->source.body, "in_words = true") != NULL, places[_i].words);
    arena_free(a);
}
END_TEST

/* ---- the proof: mutants */
static void each_value_needs_its_words(arena *a, plan *p)
{
    int values = 0;
    for (int i = 0; i < p->ir->value_count; i++) {
        const int was = p->words[i];
        if (!was) continue;
        p->words[i] = 0;
        const char *fault = words_fault(a, p, p->launches);
        ck_assert_msg(fault && strstr(fault, "which has no words for it"), "%s: %s", p->ir->values[i]->name, fault ? fault : "none");
        p->words[i] = was, values++;
    }
    ck_assert_int_eq(values, p->stack.out ? 7 : 6); /* q, k, v, attention, x1, prod; of a stack also its output */
}

START_TEST(a_value_without_words_is_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    plan *p = (plan *)c.plan;
    ck_assert_ptr_null(words_fault(a, p, p->launches));
    each_value_needs_its_words(a, p);
    arena_free(a);
}
END_TEST

START_TEST(a_phase_that_would_wait_for_a_later_one_is_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    launch *l = c.plan->launches;
    for (int i = 0; i + 1 < l->work_count; i++) {
        const launch_phase x = l->work[i], y = l->work[i + 1];
        l->work[i] = y, l->work[i + 1] = x;
        const char *fault = words_fault(a, c.plan, l);
        ck_assert_msg(fault && strstr(fault, "before it is written"), "%d: %s", i, fault ? fault : "none");
        l->work[i] = x, l->work[i + 1] = y;
    }
    arena_free(a);
}
END_TEST

static ir_op *product_of(const launch *l, const char *phase)
{
    for (int i = 0; i < l->work_count; i++)
        if (strcmp(l->work[i].phase->name, phase) == 0) return (ir_op *)phase_first(l->work[i].phase, class_PRODUCT);
    ck_abort_msg("%s", phase);
}

/* If down read another row than gate_up's, nothing of the next layer would depend on gate_up. */
START_TEST(words_of_a_stack_that_are_overwritten_too_early_are_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    launch *l = c.plan->launches;
    ir_op *down = product_of(l, "down");
    ir_value *const was = down->inputs[0];
    down->inputs[0] = product_of(l, "gate_up")->inputs[0];
    const char *fault = words_fault(a, c.plan, l);
    static const char early[] = "may overwrite words of %x1 that phase gate_up still reads";
    if (_i) ck_assert_msg(fault && strstr(fault, early), "%s", fault ? fault : "none");
    else ck_assert_ptr_null(fault);
    down->inputs[0] = was;
    ck_assert_ptr_null(words_fault(a, c.plan, l));
    arena_free(a);
}
END_TEST

static int maker_of(const launch *l, const ir_value *v)
{
    for (int i = 0; i < l->work_count; i++)
        if (phase_makes(l->work[i].phase, v)) return i;
    return -1;
}

/* What each tile waits for, as bits, in two layers whose phases have two tiles each. Found by following words from tile to tile, without
 * the sets of gen/plan/words.c. Tile t of a phase reads all tiles of the phase whose rows its product multiplies, and tile t of others. */
typedef struct tiles {
    const plan *p;
    const launch *l;
    unsigned long long before[64]; /* by tile_at() */
} tiles;

static int tile_at(const tiles *x, int layer, int phase, int tile) { return (layer * x->l->work_count + phase) * 2 + tile; }

/* The phase from which phase `to` reads v in words, -1: none. carried: of the layer before. */
static int phase_read_by(const tiles *x, int to, const ir_value *v, bool *carried)
{
    *carried = x->p->stack.in && v == x->p->stack.in;
    const int from = maker_of(x->l, *carried ? x->p->stack.out : v);
    return from == to && !*carried ? -1 : from;
}

/* Calls one(x, to, from, carried, rows) for each value that phase `to` reads in words. */
static void each_read(tiles *x, int to, void (*one)(tiles *x, int to, int from, bool carried, bool rows))
{
    const ir_phase *phase = x->l->work[to].phase;
    const ir_op *product = phase_first(phase, class_PRODUCT);
    for (int n = 0; n < phase->op_count; n++)
        for (int k = 0; k < phase->ops[n]->input_count; k++) {
            const ir_value *v = phase->ops[n]->inputs[k];
            bool carried;
            const int from = phase_read_by(x, to, v->def && v->def->kind == op_kv_append ? v->def->inputs[0] : v, &carried);
            if (from >= 0) one(x, to, from, carried, product && v == product->inputs[0]);
        }
}

static void follow(tiles *x, int to, int from, bool carried, bool rows)
{
    for (int layer = carried; layer < 2; layer++)
        for (int tile = 0; tile < 2; tile++)
            for (int other = 0; other < 2; other++) {
                const int at = tile_at(x, layer - carried, from, other);
                if (rows || other == tile) x->before[tile_at(x, layer, to, tile)] |= x->before[at] | 1ull << at;
            }
}

/* Whether a tile of the second layer may be stored before each tile that reads what this overwrites. */
static bool overwrites_early;
static void compare(tiles *x, int to, int from, bool carried, bool rows)
{
    (void)rows;
    for (int tile = 0; tile < 2; tile++)
        for (int reader = 0; reader < 2; reader++)
            overwrites_early |= !(x->before[tile_at(x, 1, from, tile)] >> tile_at(x, carried, to, reader) & 1);
}

static bool is_early(const plan *p, const launch *l)
{
    tiles x = {.p = p, .l = l};
    overwrites_early = false;
    for (int again = 0; again < 2 * l->work_count; again++)
        for (int i = 0; i < l->work_count; i++) each_read(&x, i, follow);
    for (int i = 0; p->stack.in && i < l->work_count; i++) each_read(&x, i, compare);
    return overwrites_early;
}

/* Replaces each operand of the phase that is `was`. False: there was none. */
static bool replace_operand(const ir_phase *phase, const ir_value *was, ir_value *by)
{
    bool found = false;
    for (int n = 0; n < phase->op_count; n++)
        for (int k = 0; k < phase->ops[n]->input_count; k++)
            if (phase->ops[n]->inputs[k] == was) ((ir_op *)phase->ops[n])->inputs[k] = by, found = true;
    return found;
}

/* Each value that a phase reads from another one, or from the layer before, is replaced by a param in turn, which drops an edge. The proof
 * finds each one after which words are overwritten too early; it also refuses those after which an attention has no code. */
START_TEST(an_edge_that_is_dropped_is_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    const plan *p = c.plan;
    const launch *l = p->launches;
    ir_value *param = product_of(l, "qkv")->inputs[1];
    int dropped = 0, early = 0;
    for (int i = 0; i < l->work_count; i++)
        for (int v = 0; v < p->ir->value_count; v++) {
            const ir_phase *phase = l->work[i].phase;
            ir_value *was = p->ir->values[v];
            bool carried;
            if (phase_read_by(&(tiles){.p = p, .l = l}, i, was, &carried) < 0 || !replace_operand(phase, was, param)) continue;
            const bool is = is_early(p, l);
            const char *fault = words_fault(a, p, l);
            ck_assert_msg(is ? fault != NULL : !fault || strstr(fault, "no words"), "%s without %%%s: %s", phase->name, was->name,
                          fault ? fault : "none");
            replace_operand(phase, param, was);
            dropped++, early += is;
        }
    ck_assert_msg(dropped == (_i ? 9 : 7) && early == (_i ? 4 : 0), "%d, %d", dropped, early);
    ck_assert(!is_early(p, l) && !words_fault(a, p, l));
    arena_free(a);
}
END_TEST

/* gate_up and its result are cut off from the other phases. In the next layer nothing then waits for it but its own parts. */
START_TEST(parts_that_are_overwritten_too_early_are_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, true, NULL, small, small_count);
    launch *l = c.plan->launches;
    ir_value *param = product_of(l, "qkv")->inputs[1], *x1 = product_of(l, "gate_up")->inputs[0];
    launch_phase *gate_up = &l->work[maker_of(l, product_of(l, "gate_up")->outputs[0])];
    replace_operand(gate_up->phase, x1, param);
    product_of(l, "down")->inputs[0] = x1;
    ck_assert_int_lt(gate_up->scratch, 0);
    ck_assert_ptr_null(words_fault(a, c.plan, l));
    gate_up->scratch = 0;
    const char *fault = words_fault(a, c.plan, l);
    ck_assert_msg(fault && strstr(fault, "phase gate_up may overwrite parts of the layer before"), "%s", fault ? fault : "none");
    arena_free(a);
}
END_TEST

START_TEST(a_phase_whose_program_cannot_read_words_is_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    launch *l = c.plan->launches;
    for (int i = !_i; i < l->work_count; i++) { /* the first phase of one block reads no other's rows */
        const launch_phase was = l->work[i];
        l->work[i].program = program_at(program_gemm_register_fed);
        const char *fault = words_fault(a, c.plan, l);
        ck_assert_msg(fault && strstr(fault, "which has no words for it"), "%s: %s", was.phase->name, fault ? fault : "none");
        l->work[i] = was;
    }
    arena_free(a);
}
END_TEST

START_TEST(a_stack_whose_output_no_phase_makes_is_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, true, NULL, small, small_count);
    plan *p = (plan *)c.plan;
    const ir_value *out = p->stack.out, *param = product_of(p->launches, "qkv")->inputs[1];
    p->words[param->id] = p->words[out->id];
    p->stack.out = param;
    const char *fault = words_fault(a, p, p->launches);
    ck_assert_msg(fault && strstr(fault, "before it is written"), "%s", fault ? fault : "none");
    arena_free(a);
}
END_TEST

/* The last value that each phase makes becomes a view of what another one makes. */
START_TEST(two_phases_that_write_the_same_memory_are_found)
{
    arena *a = arena_new();
    const compiled c = plan_of(a, DECODE, _i, NULL, small, small_count);
    const launch *l = c.plan->launches;
    for (int i = 0; i < l->work_count; i++)
        for (int k = 0; k < l->work_count; k++) {
            const ir_phase *one = l->work[i].phase, *other = l->work[k].phase;
            ir_value *v = one->ops[one->op_count - 1]->outputs[0], *const root = v->root, *of = other->ops[other->op_count - 1]->outputs[0];
            if (i == k) continue;
            v->root = (ir_value *)value_root(of);
            ck_assert_msg(words_fault(a, c.plan, l) != NULL, "%s, %s", one->name, other->name);
            v->root = root;
        }
    ck_assert_ptr_null(words_fault(a, c.plan, l));
    arena_free(a);
}
END_TEST

/* ---- results. The last elements of F fill half a unit of 16 bytes; heads are half a block of columns wider than one. */
static const struct {
    const char *dtype;
    long long B, hd;
    int multiprocessors;
    bool one, late;
} runs[] = {{"bf16", 3, 48, 5, false, false}, {"f16", 1, 32, 3, false, false}, {"bf16", 4, 128, 2, false, true},
            {"bf16", 2, 48, 5, false, true}, {"bf16", 3, 48, 1, true, false}};

START_TEST(results_are_within_their_bounds)
{
    dim_override dims[small_count];
    memcpy(dims, small, sizeof small);
    dims[0].value = runs[_i].B, dims[5].value = runs[_i].hd;
    rig *r = rig_open(&(rig_request){.path = DECODE, .level = fusion_block, .target = "sm_90a", .dtype = runs[_i].dtype, .dims = dims,
                                     .dim_count = small_count, .check = true, .multiprocessors = runs[_i].multiprocessors,
                                     .one_workgroup = runs[_i].one, .late_workgroups = runs[_i].late});
    ck_assert(r->c.plan->launches->words);
    for (int b = 0; b < runs[_i].B; b++) rig_data(r, "pos")[b] = b == 0 ? 0 : b == 1 ? 36 : 15 + b; /* no keys before; a full cache */
    for (int again = 0; again < 2; again++) {
        rig_run(r);
        rig_judge(r);
        rig_execute(r);
    }
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("words");
    TCase *t = tcase_create("launches"), *plans = tcase_create("plans"), *results = tcase_create("results");
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, epochs_begin_anew_in_memory_with_any_content, 0, 3);
    tcase_add_test(t, each_launch_has_an_epoch_of_its_own_also_after_the_last_one);
    tcase_add_loop_test(t, a_tag_is_not_taken_for_the_next_epoch, 0, 2);
    tcase_add_loop_test(t, a_launch_after_one_whose_wait_timed_out_is_right, 0, groups);
    tcase_add_loop_test(t, late_workgroups_do_the_work_of_those_that_gave_up, 0, 4);
    tcase_add_loop_test(plans, rows_come_in_words_if_every_program_of_the_launch_can_read_them, 0, sizeof places / sizeof *places);
    tcase_add_loop_test(plans, a_value_without_words_is_found, 0, 2);
    tcase_add_loop_test(plans, a_phase_that_would_wait_for_a_later_one_is_found, 0, 2);
    tcase_add_loop_test(plans, words_of_a_stack_that_are_overwritten_too_early_are_found, 0, 2);
    tcase_add_loop_test(plans, an_edge_that_is_dropped_is_found, 0, 2);
    tcase_add_test(plans, parts_that_are_overwritten_too_early_are_found);
    tcase_add_loop_test(plans, a_phase_whose_program_cannot_read_words_is_found, 0, 2);
    tcase_add_test(plans, a_stack_whose_output_no_phase_makes_is_found);
    tcase_add_loop_test(plans, two_phases_that_write_the_same_memory_are_found, 0, 2);
    tcase_set_timeout(results, 120);
    tcase_add_loop_test(results, results_are_within_their_bounds, 0, sizeof runs / sizeof *runs);
    suite_add_tcase(s, t);
    suite_add_tcase(s, plans);
    suite_add_tcase(s, results);
    return run_suite(s);
}
