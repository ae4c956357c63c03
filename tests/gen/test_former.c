/* Names of older versions (ir/former.def) are read as today's in IR text, --tile, wisdom and databases of trials, with a hint. */
#include "gen/base/signature.h"
#include "gen/plan/overrides.h"
#include "gen/plan/wisdom.h"
#include "ir/graph/former.h"
#include "tests/support.h"
#include <string.h>

static const struct {
    program_kind program;
    const char *former, *today;
} fields[] = {
    {program_none, NULL, NULL}, /* C forbids empty arrays */
#define FORMER_FIELD(program, former, today) {program_##program, #former, #today},
#include "ir/former.def"
};

static bool is_layer(const char *name)
{
    size_t count;
    const char *const *names = layer_names(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_frame(const char *name)
{
    size_t count;
    const char *const *names = frame_names(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_field(program_kind program, const char *name)
{
    for (int i = 0; i < program_table[program].field_count; i++)
        if (strcmp(program_table[program].fields[i].name, name) == 0) return true;
    return false;
}

static bool is_family(const char *name)
{
    size_t count;
    const char *const *names = family_names(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

START_TEST(a_former_name_is_no_current_name_and_maps_to_one)
{
    arena *a = arena_new();
    for (const former_name *n = former_families; n->former; n++) {
        ck_assert_msg(!is_family(n->former) && is_family(n->today), "%s", n->former);
        const former_name *layers = former_layers_of(a, n->former);
        ck_assert_msg(layers != former_layers && layers->former, "%s", n->former);
        for (; layers->former; layers++) ck_assert_msg(is_layer(layers->former) && is_layer(layers->today), "%s", layers->former);
    }
    ck_assert_ptr_eq(former_layers_of(a, "attention"), former_layers);
    arena_free(a);
    for (const former_name *n = former_layers; n->former; n++) ck_assert_msg(!is_layer(n->former) && is_layer(n->today), "%s", n->former);
    for (const former_name *n = former_frames; n->former; n++) ck_assert_msg(!is_frame(n->former) && is_frame(n->today), "%s", n->former);
    for (size_t i = 1; i < sizeof fields / sizeof *fields; i++)
        ck_assert_msg(!is_field(fields[i].program, fields[i].former) && is_field(fields[i].program, fields[i].today), "%s of %s",
                      fields[i].former, program_table[fields[i].program].name);
}
END_TEST

/* ---- in text */
typedef struct reading {
    arena *a;
    const char *text;
} reading;

static void read_ir(void *argument)
{
    const reading *r = argument;
    ir_read(r->a, r->text, strlen(r->text), "t.ir");
}

/* Reads the text of a kernel up to where it ends; returns the warnings. */
static const char *warned(arena *a, const char *kernel, const char *phase)
{
    const char *head = "ir 1 t\ntype f32\nlevel none\ndim  M = 2 in 1..9\nin   %x f32[M,4]\n";
    reading r = {a, arena_printf(a, "%skernel k0%s {\n  phase a : %s", head, kernel, phase)};
    ck_assert_int_eq(arena_run(a, read_ir, &r), code_bad_input);
    return arena_warnings(a);
}

static void check_text(const char *kernel, const char *phase, const char *at, const former_name *n)
{
    arena *a = arena_new();
    const char *said = warned(a, kernel, phase), *message = arena_printf(a, "warning: %s is called %s now", n->former, n->today);
    ck_assert_msg(strstr(said, message) && strstr(said, at), "no \"%s\" at %s in\n%s%s", message, at, said, arena_diagnostics(a));
    arena_free(a);
}

static phase_family family_on(const char *layer)
{
    for (int i = 1; i < program_count; i++)
        if (strcmp(layer_names(NULL)[program_table[i].layer], layer) == 0) return program_table[i].family;
    ck_abort_msg("%s", layer);
}

START_TEST(text_with_former_names_is_read_with_a_warning_at_their_place)
{
    arena *a = arena_new();
    for (const former_name *n = former_frames; n->former; n++)
        check_text(arena_printf(a, " frame=%s", n->former), "rows {\n", "t.ir:6:17", n);
    for (const former_name *n = former_layers; n->former; n++)
        check_text("", arena_printf(a, "%s {\n    tile layer=%s ", family_names(NULL)[family_on(n->today)], n->former), "t.ir:8:16", n);
    for (const former_name *f = former_families; f->former; f++) {
        check_text("", arena_printf(a, "%s {\n", f->former), "t.ir:7:13", f);
        for (const former_name *n = former_layers_of(a, f->former); n->former; n++) {
            check_text("", arena_printf(a, "%s {\n    tile layer=%s ", f->former, n->former), "t.ir:8:16", n);
            check_text("", arena_printf(a, "%s {\n    not %s: for a reason\n", f->former, n->former), "t.ir:8:9", n);
        }
    }
    for (size_t i = 1; i < sizeof fields / sizeof *fields; i++) {
        const program_info *p = &program_table[fields[i].program];
        const bool several = family_programs(p->family) > 1;
        const char *layer = several ? arena_printf(a, "layer=%s ", layer_names(NULL)[p->layer]) : "";
        check_text("", arena_printf(a, "%s {\n    tile %s%s=", family_names(NULL)[p->family], layer, fields[i].former),
                   "t.ir:8:", &(former_name){fields[i].former, fields[i].today});
    }
    arena_free(a);
}
END_TEST

/* The settings of every program, including those that users cannot set. */
START_TEST(current_names_are_read_without_a_warning)
{
    for (int k = 1; k < program_count; k++) {
        const program_info *p = &program_table[k];
        const char *family = family_names(NULL)[p->family], *layer = layer_names(NULL)[p->layer];
        for (int i = 0; i < p->field_count; i++) {
            if (tile_field_find((program_kind)k, p->fields[i].name) != i) continue; /* a fixed setting is not found by name */
            arena *a = arena_new();
            const char *setting = arena_printf(a, "%s=%d", p->fields[i].name, p->fields[i].least);
            const char *head = family_programs(p->family) == 1 ? "" : arena_printf(a, "layer=%s ", layer);
            const char *said = warned(a, "", arena_printf(a, "%s {\n    tile %s%s %s\n", family, head, setting, setting));
            ck_assert_msg(!*said, "%s", said);
            ck_assert_msg(strstr(arena_diagnostics(a), arena_printf(a, "a second %s", p->fields[i].name)), "%s", arena_diagnostics(a));
            arena_free(a);
        }
    }
}
END_TEST

/* A frame's former name may be the name of another frame today; text of a program may have its former frame, but no other. */
START_TEST(text_may_have_the_former_frame_of_a_program_with_a_warning)
{
    static const struct {
        program_kind program;
        frame_kind frame;
    } former[] = {
#define FORMER_FRAME_OF(program, former) {program_##program, frame_##former},
#include "ir/former.def"
    };
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        arena *a = arena_new(), *b = arena_new();
        const program_info *p = &program_table[former[i].program];
        const char *was = frame_names(NULL)[former[i].frame], *is = frame_names(NULL)[p->frame];
        const char *phase = arena_printf(a, "%s {\n    tile layer=%s\n", family_names(NULL)[p->family], layer_names(NULL)[p->layer]);
        const char *said = warned(a, arena_printf(a, " frame=%s", was), phase);
        const char *message = arena_printf(a, "warning: %s runs in frame=%s now, not in frame=%s", p->name, is, was);
        ck_assert_msg(strstr(said, message), "no \"%s\" in\n%s%s", message, said, arena_diagnostics(a));
        ck_assert_ptr_null(strstr(arena_diagnostics(a), "runs in frame="));
        ck_assert_str_eq(warned(b, " frame=interleaved", phase), ""); /* a frame that the program never had */
        ck_assert_ptr_nonnull(strstr(arena_diagnostics(b), arena_printf(a, "%s runs in frame=%s", p->name, is)));
        arena_free(b);
        arena_free(a);
    }
}
END_TEST

/* ---- in --tile */
typedef struct asking {
    arena *a;
    const char *line;
    const overrides *read;
} asking;

static void read_line(void *argument)
{
    asking *q = argument;
    q->read = overrides_read(q->a, &(tuning){.lines = &q->line, .count = 1});
}

START_TEST(the_tile_option_reads_former_layers_with_a_warning)
{
    for (const former_name *n = former_layers; n->former; n++) {
        arena *a = arena_new();
        asking q = {a, arena_printf(a, "gemm: layer=%s", n->former), NULL};
        ck_assert_int_eq(arena_run(a, read_line, &q), code_ok);
        ck_assert_str_eq(layer_names(NULL)[q.read->list[0].layer], n->today);
        ck_assert_ptr_nonnull(strstr(arena_warnings(a), arena_printf(a, ": %s is called %s now", n->former, n->today)));
        arena_free(a);
    }
}
END_TEST

/* A former field is read for the program that the line selects. */
START_TEST(the_tile_option_reads_former_fields_with_a_warning)
{
    const char *line = "gemm: layer=mma slots=4 group=8";
    const tuning t = {.lines = &line, .count = 1};
    rig *r = rig_plan(&(rig_request){.path = "specs/linear.yaml", .level = fusion_tile, .target = "sm_80", .tuning = &t});
    const ir_phase *phase = r->c.plan->launches[0].kernel->phases[0];
    ck_assert(tile_setting(phase, "stages") == 4 && tile_setting(phase, "group_m") == 8 && phase->from == tile_of_user);
    ck_assert_ptr_nonnull(strstr(arena_warnings(r->a), ": slots is called stages now"));
    ck_assert_ptr_nonnull(strstr(arena_warnings(r->a), ": group is called group_m now"));
    rig_close(r);
}
END_TEST

/* A line for a former family applies to the programs that replace it, and to no phase of another program. */
static const char one_query[] =
    "block: t\ndtype: bf16\ndims: {B: 2, S: 1, L: 512}\n"
    "inputs: {q: [B, S, 256], k: [B, S, 256], v: [B, S, 256], pos: {shape: [B], dtype: i32, range: [L-S, L-S]}}\n"
    "state: {k_cache: [B, 4, L, 64], v_cache: [B, 4, L, 64]}\nops:\n"
    "  - {out: kc, op: kv_append, in: [k], state: k_cache, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: v_cache, at: pos}\n"
    "  - {out: a, op: attention, in: [q, kc, vc], heads: 4, causal: true, at: pos}\n"
    "  - {out: b, op: attention, in: [q, k, v], heads: 4}\noutputs: {a: a, b: b}\n";

static const ir_phase *attention_of(const rig *r, const char *value)
{
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        const ir_phase *phase = r->c.plan->launches[i].work->phase;
        if (phase->family == family_attention && strncmp(phase->ops[0]->outputs[0]->name, value, strlen(value)) == 0) return phase;
    }
    ck_abort_msg("%s", value);
}

START_TEST(the_tile_option_reads_former_families_with_a_warning)
{
    static const struct {
        const char *line;
        program_kind a;
        bool b;
    } cases[] = {{"decode: layer=mma keys=16", program_decode_mma, false},
                 {"decode: layer=simt team=4", program_decode, false},
                 {"decode(attention(bf16[256],bf16[4,64],bf16[4,64])/heads=4/kv_heads=4/causal/at->bf16[256]!): layer=mma keys=16",
                  program_decode_mma, false},
                 {"decode: threads=128", program_decode_mma, false},
                 {"attention: layer=simt", program_attention_simt, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        rig *r = rig_plan(&(rig_request){.yaml = one_query, .level = fusion_tile, .target = "sm_90a", .tuning = &t});
        const ir_phase *a = attention_of(r, "a"), *b = attention_of(r, "b");
        ck_assert_msg(a->tile.program == cases[i].a && (a->from == tile_of_user) && (b->from == tile_of_user) == cases[i].b, "%s: %s, %s",
                      cases[i].line, program_table[a->tile.program].name, program_table[b->tile.program].name);
        const char *said = arena_warnings(r->a);
        ck_assert_msg((strstr(said, ": decode is called attention now") != NULL) == !cases[i].b, "%s", said);
        ck_assert_msg((strstr(said, ": simt is called decode_simt now") != NULL) == (cases[i].a == program_decode), "%s", said);
        rig_close(r);
    }
}
END_TEST

/* ---- in wisdom and databases */
START_TEST(a_signature_with_a_former_family_maps_to_the_current_one)
{
    arena *a = arena_new();
    ck_assert_str_eq(signature_today(a, "decode(attention(bf16[8])!)"), "attention(attention(bf16[8])!)");
    static const char *const same[] = {"gemm(linear(bf16[8])!)", "decoder(x)", "", "attention(decode(x))"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) ck_assert_str_eq(signature_today(a, same[i]), same[i]);
    arena_free(a);
}
END_TEST

START_TEST(a_former_setting_name_maps_to_the_current_one)
{
    arena *a = arena_new();
    for (size_t i = 1; i < sizeof fields / sizeof *fields; i++) {
        ir_tile t = {.program = fields[i].program};
        const int at = tile_field_find(t.program, fields[i].today);
        const tile_field *f = &program_table[t.program].fields[at];
        ck_assert_ptr_null(tile_read_setting(a, arena_printf(a, "%s=%d", fields[i].former, f->least), &t));
        ck_assert(t.given == 1u << at && t.at[at] == f->least);
        const char *second = tile_read_setting(a, arena_printf(a, "%s=%d", f->name, f->least), &t);
        ck_assert_msg(second && strstr(second, "a second "), "%s", second);
    }
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("former");
    TCase *c = tcase_create("names");
    tcase_add_test(c, a_former_name_is_no_current_name_and_maps_to_one);
    tcase_add_test(c, text_may_have_the_former_frame_of_a_program_with_a_warning);
    tcase_add_test(c, text_with_former_names_is_read_with_a_warning_at_their_place);
    tcase_add_test(c, current_names_are_read_without_a_warning);
    tcase_add_test(c, the_tile_option_reads_former_layers_with_a_warning);
    tcase_add_test(c, the_tile_option_reads_former_fields_with_a_warning);
    tcase_add_test(c, the_tile_option_reads_former_families_with_a_warning);
    tcase_add_test(c, a_signature_with_a_former_family_maps_to_the_current_one);
    tcase_add_test(c, a_former_setting_name_maps_to_the_current_one);
    suite_add_tcase(s, c);
    return run_suite(s);
}
