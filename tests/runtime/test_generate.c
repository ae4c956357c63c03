/* `tfgen generate` on a tiny model whose weights come from a formula: it must generate the ids that transformers 5.23 generates with the
 * same weights in float32, and refuse inconsistent model folders and wrong prompts. Runs $TFGEN (default ./tfgen). */
#define _GNU_SOURCE
#include "runtime/data/safetensors.h"
#include "tests/shell.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-generate-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

/* ---- the model */
#define CONFIG CONFIG_OF("40")
#define LARGE_CONFIG CONFIG_OF("5120")
#define CONFIG_OF(vocabulary) \
    "\"model_type\": \"qwen3\", \"hidden_size\": 16, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, " \
    "\"head_dim\": 8, \"intermediate_size\": 24, \"vocab_size\": " vocabulary ", \"max_position_embeddings\": 64, " \
    "\"torch_dtype\": \"float32\", \"tie_word_embeddings\": true"
enum { hidden = 16, heads = 16, keys = 8, inner = 24, vocabulary = 40, most_tensors = 24 };
typedef struct shape {
    const char *name;
    int rows, columns; /* columns 0: a norm's weight */
} shape;
static const shape of_layer[] = {{"input_layernorm", hidden, 0},        {"mlp.down_proj", hidden, inner},
                                 {"mlp.gate_proj", inner, hidden},      {"mlp.up_proj", inner, hidden},
                                 {"post_attention_layernorm", hidden, 0}, {"self_attn.k_norm", 8, 0},
                                 {"self_attn.k_proj", keys, hidden},    {"self_attn.o_proj", hidden, heads},
                                 {"self_attn.q_norm", 8, 0},            {"self_attn.q_proj", heads, hidden},
                                 {"self_attn.v_proj", keys, hidden}};
enum { layer_tensors = sizeof of_layer / sizeof *of_layer };

/* Pseudo-random weights of tensor k. Tensors are numbered in the order in which save() adds them, and k seeds the generator.
 * formula() in tests/transformers/generate.py must give the same numbers. */
static float *weights(arena *a, int k, const shape *s)
{
    unsigned state = 12345u + 1000u * (unsigned)k;
    const int count = s->rows * (s->columns ? s->columns : 1);
    float *out = arena_alloc(a, (size_t)count * sizeof *out);
    for (int i = 0; i < count; i++) {
        state = (state * 1103515245u + 12345u) & 0x7fffffff;
        out[i] = (float)(((double)state / 2147483648.0 - 0.5) * (s->columns ? 1.5 : 0.6) + (s->columns ? 0 : 1));
    }
    return out;
}

typedef struct saved {
    arena *a;
    const char *skip; /* this tensor is left out; or NULL */
    const char *nan;  /* the first number of this tensor is NaN; or NULL */
    int copies;       /* how often the embedding table is repeated; the logit of an id is then that of id % vocabulary */
    safetensors_item items[most_tensors];
    size_t count;
    int number;
} saved;

static void add(saved *s, const char *name, const shape *of)
{
    long long *shape = arena_alloc(s->a, 2 * sizeof *shape);
    const int copies = s->number ? 1 : s->copies;
    const size_t once = (size_t)of->rows * (size_t)(of->columns ? of->columns : 1);
    shape[0] = of->rows * copies, shape[1] = of->columns;
    float *data = arena_alloc(s->a, once * (size_t)copies * sizeof *data), *first = weights(s->a, s->number++, of);
    for (int i = 0; i < copies; i++) memcpy(data + once * (size_t)i, first, once * sizeof *data);
    if (s->nan && strcmp(s->nan, name) == 0) data[0] = NAN;
    if (s->skip && strcmp(s->skip, name) == 0) return;
    s->items[s->count++] = (safetensors_item){name, "F32", of->columns ? 2 : 1, shape, data};
}

static void save(void *argument)
{
    saved *s = argument;
    add(s, "model.embed_tokens.weight", &(shape){NULL, vocabulary, hidden});
    for (int layer = 0; layer < 2; layer++)
        for (int i = 0; i < layer_tensors; i++)
            add(s, arena_printf(s->a, "model.layers.%d.%s.weight", layer, of_layer[i].name), &of_layer[i]);
    add(s, "model.norm.weight", &(shape){NULL, hidden, 0});
    safetensors_write(s->a, arena_printf(s->a, "%s/model.safetensors", folder), s->items, s->count);
}

