/* See support.h: plans on the host engine for tests. Any error fails the test. */
#define _GNU_SOURCE
#include "tests/support.h"
#include "tests/shell.h"
#include "runtime/cli/trial.h"
#include "ir/graph/half.h"
#include "runtime/data/random.h"
#include "runtime/cli/ref_plan.h"
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *must_allocate(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    ck_assert_msg(p != NULL, "not enough memory");
    return p;
}

static const char *slurp(arena *a, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    char *text = arena_alloc(a, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

typedef struct plan_job {
    rig *r;
    tfgen_code code;
} plan_job;

static void plan_inside(void *argument)
{
    rig *r = ((plan_job *)argument)->r;
    const rig_request *q = &r->request;
    compile_request request = {.name = q->path ? q->path : "test.yaml",
                               .text = q->yaml,
                               .level = q->level,
                               .target = q->target ? q->target : "host",
                               .disabled = &q->disabled,
                               .disabled_count = q->disabled != NULL,
                               .tuning = q->tuning,
                               .check_passes = true,
                               .graph = {.overrides = q->dims, .override_count = q->dim_count, .dtype = q->dtype}};
    if (q->path) request.text = slurp(r->a, q->path, &request.size);
    else request.size = strlen(q->yaml);
    compile_inside(r->a, &request, &r->c);
}

static bool is_data(const ir_value *v) { return v->kind == value_input || v->kind == value_param || v->kind == value_state; }

static void make_room(rig *r)
{
    const size_t n = (size_t)r->graph->value_count;
    r->room = must_allocate(n, sizeof *r->room);
    r->data = must_allocate(n, sizeof *r->data);
    r->exact = must_allocate(n, sizeof *r->exact);
    r->rounded = must_allocate(n, sizeof *r->rounded);
    r->given = must_allocate(n, sizeof *r->given);
    for (int i = 0; i < r->graph->value_count; i++) {
        const ir_value *v = r->graph->values[i];
        r->room[i] = (size_t)value_count(v, &r->graph->dims);
        if (!is_data(v)) continue;
        r->data[i] = (ref_tensor){.value = must_allocate(r->room[i], sizeof(double)), .count = r->room[i]};
        r->given[i] = &r->data[i];
    }
}

int tile_setting(const ir_phase *phase, const char *key)
{
    const int i = tile_field_find(phase->tile.program, key);
    ck_assert_msg(i >= 0, "no setting %s", key);
    return phase->tile.at[i];
}

rig *rig_plan(const rig_request *request)
{
    rig *r = must_allocate(1, sizeof *r);
    r->a = arena_new();
    r->request = *request;
    plan_job job = {r, code_ok};
    job.code = arena_run(r->a, plan_inside, &job);
    ck_assert_msg(job.code == code_ok, "%s", arena_diagnostics(r->a));
    r->graph = (ir_graph *)r->c.graph; /* its dims table is set by rig_set_dim() */
    make_room(r);
    return r;
}

static void limit_workgroups(rig *r)
{
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        launch *l = &r->c.plan->launches[i];
        if (r->request.one_workgroup) l->grid_limit = 1;
        if (r->request.late_waves) l->source.head = arena_printf(r->a, "%s#define TF_LATE_WAVES\n", l->source.head);
        if (!r->request.late_workgroups) continue;
        l->together = false;
        l->source.head = arena_printf(r->a, "%s#define TF_CENSUS_POLLS 9\n", l->source.head);
    }
}

rig *rig_open(const rig_request *request)
{
    rig *r = rig_plan(request);
    tfgen_code code;
    limit_workgroups(r);
    const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .check = request->check, .touched = request->touched,
                                     .touched_context = request->context, .multiprocessors = request->multiprocessors};
    r->s = guarded_open(r->c.plan, &options, &code, &r->log);
    ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
    rig_fill(r, 1);
    return r;
}

