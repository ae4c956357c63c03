/* In: a bundle and a spec's text. Out: the library and the header of `tfgen build` (build.h). The library has the bytes of both, by
 * the assembler's .incbin; the header has inline functions. Refuses a temporary folder whose name an assembler would misread. */
#define _GNU_SOURCE
#include "runtime/cli/build.h"
#include "gen/base/names.h"
#include "runtime/host/process.h"
#include "runtime/system/temporary.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { tool_limit_ms = 120000, most_words = 64 };
static const size_t most_library = (size_t)4 << 30;

/* ---- the tools */
static char *in_path(arena *a, const char *name)
{
    const char *path = secure_getenv("PATH");
    if (strchr(name, '/')) return access(name, X_OK) ? NULL : arena_strdup(a, name);
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        const size_t n = strcspn(p, ":");
        char *full = arena_printf(a, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
        struct stat s;
        if (!stat(full, &s) && S_ISREG(s.st_mode) && !access(full, X_OK)) return full;
        p += n + (p[n] == ':');
    }
    return NULL;
}

/* Runs a tool; $CC and $AR may have several words: "ccache gcc". If this process dies meanwhile, `folder` is removed. */
static void run_tool(arena *a, const char *variable, const char *otherwise, const char *folder, const char *const *arguments, size_t count)
{
    char *argv[most_words + 1];
    size_t n = 0;
    const char *given = secure_getenv(variable), *words = given && *given ? given : otherwise;
    for (size_t w; *(words += strspn(words, " \t")) && n < most_words / 2; words += w)
        argv[n++] = arena_strndup(a, words, w = strcspn(words, " \t"));
    char *program = n ? in_path(a, argv[0]) : NULL;
    if (!program)
        bail(a, code_unsupported, (position){0},
             "build: there is no '%s' on this machine; it makes the library: apt-get install gcc binutils, or set %s",
             n ? argv[0] : variable, variable);
    argv[0] = program;
    for (size_t i = 0; i < count && n < most_words; i++) argv[n++] = (char *)arguments[i];
    argv[n] = NULL;
    host_log log = {0};
    const process_end end = process_run(argv, -1, folder, tool_limit_ms, &log);
    const char *said = arena_strdup(a, log.text ? log.text : "");
    host_log_free(&log);
    if (end != PROCESS_OK) bail_with_log(a, code_io, (position){0}, said, "build: %s failed", program);
}

/* ---- names */
static const char *set_apart(arena *a, const char *name) { return strncasecmp(name, "tfgen", 5) ? name : arena_printf(a, "x%s", name); }
const char *build_identifier(arena *a, const char *block) { return set_apart(a, name_stem(a, block)); }
const char *build_file(arena *a, const char *block) { return set_apart(a, block); }

/* ---- the library */
static void remove_folder(void *folder) { temporary_close(folder); }

static const temporary_folder *make_folder(arena *a)
{
    temporary_folder *t = arena_alloc(a, sizeof *t);
    if (strpbrk(temporary_base(), "\"\\\n") || strlen(temporary_base()) > 4000)
        bail(a, code_usage, (position){0}, "build: TMPDIR has characters that an assembler misreads");
    if (!temporary_open(t)) bail(a, code_io, (position){0}, "build: cannot make a folder in %s: %s", temporary_base(), strerror(errno));
    arena_defer(a, remove_folder, t);
    return t;
}

static void declare_bytes(text *t, const char *id, const char *what, const char *folder, const char *end)
{
    text_printf(t, "    .balign 64\n    .global %s_%s\n    .type %s_%s, %%object\n%s_%s:\n    .incbin \"%s/%s\"\n", id, what, id, what, id,
                what, folder, what);
    text_printf(t, ".Lend_%s:\n%s    .size %s_%s, .Lend_%s - %s_%s\n    .balign 8\n", what, end, id, what, what, id, what);
    text_printf(
        t, "    .global %s_%s_size\n    .type %s_%s_size, %%object\n    .size %s_%s_size, 8\n%s_%s_size:\n    .quad .Lend_%s - %s_%s\n", id,
        what, id, what, id, what, id, what, what, id, what);
}

