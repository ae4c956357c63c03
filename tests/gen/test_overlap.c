/* Programmatic dependent launch on sm_90a: on every path through every kernel's PTX, griddepcontrol.wait precedes the first access to
 * global memory; only loads of packed weights through their tensor map may come before it. And other properties of kernels that are seen in
 * PTX. Skipped without NVRTC. */
#define _GNU_SOURCE
#include "runtime/compile/worker.h"
#include "tests/support.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PTX, by NVRTC in this process */
typedef struct ptx_compiler {
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*size)(void *program, size_t *size);
    int (*text)(void *program, char *text);
    int (*destroy)(void **program);
} ptx_compiler;

static bool open_compiler(ptx_compiler *c)
{
    char *path = nvrtc_find();
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct {
        const char *symbol;
        void *slot;
    } wanted[] = {{"nvrtcCreateProgram", &c->create}, {"nvrtcCompileProgram", &c->compile}, {"nvrtcGetPTXSize", &c->size},
                  {"nvrtcGetPTX", &c->text}, {"nvrtcDestroyProgram", &c->destroy}};
    free(path);
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].symbol);
        ck_assert_ptr_nonnull(found);
        memcpy(wanted[i].slot, &found, sizeof found);
    }
    return library != NULL;
}

static char *ptx_of(const ptx_compiler *c, const char *source)
{
    static const char *const options[] = {"--gpu-architecture=compute_90a", "-std=c++17", "-default-device"};
    void *program;
    size_t size = 0;
    ck_assert_int_eq(c->create(&program, source, "kernel.hip", 0, NULL, NULL), 0);
    ck_assert_int_eq(c->compile(program, sizeof options / sizeof *options, options), 0);
    ck_assert_int_eq(c->size(program, &size), 0);
    char *text = calloc(1, size + 1);
    ck_assert(text && c->text(program, text) == 0);
    ck_assert_int_eq(c->destroy(&program), 0);
    return text;
}

/* ---- statements */
typedef struct statement {
    char *text;
    int next[2];  /* statements that may follow; -1: none */
    bool waited;  /* a wait precedes it on every path */
} statement;

typedef struct program {
    statement *list;
    int count;
    const launch *of;
} program;

static bool is_label(const char *from, const char *to) /* [from, to) with its colon left out */
{
    for (; from < to; from++)
        if (!isalnum((unsigned char)*from) && !strchr("_$%", *from)) return false;
    return true;
}

static void add(program *p, const char *from, const char *to)
{
    if (p->count % 1024 == 0) p->list = realloc(p->list, (size_t)(p->count + 1024) * sizeof *p->list);
    ck_assert_ptr_nonnull(p->list);
    p->list[p->count++] = (statement){strndup(from, (size_t)(to - from)), {-1, -1}, true};
}

/* The body of the entry: braces are scopes, comments and line numbers fall away; a label is a statement that ends in a colon. */
static void read_body(program *p, const char *ptx)
{
    const char *at = strchr(strchr(strstr(ptx, ".entry"), ')'), '{') + 1;
    for (int depth = 1; depth > 0;) {
        at += strspn(at, " \t\r\n");
        ck_assert(*at);
        if (strncmp(at, "//", 2) == 0 || strncmp(at, ".loc", 4) == 0) at += strcspn(at, "\n");
        else if (*at == '{' || *at == '}') depth += *at++ == '{' ? 1 : -1;
        else {
            const size_t whole = strcspn(at, ";"), word = strcspn(at, " \t\r\n:;");
            const bool label = at[word] == ':' && is_label(at, at + word);
            add(p, at, at + (label ? word + 1 : whole));
            at += label ? word + 1 : whole + 1;
        }
    }
}

static const char *unguarded(const char *text)
{
    if (*text == '@') text += strcspn(text, " \t"), text += strspn(text, " \t");
    return text;
}

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Loops inside inline assembly of the templates have labels of their own ("again") that the compiler does not know; such loops only
 * wait. */