static void save_copies(const char *config, int copies, const char *skip, const char *nan)
{
    saved s = {.a = arena_new(), .skip = skip, .nan = nan, .copies = copies};
    write_file(folder, "config.json", "{%s}", config);
    ck_assert_int_eq(arena_run(s.a, save, &s), code_ok);
    arena_free(s.a);
}

static void save_model_with(const char *config, const char *skip, const char *nan) { save_copies(config, 1, skip, nan); }

static void save_model(const char *config, const char *skip) { save_model_with(config, skip, NULL); }

/* ---- right */
#define FIRST "1,32,16,23,19,33,37,37,37,37,37,27,1,17,25,37,37,37,37,37,37,37,27,1"
#define SECOND "38,27,26,26,26,26,37,32,38,30,16,30,30,30,30,30,16,30,30,30,30,30,30,30"

START_TEST(generated_texts_are_those_of_transformers)
{
    make_folder();
    save_model(CONFIG, NULL);
    ck_assert_msg(shell("${TFGEN:-./tfgen} generate %s --prompt-ids='3,14,15,9,26;5' -n 24 --target=host 2>%s/said", folder, folder) == 0,
                  "%s", output);
    ck_assert_str_eq(output, FIRST "\n" SECOND "\n");
    ck_assert_int_eq(shell("cat %s/said", folder), 0);
    says("qwen3, 2 layers in f32");
    says("generated: 46 tokens in");
    /* The third token of the second text is an end token; the first text goes on. */
    write_file(folder, "generation_config.json", "{\"eos_token_id\": [26, 4000], \"repetition_penalty\": 1.1}");
    ck_assert_msg(shell("${TFGEN:-./tfgen} generate %s --prompt-ids='3,14,15,9,26;5' -n 24 --target=host --json 2>%s/said", folder,
                        folder) == 0, "%s", output);
    json_t *all = parsed();
    const json_t *texts = json_object_get(all, "texts");
    ck_assert_str_eq(string(json_array_get(texts, 0), "ended_by"), "count");
    ck_assert_str_eq(string(json_array_get(texts, 1), "ended_by"), "eos");
    const json_t *going = json_object_get(json_array_get(texts, 0), "tokens");
    ck_assert_uint_eq(json_array_size(going), 24);
    const char *at = FIRST;
    for (size_t i = 0; i < 24; i++, at += *at == ',')
        ck_assert_int_eq(json_integer_value(json_array_get(going, i)), strtol(at, (char **)&at, 10));
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(texts, 1), "tokens")), 3);
    json_decref(all);
    ck_assert_int_eq(shell("cat %s/said", folder), 0);
    says("generation_config.json: repetition_penalty: not applied");
    remove_folder();
}
END_TEST

/* With --dtype=bf16, too, logits are in f32. Checks only that generation succeeds. */
START_TEST(logits_are_not_rounded)
{
    make_folder();
    save_model(CONFIG, NULL);
    ck_assert_msg(tfgen("generate %s --prompt-ids=3 -n 4 --target=host --dtype=bf16", folder) == 0, "%s", output);
    remove_folder();
}
END_TEST

/* Each of 5120 logits occurs 128 times. The lowest id of the greatest ones is chosen, by the maxima of blocks and then within a block. */
START_TEST(the_first_of_equal_logits_is_chosen)
{
    static const char *const on[][2] = {{"host", "0"}, {"host", "3"}, {"sm_90a", "0"}, {"gfx942", "0"}}; /* target; host compiler's -O */
    make_folder();
    save_copies(LARGE_CONFIG, 128, NULL, NULL);
    ck_assert_msg(shell("TFGEN_HOST_OPTIMISE=%s ${TFGEN:-./tfgen} generate %s --prompt-ids='3,14,15,9,26;5' -n 6 -q --target=%s", on[_i][1],
                        folder, on[_i][0]) == 0, "%s", output);
    ck_assert_str_eq(output, "1,32,16,23,19,33\n38,27,26,26,26,26\n");
    remove_folder();
}
END_TEST

static const char *const targets[] = {"sm_90a", "gfx942"};

START_TEST(every_target_gives_the_same_tokens)
{
    make_folder();
    save_model(CONFIG, NULL);
    ck_assert_msg(shell("${TFGEN:-./tfgen} generate %s --prompt-ids='3,14,15,9,26' -n 24 -q --target=%s", folder, targets[_i]) == 0, "%s",
                  output);
    ck_assert_str_eq(output, FIRST "\n");
    remove_folder();
}
END_TEST

