/* Writes the source, the spec header and the arguments of every launch and pack kernel of a plan. A source consists of the target's
 * defines, the templates, constant tables, the spec struct and the kernel. Refuses (code_unsupported) what the emitters of the families
 * refuse. */
#include "gen/emit/emit.h"
#include "gen/program/program.h"
#include "gen/source/by_hand.h"
#include "gen/source/next.h"
#include "gen/source/several.h"
#include "gen/source/stacked.h"
#include "gen/source/template_text.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct emitter { /* what all sources of a plan share */
    arena *a;
    plan *p;
    naming names;
    value_facts *facts;
    template_set *templates;
    const next_weights *next;
} emitter;

typedef struct page { /* one source file */
    const char *kernel, *file;
    const char *device, *template; /* class template and its file, as in gen/program/program.h */
    template_choice templates;
    frame_kind frame;
    int threads, shared_bytes;
    bool quick; /* ops use their short forms (docs/glossary.md): defines TF_QUICK */
    bool feeds; /* a warp loads for programs on wgmma (templates/frame/frame_fed.h): defines TF_FED */
    int team; /* threads that compute, if others only load (templates/isa/simt.h); 0: all compute */
    const char *defines;
} page;

/* ---- one spec struct */
static void set_shape(emission *e)
{
    for (int i = 0; i < e->phase->op_count && !e->shape; i++) {
        const ir_op *op = e->phase->ops[i];
        const bool of_input = op_table[op->kind].class == class_REDUCE || op->kind == op_slice || op->kind == op_kv_append;
        const ir_value *v = of_input ? op->inputs[0] : op->outputs[0];
        const extent rows = value_rows(e->a, v);
        if (!op_is_view(op) && extent_equal(&rows, &e->space.rows)) e->shape = v;
    }
    if (!e->shape) e->shape = e->phase->ops[0]->outputs[0];
}

static void find_columns(emission *e)
{
    const program *of = program_of(e->phase);
    const ir_op *product = phase_first(e->phase, class_PRODUCT);
    e->packed_length = weights_length(of->weights, product);
    gemm_segments(e->a, e->phase, &e->segments);
}

static emission emission_new(const emitter *of, const char *name, const ir_phase *phase)
{
    arena *a = of->a;
    emission e = {.a = a,
                  .pool = expression_pool_new(a),
                  .plan = of->p,
                  .names = &of->names,
                  .phase = phase,
                  .name = name,
                  .struct_name = name_marked(a, name, name_struct),
                  .pack = -1,
                  .scratch = -1,
                  .trace = -1,
                  .facts = of->facts,
                  .tables = {.a = a},
                  .functions = {.a = a}};
    facts_find(&e);
    e.is_quick = phase_is_quick(of->p->ir, phase, of->p->target);
    const bool rolls = program_of(phase)->rolls, is_long = phase_is_long(of->p->ir, phase, of->p->target, rolls);
    e.rolled = is_long && rolls ? loop_steps(of->p->ir, phase, of->p->target) : 0;
    e.is_long = is_long && !rolls;
    e.space = phase_space(a, phase);
    set_shape(&e);
    if (phase->family == family_gemm) find_columns(&e);
    return e;
}

/* Writes a comment that lists the phase's ops as the plan prints them, each with its position in the spec. Comments on statements refer to
 * these positions. */
static void write_ops(const emission *e, const ir_kernel *kernel, bool packs, writer *w)
{
    const char *line = packs ? "" : ir_print_ops(e->a, e->plan->ir, e->phase);
    const char *head = packs ? "Packs weights of kernel %s, phase %s, once, when they are bound." : "Kernel %s, phase %s:";
    write_comment(w, arena_printf(e->a, head, kernel->name, e->phase->name));
    for (; *line; line += strcspn(line, "\n") + 1) {
        const char *text = arena_strndup(e->a, line, strcspn(line, "\n")), *origin = strrchr(text, '#');
        write_comment(w, arena_strndup(e->a, text + 2, (size_t)(origin - text) - 3));
    }
}