static int target_of(const program *p, const char *branch)
{
    const char *name = strchr(branch, '$');
    if (!name) return -1;
    for (int i = 0; i < p->count; i++)
        if (starts(p->list[i].text, name) && strcmp(p->list[i].text + strlen(name), ":") == 0) return i;
    ck_abort_msg("no label %s", name);
}

static void link_statements(program *p)
{
    for (int i = 0; i < p->count; i++) {
        const char *text = unguarded(p->list[i].text);
        const bool guarded = text != p->list[i].text, leaves = starts(text, "ret") || starts(text, "exit") || starts(text, "trap");
        const int target = starts(text, "bra") ? target_of(p, text) : -1;
        ck_assert_msg(!starts(text, "brx") && !starts(text, "call"), "the test does not follow: %s", text);
        p->list[i].next[0] = target;
        if (guarded || (!leaves && target < 0)) p->list[i].next[1] = i + 1 < p->count ? i + 1 : -1;
    }
}

/* A statement changes from waited to not waited at most once, so this ends. */
static void follow(program *p)
{
    int *stack = malloc(((size_t)p->count + 1) * sizeof *stack), depth = 0;
    p->list[0].waited = false;
    stack[depth++] = 0;
    while (depth) {
        const statement *s = &p->list[stack[--depth]];
        if (starts(s->text, "griddepcontrol.wait")) continue;
        for (int k = 0; k < 2; k++) {
            if (s->next[k] < 0 || !p->list[s->next[k]].waited) continue;
            p->list[s->next[k]].waited = false;
            stack[depth++] = s->next[k];
        }
    }
    free(stack);
}

static bool touches_memory(const char *text)
{
    if (starts(text, "cp.")) return strstr(text, ".global") != NULL;
    if (!starts(text, "ld.") && !starts(text, "st.") && !starts(text, "atom.") && !starts(text, "red.")) return false;
    return !strstr(text, ".param") && !strstr(text, ".shared") && !strstr(text, ".local") && !strstr(text, ".const");
}

/* The offset in the arguments whose address a register holds, or -1. PTX registers are written once. */
static long long argument_at(const program *p, const char *name)
{
    const size_t size = strcspn(name, " ,;]+");
    for (int i = 0; i < p->count; i++) {
        char op[64], to[64], from[200], plus[64] = "0";
        const int read = sscanf(p->list[i].text, "%63s %63[^,], %199[^,;], %63s", op, to, from, plus);
        if (read < 3 || strlen(to) != size || strncmp(to, name, size) != 0) continue;
        if (strstr(from, "_param_0")) return atoll(plus);
        if (!starts(op, "mov") && !starts(op, "cvta") && !starts(op, "add")) return -1;
        const long long inner = argument_at(p, from);
        return inner < 0 ? -1 : inner + atoll(plus);
    }
    return -1;
}

/* The offset in the arguments of the pointer from which a register's address is computed, or -1. */
static long long pointer_of(const program *p, const char *name, int depth)
{
    const size_t size = strcspn(name, " ,;]+");
    for (int i = 0; i < p->count && depth < 64; i++) {
        const char *text = p->list[i].text, *gap = text + strcspn(text, " \t"), *to = gap + strspn(gap, " \t"), *from = strchr(to, ',');
        if (!from || strncmp(to, name, size) != 0 || to[size] != ',') continue;
        if (starts(text, "ld.param")) {
            const char *in = strchr(from, '[') + 1, *plus = strchr(in, '+');
            return (strstr(in, "_param_0") ? 0 : argument_at(p, in)) + (plus ? atoll(plus + 1) : 0);
        }
        for (const char *at = strstr(from, "%rd"); at; at = strstr(at + 1, "%rd")) {
            const long long inner = pointer_of(p, at, depth + 1);
            if (inner >= 0) return inner;
        }
    }
    return -1;
}

/* True for a load to registers as in templates/isa/mma_pieces.h. */
static bool loads_pieces(const program *p, const char *text)
{
    if (!starts(text, "ld.global.nc.L1::no_allocate")) return false;
    const long long at = pointer_of(p, strchr(text, '[') + 1, 0);
    for (int i = 0; i < p->of->argument_count; i++)
        if (p->of->arguments[i].offset == at) return p->of->arguments[i].kind == argument_packed;
    return false;
}