static void forget_reference(rig *r)
{
    for (int i = 0; i < r->graph->value_count; i++) {
        ref_free(&r->exact[i]);
        ref_free(&r->rounded[i]);
    }
}

void rig_close(rig *r)
{
    guarded_close(r->s);
    host_log_free(&r->log);
    forget_reference(r);
    for (int i = 0; i < r->graph->value_count; i++) ref_free(&r->data[i]);
    for (int i = 0; i < r->read_count; i++) free(r->reads[i]);
    free(r->room);
    free(r->data);
    free(r->exact);
    free(r->rounded);
    free(r->given);
    arena_free(r->a);
    free(r);
}

/* ---- data */
void rig_set_dim(rig *r, const char *name, long long value)
{
    dim_table *const tables[] = {&r->graph->dims, &((ir_graph *)r->c.plan->ir)->dims};
    for (int i = 0; i < 2; i++) {
        dim *d = dim_find(tables[i], name);
        ck_assert_msg(d && d->dynamic && value >= d->low && value <= d->high, "%s is no dynamic dim that may be %lld", name, value);
        d->value = value;
    }
    for (int i = 0; i < r->graph->value_count; i++) {
        const size_t count = (size_t)value_count(r->graph->values[i], &r->graph->dims);
        ck_assert_msg(count <= r->room[i], "the rig was opened with less than %s = %lld", name, value);
        if (r->given[i]) r->data[i].count = count;
    }
}

const ir_value *rig_value(const rig *r, const char *name)
{
    const ir_value *v = graph_value(r->graph, name);
    ck_assert_msg(v != NULL, "the graph has no value %s", name);
    return v;
}

size_t rig_count(const rig *r, const char *name) { return (size_t)value_count(rig_value(r, name), &r->graph->dims); }

double *rig_data(const rig *r, const char *name)
{
    const ir_value *v = rig_value(r, name);
    ck_assert_msg(r->given[v->id] != NULL, "%s is no input, param or state", name);
    return r->data[v->id].value;
}

void rig_fill(rig *r, unsigned long long seed)
{
    for (int i = 0; i < r->graph->value_count; i++)
        if (r->given[i]) random_fill(r->graph, r->graph->values[i], seed, r->data[i].value);
}

void rig_round(rig *r)
{
    for (int i = 0; i < r->graph->value_count; i++)
        for (size_t k = 0; r->given[i] && k < r->data[i].count; k++)
            r->data[i].value[k] = dtype_round(r->graph->values[i]->type, r->data[i].value[k]);
}

/* ---- the device */
static const ir_value *planned(const rig *r, const ir_value *v) { return graph_value(r->c.plan->ir, v->name); }

void rig_upload(rig *r, const char *name)
{
    const ir_value *v = rig_value(r, name), *p = planned(r, v);
    if (!p || !guarded_bytes(r->s, p)) return; /* a value that no kernel reads */
    void *data = must_allocate(r->data[v->id].count, (size_t)dtype_size(v->type));
    for (size_t k = 0; k < r->data[v->id].count; k++) dtype_put(v->type, data, k, r->data[v->id].value[k]);
    guarded_put(r->s, p, data, r->data[v->id].count * (size_t)dtype_size(v->type), &r->log);
    free(data);
}

void rig_execute(rig *r)
{
    const tfgen_code code = guarded_execute(r->s, NULL, &r->log);
    ck_assert_msg(code == code_ok, "%s", r->log.text ? r->log.text : "the launch failed");
}

void rig_run(rig *r)
{
    for (int i = 0; i < r->graph->value_count; i++)
        if (r->given[i]) rig_upload(r, r->graph->values[i]->name);
    guarded_poison(r->s, &r->log);
    const tfgen_code code = guarded_pack(r->s, &r->log);
    ck_assert_msg(code == code_ok, "%s", r->log.text ? r->log.text : "packing failed");
    rig_execute(r);
}

