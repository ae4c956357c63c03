/* `tfgen import` on configs: golden specs of all families, both spellings of keys, inconsistent configs and folders. The configs of
 * tests/models are written for these tests. Runs $TFGEN (default ./tfgen). TFGEN_GOLDEN_UPDATE=1 rewrites tests/golden/import. */
#define _GNU_SOURCE
#include "runtime/data/safetensors.h"
#include "runtime/model/family.h"
#include "tests/shell.h"
#include <check.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-import-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

/* ---- goldens */
static const char *stem(const char *path)
{
    static char name[100];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*s", (int)strlen(slash + 1) - 5, slash + 1);
    return name;
}

START_TEST(every_family_has_its_specs)
{
    glob_t configs;
    make_folder();
    ck_assert_int_eq(glob("tests/models/*.json", 0, NULL, &configs), 0);
    for (size_t i = 0; i < configs.gl_pathc; i++) {
        char golden[200];
        const char *name = stem(configs.gl_pathv[i]);
        ck_assert_msg(tfgen("import %s -o %s/%s/", configs.gl_pathv[i], folder, name) == 0, "%s", output);
        ck_assert_int_eq(shell("cd %s/%s && for f in layers.json *.yaml; do echo \"==> $f\"; cat $f; done", folder, name), 0);
        snprintf(golden, sizeof golden, "tests/golden/import/%s.txt", name);
        const char *update = getenv("TFGEN_GOLDEN_UPDATE");
        if (update && strcmp(update, "1") == 0) write_file("tests/golden/import", golden + strlen("tests/golden/import/"), "%s", output);
        char *expected = whole_file(golden);
        ck_assert_msg(strcmp(expected, output) == 0, "%s:\nexpected\n%s\ngot\n%s", golden, expected, output);
        free(expected);
    }
    globfree(&configs);
    ck_assert_msg(tfgen("emit %s/*/*.yaml --dump=plan --quiet > /dev/null", folder) == 0, "%s", output); /* each can be planned */
    remove_folder();
}
END_TEST

/* Models with most of the features that others lack: norms written out, rope on part of a head, caps, windows, packed rows, a scale per
 * layer. */
static const char *const few[] = {"cohere --decode", "gemma3 --layer=0 --decode", "falcon", "clip_text_model", "bert --lengths",
                                  "mistral --left-padded", "bloom --decode --left-padded", "dinov2-giant",
                                  "stablelm-2 --decode"};

static void run_spec(const char *arguments, const char *dims)
{
    ck_assert_msg(shell("${TFGEN:-./tfgen} import tests/models/%.*s.json %s -o %s/spec.yaml -q 2>&1", (int)strcspn(arguments, " "),
                        arguments, arguments + strcspn(arguments, " "), folder) == 0,
                  "%s", output);
    ck_assert_msg(tfgen("run %s/spec.yaml --target=host --dim=%s --reference=always --repeat=0", folder, dims) == 0, "%s", output);
    says("good: every value is within its bound");
}

START_TEST(some_imported_models_are_right)
{
    make_folder();
    run_spec(few[_i], strstr(few[_i], "decode") ? "B=2,L=16" : "B=2,S=11");
    remove_folder();
}
END_TEST

START_TEST(all_imported_models_are_right)
{
    glob_t configs;
    make_folder();
    ck_assert_int_eq(glob("tests/models/*.json", 0, NULL, &configs), 0);
    for (size_t i = 0; i < configs.gl_pathc; i++)
        ck_assert_msg(shell("for layer in 0 1; do ${TFGEN:-./tfgen} import %s --layer=$layer -o %s/spec.yaml -q && ${TFGEN:-./tfgen} run "
                            "%s/spec.yaml --target=host --dim=B=2,S=11 --reference=always --repeat=0 || exit 1; done 2>&1",
                            configs.gl_pathv[i], folder, folder) == 0, "%s", output);
    globfree(&configs);
    remove_folder();
}
END_TEST

/* ---- both spellings */
#define SIZES \
    "\"hidden_size\": 32, \"num_hidden_layers\": 6, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 48, " \
    "\"max_position_embeddings\": 256, "