const char *build_write_library(arena *a, const build_library *l, const char *folder)
{
    const temporary_folder *t = make_folder(a);
    const char *work = t->path, *path = arena_printf(a, "%s/lib%s.a", folder, l->file);
    text assembly = {.a = a};
    text_printf(&assembly, "    .section .rodata\n");
    declare_bytes(&assembly, l->identifier, "bundle", work, "");
    declare_bytes(&assembly, l->identifier, "spec", work, "    .byte 0\n");
    text_printf(&assembly, "    .section .note.GNU-stack, \"\", %%progbits\n");
    const char *source = arena_printf(a, "%s/bytes.S", work), *object = arena_printf(a, "%s/code.o", work);
    const char *library = arena_printf(a, "%s/library.a", work);
    cli_write_file(a, source, assembly.data, assembly.size);
    cli_write_file(a, arena_printf(a, "%s/bundle", work), l->bundle, l->bundle_size);
    cli_write_file(a, arena_printf(a, "%s/spec", work), l->spec, l->spec_size);
    const char *const compile[] = {"-c", "-o", object, source}, *const archive[] = {"rcsD", library, object};
    run_tool(a, "CC", "cc", t->path, compile, 4);
    run_tool(a, "AR", "ar", t->path, archive, 3);
    size_t size;
    unsigned char *bytes = temporary_read(t, "library.a", most_library, &size);
    if (!bytes) bail(a, code_io, (position){0}, "build: $AR made no library");
    arena_defer(a, free, bytes);
    cli_write_file(a, path, bytes, size);
    return path;
}

/* ---- the header */
/* Writes s as a C string. All but a few safe characters become octal escapes, so that s cannot end the string or form a trigraph. */
static void quote(text *t, const char *s)
{
    if (!s) {
        text_printf(t, "NULL");
        return;
    }
    text_printf(t, "\"");
    for (; *s; s++) text_printf(t, isalnum((unsigned char)*s) || strchr(" -_.,:=+/", *s) ? "%c" : "\\%03o", (unsigned char)*s);
    text_printf(t, "\"");
}

static void write_list(text *t, const char *name, const name_list *list)
{
    if (!list->count) return;
    text_printf(t, "    static const char *const %s[] = {", name);
    for (size_t i = 0; i < list->count; i++) quote(t, list->names[i]), text_printf(t, "%s", i + 1 < list->count ? ", " : "");
    text_printf(t, "};\n");
}

static void write_dims(text *t, const build_shape *s, size_t number)
{
    if (!s->dim_count) return;
    text_printf(t, "    static const tfgen_dim dims%zu[] = {", number);
    for (size_t k = 0; k < s->dim_count; k++) {
        text_printf(t, "%s{", k ? ", " : "");
        quote(t, s->dims[k].name);
        text_printf(t, ", %lld}", s->dims[k].value);
    }
    text_printf(t, "};\n");
}

static void write_tables(text *t, const build_library *l)
{
    for (size_t i = 0; i < l->shape_count; i++) write_dims(t, &l->shapes[i], i);
    write_list(t, "no_fuse", &l->no_fuse);
    write_list(t, "tiles", &l->tiles);
}

/* A preset's name for a comment: other characters than a few safe ones become '?', so that it can end neither comment nor line. */
static const char *comment(arena *a, const char *s)
{
    char *copy = arena_strdup(a, s);
    for (char *p = copy; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr(" -_.:=+", *p)) *p = '?';
    return copy;
}

