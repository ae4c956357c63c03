/* Writes a Llama with random weights (f32, HuggingFace's names) for examples/llama.c: FOLDER/model.safetensors and FOLDER/config.json.
 *
 *   cc make_llama.c -o make_llama
 *   make_llama FOLDER [layers width heads kv_heads hidden vocabulary]      default: 2 64 4 2 160 97 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct writing {
    char header[1 << 20];
    size_t used;
    uint64_t bytes; /* of tensors added so far */
    FILE *file;
} writing;

static void add(writing *w, const char *name, int rows, int columns)
{
    const uint64_t bytes = (uint64_t)rows * (uint64_t)columns * sizeof(float);
    char shape[32];
    if (columns == 1) snprintf(shape, sizeof shape, "%d", rows);
    else snprintf(shape, sizeof shape, "%d,%d", rows, columns);
    w->used += (size_t)snprintf(w->header + w->used, sizeof w->header - w->used,
                                "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                                w->used ? "," : "{", name, shape, w->bytes, w->bytes + bytes);
    if (w->used >= sizeof w->header - 8) {
        fprintf(stderr, "make_llama: too many tensors\n");
        exit(1);
    }
    w->bytes += bytes;
}

/* The sum of twelve uniform numbers, which is nearly normal, and the same on every machine. */
static float normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return (float)sum;
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f) return f;
    perror(path);
    exit(1);
}

int main(int argc, char **argv)
{
    int n[6] = {2, 64, 4, 2, 160, 97};
    if (argc != 2 && argc != 8) {
        fprintf(stderr, "usage: make_llama FOLDER [layers width heads kv_heads hidden vocabulary]\n");
        return 2;
    }
    for (int i = 0; i < 6 && argc == 8; i++)
        if ((n[i] = atoi(argv[2 + i])) < 1) return 2;
    const int layers = n[0], width = n[1], heads = n[2], kv_heads = n[3], hidden = n[4], vocabulary = n[5], head = width / heads;

    mkdir(argv[1], 0777); /* on failure the first create() reports why */
    FILE *config = create(argv[1], "config.json");
    fprintf(config,
            "{\"model_type\": \"llama\", \"torch_dtype\": \"float32\", \"hidden_act\": \"silu\", \"max_position_embeddings\": 256,\n"
            " \"tie_word_embeddings\": false, \"num_hidden_layers\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d,\n"
            " \"num_key_value_heads\": %d, \"intermediate_size\": %d, \"vocab_size\": %d, \"rms_norm_eps\": 1e-5,\n"
            " \"rope_theta\": 10000.0}\n",
            layers, width, heads, kv_heads, hidden, vocabulary);
    if (fclose(config)) return 1;

    static writing w;
    add(&w, "model.embed_tokens.weight", vocabulary, width);
    add(&w, "model.norm.weight", width, 1);
    add(&w, "lm_head.weight", vocabulary, width);
    for (int i = 0; i < layers; i++) {
        const struct {
            const char *name;
            int rows, columns;
        } tensors[] = {{"input_layernorm.weight", width, 1},
                       {"self_attn.q_proj.weight", heads * head, width},
                       {"self_attn.k_proj.weight", kv_heads * head, width},
                       {"self_attn.v_proj.weight", kv_heads * head, width},
                       {"self_attn.o_proj.weight", width, heads * head},
                       {"post_attention_layernorm.weight", width, 1},
                       {"mlp.gate_proj.weight", hidden, width},
                       {"mlp.up_proj.weight", hidden, width},
                       {"mlp.down_proj.weight", width, hidden}};
        for (size_t t = 0; t < sizeof tensors / sizeof *tensors; t++) {
            char name[128];
            snprintf(name, sizeof name, "model.layers.%d.%s", i, tensors[t].name);
            add(&w, name, tensors[t].rows, tensors[t].columns);
        }
    }
    w.header[w.used++] = '}';
    while (w.used % 8) w.header[w.used++] = ' ';
    w.file = create(argv[1], "model.safetensors");
    const uint64_t size = w.used;
    fwrite(&size, sizeof size, 1, w.file);
    fwrite(w.header, 1, w.used, w.file);
    uint64_t state = 1;
    for (uint64_t i = 0; i < w.bytes / sizeof(float); i++) {
        const float x = 0.3f * normal(&state);
        fwrite(&x, sizeof x, 1, w.file);
    }
    return ferror(w.file) | fclose(w.file) ? 1 : 0;
}