/* Models with one kind of layers, and with two, which share the launch. */
START_TEST(a_step_of_one_launch_gives_the_same_tokens)
{
    static const char *const configs[] =
        {CONFIG,
         CONFIG ", \"use_sliding_window\": true, \"sliding_window\": 4, \"layer_types\": [\"sliding_attention\", \"full_attention\"]"};
    static char tile[4096];
    make_folder();
    save_model(configs[_i], NULL);
    ck_assert_msg(tfgen("generate %s --prompt-ids='3,14,15,9,26;5' -n 24 -q --target=host", folder) == 0, "%s", output);
    snprintf(tile, sizeof tile, "%.4095s", output);
    ck_assert_int_eq(strcmp(tile, FIRST "\n" SECOND "\n") == 0, _i == 0);
    ck_assert_msg(tfgen("generate %s --prompt-ids='3,14,15,9,26;5' -n 24 -q --target=host --fusion=block", folder) == 0, "%s", output);
    ck_assert_str_eq(output, tile);
    ck_assert_int_eq(tfgen("generate %s --prompt-ids=3 --fusion=auto --target=host", folder), 2);
    says("at level tile or block");
    remove_folder();
}
END_TEST

/* `tfgen run SPEC --weights=FOLDER --layer=FIRST --layers=COUNT`: layer i of the stack has the weights of the folder's layer FIRST + i,
 * which must exist. */
START_TEST(a_stack_has_the_weights_of_successive_layers)
{
    make_folder();
    save_model(CONFIG, NULL);
    ck_assert_msg(tfgen("import %s --decode -q -o %s/layer.yaml", folder, folder) == 0, "%s", output);
    ck_assert_msg(tfgen("run %s/layer.yaml --weights=%s --layer=0 --layers=2 --repeat=0 --dim=L=16 --target=host", folder, folder) == 0,
                  "%s", output);
    says("1: y ");
    ck_assert_int_eq(tfgen("run %s/layer.yaml --weights=%s --layer=1 --layers=2 --repeat=0 --dim=L=16 --target=host", folder, folder), 3);
    says("of layer 2");
    remove_folder();
}
END_TEST

/* ---- layers of a folder */
typedef struct moved {
    arena *a;
    const char *from, *to;
    int texts;
} moved;

/* Writes tensor x of the file `to`: a copy of tensor y of the file `from`, or pseudo-random numbers if from is NULL. */
static void move(void *argument)
{
    const moved *m = argument;
    enum { tokens = 3 };
    const long long extents[] = {m->texts, tokens, hidden};
    float *x = weights(m->a, 77, &(shape){NULL, m->texts * tokens, hidden});
    if (m->from) {
        const safetensors *f = safetensors_open(m->a, m->from);
        double *y = arena_alloc(m->a, (size_t)(m->texts * tokens * hidden) * sizeof *y);
        safetensors_read(f, safetensors_need(f, "y"), y);
        for (int i = 0; i < m->texts * tokens * hidden; i++) x[i] = (float)y[i];
    }
    safetensors_write(m->a, m->to, &(safetensors_item){"x", "F32", 3, extents, x}, 1);
}

static void write_x(const char *from, const char *to)
{
    char paths[2][100];
    snprintf(paths[0], sizeof paths[0], "%s/%s", folder, from ? from : "");
    snprintf(paths[1], sizeof paths[1], "%s/%s", folder, to);
    moved m = {arena_new(), from ? paths[0] : NULL, paths[1], 2};
    ck_assert_int_eq(arena_run(m.a, move, &m), code_ok);
    arena_free(m.a);
}

#define RUN(layers, in, out) "run %s --target=host -q --layers=" layers " --input=%s/" in " -o %s/" out, folder, folder, folder

