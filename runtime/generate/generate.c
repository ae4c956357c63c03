/* Prefill, decode steps and greedy choice. Contract: runtime/generate/generate.h. */
#include "runtime/generate/next_token.h"
#include <stdlib.h>
#include <string.h>

/* How many bytes of layer 0's weights the launch of the head prefetches for the next step. More than the default (4 MB): that layer begins
 * only when the token has been chosen, so there is time for more. */
enum { head_next_bytes = 12 << 20 };

/* ---- launches */
static void copy(generator *g, void *to, const void *from, size_t bytes, tfgen_copy_kind kind)
{
    tfgen_error error;
    generator_need(g, tfgen_device_copy(g->device, to, from, bytes, kind, g->stream, &error), &error);
}

static unit_call call_of(const generator *g, const unit_tensor *tensors, size_t tensor_count, const tfgen_dim *dims, size_t dim_count)
{
    return (unit_call){.tensors = tensors, .tensor_count = tensor_count, .dims = dims, .dim_count = dim_count, .workspace = g->workspace,
                       .stream = g->stream};
}

/* Names the unit whose weights a call prefetches: the layer with this index, or the head after the last layer. After the head comes layer 0
 * of the next step. */
static void name_next(const generator *g, size_t layer, unit_call *call)
{
    const layer_set *s = &g->sets[g->set];
    if (layer < g->facts.layers)
        call->next = &s->decode[s->model->kind_of[layer]], call->next_weights = g->layers[layer].weights;
    else
        call->next = &g->head, call->next_weights = g->head_weights;
}

/* The launches read x[*at], write x[!*at] and flip *at. */
static void run_norm(generator *g, int *at, size_t rows)
{
    if (!g->norm.plan) return;
    const unit_tensor tensors[] = {{"x", TFGEN_INPUT, g->x[*at]}, {"y", TFGEN_OUTPUT, g->x[!*at]}};
    const tfgen_dim dims[] = {{"B", (int64_t)rows}};
    tfgen_error error;
    const unit_call call = call_of(g, tensors, 2, dims, 1);
    generator_need(g, unit_run(&g->norm, g->norm_weights, &call, &error), &error);
    *at = !*at;
}

/* sequence: the first sequence of the call; the kernels are passed the KV caches from that sequence on. */
static void run_layers(generator *g, bool prefill, int *at, size_t sequence, const tfgen_dim *dims, size_t dim_count)
{
    const layer_set *s = &g->sets[g->set];
    tfgen_error error;
    for (size_t i = 0; i < g->facts.layers; i++) {
        const layer_memory *l = &g->layers[i];
        const unit *u = &(prefill ? s->prefill : s->decode)[s->model->kind_of[i]];
        const unit_tensor tensors[] = {{"x", TFGEN_INPUT, g->x[*at]},
                                       {"y", TFGEN_OUTPUT, g->x[!*at]},
                                       {"pos", TFGEN_INPUT, g->pos},
                                       {"k_cache", TFGEN_STATE, (char *)l->keys + sequence * g->cache_bytes},
                                       {"v_cache", TFGEN_STATE, (char *)l->values + sequence * g->cache_bytes}};
        unit_call call = call_of(g, tensors, 5, dims, dim_count);
        if (!prefill) name_next(g, i + 1, &call);
        generator_need(g, unit_run(u, l->weights, &call, &error), &error);
        *at = !*at;
    }
}

/* A decode step of all layers; neighbouring layers whose kinds share a stack share a launch. */
static void run_stacks(generator *g, int *at, const tfgen_dim *dims, size_t dim_count)
{
    const layer_set *s = &g->sets[g->set];
    const int *kind_of = s->model->kind_of;
    tfgen_error error;
    for (size_t i = 0, count, first; i < g->facts.layers; i += count) {
        const int kind = s->first_of[kind_of[i]];
        const unit_tensor tensors[] = {
            {"x", TFGEN_INPUT, g->x[*at]}, {"y", TFGEN_OUTPUT, g->x[!*at]}, {"pos", TFGEN_INPUT, g->pos}};
        first = 0, count = 1;
        for (size_t k = 0; k < i; k++) first += s->first_of[kind_of[k]] == kind;
        while (i + count < g->facts.layers && s->first_of[kind_of[i + count]] == kind) count++;
        const unit_call call = call_of(g, tensors, 3, dims, dim_count);
        generator_need(g, unit_run_stack(&s->decode[kind], s->stacks[kind], first, count, &call, &error), &error);
        *at = !*at;
    }
}