static bool loads_weights(const program *p, const char *text)
{
    if (loads_pieces(p, text)) return true;
    const char *map = strstr(text, ", [");
    if (!starts(text, "cp.async.bulk.tensor") || !map) return false;
    const long long at = argument_at(p, map + 3);
    for (int i = 0; i < p->of->argument_count; i++) {
        const argument *g = &p->of->arguments[i];
        if (g->kind == argument_map && g->offset == at) return g->box->value == NULL;
    }
    return false;
}

/* Reads that may come before the wait: prefetches into the L2, and sequence numbers that choose rows to prefetch and are read again after
 * the wait. */
static bool reads_number(const char *text) { return starts(text, "ld.relaxed.gpu"); }
static bool is_hint(const char *text) { return starts(text, "cp.async.bulk.prefetch.L2") || reads_number(text); }

typedef struct findings {
    int waits, signals, ahead, wrong; /* ahead: loads of weights, which may precede the wait; wrong: other accesses before it */
    /* hints: prefetches before the wait; numbers: reads of sequence numbers before it, which are read again behind it */
    int hints, numbers;
    char text[300];
} findings;

static findings examine(const char *ptx, const launch *of)
{
    program p = {.of = of};
    findings f = {0};
    read_body(&p, ptx);
    link_statements(&p);
    follow(&p);
    for (int i = 0; i < p.count; i++) {
        const char *text = unguarded(p.list[i].text);
        f.waits += starts(text, "griddepcontrol.wait"), f.signals += starts(text, "griddepcontrol.launch_dependents");
        f.numbers += p.list[i].waited && reads_number(text);
        if (p.list[i].waited || !touches_memory(text)) continue;
        if (is_hint(text)) f.hints++;
        else if (loads_weights(&p, text)) f.ahead++;
        else if (f.wrong++ == 0) snprintf(f.text, sizeof f.text, "%s", text);
    }
    for (int i = 0; i < p.count; i++) free(p.list[i].text);
    free(p.list);
    return f;
}

/* ---- what is compiled: one kernel of each program of these plans, and all kernels of the first plan */
static const struct {
    const char *path, *yaml, *dtype, *only; /* only: check kernels of this program only; or NULL */
} cases[] = {
    {"specs/llama-block.yaml", NULL, "bf16", ""},
    {"specs/llama-block.yaml", NULL, "f32", "gemm_ws_split<"},
    {"specs/llama-block.yaml", NULL, "f32", "attention<"},
    {"specs/llama-decode.yaml", NULL, "bf16", "gemm_register_fed<"},
    {"specs/gpt2-decode.yaml", NULL, "f16", "gemm_register_fed<"},
    {"specs/bert-block.yaml", NULL, "f16", "gemm_swap_ab<"},
    {"specs/llama-decode.yaml", NULL, "f32", "gemm<"},
    {"specs/llama-decode.yaml", NULL, "bf16", "decode_mma<"},
    {"specs/llama-decode.yaml", NULL, "f32", "decode<"},
    {"specs/llama-decode.yaml", NULL, "f32", "combine<"},
    {NULL, "block: odd\ndtype: bf16\ndims: {M: 4000, K: 333, N: 4000}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\nops:\n"
           "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [l, r]}\noutputs: {y: y}\n", "bf16", "gemm_ws<"},
};

static const char *program_text(const launch *l) { return strstr(l->source.body, "\nTF_KERNEL"); }