START_TEST(layers_of_a_folder_run_in_turn)
{
    make_folder();
    save_model(CONFIG, NULL);
    write_x(NULL, "x0.st");
    ck_assert_msg(tfgen(RUN("0-1", "x0.st", "both.st")) == 0, "%s", output);
    ck_assert_msg(tfgen(RUN("0", "x0.st", "y0.st")) == 0, "%s", output);
    write_x("y0.st", "x1.st");
    ck_assert_msg(tfgen(RUN("1", "x1.st", "y1.st")) == 0, "%s", output);
    ck_assert_int_eq(shell("cd %s && cmp both.st y1.st && ! cmp -s both.st y0.st", folder), 0);
    /* Layer 1, imported as a spec and judged by the reference, gives the same bytes. */
    ck_assert_int_eq(tfgen("import %s --layer=1 -o %s/spec.yaml -q", folder, folder), 0);
    ck_assert_msg(tfgen("run %s/spec.yaml --target=host --weights=%s --layer=1 --dim=B=2,S=3 --input=%s/x1.st -o %s/judged.st", folder,
                        folder, folder, folder) == 0,
                  "%s", output);
    says("good: every value is within its bound");
    ck_assert_int_eq(shell("cd %s && cmp judged.st y1.st", folder), 0);
    remove_folder();
}
END_TEST

START_TEST(layers_of_a_folder_refuse_wrong_files_and_options)
{
    static const struct {
        const char *arguments, *says;
        int code;
    } wrong[] = {{"", "--input is missing", 2},
                 {"--input=x.st --layers=2", "layers 2-2: the model has layers 0 to 1", 2},
                 {"--input=x.st --layers=1-0", "layers 1-0", 2},
                 {"--input=x.st --layers=0-", "'0-' is not the number of a layer", 2},
                 {"--input=x.st --layers=-1", "'-1' is not the number of a layer", 2},
                 {"--input=x.st --dim=B=2", "--dim is for a SPEC", 2},
                 {"--input=x.st --reference=always", "layers of a folder are not compared", 2},
                 {"--input=model.safetensors", "has no tensor 'x'", 3}};
    make_folder();
    save_model(CONFIG, NULL);
    write_x(NULL, "x.st");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(shell("tfgen=$(realpath ${TFGEN:-./tfgen}); cd %s && $tfgen run . %s --target=host 2>&1", folder,
                            wrong[i].arguments) == wrong[i].code,
                      "%s: %s", wrong[i].arguments, output);
        says(wrong[i].says);
    }
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --layers=0"), 2);
    says("--layers: '0' is not a whole number from 1 to 10000");
    remove_folder();
}
END_TEST

/* ---- wrong */
#define WITH(more) CONFIG ", " more
static const struct {
    const char *config, *skip, *generation, *arguments;
    int code;
    const char *says;
} bad[] = {
    {CONFIG, NULL, NULL, "", 2, "generate needs --prompt-ids=LIST"},
    {CONFIG, NULL, NULL, "other --prompt-ids=1", 2, "generate takes one FOLDER; give each its own call"},
    {CONFIG, NULL, NULL, "--prompt-ids=1,,2", 2, "',2' does not begin with the id of a token"},
    {CONFIG, NULL, NULL, "--prompt-ids=1,-2", 2, "'-2' does not begin with the id of a token"},
    {CONFIG, NULL, NULL, "--prompt-ids='1;'", 2, "'' does not begin with the id of a token"},
    {CONFIG, NULL, NULL, "--prompt-ids=99999999999", 2, "'99999999999' does not begin with the id of a token"},
    {CONFIG, NULL, NULL, "--prompt-ids=1,2 -n 0", 2, "'0' is not a whole number from 1"},
    {CONFIG, NULL, NULL, "--prompt-ids=1,2 -n 64", 2, "a text would have 65 tokens with those to generate; the model has 64 positions"},
    {CONFIG, "model.norm.weight", NULL, "--prompt-ids=1,2 -n 4", 3, "tensor model.norm.weight is missing"},
    {CONFIG, "model.embed_tokens.weight", NULL, "--prompt-ids=1,2 -n 4", 3, "tensor model.embed_tokens.weight is missing"},
    {CONFIG, "model.layers.1.mlp.up_proj.weight", NULL, "--prompt-ids=1,2 -n 4", 3, "tensor model.layers.1.mlp.up_proj.weight is missing"},
    {CONFIG, NULL, "[]", "--prompt-ids=1,2 -n 4", 3, "a generation_config.json should be an object"},
    {CONFIG, NULL, "{\"eos_token_id\": [1, \"x\"]}", "--prompt-ids=1,2 -n 4", 3, "eos_token_id: should be a whole number"},
    {CONFIG, NULL, "{\"eos_token_id\": 1", "--prompt-ids=1,2 -n 4", 3, "generation_config.json:1:"},
    {WITH("\"logit_scale\": 0.5"), NULL, NULL, "--prompt-ids=1,2 -n 4", 4, "logit_scale: of qwen3 is not supported in a whole model"},
    {WITH("\"use_cache\": true, \"tie_word_embeddings\": false"), NULL, NULL, "--prompt-ids=1,2 -n 4", 3, "error: duplicate object key"},
};
enum { bad_count = sizeof bad / sizeof *bad };