static const char *const spellings[][2] = {
    {"{\"model_type\": \"gemma3_text\", " SIZES "\"sliding_window\": 8, \"rope_theta\": 1e6, \"rope_local_base_freq\": 10000, "
     "\"sliding_window_pattern\": 3, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 8}, \"torch_dtype\": \"float16\"}",
     "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", " SIZES "\"sliding_window\": 8, \"rope_parameters\": "
     "{\"full_attention\": {\"rope_type\": \"linear\", \"factor\": 8.0, \"rope_theta\": 1000000.0}, \"sliding_attention\": {\"rope_type\": "
     "\"default\", \"rope_theta\": 10000.0}}, \"layer_types\": [\"sliding_attention\", \"sliding_attention\", \"full_attention\", "
     "\"sliding_attention\", \"sliding_attention\", \"full_attention\"]}, \"dtype\": \"float16\", \"vision_config\": {}}"},
    {"{\"model_type\": \"gpt_neox\", \"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"intermediate_size\": 48, "
     "\"max_position_embeddings\": 64, \"rotary_pct\": 0.5, \"rotary_emb_base\": 20000}",
     "{\"model_type\": \"gpt_neox\", \"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"intermediate_size\": 48, "
     "\"max_position_embeddings\": 64, \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 20000.0, "
     "\"partial_rotary_factor\": 0.5}}"}};

START_TEST(configs_of_transformers_4_and_5_give_the_same_spec)
{
    make_folder();
    write_file(folder, "4.json", "%s", spellings[_i][0]);
    write_file(folder, "5.json", "%s", spellings[_i][1]);
    for (int n = 4; n <= 5; n++) ck_assert_msg(tfgen("import %s/%d.json -o %s/%d/ -q", folder, n, folder, n) == 0, "%s", output);
    ck_assert_msg(shell("cd %s && for f in 4/*.yaml; do cmp $f 5/${f#4/} || exit 1; done", folder) == 0, "%s", output);
    remove_folder();
}
END_TEST

