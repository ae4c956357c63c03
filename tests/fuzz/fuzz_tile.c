/* In: "NUMBER NUMBER", then a line of tile settings. The first number chooses a phase of a planned program (tests/corpus/text), whose tile
 * line the settings become; the second the target, and whether the settings are a line of --tile instead. A finding: a tile that crashes,
 * that makes a launch which the target cannot run, or that is refused without a message. */
#include "tests/fuzz/fuzz_pipeline.h"
#include <glob.h>
#include <stdlib.h>

static const char *const samples[] = {"tests/corpus/tile/*", NULL};
static const char *const tokens[] = {"m=",
                                     "n=",
                                     "k=",
                                     "threads=",
                                     "thread_m=",
                                     "thread_n=",
                                     "stages=",
                                     "split_k=",
                                     "group_m=",
                                     "cluster=",
                                     "smem_epilogue=",
                                     "layer=simt",
                                     "layer=wgmma",
                                     "layer=wgmma_3xtf32",
                                     "layer=mfma",
                                     "layer=wmma",
                                     "layer=mma",
                                     "team=",
                                     "V=",
                                     "rows=",
                                     "queries=",
                                     "keys=",
                                     "splits=",
                                     "waves=",
                                     "warps=",
                                     "64",
                                     "128",
                                     "256",
                                     "1024",
                                     "16",
                                     "8",
                                     "4",
                                     "0",
                                     "1",
                                     " ",
                                     "\n",
                                     ": ",
                                     "gemm: ",
                                     "gate_up: ",
                                     "k1.qkv: ",
                                     "attention: ",
                                     ",",
                                     NULL};
const fuzz_kind fuzz_this = {.name = "fuzz_tile", .samples = samples, .tokens = tokens, .most_bytes = 1 << 10, .text = true, .cases = 3000};

enum { most_bases = 64, most_size = 256 << 10 };
typedef struct base {
    char *text;
    int tiles;
} base;
static base bases[most_bases];
static int base_count, tile_count;
static const char mark[] = "\n    tile ";

static void load_bases(void)
{
    glob_t found;
    if (glob("tests/corpus/text/*", 0, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc && base_count < most_bases; i++) {
        FILE *f = fopen(found.gl_pathv[i], "rb");
        char *text = calloc(1, most_size);
        if (f && text) text[fread(text, 1, most_size - 1, f)] = 0;
        if (f) fclose(f);
        base b = {.text = text};
        for (const char *at = text; at && (at = strstr(at, mark)); at++) b.tiles++;
        if (b.tiles) bases[base_count++] = b, tile_count += b.tiles;
        else free(text);
    }
    globfree(&found);
}

/* The base of a tile line, and where in its text that begins. */
static const char *tile_at(long number, const char **text)
{
    int i = 0;
    for (number %= tile_count; number >= bases[i].tiles; i++) number -= bases[i].tiles;
    const char *at = strstr(bases[i].text, mark);
    while (number--) at = strstr(at + 1, mark);
    *text = bases[i].text;
    return at + sizeof mark - 1;
}

typedef struct tile_case {
    pipeline t;
    long phase, how;
    char settings[1 << 10];
} tile_case;

static void body(void *argument)
{
    tile_case *c = argument;
    pipeline *t = &c->t;
    const char *text, *at = tile_at(c->phase, &text), *end = strchr(at, '\n');
    size_t count;
    const target_info *targets = target_list(&count), *target = &targets[(size_t)c->how / 2 % count];
    const bool tunes = c->how % 2;
    const char *whole = tunes ? text : arena_printf(t->a, "%.*s%s%s", (int)(at - text), text, c->settings, end);
    const char *line = c->settings;
    ir_graph *p = ir_read(t->a, whole, strlen(whole), "fuzz.ir");
    plan *made = plan_choose(t->a, p, device_model_default(t->a, target), &(tuning){.lines = &line, .count = tunes});
    check_text(t, made->ir, "planned.ir");
    emit(t->a, made);
    check_plan(t, made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!base_count) load_bases();
    if (!base_count) fuzz_finding("no planned programs in tests/corpus/text", NULL);
    tile_case c = {.t.a = arena_new()};
    char copy[1 << 10] = "", *rest;
    memcpy(copy, data, size < sizeof copy ? size : sizeof copy - 1);
    c.phase = (long)(strtoul(copy, &rest, 10) & 0xffffff);
    c.how = (long)(strtoul(rest, &rest, 10) & 0xffffff);
    rest += strspn(rest, " \n");
    snprintf(c.settings, sizeof c.settings, "%.*s", (int)strcspn(rest, "\n"), rest);
    const tfgen_code code = arena_run(c.t.a, body, &c);
    if (code != code_ok && code != code_usage && code != code_bad_input && code != code_unsupported)
        fuzz_finding("an exit code that planning and emitting do not have", arena_diagnostics(c.t.a));
    fuzz_taken += code == code_ok;
    if ((code == code_ok) != (arena_diagnostics(c.t.a)[0] == 0)) fuzz_finding("refused without a word", arena_diagnostics(c.t.a));
    arena_free(c.t.a);
    return 0;
}
