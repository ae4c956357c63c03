/* In: a model's folder, prompts as token ids. Out: the generated ids, one line per text, or JSON; tokens per second on stderr. Refuses
 * prompts that are not lists of ids, and what runtime/generate/generate.h refuses. */
#include "runtime/cli/cli.h"
#include "runtime/cli/trial.h"
#include "runtime/generate/generate.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { most_texts = 64 };

typedef struct generate_job {
    arena *a;
    const cli_options *o;
    generator *g;
    generator_text *texts;
    size_t text_count, longest;
    double open_seconds;
    int code;
    progress bar;
} generate_job;

/* ---- prompts */
static size_t items(const char *s, char between)
{
    size_t count = 1;
    for (; *s; s++) count += *s == between;
    return count;
}

static int read_id(const generate_job *j, const char **at)
{
    char *end;
    errno = 0;
    const long id = strtol(*at, &end, 10);
    if (end == *at || errno || id < 0 || id > INT_MAX || (*end && !strchr(",;", *end)))
        bail(j->a, code_usage, (position){0}, "--prompt-ids: '%.40s' does not begin with the id of a token, 0 or more", *at);
    *at = end;
    return (int)id;
}

static void read_prompts(generate_job *j)
{
    const char *at = j->o->prompt_ids;
    if (!at) bail(j->a, code_usage, (position){0}, "generate needs --prompt-ids=LIST, such as 1,2,3");
    const size_t count = items(at, ';'), room = items(at, ',') + count;
    if (count > most_texts) bail(j->a, code_usage, (position){0}, "--prompt-ids: %zu texts; at most %d", count, most_texts);
    int *ids = arena_alloc(j->a, room * sizeof *ids);
    j->texts = arena_alloc(j->a, count * sizeof *j->texts);
    for (j->text_count = 0; j->text_count < count; j->text_count++) {
        generator_text t = {.prompt = ids, .tokens = arena_alloc(j->a, (size_t)j->o->number.tokens * sizeof *t.tokens)};
        do ids[t.prompt_count++] = read_id(j, &at);
        while (*at++ == ',');
        ids += t.prompt_count;
        if (t.prompt_count > j->longest) j->longest = t.prompt_count;
        j->texts[j->text_count] = t;
    }
}

/* ---- the generator */
static void close_generator(void *g) { generator_close(g); }

static void tell_progress(void *context, const tfgen_progress *p)
{
    progress *bar = context;
    bar->total = bar->done + (long long)(p->total - p->done) + 1; /* kernels of the specs seen so far, and one for those to come */
    progress_step(bar, p->kernel);
}

/* False: it failed. The text of an error in a file begins with its place and is printed as it is. */
static bool went_well(generate_job *j, tfgen_status status, const tfgen_error *error)
{
    if (status == TFGEN_OK) return true;
    if (!strstr(error->text, "error: ")) bail(j->a, (tfgen_code)status, (position){0}, "%s", error->text);
    fprintf(stderr, "%s\n", error->text);
    j->code = (int)status;
    return false;
}

/* True for --fusion=block: all layers in one launch. False for tile, the default: launches for each layer. */
static bool stacks_asked(arena *a, const cli_options *o)
{
    const bool block = o->fusion && strcmp(o->fusion, "block") == 0;
    if (o->fusion && !block && strcmp(o->fusion, "tile") != 0)
        bail(a, code_usage, (position){0}, "--fusion=%s: generate runs at level tile or block", o->fusion);
    return block;
}

