/* In: the text form of ir/text/print.c, which may be hostile. Out: the graph, verified, so that later stages can trust it like a pass's
 * result. Refuses: anything else, with file:line:col of the first error; more than max_text bytes, max_ops ops. */
#include "ir/text/parse.h"
#include "ir/check/check.h"
#include "ir/base/names.h"
#include "ir/graph/layer_kinds.h"
#include "ir/graph/reason.h"
#include <string.h>

enum { max_text = 16 << 20, max_ops = 65536, max_kernels = 65536 };

static ir_value *read_operand(reader *r)
{
    scan_spaces(&r->in);
    if (r->in.s < r->in.end && *r->in.s == '%') return read_value(r);
    position at = scan_here(&r->in);
    if (r->b.p->value_count == max_values) bail(r->a, code_bad_input, at, "more than %d values", max_values);
    return build_number(&r->b, scan_double(&r->in), (position){0, 0});
}

static op_kind read_op_name(reader *r)
{
    const char *names[op_count];
    for (int i = 0; i < op_count; i++) names[i] = op_table[i].name;
    return (op_kind)scan_choice(&r->in, names, op_count, "op");
}

static void read_inputs(reader *r, ir_op *op)
{
    ir_value *list[max_list];
    const op_info *info = &op_table[op->kind];
    do {
        if (op->input_count == info->most_inputs)
            bail(r->a, code_bad_input, scan_here(&r->in), "%s takes at most %d operands", info->name, info->most_inputs);
        list[op->input_count++] = read_operand(r);
        scan_spaces(&r->in);
    } while (scan_accept(&r->in, ","));
    if (op->input_count < info->least_inputs)
        bail(r->a, code_bad_input, scan_here(&r->in), "%s takes at least %d operands", info->name, info->least_inputs);
    op->inputs = arena_alloc(r->a, (size_t)op->input_count * sizeof *op->inputs);
    memcpy(op->inputs, list, (size_t)op->input_count * sizeof *op->inputs);
}

static void read_outs(reader *r, ir_op *op)
{
    op->outputs = arena_alloc(r->a, max_list * sizeof *op->outputs);
    do {
        if (op->output_count == max_list) bail(r->a, code_bad_input, scan_here(&r->in), "more than %d outs", max_list);
        op->outputs[op->output_count++] = read_new_value(r, value_result);
        scan_spaces(&r->in);
    } while (scan_accept(&r->in, ","));
}

static void add_to_phase(reader *r, ir_op *op)
{
    ir_phase *phase = r->phase;
    phase->ops = build_grow(r->a, phase->ops, phase->op_count, sizeof *phase->ops);
    phase->ops[phase->op_count++] = op;
}

static void read_op(reader *r, op_role role)
{
    ir_op *op = arena_alloc(r->a, sizeof *op);
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    if (r->b.p->op_count == max_ops) bail(r->a, code_bad_input, at, "more than %d ops", max_ops);
    op->role = role;
    read_outs(r, op);
    scan_expect(&r->in, "=");
    op->kind = read_op_name(r);
    op->stated = ~0ull; /* text does not tell defaults from what the spec gave */
    read_inputs(r, op);
    read_fields(r, op);
    position place = read_place(r);
    scan_spaces(&r->in);
    if (!scan_accept(&r->in, "#")) scan_expected(&r->in, "# and the number of the graph op");
    op->origin = (int)scan_integer(&r->in, 0, 1 << 24, "number of the graph op");
    for (int i = 0; i < op->output_count; i++) {
        const char *name = op->outputs[i]->name;
        if (names_find(&r->b.names, name)) bail(r->a, code_bad_input, at, "a second value named %%%s", name);
        build_add_value(&r->b, op->outputs[i]);
    }
    r->op_places = build_grow(r->a, r->op_places, r->b.p->op_count, sizeof *r->op_places);
    r->spec_places = build_grow(r->a, r->spec_places, r->b.p->op_count, sizeof *r->spec_places);
    r->op_places[r->b.p->op_count] = at;
    r->spec_places[r->b.p->op_count] = place;
    build_add_op(&r->b, op);
    if (r->phase) add_to_phase(r, op);
    scan_end_line(&r->in);
}

static void read_after(reader *r, ir_phase *phase)
{
    do {
        scan_spaces(&r->in);
        position at = scan_here(&r->in);
        const char *name = scan_name(&r->in, "the name of a phase");
        ir_phase *earlier = names_find(&r->phases, name);
        if (!earlier) bail(r->a, code_bad_input, at, "no phase above is named %s", name);
        phase->after = build_grow(r->a, phase->after, phase->after_count, sizeof *phase->after);
        phase->after[phase->after_count++] = earlier;
        scan_spaces(&r->in);
    } while (scan_accept(&r->in, ","));
}