START_TEST(generate_refuses_unsupported_models)
{
    make_folder();
    save_model(bad[_i].config, bad[_i].skip);
    if (bad[_i].generation) write_file(folder, "generation_config.json", "%s", bad[_i].generation);
    ck_assert_msg(tfgen("generate %s --target=host %s", folder, bad[_i].arguments) == bad[_i].code, "%s: %s", bad[_i].arguments, output);
    says(bad[_i].says);
    remove_folder();
}
END_TEST

START_TEST(an_id_outside_of_the_vocabulary_is_refused)
{
    make_folder();
    save_model(CONFIG, NULL);
    ck_assert_int_eq(tfgen("generate %s --target=host --prompt-ids=1,40 -n 4", folder), 2);
    says("token 40 is not in the vocabulary, 0 to 39");
    remove_folder();
}
END_TEST

START_TEST(logits_that_are_no_numbers_are_an_error)
{
    make_folder();
    save_model_with(CONFIG, NULL, "model.norm.weight"); /* all logits are NaN */
    ck_assert_int_eq(tfgen("generate %s --target=host --prompt-ids=3 -n 4", folder), 6);
    says("a logit of the next token is NaN");
    save_model_with(CONFIG, NULL, "model.embed_tokens.weight"); /* only the logit of token 0 is NaN */
    ck_assert_int_eq(tfgen("generate %s --target=host --prompt-ids=3 -n 4", folder), 6);
    says("a logit of the next token is NaN");
    remove_folder();
}
END_TEST

START_TEST(an_encoder_and_a_folder_without_tensors_do_not_generate)
{
    make_folder();
    ck_assert_int_eq(shell("cp tests/models/bert.json %s/config.json", folder), 0);
    ck_assert_int_eq(tfgen("generate %s --prompt-ids=1", folder), 3);
    says("is a folder without a .safetensors file");
    ck_assert_int_eq(tfgen("generate %s/none --prompt-ids=1", folder), 3);
    says("none/config.json: cannot open");
    remove_folder();
}
END_TEST

START_TEST(a_folder_of_pickles_is_refused_by_name)
{
    make_folder();
    write_file(folder, "config.json", "{%s}", CONFIG);
    write_file(folder, "pytorch_model.bin", "%s", "x");
    write_x(NULL, "x.st");
    ck_assert_int_eq(tfgen("generate %s --prompt-ids=1 --target=host", folder), 3);
    says("pytorch_model.bin is a pickle, which runs code of its author when it is read");
    ck_assert_int_eq(tfgen("run %s --layers=0-1 --input=%s/x.st --target=host", folder, folder), 3);
    says("pytorch_model.bin is a pickle");
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("generate");
    TCase *c = tcase_create("generate"), *more = tcase_create("targets");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, generated_texts_are_those_of_transformers);
    tcase_add_test(c, logits_are_not_rounded);
    tcase_add_loop_test(c, the_first_of_equal_logits_is_chosen, 0, 4);
    tcase_add_loop_test(c, generate_refuses_unsupported_models, 0, bad_count);
    tcase_add_test(c, an_id_outside_of_the_vocabulary_is_refused);
    tcase_add_test(c, logits_that_are_no_numbers_are_an_error);
    tcase_add_test(c, an_encoder_and_a_folder_without_tensors_do_not_generate);
    tcase_add_test(c, a_folder_of_pickles_is_refused_by_name);
    tcase_add_test(c, layers_of_a_folder_run_in_turn);
    tcase_add_test(c, layers_of_a_folder_refuse_wrong_files_and_options);
    tcase_add_test(c, a_stack_has_the_weights_of_successive_layers);
    tcase_add_loop_test(c, a_step_of_one_launch_gives_the_same_tokens, 0, 2);
    suite_add_tcase(suite, c);
    tcase_set_tags(more, "long");
    tcase_set_timeout(more, 1200);
    tcase_add_loop_test(more, every_target_gives_the_same_tokens, 0, sizeof targets / sizeof *targets);
    suite_add_tcase(suite, more);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