static void run_head(generator *g, void *x, size_t rows)
{
    const unit_tensor tensors[] = {{"x", TFGEN_INPUT, x}, {"logits", TFGEN_OUTPUT, g->logits}, {"peaks", TFGEN_OUTPUT, g->peaks}};
    const tfgen_dim dims[] = {{"B", (int64_t)rows}};
    tfgen_error error;
    unit_call call = call_of(g, tensors, 3, dims, 1);
    if (!g->options.stacks) name_next(g, 0, &call);
    call.next_bytes = head_next_bytes;
    generator_need(g, unit_run(&g->head, g->head_weights, &call, &error), &error);
}

static size_t row_bytes(const generator *g) { return g->facts.hidden * (size_t)dtype_size(g->type); }

static int *history_of(const generator *g, size_t sequence) { return g->history + sequence * (size_t)g->rows; }

static char *host_row(const generator *g, size_t row) { return g->host_call + position_bytes + row * row_bytes(g); }

/* Copies the positions and the rows written at host_row() to the device, in one copy. */
static void send(generator *g, const int32_t *positions, size_t position_count, size_t rows)
{
    memcpy(g->host_call, positions, position_count * sizeof *positions);
    copy(g, g->call, g->host_call, position_bytes + rows * row_bytes(g), TFGEN_TO_DEVICE);
}

/* Prefills `count` tokens, at most the set's `part`. Returns the index of x that has the result. */
static int read_part_of(generator *g, size_t sequence, const int *ids, size_t count)
{
    const int32_t first = (int32_t)g->lengths[sequence];
    const tfgen_dim dims[] = {{"B", 1}, {"S", (int64_t)count}};
    int at = 0;
    for (size_t i = 0; i < count; i++) generator_embed(g, ids[i], (size_t)first + i, host_row(g, i));
    send(g, &first, 1, count);
    run_norm(g, &at, count);
    run_layers(g, true, &at, sequence, dims, 2);
    if (ids != history_of(g, sequence) + first) memcpy(history_of(g, sequence) + first, ids, count * sizeof *ids);
    g->lengths[sequence] += count;
    return at;
}

/* ---- chosen tokens */
static int chosen(const generator *g, int token)
{
    if (token < 0) bail(g->a, code_device, (position){0}, "a logit of the next token is NaN");
    return token;
}

static int best_of_first_row(generator *g)
{
    int token;
    next_token_restart(g);
    next_token_launch(g, 1);
    next_token_read(g, 1, 1, &token);
    return chosen(g, token);
}

/* The head runs only if best is not NULL. */
static void read_tokens(generator *g, size_t sequence, const int *ids, size_t count, int *best)
{
    const size_t part = g->sets[g->set].part;
    int at = 0;
    size_t n = 0;
    for (size_t done = 0; done < count; done += n) {
        n = count - done < part ? count - done : part;
        at = read_part_of(g, sequence, ids + done, n);
    }
    if (!best) return;
    copy(g, g->last, (char *)g->x[at] + (n - 1) * row_bytes(g), row_bytes(g), TFGEN_ON_DEVICE);
    run_head(g, g->last, 1);
    *best = best_of_first_row(g);
}

/* ---- sets of layers */
/* A text that outgrows the first set of layers needs the second, which has other RoPE factors. Cached keys are stale then: as in
 * transformers, all texts are prefilled again. */
static void take_set(generator *g, size_t sequence, size_t more)
{
    const int wanted = g->set_count > 1 && g->lengths[sequence] + more > (size_t)g->sets[0].most;
    if (wanted <= g->set) return;
    g->set = wanted;
    for (size_t i = 0; i < g->options.sequences; i++) {
        const size_t count = g->lengths[i];
        g->lengths[i] = 0;
        if (count) read_tokens(g, i, history_of(g, i), count, NULL);
    }
}

/* ---- calls */
typedef struct call_job {
    generator *g;
    size_t sequence, count;
    const int *ids;
    const bool *done;
    int *best, *tokens;
} call_job;