/* The whole spec struct. Its arguments come first in it, but are known only after its members are written. */
static writer whole_struct(emission *e, const ir_kernel *kernel, bool packs, const writer *members)
{
    writer w = {.a = e->a};
    finish_arguments(e);
    write_ops(e, kernel, packs, &w);
    writer_splice(&w, &e->tables);
    write_head(&w, (position){0}, "struct %s", e->struct_name);
    write_arguments(e, &w);
    writer_splice(&w, &e->functions);
    writer_splice(&w, members);
    end_head(&w, "};");
    write_offset_checks(e, &w);
    return w;
}

/* ---- one source file */
enum { page_head_lines = 3 };

static void append_target(text *out, const target_info *target, const page *x)
{
    template_target(out, target);
    /* Only defines that the kernel needs, so that kernels without matrix units have the same source and cache entry for all targets of a
     * family. In a list of phases, an input of one phase may be a result of another, so no load may use the constant cache
     * (templates/base/device.h). */
    const bool of_phases = x->frame == frame_list || x->frame == frame_stack;
    if (frame_asks(x->frame, target) && !of_phases) text_printf(out, "#define TF_CONST_IS_GLOBAL 1\n");
    if (x->frame == frame_stack || (x->frame == frame_list && target->overlaps)) text_printf(out, "#define TF_PHASES 1\n");
    if (x->quick) text_printf(out, "#define TF_QUICK 1\n");
    if (x->team) text_printf(out, "#define TF_TEAM %d\n", x->team);
    if (x->feeds) text_printf(out, "#define TF_FED 1\n");
    if (x->templates.has[template_amd])
        text_printf(out, "#define TF_OPERAND_BYTES %d\n#define TF_LDS_BANKS %d\n#define TF_COPIES_TO_LDS %d\n", target->operand_bytes,
                    target->lds_banks, target->copies_to_lds);
}

/* Appends a `form` of a frame (ir/frame.def) with its $K, $T, $S and $P replaced. */
static void append_form(text *out, const char *form, const page *x, const char *struct_name)
{
    for (const char *at = form; *at; at++) {
        if (*at != '$')
            text_append(out, at, 1);
        else if (*++at == 'K')
            text_printf(out, "%s%s", x->kernel, name_marks[name_value]);
        else if (*at == 'T')
            text_printf(out, "%d", x->threads);
        else if (*at == 'S')
            text_printf(out, "%s", struct_name);
        else
            text_printf(out, "%s<%s>", x->device, struct_name);
    }
}

static void append_kernel(text *out, const page *x, const char *struct_name)
{
    text_printf(out, "static_assert(");
    append_form(out, frame_table[x->frame].memory, x, struct_name);
    text_printf(out, " == %d, \"shared memory\");\n", x->shared_bytes);
    append_form(out, frame_table[x->frame].entry, x, struct_name);
    text_printf(out, "\n");
}

/* The spec's name for the source's first line, which runtime/compile/page_places.c reads. */
static const char *spec_name(arena *a)
{
    const char *name = arena_source_name(a);
    return harmless_name(a, name ? name : "spec");
}

static source_text write_source(emitter *of, const page *x, const writer *w, const char *struct_name)
{
    arena *a = of->a;
    const target_info *target = of->p->target;
    text head = {.a = a}, defines = {.a = a}, body = {.a = a};
    const template_set *templates = templates_find(a, &of->templates, &x->templates);
    append_target(&defines, target, x);
    text_printf(&defines, "%s", x->defines);
    const int own = page_head_lines + count_lines(defines.data) + templates->lines + 2; /* the line after #line */
    text_printf(&head, "// Written by tfgen: %s of %s for %s, wave %d. Try an edited one with run --replace-source.\n", x->kernel,
                spec_name(a), target->family, target->wave);
    text_printf(&head, "// The kernel's own code starts at line %d; above are the templates that it uses.\n%s%s", own,
                by_hand_line, defines.data);
    text_printf(&body, "#line %d \"%s\"\n", own, x->file);
    writer_append(&body, w);
    append_kernel(&body, x, struct_name);
    return (source_text){head.data, templates->text, body.data};
}