static bool open_generator(generate_job *j)
{
    const cli_options *o = j->o;
    const char *target = o->target;
    const name_list tiles = options_lines(j->a, o->tile);
    compile_request request = {0};
    cli_one_target(j->a, o);
    cli_device_model(j->a, o->device_model, &request);
    tfgen_device *device = trial_open_device(j->a, o, &target);
    tfgen_module_options module = TFGEN_MODULE_OPTIONS_INIT;
    module.jobs = (int)o->number.jobs;
    module.cache_dir = o->no_cache ? "" : NULL;
    module.progress = tell_progress, module.context = &j->bar;
    const generator_options options = {.dtype = o->dtype, .device_model = request.device_model, .wisdom = o->wisdom, .tiles = tiles.names,
                                       .tile_count = tiles.count, .room = j->longest + (size_t)o->number.tokens - 1,
                                       .sequences = j->text_count, .stacks = stacks_asked(j->a, o), .module = &module};
    tfgen_error error;
    const double start = seconds_now();
    j->bar = progress_start("compiling", 0);
    const tfgen_status status = generator_open(o->files[0], device, &options, &j->g, &error);
    progress_end(&j->bar);
    j->open_seconds = seconds_now() - start;
    if (!went_well(j, status, &error)) return false;
    arena_defer(j->a, close_generator, j->g);
    return true;
}

/* ---- output */
static void print_text(const generator_text *t)
{
    for (size_t i = 0; i < t->count; i++) printf("%s%d", i ? "," : "", t->tokens[i]);
    putchar('\n');
}

static double rate(size_t count, double seconds) { return seconds > 0 ? (double)count / seconds : 0; }

static void print_speed(const generate_job *j, const generator_times *t)
{
    const generator_facts f = generator_about(j->g);
    fprintf(stderr, "%s, %zu layers in %s, %.3f GB of weights, opened in %.1f s\n", f.model_type, f.layers, f.dtype,
            (double)f.weight_bytes * 1e-9, j->open_seconds);
    fprintf(stderr, "prompts: %zu tokens in %.3f s, %.1f tokens a second\n", t->read_tokens, t->read_seconds,
            rate(t->read_tokens, t->read_seconds));
    if (t->step_tokens)
        fprintf(stderr, "generated: %zu tokens in %.3f s, %.1f tokens a second\n", t->step_tokens, t->step_seconds,
                rate(t->step_tokens, t->step_seconds));
}

static json_t *ids_json(const int *ids, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_integer(ids[i]));
    return list;
}

static void print_json(const generate_job *j, const generator_times *t)
{
    const generator_facts f = generator_about(j->g);
    json_t *texts = json_array();
    for (size_t i = 0; i < j->text_count; i++) {
        const generator_text *one = &j->texts[i];
        json_array_append_new(texts, json_pack("{s:o, s:o, s:s}", "prompt", ids_json(one->prompt, one->prompt_count), "tokens",
                                               ids_json(one->tokens, one->count), "ended_by", one->ended ? "eos" : "count"));
    }
    cli_print_json(cli_keep_json(j->a, json_pack("{s:s, s:s, s:I, s:o, s:I, s:f, s:f, s:f, s:f, s:s}", "model_type", f.model_type, "dtype",
                                                 f.dtype, "layers", (json_int_t)f.layers, "texts", texts, "weight_bytes",
                                                 (json_int_t)f.weight_bytes, "open_seconds", j->open_seconds, "prompt_seconds",
                                                 t->read_seconds, "step_seconds", t->step_seconds, "tokens_per_second",
                                                 rate(t->step_tokens, t->step_seconds), "not_applied", f.not_applied)));
}

static void generate(void *argument)
{
    generate_job *j = argument;
    generator_times times;
    tfgen_error error;
    read_prompts(j);
    if (!open_generator(j)) return;
    const char *other = generator_about(j->g).not_applied;
    if (*other && !j->o->quiet)
        fprintf(stderr, "tfgen: generation_config.json: %s: not applied; each token is the one with the best logit\n", other);
    if (!went_well(j, generator_run(j->g, j->texts, (size_t)j->o->number.tokens, &times, &error), &error)) return;
    if (j->o->json) {
        print_json(j, &times);
        return;
    }
    for (size_t i = 0; i < j->text_count; i++) print_text(&j->texts[i]);
    if (!j->o->quiet) print_speed(j, &times);
}

int command_generate_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    generate_job j = {.a = arena_new(), .o = o};
    const int code = cli_run(generate, &j, j.a);
    return code == code_ok ? j.code : code;
}