/* ---- configs that lie */
#define FEW_SIZES "\"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4"
#define ENCODER_SIZES FEW_SIZES ", \"intermediate_size\": 48"
#define GEMMA3 "{\"model_type\": \"gemma3_text\", " SIZES "\"sliding_window\": 8, "
#define CLIP "{\"model_type\": \"clip\", \"text_config\": {" ENCODER_SIZES "}, \"vision_config\": {\"model_type\": \"clip_vision_model\"}"
#define LLAMA "{\"model_type\": \"llama\", " SIZES
static const struct {
    const char *config, *arguments;
    int code;
    const char *says;
} bad[] = {
    {"", "", 3, "c.json:1:1: error: '[' or '{' expected near end of file"},
    {"{\"model_type\": \"llama\",\n \"hidden_size\": 32,\n \"hidden_size\": 32}", "", 3, "c.json:3:14: error: duplicate object key"},
    {"[]", "", 3, "a config.json should be an object"},
    {"{}", "", 3, "model_type: is missing"},
    {"{\"model_type\": 3}", "", 3, "model_type: should be a string"},
    {"{\"model_type\": \"lama\"}", "", 4, "model_type: unknown family lama; did you mean 'llama'?"},
    {"{\"model_type\": \"mixtral\"}", "", 4, "mixtral is not supported; its layers have experts"},
    {"{\"model_type\": \"mamba2\"}", "", 4, "a state space"},
    {"{\"model_type\": \"llama\"}", "", 3, "num_hidden_layers: is missing"},
    {LLAMA "\"hidden_act\": \"leaky_relu\"}", "", 0, "op: leaky_relu, in: [gate, 0.01]}"},
    {LLAMA "\"hidden_act\": \"xielu\"}", "", 4, "hidden_act: activation xielu is not supported"},
    {LLAMA "\"use_alibi_bias\": true}", "", 3, "use_alibi_bias: unknown key, which may change the mathematics of a layer"},
    {LLAMA "\"mlp_biass\": true}", "", 3, "mlp_biass: unknown key, which may change the mathematics of a layer; did you mean 'mlp_bias'?"},
    {LLAMA "\"sliding_window\": 8}", "", 3, "sliding_window: layers of llama do not have this, but the value enables it"},
    {LLAMA "\"sliding_window\": null}", "-o /dev/null", 0, ""},
    /* spellings of other families, which transformers' class does not read: the same value or none */
    {LLAMA "\"n_embd\": 32, \"n_head\": 4, \"qkv_bias\": false}", "-o /dev/null", 0, ""},
    {LLAMA "\"qkv_bias\": true}", "", 3, "qkv_bias: llama does not read this key, but other families do"},
    {LLAMA "\"attention_bias\": false, \"use_bias\": true}", "", 3, "use_bias: contradicts attention_bias"},
    {LLAMA "\"layer_norm_eps\": 1e-5}", "", 3, "layer_norm_eps: llama does not read this key"},
    {LLAMA "\"partial_rotary_factor\": 0.5}", "", 3, "partial_rotary_factor: layers of llama do not have this, but the value enables it"},
    {LLAMA "\"rope_parameters\": {\"rope_theta\": 1e4, \"partial_rotary_factor\": 0.5}}", "", 3,
     "rope_parameters.partial_rotary_factor: layers of llama rotate whole heads"},
    {LLAMA "\"partial_rotary_factor\": 1.0, \"rotary_pct\": 1}", "-o /dev/null", 0, ""},
    {LLAMA "\"partial_rotary_factor\": 1}", "-o /dev/null", 0, ""},
    {"{\"model_type\": \"olmo\", " SIZES "\"rms_norm_eps\": 1e-6}", "", 3, "rms_norm_eps: olmo does not read this key"},
    {"{\"model_type\": \"bloom\", \"n_inner\": 40, " ENCODER_SIZES "}", "", 3, "n_inner: bloom does not read this key"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"bias\": true}, " FEW_SIZES "}", "", 3,
     "attn_config.bias: layers of mpt do not have this"},
    /* keys in published files, which the class does not read */
    {LLAMA "\"activation\": \"swiglu\", \"max_sequence_length\": 2048}", "", 0, "op: silu,"},
    {"{\"model_type\": \"phi\", \"partial_rotary_factor\": 0.5, \"rotary_dim\": 32, \"max_position_embeddings\": 64, " ENCODER_SIZES "}",
     "", 0, "rotary: hd/2"},
    {"{\"model_type\": \"bloom\", \"offset_alibi\": 100, \"skip_bias_add\": true, \"skip_bias_add_qkv\": false, \"unk_token_id\": 0, "
     "\"hidden_size\": 32, \"n_layer\": 1, \"num_attention_heads\": 4, \"n_inner\": null}", "", 0, "F: 128}"},
    {"{\"model_type\": \"qwen2\", " SIZES "\"use_mrope\": false}", "-o /dev/null", 0, ""},
    {"{\"model_type\": \"qwen2\", " SIZES "\"use_mrope\": true}", "", 4, "use_mrope: is not supported unless it is false"},
    {"{\"model_type\": \"gemma2\", " SIZES "\"sliding_window\": 8, \"sliding_window_size\": 8}", "--layer=0", 0, "window: 8"},
    {LLAMA "\"rms_norm_eps\": \"1e-5\"}", "", 3, "rms_norm_eps: should be a number"},
    {LLAMA "\"rms_norm_eps\": -1}", "", 3, "rms_norm_eps: should be from 0 to 1"},
    {LLAMA "\"head_dim\": 1e300}", "", 3, "head_dim: should be a whole number from 0 to 2147483647"},
    {LLAMA "\"head_dim\": 99999999999999999999}", "", 3, "error: too big integer near"},
    {LLAMA "\"head_dim\": 2147483646}", "", 3, "error: "},
    {LLAMA "\"head_dim\": 7}", "", 4, "head_dim: rope rotates 7 of a head's 7 columns; it should be an even number"},
    {LLAMA "\"n_head\": 8}", "", 3, "n_head: contradicts num_attention_heads"},
    {LLAMA "\"attention_bias\": 1}", "", 3, "attention_bias: should be true or false"},
    {LLAMA "\"quantization_config\": {\"quant_method\": \"gptq\"}}", "", 4, "quantization_config: is not supported unless it is null"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"warp\", \"factor\": 4}}", "", 4, "rope_scaling.rope_type: warp is not supported"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"linear\"}}", "", 3, "rope_scaling.factor: is missing"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 0}}", "", 3, "rope_scaling.factor: should be above 0"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2, \"beta\": 1}}", "", 3,
     "rope_scaling.beta: this type of rope does not have this key"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, \"beta_fast\": 1}}", "", 3,
     "rope_scaling: beta_slow should be below beta_fast"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 2]}}", "", 3,
     "rope_scaling.short_factor: should be a list of 4 numbers, one for each rotated pair"},
    {LLAMA "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 2, 3, 0]}}", "", 3,
     "rope_scaling.short_factor: numbers should be above 0"},
    {LLAMA "\"vocab_size\": 5}", "--length=257", 2, "--length=257: the model has 256 positions"},
    {"{\"model_type\": \"olmo3\", " SIZES "\"rope_parameters\": {\"rope_theta\": 5e5}}", "", 3,
     "rope_parameters: should have a map for full_attention and one for sliding_attention"},
    {LLAMA "\"rope_parameters\": []}", "", 3, "rope_parameters: should be an object"},
    {LLAMA "\"layer_types\": [\"linear_attention\"]}", "", 3, "layer_types: should be a list of 6 strings, one per layer"},
    {"{\"model_type\": \"mistral\", " SIZES "\"layer_types\": [\"a\", 1, 2, 3, 4, 5]}", "", 4,
     "layer_types[0]: a is not supported; full_attention"},
    {LLAMA "\"vocab_size\": 5}", "--lengths", 2, "--lengths is for encoders: llama is causal"},
    {"{\"model_type\": \"modernbert\", \"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
     "\"intermediate_size\": 48, \"max_position_embeddings\": 64}", "--lengths --left-padded", 2,
     "--lengths is for batches padded on the right"},
    {LLAMA "\"position_embedding_type\": \"relative_key\"}", "", 4,
     "position_embedding_type: is not supported unless it is [\"absolute\", \"rope_gptj\"]"},
    {LLAMA "\"position_embedding_type\": \"rope_gptj\"}", "-o /dev/null", 0, ""},
    {"{\"model_type\": \"starcoder2\", " SIZES "\"hidden_act\": \"relu\", \"activation_function\": \"gelu\"}", "", 0, "op: relu,"},
    {"{\"model_type\": \"gemma2\", " SIZES "\"sliding_window\": 8}", "", 2,
     "the model has 2 kinds of layers: sliding (layers 0, 2, 4 of 6); full (layers 1, 3, 5 of 6). Choose a layer with --layer=N"},
    {LLAMA "\"vocab_size\": 5}", "--layer=6", 2, "--layer=6: layer 6 does not exist (the model has layers 0 to 5)"},
    {"{\"model_type\": \"bert\", " SIZES "\"vocab_size\": 5}", "--decode", 3, "num_key_value_heads: layers of bert do not have this"},
    {"{\"model_type\": \"bert\", \"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"intermediate_size\": 48}",
     "--decode", 2, "--decode: bert is an encoder and does not generate"},
    {GEMMA3 "\"rope_local_base_freq\": 0}", "--layer=0", 3, "rope_local_base_freq: should be above 0"},
    {GEMMA3 "\"rope_parameters\": {\"full_attention\": null, \"sliding_attention\": {}}}", "--layer=5", 0, "theta: 1000000"},
    {GEMMA3 "\"hidden_act\": \"relu\"}", "--layer=0", 0, "op: gelu_tanh,"},
    {"{\"model_type\": \"gemma\", " SIZES "\"hidden_act\": \"gelu\", \"hidden_activation\": \"relu\"}", "", 3,
     "hidden_activation: contradicts hidden_act"},
    {"{\"model_type\": \"clip_text_model\", " ENCODER_SIZES "}", "", 0, "op: quick_gelu,"},
    {"{\"model_type\": \"siglip_vision_model\", " ENCODER_SIZES "}", "", 0, "op: gelu_tanh,"},
    {"{\"model_type\": \"vit\", " ENCODER_SIZES "}", "", 0, "op: gelu_erf,"},
    {"{\"model_type\": \"falcon\", \"new_decoder_architecture\": true, \"parallel_attn\": false, \"num_kv_heads\": 2, " FEW_SIZES "}",
     "", 0, "from: ln_mlp.weight"},
    {"{\"model_type\": \"stablelm\", \"hidden_size\": 512, \"num_hidden_layers\": 1, \"num_attention_heads\": 64, "
     "\"intermediate_size\": 48}",
     "", 0, "KV: 32"},
    {"{\"model_type\": \"stablelm\", \"qk_layernorm\": true, \"hidden_size\": 2056, \"num_hidden_layers\": 1, "
     "\"num_attention_heads\": 257, \"num_key_value_heads\": 257, \"intermediate_size\": 48}",
     "", 4, "num_attention_heads: norms of more than 256 heads, with a tensor per head, are not supported"},
    {"{\"model_type\": \"phi3\", " SIZES "\"rope_scaling\": {\"type\": \"yarn\", \"short_factor\": [1, 1, 1, 2]}}", "", 0,
     "scaling: {type: longrope, factors: [1, 1, 1, 2]}"},
    {LLAMA "\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], \"original_max_position_embeddings\": 1}}", "", 3,
     "original_max_position_embeddings: should be a whole number of at least 2"},
    {LLAMA "\"rope_parameters\": {\"rope_theta\": 1e4}, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}}", "", 3,
     "rope_scaling: contradicts rope_parameters"},
    {LLAMA "\"torch_dtype\": \"float8_e4m3fn\"}", "", 4, "torch_dtype: float8_e4m3fn is not supported; specs take float32, float16"},
    {"{\"quantization_config\": {\"quant_method\": \"gptq\"}, \"text_config\": " LLAMA "\"vocab_size\": 5}}", "", 4,
     "error: quantization_config: quantised weights are not imported"},
    {LLAMA "\"_attn_implementation_autoset\": true, \"is_llama_config\": true, \"transformers.js_config\": {}}", "", 0, ""},
    {"{\"model_type\": \"qwen2\", " SIZES "\"layer_types\": [\"sliding_attention\", \"full_attention\", \"full_attention\", "
     "\"full_attention\", \"full_attention\", \"full_attention\"]}",
     "--layer=0", 3, "layer_types: layer 0 has sliding_attention, but use_sliding_window is false"},
    {"{\"model_type\": \"bert\", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}, " ENCODER_SIZES "}", "", 3,
     "rope_scaling: layers of bert have no rope"},
    {LLAMA "\"rope_theta\": 1e-300}", "", 3, "rope_theta: should be a number whose size is from 1e-30 to 1e30, or 0"},
    {"{\"model_type\": \"dinov2\", \"mlp_ratio\": 0, \"hidden_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 4}", "", 3,
     "mlp_ratio: makes 0 columns of the feed-forward half"},
    {"{\"model_type\": \"dinov2\", \"mlp_ratio\": 1, \"use_swiglu_ffn\": true, \"hidden_size\": 1, \"num_hidden_layers\": 1, "
     "\"num_attention_heads\": 1}",
     "", 3, "mlp_ratio: makes 0 columns of the feed-forward half"},
    {"{\"model_type\": \"dinov2\", \"mlp_ratio\": 4, \"use_swiglu_ffn\": true, \"hidden_size\": 1536, \"num_hidden_layers\": 40, "
     "\"num_attention_heads\": 24}",
     "", 0, "F: 4096}"},
    {"{\"model_type\": \"mamba2\", \"time_step_limit\": [0.0, Infinity]}", "", 4, "mamba2 is not supported; its layers have a state space"},
    {LLAMA "\"rope_theta\": -Infinity, \"vocab_size\": 5}", "", 3, "rope_theta: should be a number whose size is from 1e-30 to 1e30"},
    {LLAMA "\"_name_or_path\": \"Infinity\\\"Infinity\"}", "", 0, ""},
    {LLAMA "\"vocab_size\": Infinit}", "", 3, "error: invalid token near 'Infinit'"},
    {"{\"model_type\": \"grounding-dino\", \"text_config\": {\"model_type\": \"bert\", " ENCODER_SIZES "}}", "", 4,
     "model_type: grounding-dino has a text_config, but it is not known"},
    {CLIP "}", "", 4, "model_type: clip has an encoder of texts and one of images; tfgen import and run take --part=text"},
    {CLIP "}", "--part=text", 0, "D: 32, H: 4"},
    {CLIP "}", "--part=vision", 0, "D: 768, H: 12"}, /* sizes of the class */
    /* transformers takes the older key where both are there, with the class's defaults for what it lacks */
    {CLIP ", \"text_config_dict\": {\"hidden_size\": 64}}", "--part=text", 0, "D: 64, H: 8"},
    {CLIP ", \"text_config_dict\": null}", "--part=text", 0, "D: 32, H: 4"},
    {CLIP ", \"vision_config_dict\": 1}", "--part=vision", 3, "vision_config_dict: should be an object"},
    {CLIP "}", "--part=sound", 2, "--part"},
    {CLIP ", \"quantization_config\": {}}", "--part=text", 4, "quantization_config: quantised weights are not imported"},
    {"{\"model_type\": \"siglip\", \"vision_config\": []}", "--part=vision", 3, "vision_config: should be an object"},
    {"{\"model_type\": \"siglip\"}", "--part=text", 3, "text_config: is missing"},
    {LLAMA "\"vocab_size\": 5}", "--part=text", 2, "--part=text: only models of an encoder of texts and one of images"},
    {"{\"model_type\": \"llava\", \"text_config\": " LLAMA "\"vocab_size\": 5}}", "", 0, "block: llama"},
    /* transformers' class reads it and never applies it */
    {"{\"model_type\": \"gemma3_text\", \"attn_logit_softcapping\": 50.0, " ENCODER_SIZES "}", "", 3,
     "attn_logit_softcapping: layers of gemma3_text do not have this"},
    {"{\"model_type\": \"falcon\", \"alibi\": true, " FEW_SIZES "}", "", 4,
     "alibi: ALiBi of falcon, which is rounded by position, is not supported"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"alibi\": false}, " FEW_SIZES "}", "", 4,
     "attn_config.alibi: layers of mpt without ALiBi are not supported"},
    /* keys of attention outside of attn_config, and others in it, which transformers' class does not read */
    {"{\"model_type\": \"mpt\", \"softmax_scale\": 0.3, \"max_seq_len\": 64, " FEW_SIZES "}", "", 3,
     "error: softmax_scale: mpt reads this key in attn_config only"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"softmax_scale\": 0.3}, \"softmax_scale\": 0.4, \"max_seq_len\": 64, "
     FEW_SIZES "}", "", 3,
     "error: softmax_scale: contradicts attn_config.softmax_scale"},
    {"{\"model_type\": \"mpt\", \"softmax_scale\": 0.3, \"attn_config\": {\"softmax_scale\": 0.3}, \"clip_qkv\": null, "
     "\"alibi\": false, \"max_seq_len\": 64, " FEW_SIZES "}", "", 0, "scale: 0.3, alibi: ["},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"max_seq_len\": 32}, " FEW_SIZES "}", "", 3,
     "error: attn_config.max_seq_len: contradicts max_position_embeddings"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"layer_norm_epsilon\": 1e-3}, " FEW_SIZES "}", "", 3,
     "error: attn_config.layer_norm_epsilon: mpt reads this key outside attn_config only"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"n_heads\": 4, \"n_layers\": 1}, " FEW_SIZES "}", "-o /dev/null", 0, ""},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"attn_config\": {}}, " FEW_SIZES "}", "", 3,
     "error: attn_config.attn_config: unknown key"},
    {LLAMA "\"attn_config\": {\"clip_qkv\": 8}}", "", 3, "error: attn_config: unknown key"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"kv_n_heads\": 2}, " ENCODER_SIZES "}", "", 3, "attn_config.kv_n_heads: unknown key"},
    {"{\"model_type\": \"mpt\", \"attn_config\": [], " ENCODER_SIZES "}", "", 3, "attn_config: should be an object"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"alibi_bias_max\": 16}, " ENCODER_SIZES "}", "", 4,
     "attn_config.alibi_bias_max: is not supported unless it is 8"},
    {"{\"model_type\": \"olmo3\", " SIZES "\"rope_theta\": 1e4}", "--layer=0", 0, "theta: 10000}"}, /* spelled as in transformers 4 */
    {"{\"model_type\": \"olmo3\", " SIZES "\"rope_theta\": 1e4}", "--layer=3", 0, "theta: 10000}"},
};
enum { bad_count = sizeof bad / sizeof *bad };