static const char *header_text(arena *a, const plan *p, const page *x, const writer *w)
{
    text out = {.a = a};
    text_printf(&out, "// Written by tfgen: %s of %s for %s; read it beside %s.\n", x->kernel, spec_name(a), p->target->family,
                x->template);
    writer_append(&out, w);
    return out.data;
}

/* ---- when the next launch may start (docs/overlap.md) */
/* Bytes of a rows phase's params that all its rows read, such as a norm's weight; 0 for phases of other families. */
static long long column_bytes(const ir_phase *phase)
{
    const ir_value *seen[16];
    long long bytes = 0;
    int count = 0;
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->input_count; k++) {
            const ir_value *v = phase->ops[i]->inputs[k];
            bool known = v->kind != value_param || v->rank != 1;
            for (int n = 0; n < count; n++) known |= seen[n] == v;
            if (known || count == 16) continue;
            seen[count++] = v;
            bytes += value_columns(v) * dtype_size(v->type);
        }
    return phase->family == family_rows ? bytes : 0;
}

static frame_kind frame_of(const launch_phase *w) { return program_table[w->program->kind].frame; }

/* Defines that move the point at which the launch lets the next one begin (griddepcontrol.launch_dependents).
 * TF_SIGNAL_FIRST: at the start of a rows kernel, if the next launch loads weights before its wait, which does not slow down the rows.
 * TF_SIGNAL_NEVER: only at the end of a kernel that fills a multiprocessor's shared memory, if the next one is a rows kernel with large
 * params that all rows read: started earlier, that one would have a small L1. (H200, gelu(layernorm(linear)) 2048x2048x8192 with 32 KB of
 * params: 128 us if started earlier, 124 us at the end.)
 * After the last launch comes the first launch of the next call. */
static const char *signal_defines(const plan *p, const launch *l)
{
    enum { most_shared_bytes = 24 << 10 };
    const launch_phase *last = &l->work[l->work_count - 1], *next = p->launches[(l - p->launches + 1) % p->launch_count].work;
    if (!l->overlap) return "";
    if (last->phase->family == family_rows && frame_table[frame_of(next)].early) return "#define TF_SIGNAL_FIRST 1\n";
    const bool much = column_bytes(next->phase) > most_shared_bytes;
    return frame_table[frame_of(last)].fills && much ? "#define TF_SIGNAL_NEVER 1\n" : "";
}

static bool is_apart(op_kind kind)
{
    static const bool apart[op_count] = {
#define APART(op) [op_##op] = true,
#include "ir/op.def"
    };
    return apart[kind];
}

static template_choice templates_of(const emission *e)
{
    template_choice c = {0};
    program_templates(&c, program_in_source(e->phase), e->plan->target);
    for (int i = 0; i < e->phase->op_count; i++)
        if (is_apart(e->phase->ops[i]->kind)) template_choose(&c, "templates/base/functions.h");
    if (e->tables_made) template_choose(&c, e->rope_scaled ? "templates/base/rope_scaled.h" : "templates/base/rope.h");
    if (e->trace >= 0) template_choose(&c, "templates/frame/trace.h");
    return c;
}

static emission emit_phase(const emitter *of, const char *name, const launch_phase *work, int trace)
{
    emission e = emission_new(of, name, work->phase);
    e.pack = work->pack, e.scratch = work->scratch, e.trace = trace;
    return e;
}

static page page_of(const emitter *of, const launch *l, const template_choice *templates, bool quick)
{
    const program *from = program_in_source(l->work->phase);
    const frame_kind frame = of->p->stack.in ? frame_stack : l->together ? frame_list : frame_of(l->work);
    return (page){l->name, l->file, from->device, from->template, *templates, frame, l->threads, l->shared_bytes, quick,
                  l->feeds, l->ring_pages || l->feeds ? tile_threads(l->work->tile) : 0, signal_defines(of->p, l)};
}

static void finish_launch(emitter *of, launch *l, const page *x, const writer *w, const char *struct_name)
{
    l->source = write_source(of, x, w, struct_name);
    l->spec_header = header_text(of->a, of->p, x, w);
    l->argument_bytes = argument_bytes(l->arguments, l->argument_count);
}