static void read_phase(reader *r)
{
    size_t families;
    ir_phase *phase = arena_alloc(r->a, sizeof *phase);
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    phase->name = scan_name(&r->in, "the name of a phase");
    if (names_find(&r->phases, phase->name)) bail(r->a, code_bad_input, at, "a second phase named %s", phase->name);
    if (r->phases.count == max_kernels) bail(r->a, code_bad_input, at, "more than %d phases", max_kernels);
    scan_expect(&r->in, ":");
    const char *const *names = family_names(&families);
    r->layers = former_layers_of(r->a, scan_ahead(&r->in));
    phase->family = (phase_family)scan_renamed(&r->in, names, families, former_families, "family");
    scan_spaces(&r->in);
    if (scan_accept(&r->in, "after ")) read_after(r, phase);
    scan_expect(&r->in, "{");
    scan_end_line(&r->in);
    names_add(&r->phases, phase->name, phase);
    r->kernel->phases = build_grow(r->a, r->kernel->phases, r->kernel->phase_count, sizeof *r->kernel->phases);
    r->kernel->phases[r->kernel->phase_count++] = phase;
    r->phase = phase;
    r->depth = 2;
}

static void read_kernel(reader *r)
{
    ir_graph *p = r->b.p;
    ir_kernel *k = arena_alloc(r->a, sizeof *k);
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    if (p->op_count && !p->kernel_count) bail(r->a, code_bad_input, at, "a kernel after ops without one");
    if (p->kernel_count == max_kernels) bail(r->a, code_bad_input, at, "more than %d kernels", max_kernels);
    k->name = scan_name(&r->in, "the name of a kernel");
    if (!name_is_plain(k->name))
        bail(r->a, code_bad_input, at,
             "\"%.40s\" cannot name a kernel: a name has letters, digits and _, no digit first, at most %d of them", k->name, most_name);
    if (!names_add(&r->kernels, k->name, k)) bail(r->a, code_bad_input, at, "a second kernel named %s", k->name);
    scan_spaces(&r->in);
    r->has_frame = scan_accept(&r->in, "frame=");
    if (r->has_frame) r->frame = (frame_kind)scan_renamed(&r->in, frame_names(NULL), frame_count, former_frames, "frame");
    scan_expect(&r->in, "{");
    scan_end_line(&r->in);
    p->kernels = build_grow(r->a, p->kernels, p->kernel_count, sizeof *p->kernels);
    p->kernels[p->kernel_count++] = k;
    r->kernel = k;
    r->depth = 1;
}

/* The program of a phase's tile line: the only one of its family, or the one with the layer that the line names first. */
static program_kind read_program(reader *r)
{
    const phase_family family = r->phase->family;
    scan_spaces(&r->in);
    const position at = scan_here(&r->in);
    if (family_programs(family) == 1) return program_find(family, layer_simt);
    if (!scan_accept(&r->in, "layer="))
        bail(r->a, code_bad_input, at, "a tile of a phase of the family %s begins with layer=", family_names(NULL)[family]);
    size_t count;
    const char *const *names = layer_names(&count);
    const program_kind program = program_find(family, (layer_kind)scan_renamed(&r->in, names, count, r->layers, "layer"));
    if (!program) bail(r->a, code_bad_input, at, "no program of the family %s has that layer", family_names(NULL)[family]);
    return program;
}