static void write_plan_function(arena *a, text *t, const build_library *l)
{
    static const char *const levels[] = {"TFGEN_FUSION_NONE", "TFGEN_FUSION_OPS", "TFGEN_FUSION_TILE", "TFGEN_FUSION_BLOCK",
                                         "TFGEN_FUSION_AUTO"};
    const char *id = l->identifier;
    text_printf(t,
                "/* The plan of a shape for a device; it finds its code in the bundle. TFGEN_USAGE: no such shape. */\n"
                "static inline tfgen_status %s_plan(const tfgen_device *device, size_t shape, tfgen_plan **plan, tfgen_error *error)\n{\n",
                id);
    write_tables(t, l);
    text_printf(t, "    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;\n"
                   "    options.target = tfgen_device_target(device);\n    options.fusion = %s;\n    options.wisdom = \"none\";\n",
                levels[l->level]);
    if (l->dtype) text_printf(t, "    options.dtype = "), quote(t, l->dtype), text_printf(t, ";\n");
    if (l->no_fuse.count) text_printf(t, "    options.no_fuse = no_fuse;\n    options.no_fuse_count = %zu;\n", l->no_fuse.count);
    if (l->tiles.count) text_printf(t, "    options.tiles = tiles;\n    options.tile_count = %zu;\n", l->tiles.count);
    text_printf(t, "    switch (shape) {\n");
    for (size_t i = 0; i < l->shape_count; i++) {
        text_printf(t, "    case %zu: /* %s */\n", i, *l->shapes[i].name ? comment(a, l->shapes[i].name) : "the spec's own dims");
        if (l->shapes[i].preset) text_printf(t, "        options.preset = "), quote(t, l->shapes[i].preset), text_printf(t, ";\n");
        if (l->shapes[i].dim_count)
            text_printf(t, "        options.dims = dims%zu;\n        options.dim_count = %zu;\n", i, l->shapes[i].dim_count);
        text_printf(t, "        break;\n");
    }
    text_printf(t, "    default:\n        if (plan) *plan = NULL;\n"
                   "        if (error) strcpy(error->text, \"%s_plan: no such shape; there are %zu\");\n"
                   "        return TFGEN_USAGE;\n    }\n", id, l->shape_count);
    text_printf(t, "    return tfgen_plan_create(%s_spec, (size_t)%s_spec_size, ", id, id);
    quote(t, l->spec_name);
    text_printf(t, ", &options, plan, error);\n}\n\n");
}

static void write_variants(text *t, const build_library *l)
{
    for (size_t i = 0; i < l->variant_count; i++) write_dims(t, &l->variants[i], i);
    if (!l->variant_count) return;
    text_printf(t, "    static const tfgen_dim_list variants[] = {");
    for (size_t i = 0; i < l->variant_count; i++) text_printf(t, "%s{dims%zu, %zu}", i ? ", " : "", i, l->variants[i].dim_count);
    text_printf(t, "};\n");
}

static void write_module_function(text *t, const build_library *l)
{
    const char *id = l->identifier;
    text_printf(
        t,
        "/* Its module, without a compiler: TFGEN_UNSUPPORTED when the bundle has no code for this device. */\n"
        "static inline tfgen_status %s_module(const tfgen_plan *plan, tfgen_device *device, tfgen_module **module, tfgen_error *error)\n{\n"
        "    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;\n"
        "    options.bundle = %s_bundle;\n    options.bundle_size = (size_t)%s_bundle_size;\n    options.bundle_only = 1;\n",
        id, id, id);
    write_variants(t, l);
    if (l->variant_count) text_printf(t, "    options.variants = variants;\n    options.variant_count = %zu;\n", l->variant_count);
    text_printf(t, "    return tfgen_module_create(plan, device, &options, module, error);\n}\n\n");
}

void build_write_header(arena *a, const build_library *l, const char *path)
{
    text t = {.a = a};
    const char *id = l->identifier;
    text_printf(&t, "/* Written by tfgen %s. %s with its kernels for", TFGEN_VERSION, l->block);
    for (size_t i = 0; i < l->targets.count; i++) text_printf(&t, "%s %s", i ? "," : "", l->targets.names[i]);
    text_printf(&t, ".\n * Link lib%s.a and libtfgen; no compiler is needed when it runs. C99 and C++17. */\n", l->file);
    text_printf(
        &t,
        "#ifndef TFGEN_BUILT_%s_H\n#define TFGEN_BUILT_%s_H\n#include <string.h>\n#include \"tfgen.h\"\n\n#ifdef __cplusplus\n"
        "extern \"C\" {\n#endif\n\n",
        id, id);
    text_printf(
        &t,
        "extern const char %s_spec[];               /* YAML, ends with a NUL */\n"
        "extern const uint64_t %s_spec_size;        /* without it */\n"
        "extern const unsigned char %s_bundle[];    /* for tfgen_module_options.bundle */\nextern const uint64_t %s_bundle_size;\n\n",
        id, id, id, id);
    text_printf(&t, "enum { %s_shapes = %zu };\n\n", id, l->shape_count);
    write_plan_function(a, &t, l);
    write_module_function(&t, l);
    text_printf(&t, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
    cli_write_file(a, path, t.data, t.size);
}