START_TEST(no_kernel_touches_what_others_write_before_its_wait)
{
    ptx_compiler compiler;
    if (!open_compiler(&compiler)) {
        printf("skipped: no NVRTC\n");
        return;
    }
    rig *r = rig_plan(&(rig_request){.path = cases[_i].path, .yaml = cases[_i].yaml, .level = fusion_tile, .target = "sm_90a",
                                     .dtype = cases[_i].dtype});
    const plan *p = r->c.plan;
    int seen = 0, ahead = 0;
    for (int i = 0; i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        if (*cases[_i].only && (seen || !strstr(program_text(l), cases[_i].only))) continue;
        ck_assert(l->overlap);
        char *ptx = ptx_of(&compiler, source_join(r->a, &l->source));
        const findings f = examine(ptx, l);
        ck_assert_msg(f.wrong == 0, "%s: %d accesses may precede the wait, the first: %s", l->name, f.wrong, f.text);
        ck_assert_int_gt(f.waits, 0);
        ck_assert_int_gt(f.signals, 0);
        ck_assert_int_eq(f.hints > 0, strstr(program_text(l), "decode_mma<") != NULL);
        ck_assert_int_eq(f.hints > 0, f.numbers > 0);
        ahead += f.ahead, seen++;
        free(ptx);
    }
    ck_assert_int_gt(seen, 0);
    const bool few = strcmp(cases[_i].only, "gemm_register_fed<") == 0 || strcmp(cases[_i].only, "gemm_swap_ab<") == 0;
    if (_i == 0 || few) ck_assert_int_gt(ahead, 0); /* loads of weights precede the wait */
    rig_close(r);
}
END_TEST

/* Tests the test itself: if one path goes around the wait, the wait does not count. */
START_TEST(an_access_that_can_bypass_its_wait_is_found)
{
    static const char form[] =
        ".visible .entry k(.param .align 8 .b8 k_param_0[16])\n{\n mov.b64 %%rd1, k_param_0;\n // {\n @%%p1 bra $L_a;\n"
        " %s\n$L_a:\n ld.param.u64 %%rd2, [%%rd1];\n { again:\n bra again; }\n ld.global.u32 %%r1, [%%rd2];\n %s\n ret;\n}\n";
    static const char *const waits[][2] = {{"griddepcontrol.wait;", ""}, {"bra $L_b;\n$L_b: ret;", "st.global.u32 [%rd2], %r1;"},
                                           {"griddepcontrol.wait; bra.uni $L_a;", "griddepcontrol.wait;"}};
    const launch of = {.argument_count = 0};
    for (int i = 0; i < 3; i++) {
        char *text;
        ck_assert_int_gt(asprintf(&text, form, waits[i][0], waits[i][1]), 0);
        ck_assert_int_eq(examine(text, &of).wrong, i == 1 ? 2 : 1);
        free(text);
    }
    ck_assert_int_eq(
        examine(".entry k(.param .b64 k_param_0)\n{\ngriddepcontrol.wait;\n@%p1 bra $L_a;\nred.global.add.u32 [%rd2], 1;\n$L_a: ret;\n}",
                &of)
            .wrong,
        0);
}
END_TEST

/* ---- loads at the end of a tile */
/* The statements between the end of the last loop and the last product: [first, last]. */
static void find_last_iteration(const program *p, int *first, int *last)
{
    *first = 0, *last = p->count - 1;
    while (*last > 0 && !starts(unguarded(p->list[*last].text), "mma.sync")) --*last;
    for (int i = 0; i < *last; i++)
        for (int k = 0; k < 2; k++)
            if (p->list[i].next[k] >= 0 && p->list[i].next[k] <= i) *first = i + 1;
}

/* GPUs count loads in flight, not registers. A load issued before the last products would be awaited together with the next tile's first
 * weights, which would delay the stores of this tile. */
START_TEST(the_last_iteration_of_a_register_fed_tile_loads_nothing)
{
    static const char yaml[] = "block: t\ndtype: bf16\ndims: {K: 8192, N: 8192}\ninputs: {x: [1, K]}\nparams: {w: [N, K]}\n"
                               "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    static const char *const tiles[] = {"y: layer=register_fed m=8 n=32 threads=256 ahead=2"};
    ptx_compiler compiler;
    if (!open_compiler(&compiler)) {
        printf("skipped: no NVRTC\n");
        return;
    }
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a",
                                     .tuning = &(tuning){.lines = tiles, .count = 1}});
    program p = {.of = &r->c.plan->launches[0]};
    char *ptx = ptx_of(&compiler, source_join(r->a, &p.of->source));
    int first, last;
    read_body(&p, ptx);
    link_statements(&p);
    find_last_iteration(&p, &first, &last);
    ck_assert_int_gt(first, 0);
    ck_assert_int_lt(first, last);
    for (int i = first; i < last; i++)
        ck_assert_msg(!starts(unguarded(p.list[i].text), "ld.global"), "the last iteration loads: %s", p.list[i].text);
    for (int i = 0; i < p.count; i++) free(p.list[i].text);
    free(p.list);
    free(ptx);
    rig_close(r);
}
END_TEST