static tfgen_status check_id(const generator *g, int id, tfgen_error *error)
{
    if (id >= 0 && (size_t)id < g->facts.vocabulary) return TFGEN_OK;
    return device_report(error, TFGEN_USAGE, "token %d is not in the vocabulary, 0 to %zu", id, g->facts.vocabulary - 1);
}

static tfgen_status check_room(const generator *g, size_t sequence, size_t more, tfgen_error *error)
{
    if (more <= g->options.room - g->lengths[sequence]) return TFGEN_OK;
    return device_report(error, TFGEN_USAGE, "a text would have %zu tokens; the generator has room for %zu", g->lengths[sequence] + more,
                         g->options.room);
}

static tfgen_status run(generator *g, void (*body)(void *), call_job *job, tfgen_error *error)
{
    const tfgen_code code = arena_run(g->a, body, job);
    return code == code_ok ? TFGEN_OK : device_report_arena(error, code, g->a);
}

static void read_body(void *argument)
{
    const call_job *j = argument;
    take_set(j->g, j->sequence, j->count);
    read_tokens(j->g, j->sequence, j->ids, j->count, j->best);
}

/* Appends a prompt to the sequence. best: the token that follows. */
static tfgen_status read_prompt(generator *g, size_t sequence, const int *ids, size_t count, int *best, tfgen_error *error)
{
    call_job job = {.g = g, .sequence = sequence, .count = count, .ids = ids, .best = best};
    if (!count) return device_report(error, TFGEN_USAGE, "a text should have at least one token");
    tfgen_status status = check_room(g, sequence, count, error);
    for (size_t i = 0; i < count && status == TFGEN_OK; i++) status = check_id(g, ids[i], error);
    return status == TFGEN_OK ? run(g, read_body, &job, error) : status;
}

/* The launches of a decode step, which the graph captures. They read the step's inputs in x[0] and pos, and leave those of the next step
 * there. */
static void launch_step(generator *g)
{
    const tfgen_dim dims[] = {{"B", (int64_t)g->options.sequences}};
    int at = 0;
    run_norm(g, &at, g->options.sequences);
    if (g->options.stacks) run_stacks(g, &at, dims, 1);
    else run_layers(g, false, &at, 0, dims, 1);
    run_head(g, g->x[at], g->options.sequences);
    next_token_launch(g, g->options.sequences);
}

/* Captures the graph at the second step, as the first may load code, which a capture may not do. */
static void replay_step(generator *g)
{
    layer_set *s = &g->sets[g->set];
    const device_api *api = g->device->api;
    tfgen_error error;
    if (api == &host_device || !s->stepped) {
        s->stepped = true;
        launch_step(g);
        return;
    }
    if (!s->graph) {
        generator_need(g, api->graph_begin(g->device, g->stream, &error), &error);
        launch_step(g);
        generator_need(g, api->graph_end(g->device, g->stream, &s->graph, &error), &error);
    }
    generator_need(g, api->graph_launch(g->device, s->graph, g->stream, &error), &error);
}

/* Sends the inputs of a step. A finished sequence stays in the batch, with token 0. That token's keys and values go to the cache row after
 * the last token (in a full cache, to the last row), and those of further steps launched ahead to the rows after it. */
static void send_inputs(generator *g, const int *ids, const bool *done)
{
    const size_t count = g->options.sequences;
    int32_t pos[most_sequences];
    for (size_t i = 0; i < count; i++) {
        pos[i] = (int32_t)(g->lengths[i] < g->options.room ? g->lengths[i] : g->options.room - 1);
        generator_embed(g, done[i] ? 0 : ids[i], (size_t)pos[i], host_row(g, i));
    }
    send(g, pos, count, count);
}

static bool ends_text(const generator *g, int token)
{
    bool ends = false;
    for (size_t i = 0; i < g->facts.end_count; i++) ends |= g->facts.ends[i] == token;
    return ends;
}

/* Records the tokens that `steps` decode steps appended to a sequence: the input of the first step, then the token chosen by each step but
 * the last; stops at the end of the text. */
static void record(generator *g, size_t sequence, int input, const int *tokens, size_t steps)
{
    for (size_t k = 0; k < steps; k++) {
        history_of(g, sequence)[g->lengths[sequence]++] = input;
        input = chosen(g, tokens[k * g->options.sequences + sequence]);
        if (ends_text(g, input)) break;
    }
}