/* ref_rules.stored: memory holds the value, in its own dtype and not as partial sums. */
static bool in_memory(void *context, const ir_value *graph_value)
{
    const rig *r = context;
    const ir_value *p = planned(r, graph_value);
    if (!p || p->type != graph_value->type || !guarded_bytes(r->s, p)) return false;
    if (p->root || p->output || p->kind == value_state) return true;
    for (int i = 0; i < r->c.plan->stored_count; i++)
        if (r->c.plan->stored[i].value == p) return r->c.plan->stored[i].partials <= 1;
    return false;
}

/* Copy of the device's memory of a value's root; the caller frees it. */
static void *fetched(const rig *r, const ir_value *v)
{
    const size_t bytes = guarded_bytes(r->s, v);
    host_log log = {0};
    void *data = must_allocate(bytes, 1);
    ck_assert_msg(guarded_get(r->s, v, data, bytes, &log) == code_ok, "%s", log.text ? log.text : "no data");
    return data;
}

double *rig_read(rig *r, const char *name)
{
    const ir_value *graph_value = rig_value(r, name), *v = planned(r, graph_value);
    ck_assert_msg(in_memory(r, graph_value) || is_data(graph_value), "%s is not in memory", name);
    ck_assert_int_lt(r->read_count, rig_most_reads);
    void *data = fetched(r, v);
    const size_t count = rig_count(r, name), columns = (size_t)value_columns(graph_value);
    const size_t stride = v->root_stride ? (size_t)v->root_stride : columns, offset = v->root ? (size_t)v->root_offset : 0;
    double *out = must_allocate(count, sizeof *out);
    for (size_t i = 0; i < count; i++) out[i] = dtype_get(v->type, data, i / columns * stride + offset + i % columns);
    free(data);
    r->reads[r->read_count++] = out;
    return out;
}

void rig_nothing_stays_published(const rig *r)
{
    const unsigned long long published = 0x9d2be3167f4a91c5ull; /* templates/frame/workspace.h */
    if (r->c.plan->scratch_count == 0) return;
    const scratch *s = &r->c.plan->scratches[0];
    const size_t bytes = (size_t)scratch_bytes(s, &r->c.plan->ir->dims);
    unsigned long long *words = arena_alloc(r->a, bytes);
    host_log log = {0};
    ck_assert_int_eq(guarded_get_scratch(r->s, 0, words, bytes, &log), code_ok);
    for (size_t i = 0; i < bytes / sizeof *words; i++) ck_assert_msg(words[i] != published, "part %s, word %zu", s->name, i);
}

bool rig_tail_untouched(const rig *r, const char *name)
{
    const ir_value *v = rig_value(r, name);
    void *data = fetched(r, planned(r, v));
    bool untouched = true;
    for (size_t i = rig_count(r, name); i < r->room[v->id]; i++) untouched = untouched && isnan(dtype_get(v->type, data, i));
    free(data);
    return untouched;
}

/* ---- the reference */
static ref_fold folded(void *context, const ir_op *linear)
{
    const rig *r = context;
    return ref_plan_folded(r->c.plan, r->graph, linear);
}

static bool splits(void *context, const ir_op *linear) { return ref_plan_splits(((const rig *)context)->c.plan, linear); }
static bool in_terms(void *context, const ir_op *linear) { return ref_plan_in_terms(((const rig *)context)->c.plan, linear); }
static ref_form form(void *context, const ir_op *op) { return ref_plan_form(((const rig *)context)->c.plan, op); }
static bool rounds_scores(void *context, const ir_op *attention)
{
    return ref_plan_rounds_scores(((const rig *)context)->c.plan, attention);
}