/* Where an append checks that its row exists, NVRTC used to store an array of four halves one by one, and two words in two stores. */
START_TEST(four_appended_elements_are_stored_at_once)
{
    static const char yaml[] = "block: t\ndtype: f16\ndims: {B: 96, L: 64, D: 256, KV: 2, hd: 64}\n"
                               "inputs: {x: [B, 1, D], pos: {shape: [B], dtype: i32, range: [0, L-1]}}\nparams: {w: [KV*hd, D]}\n"
                               "state: {c: [B, KV, L, hd]}\nops:\n  - {out: k, op: linear, in: [x, w]}\n"
                               "  - {out: kc, op: kv_append, in: [k], state: c, at: pos}\noutputs: {y: k}\n";
    static const char *const tiles[] = {"k: layer=swap_ab"};
    ptx_compiler compiler;
    if (!open_compiler(&compiler)) {
        printf("skipped: no NVRTC\n");
        return;
    }
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .dtype = _i ? "bf16" : "f16", .level = fusion_tile, .target = "sm_90a",
                                     .tuning = &(tuning){.lines = tiles, .count = 1}});
    char *ptx = ptx_of(&compiler, source_join(r->a, &r->c.plan->launches[0].source));
    int stores = 0;
    for (const char *at = ptx; (at = strstr(at, "st.global")); stores++) {
        ck_assert_msg(starts(at, "st.global.u64") || starts(at, "st.global.v4.u16") || starts(at, "st.global.v2.u32"), "%.20s", at);
        at += strlen("st.global");
    }
    ck_assert_int_gt(stores, 0);
    free(ptx);
    rig_close(r);
}
END_TEST

/* ---- weights of later launches */
typedef struct asked {
    int pack; /* -1: no more */
    long long step, runs, bytes;
} asked;

/* Prefetch number i of the page of a launch, in the order of the page. */
static asked request_of(const launch *l, int i)
{
    asked a = {.pack = -1};
    char name[32] = "";
    const char *at = strstr(l->source.body, "weight_runs next(");
    for (int k = 0; at && k <= i; k++) at = strstr(at + 1, "return {p.");
    if (!at || sscanf(at, "return {p.%31[a-z_], %lldll, %lld, %lld}", name, &a.step, &a.runs, &a.bytes) != 4) return a;
    for (int k = 0; k < l->argument_count; k++)
        if (l->arguments[k].kind == argument_packed && strcmp(l->arguments[k].name, name) == 0) a.pack = l->arguments[k].index;
    return a;
}

/* The index of the launch that reads a packed weight first. */
static int reader_of(const plan *p, const packed_weight *w)
{
    int i = 0;
    while (i < p->launch_count && p->launches[i].work->phase != w->phase) i++;
    return i;
}