START_TEST(a_config_with_a_wrong_value_is_refused_by_name)
{
    make_folder();
    write_file(folder, "c.json", "%s", bad[_i].config);
    ck_assert_msg(tfgen("import %s/c.json %s", folder, bad[_i].arguments) == bad[_i].code, "%s: %s", bad[_i].config, output);
    says(bad[_i].says);
    remove_folder();
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    static char deep[200001];
    make_folder();
    memset(deep, '[', sizeof deep - 1);
    write_file(folder, "c.json", "{\"a\": %s", deep);
    ck_assert_int_eq(tfgen("import %s/c.json", folder), 3);
    says("maximum parsing depth reached");
    remove_folder();
}
END_TEST

/* ---- folders */
typedef struct saved {
    arena *a;
    const char *path, *prefix, *more;
} saved;

/* Writes the tensors of one layer of tests/models/gpt2.json, each of one number: import reads only names. */
static void save_names(void *argument)
{
    static const char *const names[] = {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias", "attn.c_attn.weight", "attn.c_attn.bias",
                                        "attn.c_proj.weight", "attn.c_proj.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight"};
    enum { count = sizeof names / sizeof *names };
    static const long long one[] = {1};
    static const float zero;
    saved *s = argument;
    safetensors_item items[2 * (count + 1)];
    size_t n = 0;
    for (int layer = 0; layer < 2; layer++) {
        for (int i = 0; i < count; i++)
            items[n++] = (safetensors_item){arena_printf(s->a, "%s%d.%s", s->prefix, layer, names[i]), "F32", 1, one, &zero};
        items[n++] = (safetensors_item){arena_printf(s->a, "%s%d.%s", s->prefix, layer, s->more), "F32", 1, one, &zero};
    }
    safetensors_write(s->a, s->path, items, n);
}