static void emit_one(emitter *of, launch *l)
{
    emission e = emit_phase(of, l->name, l->work, l->trace);
    writer members = {.a = of->a};
    l->work->program->members(&e, &members);
    write_ring(l, &members);
    emit_next(&e, &members, of->next, (int)(l - of->p->launches));
    use_trace_of(&e);
    const writer w = whole_struct(&e, l->kernel, false, &members);
    const template_choice templates = templates_of(&e);
    const page one = page_of(of, l, &templates, e.is_quick);
    l->arguments = e.arguments;
    l->argument_count = e.argument_count;
    finish_launch(of, l, &one, &w, e.struct_name);
}

/* ---- several phases: a spec struct for each, and one for the launch (gen/source/several.h) */

static unsigned argument_alignment(const argument *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].kind == argument_map) return list[i].size;
    return sizeof(void *);
}

/* Appends a phase's argument struct to the launch's arguments, aligned like its pointers or tensor maps, and returns its offset. outer:
 * prefix of the arguments' names. */
static unsigned append_arguments(arena *a, launch *l, const emission *e, const char *outer)
{
    const unsigned align = argument_alignment(e->arguments, e->argument_count), at = (l->argument_end + align - 1) / align * align;
    argument *all = arena_alloc(a, (size_t)(l->argument_count + e->argument_count + 1) * sizeof *all);
    for (int i = 0; i < l->argument_count; i++) all[i] = l->arguments[i];
    for (int i = 0; i < e->argument_count; i++) {
        all[l->argument_count + i] = e->arguments[i];
        all[l->argument_count + i].offset += at;
        all[l->argument_count + i].name = arena_printf(a, "%s%s", outer, e->arguments[i].name);
    }
    l->arguments = all;
    l->argument_count += e->argument_count;
    l->argument_end = (at + argument_bytes(e->arguments, e->argument_count) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    return at;
}

static void append_argument(emitter *of, launch *l, argument g)
{
    emission e = emit_phase(of, l->name, l->work, -1);
    e.arguments = &g, e.argument_count = 1;
    (void)append_arguments(of->a, l, &e, "");
}

/* Appends the pointer to a scratch as an argument of the launch itself, after those of its phases. index: of the scratch. */
static void append_scratch(emitter *of, launch *l, const char *name, int index)
{
    emission e = emit_phase(of, l->name, l->work, index);
    use_trace_of(&e);
    finish_arguments(&e);
    e.arguments[0].name = name;
    (void)append_arguments(of->a, l, &e, "");
}

static void append_stack(emitter *of, launch *l)
{
    append_scratch(of, l, "tf_turn_0", of->p->stack.turns[0]);
    append_scratch(of, l, "tf_turn_1", of->p->stack.turns[1]);
    append_argument(of, l, (argument){.kind = argument_table, .name = "tf_pointers", .size = sizeof(void *)});
    append_argument(of, l, (argument){.kind = argument_layers, .name = "tf_layers", .size = sizeof(int)});
    stacked_set_places(l);
}

/* Writes the spec struct of each phase and appends its arguments to the launch's. */
static side *emit_phases(emitter *of, launch *l, template_choice *templates, bool *quick, writer *all)
{
    arena *a = of->a;
    side *sides = arena_alloc(a, (size_t)l->work_count * sizeof *sides);
    for (int i = 0; i < l->work_count; i++) {
        const launch_phase *work = &l->work[i];
        emission e = emit_phase(of, name_phase_stem(a, l, work), work, -1);
        writer members = {.a = a};
        work->program->members(&e, &members);
        const writer w = whole_struct(&e, l->kernel, false, &members);
        writer_splice(all, &w);
        const template_choice own = templates_of(&e);
        for (int t = 0; t < template_count; t++) templates->has[t] |= own.has[t];
        *quick &= e.is_quick;
        sides[i] = (side){arena_printf(a, "%s<%s>", program_in_source(work->phase)->device, e.struct_name),
                          arena_printf(a, "%s::args", e.struct_name),
                          append_arguments(a, l, &e, arena_printf(a, "phase_%d.", i + 1))};
    }
    return sides;
}

static void emit_several(emitter *of, launch *l)
{
    arena *a = of->a;
    template_choice templates = {0};
    const char *struct_name = name_marked(a, l->name, name_struct);
    writer all = {.a = a};
    bool quick = true;
    const side *sides = emit_phases(of, l, &templates, &quick, &all);
    if (l->marks >= 0) append_scratch(of, l, "tf_marks", l->marks);
    if (l->trace >= 0) append_scratch(of, l, "tf_trace", l->trace), template_choose(&templates, "templates/frame/trace.h");
    if (of->p->stack.in) append_stack(of, l);
    if (l->feeds) template_choose(&templates, "templates/frame/frame_fed.h");
    template_choose(&templates, of->p->stack.in ? "templates/frame/frame_stack.h"
                                : l->together   ? "templates/frame/frame_list.h"
                                                : "templates/rows/side_by_side.h");
    if (l->together) several_write_list(a, of->p, l, sides, struct_name, &all);
    else several_write_sides(a, l, sides, struct_name, &all);
    page one = page_of(of, l, &templates, quick);
    one.device = "side_by_side"; /* $P in the forms of frame_mixed is side_by_side<struct_name> */
    finish_launch(of, l, &one, &all, struct_name);
}

static void emit_launch(emitter *of, launch *l)
{
    l->arguments = NULL, l->argument_count = 0, l->argument_end = 0;
    if (l->work_count > 1) emit_several(of, l);
    else emit_one(of, l);
}

/* packed_weight.signature. The hash covers the struct's members without spec positions, and the types of the params. */
static const char *signature_of(const emission *e, const writer *members, const char *device)
{
    text kernel = {.a = e->a}, signature = {.a = e->a};
    text_printf(&kernel, "%s\n", device);
    for (int i = 0; i < members->count; i++) text_printf(&kernel, "%s\n", members->lines[i].code);
    for (int i = 0; i < e->argument_count; i++)
        if (e->arguments[i].kind == argument_value)
            text_printf(&kernel, "%s %s\n", dtype_name(e->arguments[i].value->type), e->arguments[i].name);
    const XXH128_hash_t hash = XXH3_128bits(kernel.data, kernel.size);
    text_printf(&signature, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    for (int i = 0; i < e->argument_count; i++)
        if (e->arguments[i].kind == argument_value) text_printf(&signature, " %s", e->arguments[i].value->name);
    return signature.data;
}

static const char pack_template[] = "templates/gemm/pack.h";

static void emit_one_pack(emitter *of, int index)
{
    arena *a = of->a;
    packed_weight *pack = &of->p->packs[index];
    emission e = emission_new(of, pack->name, pack->phase);
    e.pack = index;
    writer members = {.a = a};
    emit_pack(&e, &members, index);
    const writer w = whole_struct(&e, pack->kernel, true, &members);
    template_choice templates = {0};
    template_choose(&templates, pack_template);
    const page one = {pack->name,
                      arena_printf(a, "%s.hip", pack->name),
                      pack->format->pack,
                      pack_template,
                      templates,
                      frame_mixed,
                      pack->threads,
                      pack_shared_bytes,
                      e.is_quick, /* the same as for its launch, so that the host engine can compile both at once */
                      false,
                      0,
                      ""};
    pack->source = write_source(of, &one, &w, e.struct_name);
    pack->signature = signature_of(&e, &members, one.device);
    pack->arguments = e.arguments;
    pack->argument_count = e.argument_count;
    pack->argument_bytes = argument_bytes(e.arguments, e.argument_count);
}

void emit(arena *a, plan *p)
{
    emitter of = {a, p, names_choose(a, p->ir), facts_new(a, p->ir), NULL, next_find(a, p)};
    for (int i = 0; i < p->pack_count; i++) emit_one_pack(&of, i);
    for (int i = 0; i < p->launch_count; i++) emit_launch(&of, &p->launches[i]);
}