static int read_setting(reader *r, const ir_tile *tile)
{
    const program_info *p = &program_table[tile->program];
    const position at = scan_here(&r->in);
    const char *name = scan_name(&r->in, "a setting"), *names[most_tile_fields];
    size_t count = 0;
    const int i = tile_field_find(tile->program, name);
    for (int n = 0; n < p->field_count; n++)
        if (p->fields[n].help) names[count++] = p->fields[n].name;
    const char *near = i < 0 ? nearest_name(name, names, count) : NULL;
    if (i < 0)
        bail(r->a, code_bad_input, at, "%s has no setting '%s'%s%s%s", p->name, name, near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    scan_warn(&r->in, at, name, p->fields[i].name);
    if (tile->given & 1u << i) bail(r->a, code_bad_input, at, "a second %s", p->fields[i].name);
    return i;
}

/* Program and settings, to the end of the line. */
static void read_settings(reader *r, ir_tile *tile)
{
    *tile = tile_of_program(read_program(r));
    const program_info *p = &program_table[tile->program];
    while (!scan_at_line_end(&r->in)) {
        scan_spaces(&r->in);
        const int i = read_setting(r, tile);
        scan_expect(&r->in, "=");
        tile->at[i] = (int)scan_integer(&r->in, p->fields[i].least, p->fields[i].most, p->fields[i].name);
        tile->given |= 1u << i;
    }
    scan_end_line(&r->in);
}

/* A frame of level block, whose launch has several phases that wait for each other. */
static bool is_of_phases(frame_kind frame) { return frame == frame_list || frame == frame_stack; }

/* Called at a kernel's closing brace. If the kernel has frame=, every phase must have a tile, from which the frame follows. */
static void end_kernel(reader *r)
{
    r->depth = 0;
    for (int i = 0; i < r->kernel->phase_count && r->has_frame; i++)
        if (!r->kernel->phases[i]->tile.program)
            bail(r->a, code_bad_input, scan_here(&r->in), "kernel %s has frame=%s, but phase %s has no tile; a frame follows from tiles",
                 r->kernel->name, frame_names(NULL)[r->frame], r->kernel->phases[i]->name);
    const frame_kind own = r->has_frame ? kernel_frame(r->b.p, r->kernel) : r->frame;
    if (r->frame != own && (is_of_phases(r->frame) || is_of_phases(own)))
        bail(r->a, code_bad_input, scan_here(&r->in),
             "kernel %s has frame=%s; several phases at level block run in frame=list, or frame=stack if stacked, no others do",
             r->kernel->name, frame_names(NULL)[r->frame]);
    scan_end_line(&r->in);
}

static void read_tile(reader *r)
{
    const position at = scan_here(&r->in);
    if (r->phase->tile.program) bail(r->a, code_bad_input, at, "a second tile line");
    r->phase->tile_at = at;
    read_settings(r, &r->phase->tile);
    const program_info *p = &program_table[r->phase->tile.program];
    if (!r->has_frame || p->frame == r->frame || is_of_phases(r->frame)) return;
    const char *said = frame_table[r->frame].name, *own = frame_table[p->frame].name;
    if (was_frame_of(r->phase->tile.program, r->frame)) warn(r->a, at, "%s runs in frame=%s now, not in frame=%s", p->name, own, said);
    else bail(r->a, code_bad_input, at, "kernel %s has frame=%s; %s runs in frame=%s", r->kernel->name, said, p->name, own);
}

static void read_spilled(reader *r)
{
    ir_phase *phase = r->phase;
    spilled_tile s = {0};
    if (phase->spilled_count == max_list) bail(r->a, code_bad_input, scan_here(&r->in), "more than %d tiles that spilled", max_list);
    scan_expect(&r->in, "scratch=");
    s.scratch = (int)scan_integer(&r->in, 0, 1 << 30, "scratch");
    scan_expect(&r->in, "vectors=");
    s.vectors = (int)scan_integer(&r->in, 0, 1 << 30, "vectors");
    const position at = scan_here(&r->in);
    read_settings(r, &s.tile);
    tile_add_new_fields(&s.tile);
    if (!tile_is_whole(&s.tile))
        bail(r->a, code_bad_input, at, "a tile that spilled has all settings of %s", program_table[s.tile.program].name);
    phase->spilled = build_grow(r->a, phase->spilled, phase->spilled_count, sizeof *phase->spilled);
    phase->spilled[phase->spilled_count++] = s;
}

static void read_refusal(reader *r)
{
    size_t count;
    const char *const *names = layer_names(&count);
    ir_phase *phase = r->phase;
    if (phase->refused_count == layer_count) bail(r->a, code_bad_input, scan_here(&r->in), "more than %d refusals", layer_count);
    phase->refused = build_grow(r->a, phase->refused, phase->refused_count, sizeof *phase->refused);
    refusal *x = &phase->refused[phase->refused_count++];
    x->layer = (layer_kind)scan_renamed(&r->in, names, count, r->layers, "layer");
    scan_expect(&r->in, ":");
    x->why = scan_rest(&r->in);
}

static void read_source(reader *r)
{
    size_t count;
    const char *const *names = source_names(&count);
    if (r->phase->from != tile_of_model) bail(r->a, code_bad_input, scan_here(&r->in), "a second from line");
    r->phase->from = (tile_source)(1 + scan_choice(&r->in, names + 1, count - 1, "who chose the tile")); /* there is no line `from model` */
    scan_end_line(&r->in);
}

static void read_note(reader *r)
{
    ir_graph *p = r->b.p;
    size_t count;
    const char *const *codes = reason_codes(&count);
    fusion_note note = {.code = codes[scan_choice(&r->in, codes, count, "reason")]};
    note.value = read_value(r);
    scan_expect(&r->in, "->");
    scan_spaces(&r->in);
    position at = scan_here(&r->in);
    ir_value *out = read_value(r);
    if (!out->def) bail(r->a, code_bad_input, at, "%%%s is made by no op", out->name);
    note.user = out->def;
    p->notes = build_grow(r->a, p->notes, p->note_count, sizeof *p->notes);
    p->notes[p->note_count++] = note;
    if (scan_accept(&r->in, ":"))
        while (r->in.s < r->in.end && *r->in.s != '\n') r->in.s++;
    scan_end_line(&r->in);
}

static void read_head(reader *r)
{
    const char *const *names = level_names(NULL);
    scan_expect(&r->in, "ir");
    const long long version = scan_integer(&r->in, 0, 1 << 30, "version");
    if (version != 1) bail(r->a, code_bad_input, scan_here(&r->in), "the text is of version %lld; this tfgen reads version 1", version);
    scan_spaces(&r->in);
    const position at = scan_here(&r->in);
    r->b.p->name = scan_word_or_string(&r->in, "the name of the block");
    if (!name_is_block(r->b.p->name))
        bail(r->a, code_bad_input, at,
             "\"%.40s\" cannot name a block: a name has letters, digits, _ and -, a letter first, at most %d of them", r->b.p->name,
             most_name);
    scan_end_line(&r->in);
    scan_expect(&r->in, "type ");
    r->b.p->type = read_dtype(r);
    scan_end_line(&r->in);
    scan_expect(&r->in, "level ");
    r->b.p->level = (fusion_level)scan_choice(&r->in, names, fusion_auto, "level");
    scan_end_line(&r->in);
    r->b.p->stacked = r->b.p->level == fusion_block && scan_accept(&r->in, "stacked");
    if (r->b.p->stacked) scan_end_line(&r->in);
    read_kinds(r);
    r->b.p->input_sums = r->b.p->level >= fusion_tile && !scan_accept(&r->in, "without input_sums");
    if (r->b.p->level >= fusion_tile && !r->b.p->input_sums) scan_end_line(&r->in);
    if (scan_accept(&r->in, "device ")) {
        r->b.p->device = scan_word(&r->in, "the name of a device model");
        scan_end_line(&r->in);
    }
    if (!scan_accept(&r->in, "prefix ")) return;
    const position prefix_at = scan_here(&r->in);
    r->b.p->prefix = scan_string(&r->in);
    if (!name_is_prefix(r->b.p->prefix)) bail(r->a, code_bad_input, prefix_at, "this is no prefix of names");
    scan_end_line(&r->in);
}

/* Reads a line outside of phases. */
static void read_outer_line(reader *r)
{
    if (r->depth == 1 && scan_accept(&r->in, "phase ")) read_phase(r);
    else if (r->depth == 1 && scan_accept(&r->in, "}")) end_kernel(r);
    else if (r->depth == 1) scan_expected(&r->in, "a phase or \"}\"");
    else if (scan_accept(&r->in, "kernel ")) read_kernel(r);
    else if (scan_accept(&r->in, "note ")) read_note(r);
    else if (r->in.s < r->in.end && *r->in.s == '%' && !r->b.p->kernel_count) read_op(r, role_none);
    else if (r->b.p->op_count || r->b.p->kernel_count) scan_expected(&r->in, r->b.p->kernel_count ? "a kernel or a note" : "an op");
    else if (scan_accept(&r->in, "dim ")) read_dim(r);
    else if (scan_accept(&r->in, "in ")) read_declared(r, value_input);
    else if (scan_accept(&r->in, "par ")) read_declared(r, value_param);
    else if (scan_accept(&r->in, "state ")) read_declared(r, value_state);
    else if (scan_accept(&r->in, "out ")) read_output(r);
    else scan_expected(&r->in, "dim, in, par, state, out, an op or a kernel");
}

static void read_phase_line(reader *r)
{
    if (scan_accept(&r->in, "pro ")) read_op(r, role_prologue);
    else if (scan_accept(&r->in, "body ")) read_op(r, role_body);
    else if (scan_accept(&r->in, "epi ")) read_op(r, role_epilogue);
    else if (scan_accept(&r->in, "not ")) read_refusal(r);
    else if (scan_accept(&r->in, "from ")) read_source(r);
    else if (scan_accept(&r->in, "tile ")) read_tile(r);
    else if (scan_accept(&r->in, "spilled ")) read_spilled(r);
    else if (scan_accept(&r->in, "}")) {
        r->phase = NULL;
        r->depth = 1;
        scan_end_line(&r->in);
    } else scan_expected(&r->in, "pro, body, epi, not, from, tile, spilled or \"}\"");
}

/* Refuses what the reader of specs refuses in outputs. */
static void check_output(reader *r, name_map *outputs, const pending *n)
{
    const ir_value *same = names_find(&r->b.names, n->output);
    if (same && same->kind < value_constant)
        bail(r->a, code_bad_input, n->at, "output %s: an input, parameter or state has this name", n->output);
    if (!names_add(outputs, n->output, r)) bail(r->a, code_bad_input, n->at, "a second output named %s", n->output);
}

static void settle_names(reader *r)
{
    name_map outputs = {.a = r->a};
    for (int i = 0; i < r->pending_count; i++) {
        pending *n = &r->pending[i];
        ir_value *v = names_find(&r->b.names, n->name);
        if (!v || v->kind == value_constant) bail(r->a, code_bad_input, n->at, "no line makes %%%s", n->name);
        if (!n->view) check_output(r, &outputs, n);
        if (n->view) n->view->root = v;
        else if (v->output) bail(r->a, code_bad_input, n->at, "%%%s is an output twice", n->name);
        else v->output = n->output;
    }
}

/* Sets the positions of all ops and values: for the verifier to places in this text, afterwards to those in the spec. */
static void move_places(reader *r, bool to_spec)
{
    const position *places = to_spec ? r->spec_places : r->op_places;
    for (int i = 0; i < r->declared_count; i++) r->declared[i].value->at = to_spec ? r->declared[i].spec : r->declared[i].here;
    for (int i = 0; i < r->b.p->op_count; i++) {
        ir_op *op = r->b.p->ops[i];
        op->at = places[i];
        for (int k = 0; k < op->output_count; k++) op->outputs[k]->at = places[i];
    }
}

static _Noreturn void refuse_zero(arena *a, const char *text)
{
    position at = {1, 1};
    for (; *text; text++) at = *text == '\n' ? (position){at.line + 1, 1} : (position){at.line, at.column + 1};
    bail(a, code_bad_input, at, "a zero byte in a text");
}

static bool has_op_of(const ir_graph *p, const kind_numbers *n)
{
    for (int i = 0; i < p->op_count; i++)
        if (p->ops[i]->origin == n->origin && (p->ops[i]->kind == op_attention_partial ? op_attention : p->ops[i]->kind) == n->op)
            return true;
    return false;
}

/* Verifies the graph with the numbers of each kind of layers. */
static void check_kinds(const reader *r)
{
    const ir_graph *p = r->b.p;
    for (int i = 0; p->kinds && i < p->kinds->list_count; i++)
        if (!has_op_of(p, &p->kinds->list[i]))
            bail(r->a, code_bad_input, p->kinds->list[i].at, "no %s here is made from graph op %d", op_table[p->kinds->list[i].op].name,
                 p->kinds->list[i].origin);
    for (int i = 0; i < p->op_count; i++) {
        const char *why = kinds_windows_wrong(r->a, p, p->ops[i]);
        if (why) bail(r->a, code_bad_input, p->ops[i]->at, "%s", why);
    }
    for (int k = 0; p->kinds && k < p->kinds->count; k++) {
        const ir_attributes *before = kinds_take(r->a, p, p->ops, p->op_count, k);
        ir_check_read(r->a, p);
        kinds_put_back(p->ops, p->op_count, before);
    }
}

ir_graph *ir_read(arena *a, const char *ir_text, size_t size, const char *name)
{
    reader r = {.a = a, .in = {a, ir_text, ir_text + size, ir_text, 1}, .kernels = {.a = a}, .phases = {.a = a}};
    arena_source(a, name, ir_text, size);
    if (size > max_text) bail(a, code_bad_input, (position){0, 0}, "a text of more than %d bytes", max_text);
    if (memchr(ir_text, 0, size)) refuse_zero(a, ir_text);
    r.b = (builder){.a = a, .p = arena_alloc(a, sizeof *r.b.p), .names = {.a = a}};
    read_head(&r);
    while (r.in.s < r.in.end) {
        if (scan_at_line_end(&r.in)) scan_end_line(&r.in);
        else if (r.depth == 2) read_phase_line(&r);
        else read_outer_line(&r);
    }
    if (r.depth) scan_expected(&r.in, "\"}\"");
    settle_names(&r);
    move_places(&r, false);
    ir_check_read(a, r.b.p);
    check_kinds(&r);
    if (!r.b.p->op_count) bail(a, code_bad_input, scan_here(&r.in), "the text ends here and has no op");
    move_places(&r, true);
    arena_source_marked(a, name, arena_strndup(a, ir_text, size), size);
    return r.b.p;
}