void rig_reference(rig *r)
{
    const ref_rules rules = {.stored = in_memory,
                             .folded = folded,
                             .splits = splits,
                             .in_terms = in_terms,
                             .form = form,
                             .rounds_scores = rounds_scores,
                             .context = r};
    ref_tensor *results[2][512] = {{0}};
    char message[512];
    forget_reference(r);
    const char *wrong = ref_plan_wrong(r->a, r->c.plan, r->graph);
    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert_int_lt(r->graph->value_count, 512);
    for (int i = 0; i < r->graph->value_count; i++)
        if (r->graph->values[i]->output) results[0][i] = &r->exact[i], results[1][i] = &r->rounded[i];
    for (int k = 0; k < 2; k++)
        ck_assert_msg(ref_run(r->graph, r->given, k == 1, &rules, results[k], message, sizeof message), "%s", message);
}

double rig_judge(rig *r)
{
    double worst = 0;
    rig_reference(r);
    for (int i = 0; i < r->graph->value_count; i++) {
        const ir_value *v = r->graph->values[i];
        if (!v->output) continue;
        const ref_verdict verdict = ref_compare(&r->exact[i], rig_read(r, v->name));
        ck_assert_msg(!verdict.unjudged, "%s: %zu elements are not judged", v->name, verdict.unjudged);
        ck_assert_msg(verdict.ratio <= 1, "%s: element %zu is %.3g off, its bound is %.3g", v->name, verdict.worst, verdict.difference,
                      verdict.bound);
        if (verdict.ratio > worst) worst = verdict.ratio;
    }
    return worst;
}

void rig_judge_twice(rig *r)
{
    rig_run(r);
    rig_judge(r);
    rig_execute(r);
    rig_judge(r);
}

/* ---- small things */
/* Check writes the place of each assertion that holds to a file, to locate crashes. A loop over a million elements would write the same few
 * places a million times, so each is written once. (--wrap in the Makefile redirects _mark_point() here.) */
void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
    enum { few = 8 };
    static _Thread_local struct place { const char *file; int line; } told[few];
    static _Thread_local unsigned next;
    for (int i = 0; i < few; i++)
        if (told[i].line == line && told[i].file == file) return;
    told[next++ % few] = (struct place){file, line};
    __real__mark_point(file, line);
}

bool same_numbers(const double *x, const double *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i]))) return false;
    return true;
}

double *copy_numbers(const double *x, size_t count)
{
    double *copy = must_allocate(count, sizeof *copy);
    memcpy(copy, x, count * sizeof *copy);
    return copy;
}

TCase *suite_long(Suite *suite, const char *name, double timeout)
{
    TCase *t = tcase_create(name);
    tcase_set_tags(t, "long");
    tcase_set_timeout(t, timeout);
    suite_add_tcase(suite, t);
    return t;
}

void add_some_now(TCase *now, TCase *later, const TTest *test, int count, const int *list)
{
    for (int i = 0, listed; i < count; i++) {
        for (listed = 0; list[listed] >= 0 && list[listed] != i;) listed++;
        tcase_add_loop_test(list[listed] == i ? now : later, test, i, i + 1);
    }
}

int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

void use_kernels(kernel_use use) { setenv("TFGEN_HOST_OPTIMISE", (const char[]){(char)('0' + use), 0}, 1); }

/* ---- tests/shell.h */
char output[8 << 20];

static int run_command(const char *command)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

int shell(const char *format, ...)
{
    char command[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    return run_command(command);
}

int tfgen(const char *format, ...)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char arguments[4096], command[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "%s %s 2>&1", program, arguments);
    return run_command(command);
}

void says(const char *part) { ck_assert_msg(strstr(output, part) != NULL, "no '%s' in:\n%s", part, output); }

json_t *parsed(void)
{
    json_error_t error;
    json_t *all = json_loads(output, 0, &error);
    ck_assert_msg(all != NULL, "%d: %s in\n%.3000s", error.line, error.text, output);
    return all;
}

double number(const json_t *o, const char *key)
{
    ck_assert_msg(json_is_number(json_object_get(o, key)), "no number %s in:\n%.3000s", key, output);
    return json_number_value(json_object_get(o, key));
}