static void save_model(const char *prefix, const char *more)
{
    char path[200];
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    saved s = {arena_new(), path, prefix, more};
    ck_assert_int_eq(arena_run(s.a, save_names, &s), code_ok);
    arena_free(s.a);
}

START_TEST(tensors_of_the_folder_are_compared)
{
    make_folder();
    ck_assert_int_eq(shell("cp tests/models/gpt2.json %s/config.json && echo 'raise Exception' > %s/modeling.py", folder, folder), 0);
    save_model("h.", "mlp.c_proj.bias");
    ck_assert_msg(tfgen("import %s --layer=1", folder) == 0, "%s", output);
    says("prefix: h.{layer}. ");
    save_model("transformer.h.", "mlp.c_proj.bias");
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 0);
    says("prefix: transformer.h.{layer}. ");
    save_model("layers.", "mlp.c_proj.bias");
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("no tensor of a layer of gpt2; their names begin with transformer.h.{layer}., h.{layer}.");
    save_model("h.", "attn.masked_bias");
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("tensor h.1.mlp.c_proj.bias is missing; config.json implies it");
    ck_assert_ptr_null(strstr(output, "masked_bias"));
    save_model("h.", "attn.q_norm.weight");
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("tensor h.1.attn.q_norm.weight is not used by the spec of its layer");
    remove_folder();
}
END_TEST