START_TEST(each_weight_is_prefetched_by_one_earlier_launch)
{
    static const struct {
        const char *target, *spec;
        long long B, L, D, F;
        const char *asking; /* for each launch: the launches whose weights it prefetches */
    } sizes[] = {{"sm_90a", "specs/llama-decode.yaml", 1, 128, 2048, 5468, "2;;3;4;;"},
                 {"sm_90a", "specs/llama-decode.yaml", 64, 128, 2048, 5468, "2;;3;4;;"},
                 {"sm_90a", "specs/llama-decode.yaml", 1, 128, 512, 1536, "234;;;;;"},
                 {"sm_90a", "specs/llama-block.yaml", 64, 0, 2048, 5468, NULL},
                 {"sm_80", "specs/llama-decode.yaml", 1, 128, 2048, 5468, NULL},
                 {"gfx942", "specs/llama-decode.yaml", 1, 128, 2048, 5468, NULL}};
    const dim_override dims[] = {{"B", sizes[_i].B}, {"D", sizes[_i].D}, {"H", 32}, {"KV", 8}, {"hd", 64}, {"F", sizes[_i].F},
                                 {"L", sizes[_i].L}};
    rig *r = rig_plan(&(rig_request){.path = sizes[_i].spec, .level = fusion_tile, .target = sizes[_i].target, .dtype = "bf16",
                                     .dims = dims, .dim_count = sizes[_i].L ? 7 : 6});
    const plan *p = r->c.plan;
    char found[64] = "";
    for (int i = 0; i < p->launch_count; i++) {
        long long all = 0;
        int last = i;
        for (int k = 0; request_of(&p->launches[i], k).pack >= 0; k++) {
            const asked a = request_of(&p->launches[i], k);
            const packed_weight *w = &p->packs[a.pack];
            ck_assert_int_gt(reader_of(p, w), last); /* in the order of need */
            last = reader_of(p, w);
            ck_assert(a.runs > 0 && a.bytes > 0 && a.bytes % 1024 == 0 && a.step % 1024 == 0 && a.bytes <= a.step);
            ck_assert_int_le((a.runs - 1) * a.step + a.bytes, w->columns * w->length * 2);
            all += a.runs * a.bytes;
            sprintf(found + strlen(found), "%d", last);
        }
        ck_assert_int_le(all, p->launches[i + 1 < p->launch_count ? i + 1 : i].work->pack < 0 ? 8 << 20 : 4 << 20);
        strcat(found, ";");
    }
    if (sizes[_i].asking) ck_assert_str_eq(found, sizes[_i].asking);
    else ck_assert_msg(strspn(found, ";") == strlen(found), "%s", found);
    rig_close(r);
}
END_TEST

START_TEST(the_next_launch_decides_when_it_is_signalled)
{
    static const struct {
        const char *F, *first, *second; /* of gelu(layernorm(linear)): the product, the row operation */
    } sizes[] = {{"5468", NULL, "TF_SIGNAL_FIRST"}, {"8192", "TF_SIGNAL_NEVER", "TF_SIGNAL_FIRST"}};
    const dim_override dims[] = {{"B", 1}, {"S", 2048}, {"D", 2048}, {"F", atoll(sizes[_i].F)}};
    rig *r = rig_plan(&(rig_request){.path = "specs/gelu-layernorm-linear.yaml", .level = fusion_tile, .target = "sm_90a", .dtype = "bf16",
                                     .dims = dims, .dim_count = 4});
    const char *const wanted[] = {sizes[_i].first, sizes[_i].second};
    ck_assert_int_eq(r->c.plan->launch_count, 2);
    for (int i = 0; i < 2; i++) {
        const char *found = strstr(r->c.plan->launches[i].source.head, "#define TF_SIGNAL_");
        ck_assert_msg(!found == !wanted[i] && (!found || starts(found + strlen("#define "), wanted[i])), "launch %d: %.40s", i, found);
    }
    rig_close(r);
}
END_TEST

START_TEST(targets_without_overlap_emit_no_overlap)
{
    static const char *const targets[] = {"gfx90a", "gfx942", "gfx1100", "host"};
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .target = targets[_i]});
    for (int i = 0; i < r->c.plan->launch_count; i++) ck_assert(!r->c.plan->launches[i].overlap);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlap");
    TCase *t = tcase_create("ptx");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, no_kernel_touches_what_others_write_before_its_wait, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, an_access_that_can_bypass_its_wait_is_found);
    tcase_add_test(t, the_last_iteration_of_a_register_fed_tile_loads_nothing);
    tcase_add_loop_test(t, four_appended_elements_are_stored_at_once, 0, 2);
    tcase_add_loop_test(t, each_weight_is_prefetched_by_one_earlier_launch, 0, 6);
    tcase_add_loop_test(t, the_next_launch_decides_when_it_is_signalled, 0, 2);
    tcase_add_loop_test(t, targets_without_overlap_emit_no_overlap, 0, 4);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