static void step_body(void *argument)
{
    const call_job *j = argument;
    generator *g = j->g;
    const size_t count = g->options.sequences;
    for (size_t i = 0; i < count; i++)
        if (!j->done[i]) take_set(g, i, 1);
    send_inputs(g, j->ids, j->done);
    next_token_restart(g);
    for (size_t k = 0; k < j->count; k++) replay_step(g);
    next_token_read(g, j->count, count, j->tokens);
    for (size_t i = 0; i < count; i++)
        if (!j->done[i]) record(g, i, j->ids[i], j->tokens, j->count);
}

/* `steps` decode steps, one after the other without the host: tokens [steps][sequences]. */
static tfgen_status step(generator *g, const int *ids, const bool *done, size_t steps, int *tokens, tfgen_error *error)
{
    call_job job = {.g = g, .count = steps, .ids = ids, .done = done, .tokens = tokens};
    tfgen_status status = TFGEN_OK;
    for (size_t i = 0; i < g->options.sequences && status == TFGEN_OK; i++) {
        if (done[i]) continue;
        status = check_id(g, ids[i], error);
        if (status == TFGEN_OK) status = check_room(g, i, steps, error);
    }
    return status == TFGEN_OK ? run(g, step_body, &job, error) : status;
}

/* ---- greedy choice */
static void append(const generator *g, generator_text *t, int token)
{
    t->tokens[t->count++] = token;
    t->ended = ends_text(g, token);
}

static tfgen_status read_prompts(generator *g, generator_text *texts, generator_times *times, tfgen_error *error)
{
    const double start = unit_seconds();
    tfgen_status status = TFGEN_OK;
    for (size_t i = 0; i < g->options.sequences && status == TFGEN_OK; i++) {
        generator_text *t = &texts[i];
        int best = 0;
        t->count = 0, t->ended = false;
        status = read_prompt(g, i, t->prompt, t->prompt_count, &best, error);
        if (status == TFGEN_OK) append(g, t, best);
        times->read_tokens += t->prompt_count;
    }
    times->read_seconds = unit_seconds() - start;
    return status;
}

/* How many decode steps to launch before the host looks at their tokens. Steps after a text's end are wasted, so fewer are launched on the
 * host engine, where each takes long. All of them have room and use one set of layers. */
static size_t steps_ahead(const generator *g, const bool *done, size_t most)
{
    enum { on_host = 4 };
    const size_t wanted = g->device->api == &host_device ? on_host : most_steps_ahead;
    size_t steps = most < wanted ? most : wanted;
    for (size_t i = 0; i < g->options.sequences; i++) {
        const size_t length = g->lengths[i], first = (size_t)g->sets[0].most;
        const size_t end = g->set_count > 1 && length < first ? first : g->options.room;
        if (!done[i] && end - length < steps) steps = end - length;
    }
    return steps ? steps : 1;
}

static tfgen_status step_texts(generator *g, generator_text *texts, size_t most, generator_times *times, tfgen_error *error)
{
    const double start = unit_seconds();
    const size_t count = g->options.sequences;
    tfgen_status status = TFGEN_OK;
    for (size_t n = 1, steps; n < most && status == TFGEN_OK; n += steps) {
        int ids[most_sequences] = {0}, tokens[most_steps_ahead * most_sequences];
        bool done[most_sequences];
        size_t going = 0;
        for (size_t i = 0; i < count; i++) {
            done[i] = texts[i].ended;
            ids[i] = texts[i].tokens[texts[i].count - 1];
            going += !done[i];
        }
        if (!going) break;
        steps = steps_ahead(g, done, most - n);
        status = step(g, ids, done, steps, tokens, error);
        for (size_t k = 0; k < steps && status == TFGEN_OK; k++)
            for (size_t i = 0; i < count; i++)
                if (!texts[i].ended) append(g, &texts[i], tokens[k * count + i]), times->step_tokens++;
    }
    times->step_seconds = unit_seconds() - start;
    return status;
}

tfgen_status generator_run(generator *g, generator_text *texts, size_t most, generator_times *times, tfgen_error *error)
{
    *times = (generator_times){0};
    const tfgen_status status = most ? read_prompts(g, texts, times, error) : TFGEN_OK;
    return status == TFGEN_OK ? step_texts(g, texts, most, times, error) : status;
}