/* Writes an index that names all tensors of tests/models/bert.json except those of `missing`; norms have the names of the original BERT. */
static void write_bert_index(const char *missing)
{
    static const char *const names[] = {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                                        "intermediate.dense", "output.dense", "attention.output.LayerNorm", "output.LayerNorm"};
    char path[200], name[200];
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "{\"weight_map\": {\"x\": \"a.safetensors\"");
    for (int i = 0; i < 32; i++) {
        const bool norm = i % 8 >= 6, bias = i / 8 % 2;
        snprintf(name, sizeof name, "bert.encoder.layer.%d.%s.%s", i / 16, names[i % 8],
                 norm ? bias ? "beta" : "gamma" : bias ? "bias" : "weight");
        if (strcmp(name, missing) != 0) fprintf(f, ", \"%s\": \"a.safetensors\"", name);
    }
    fprintf(f, "}}");
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(every_layer_has_its_tensors_under_the_names_of_the_file)
{
    make_folder();
    ck_assert_int_eq(shell("cp tests/models/bert.json %s/config.json", folder), 0);
    write_bert_index("");
    ck_assert_msg(tfgen("import %s", folder) == 0, "%s", output);
    says("from: attention.output.LayerNorm.gamma");
    says("from: output.LayerNorm.beta");
    write_bert_index("bert.encoder.layer.1.output.dense.bias");
    ck_assert_int_eq(tfgen("import %s --layer=0", folder), 0);
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("tensor bert.encoder.layer.1.output.dense.bias is missing; config.json implies it");
    ck_assert_int_eq(tfgen("import %s -o %s/specs/", folder, folder), 3);
    remove_folder();
}
END_TEST