long long integer(const json_t *o, const char *key)
{
    ck_assert_msg(json_is_integer(json_object_get(o, key)), "no whole number %s in:\n%.3000s", key, output);
    return json_integer_value(json_object_get(o, key));
}

const char *string(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    ck_assert_msg(s != NULL, "no string %s in:\n%.3000s", key, output);
    return s;
}

char *whole_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    ck_assert_msg(getdelim(&text, &room, 0, f) > 0, "%s is empty", path);
    fclose(f);
    return text;
}

void write_file(const char *folder, const char *name, const char *format, ...)
{
    char path[4096];
    va_list list;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_msg(f != NULL, "%s cannot be written", path);
    va_start(list, format);
    vfprintf(f, format, list);
    va_end(list);
    ck_assert_int_eq(fclose(f), 0);
}

void is_picture(const char *svg)
{
    const char *open[64];
    int depth = 0;
    ck_assert(strncmp(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39) == 0);
    const char *viewport = strstr(svg, "<meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" content=\"width=device-width\"/>");
    ck_assert(viewport && !strstr(viewport + 46, "http") && strstr(svg, "prefers-color-scheme: dark"));
    ck_assert(!strstr(svg, "<script") && !strstr(svg, "url(") && !strstr(svg, "\"nan") && !strstr(svg, "\"inf"));
    for (const char *at = strchr(svg, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        ck_assert_ptr_nonnull(end);
        if (at[1] == '/') {
            ck_assert_int_gt(depth--, 0);
            ck_assert(strncmp(open[depth], at + 2, (size_t)(end - at - 2)) == 0);
        } else if (end[-1] != '/') {
            ck_assert_int_lt(depth, 64);
            open[depth++] = at + 1;
        }
    }
    ck_assert_int_eq(depth, 0);
}

void use_hip_double(void)
{
    char library[4096];
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./build/default/tfgen", *slash = strrchr(program, '/');
    snprintf(library, sizeof library, "%.*s/tests/doubles/libamdhip64_double.so", (int)(slash - program), program);
    setenv("TFGEN_LIBHIP", library, 1);
    snprintf(library, sizeof library, "%.*s/tests/doubles/libhiprtc_double.so", (int)(slash - program), program);
    setenv("TFGEN_HIPRTC", library, 1);
    setenv("TFGEN_CLANG", "none", 1);
}

void use_compiler(const char *folder, const char *edit)
{
    static const char head[] = "#!/bin/sh\nt=$(mktemp)\ncat >$t\n";
    static const char tail[] =
        "\nfor c in clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang; do\n"
        "  command -v $c >/dev/null && { $c \"$@\" <$t; code=$?; rm $t; exit $code; }\ndone\n";
    char path[4096];
    snprintf(path, sizeof path, "%s/compiler", folder);
    write_file(folder, "compiler", "%s%s%s", head, edit, tail);
    ck_assert_int_eq(chmod(path, 0755), 0);
    setenv("TFGEN_HOST_CC", path, 1);
    setenv("TFGEN_CACHE_DIR", "", 1);
}

void use_bad_compiler(const char *folder)
{
    use_compiler(folder, "grep -q 'V = 16,' $t || sed -i '/DEV void run_mixed(const typename P::args/{n;s/{/{ return;/}' $t");
}

bool comma_locale(void)
{
    char folder[] = "/tmp/tfgen-locale-XXXXXX", probe[8];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    shell("printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n' >%s/comma.src && "
          "localedef -c --no-archive -i %s/comma.src -f ANSI_X3.4-1968 %s/comma 2>/dev/null", folder, folder, folder);
    setenv("LOCPATH", folder, 1);
    const bool made = setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
    snprintf(probe, sizeof probe, "%.1f", 1.5);
    if (!made || strcmp(probe, "1,5") != 0) return printf("skipped: no localedef to make a locale with a decimal comma\n"), false;
    return true;
}