START_TEST(a_file_of_any_name_and_a_broken_link_are_tensors_of_the_folder)
{
    make_folder();
    ck_assert_int_eq(shell("cp tests/models/gpt2.json %s/config.json", folder), 0);
    save_model("h.", "attn.q_norm.weight");
    ck_assert_int_eq(shell("mv %s/model.safetensors %s/other.safetensors", folder, folder), 0);
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("other.safetensors: error: tensor h.1.mlp.c_proj.bias is missing");
    ck_assert_int_eq(shell("ln -s nowhere %s/model.safetensors", folder), 0);
    ck_assert_int_eq(tfgen("import %s --layer=1", folder), 3);
    says("model.safetensors: error: cannot open: No such file");
    remove_folder();
}
END_TEST

START_TEST(a_spec_reads_the_tensors_of_its_layer)
{
    make_folder();
    ck_assert_msg(tfgen("import tests/models/gpt_neox.json -o %s/spec.yaml -q", folder) == 0, "%s", output);
    ck_assert_int_eq(tfgen("run %s/spec.yaml --weights=nowhere.safetensors --layer=0", folder), 3);
    ck_assert_int_eq(tfgen("run %s/spec.yaml --part=text", folder), 2);
    says("--part is for a model's folder, not for a SPEC");
    ck_assert_int_eq(tfgen("run %s/spec.yaml --layer=0", folder), 2);
    says("--layer selects a layer of --weights, and --weights is not given");
    remove_folder();
}
END_TEST

START_TEST(the_page_has_every_family)
{
    char *page = whole_file("docs/import.md"), name[100];
    for (size_t i = 0; family_name(i); i++) {
        snprintf(name, sizeof name, "`%s`", family_name(i));
        ck_assert_msg(strstr(page, name) != NULL, "docs/import.md does not name %s", name);
    }
    free(page);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import");
    TCase *c = tcase_create("import"), *more = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, every_family_has_its_specs);
    tcase_add_loop_test(c, some_imported_models_are_right, 0, sizeof few / sizeof *few);
    tcase_add_loop_test(c, configs_of_transformers_4_and_5_give_the_same_spec, 0, sizeof spellings / sizeof *spellings);
    tcase_add_loop_test(c, a_config_with_a_wrong_value_is_refused_by_name, 0, bad_count);
    tcase_add_test(c, deep_nesting_is_refused);
    tcase_add_test(c, tensors_of_the_folder_are_compared);
    tcase_add_test(c, every_layer_has_its_tensors_under_the_names_of_the_file);
    tcase_add_test(c, a_file_of_any_name_and_a_broken_link_are_tensors_of_the_folder);
    tcase_add_test(c, a_spec_reads_the_tensors_of_its_layer);
    tcase_add_test(c, the_page_has_every_family);
    suite_add_tcase(suite, c);
    tcase_set_tags(more, "long");
    tcase_set_timeout(more, 1200);
    tcase_add_test(more, all_imported_models_are_right);
    suite_add_tcase(suite, more);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
