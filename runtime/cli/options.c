/* In: argv. Out: cli_options. The tables of options.def become argp's tables, the help and the man page; nothing about an option
 * is written twice. Refuses what the table does not list, with exit code 2. */
#define _GNU_SOURCE
#include "runtime/cli/options.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command_info { const char *name; char letter; const char *arguments, *summary, *text; } command_info;
static const command_info commands[command_count] = {
#define COMMAND(name, letter, arguments, summary, text) {#name, letter, arguments, summary, text},
#include "runtime/cli/options.def"
};

typedef struct option_info { const char *name; int key; const char *argument, *commands, *help; size_t field; } option_info;
static const option_info options[] = {
#define OPTION(field, name, key, argument, commands, help) {name, key, argument, commands, help, offsetof(cli_options, field)},
#include "runtime/cli/options.def"
};
enum { option_count = sizeof options / sizeof *options, key_man = 0x200, key_version, key_help };

typedef struct exit_code_info { int code; const char *meaning; } exit_code_info;
static const exit_code_info exit_codes[] = {
    {code_ok, "success"}, {code_check_failed, "a check failed: a result is outside its bound"}, {code_usage, "bad usage"},
    {code_bad_input, "a bad spec or input file"}, {code_unsupported, "not supported here: target, size or compiler"},
    {code_compile_failed, "a kernel failed to compile"}, {code_device, "device error"}, {code_io, "cache or file I/O error"}};

typedef struct variable_info { const char *name, *meaning; } variable_info;
static const variable_info variables[] = {
    {"TFGEN_CACHE_DIR", "folder of the kernel cache; default $XDG_CACHE_HOME/tfgen or ~/.cache/tfgen; empty: no cache"},
    {"TFGEN_CACHE_SIZE", "most bytes of the kernel cache, as 500M or 2G; default 1G; 0: no cache"},
    {"TFGEN_HOST_CC", "C++ compiler of the host engine; default clang-22 to clang-14, clang"},
    {"TFGEN_CLANG", "clang for AMD targets; default clang-22 and older"},
    {"TFGEN_HIPRTC", "HIPRTC's library; default libhiprtc or libamdhip64 of the system or of ROCm"},
    {"TFGEN_NVRTC", "NVRTC's library, for NVIDIA targets; default libnvrtc of the system, of CUDA_HOME or of /usr/local/cuda"},
    {"TFGEN_LIBHIP", "the HIP runtime, for AMD GPUs; default libamdhip64 of the system or of ROCm"},
    {"TFGEN_LIBCUDA", "NVIDIA's driver library; default libcuda.so.1"},
    {"TFGEN_LIBCLANG", "libclang, which checks emitted kernels against the plan; default the newest of the system"},
    {"TFGEN_WORKER", "the compile worker; default tfgen-worker beside tfgen or in ../libexec/tfgen"},
    {"NO_COLOR", "no colours"}};

static bool option_is_for(const option_info *o, command_kind command)
{
    return strchr(o->commands, commands[command].letter) != NULL;
}

static void print_help(FILE *out, int only)
{
    fputs("tfgen: fused transformer kernels from one readable file\n\n"
          "  tfgen SPEC                 emit kernels (same as tfgen emit SPEC)\n", out);
    for (int c = 0; c < command_count; c++)
        if (only < 0 || only == c) fprintf(out, "  tfgen %-6s %-12s  %s\n", commands[c].name, commands[c].arguments, commands[c].summary);
    for (int c = 0; c < command_count; c++) {
        if (only >= 0 && only != c) continue;
        fprintf(out, "\n%s: %s\n", commands[c].name, commands[c].text);
        for (int i = 0; i < option_count; i++) {
            const option_info *o = &options[i];
            if (!option_is_for(o, (command_kind)c)) continue;
            char left[64];
            snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->key < 256 ? '-' : ' ', o->key < 256 ? o->key : ' ', o->key < 256 ? "," : " ",
                     o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
            fprintf(out, "  %-24s %s\n", left, o->help);
        }
    }
    fputs("\nExit codes:", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, "%s %d %s", i ? "," : "", exit_codes[i].code, exit_codes[i].meaning);
    fputs(".\n\nExamples:\n  tfgen specs/llama-block.yaml\n  tfgen run specs/llama-block.yaml --preset=tiny-small --dim B=1\n"
          "  tfgen specs/llama-block.yaml --target=gfx90a --code -o out --dim B=2,S=64\n"
          "  tfgen verify specs/rmsnorm.yaml --fusion=all --dtype=all\n  tfgen check my.yaml\n", out);
}

/* roff: a leading dot or backslash would be a request. */
static void roff(FILE *out, const char *s)
{
    for (; *s; s++) fputs(*s == '\\' ? "\\e" : *s == '-' ? "\\-" : (char[2]){*s}, out);
}

static void print_man(FILE *out)
{
    fprintf(out, ".TH TFGEN 1 \"\" \"tfgen %s\"\n.SH NAME\ntfgen \\- fused transformer kernels from one readable file\n.SH SYNOPSIS\n",
            TFGEN_VERSION);
    for (int c = 0; c < command_count; c++)
        fprintf(out, ".B tfgen %s\n[options] %s\n.br\n", commands[c].name, commands[c].arguments);
    fputs(".SH DESCRIPTION\nReads a YAML op\\-graph of a transformer block, fuses it into a few kernels and writes them as HIP source, "
          "compiles them, or runs them.\n.SH COMMANDS\n", out);
    for (int c = 0; c < command_count; c++) {
        fprintf(out, ".TP\n.B %s %s\n", commands[c].name, commands[c].arguments);
        roff(out, commands[c].text);
        fputc('\n', out);
    }
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; i < option_count; i++) {
        const option_info *o = &options[i];
        fputs(".TP\n.B ", out);
        if (o->key < 256) fprintf(out, "\\-%c, ", o->key);
        fputs("\\-\\-", out);
        roff(out, o->name);
        fprintf(out, "%s%s\n(", o->argument ? "=" : "", o->argument ? o->argument : "");
        bool first = true;
        for (int c = 0; c < command_count; c++)
            if (option_is_for(o, (command_kind)c)) {
                fprintf(out, "%s%s", first ? "" : ", ", commands[c].name);
                first = false;
            }
        fputs(") ", out);
        roff(out, o->help);
        fputc('\n', out);
    }
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, ".TP\n%d\n%s\n", exit_codes[i].code, exit_codes[i].meaning);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        fprintf(out, ".TP\n.B %s\n%s\n", variables[i].name, variables[i].meaning);
}

typedef struct parse_state {
    cli_options *out;
    bool ended;
    int code;
} parse_state;

static error_t parse_one(int key, char *given, struct argp_state *state)
{
    parse_state *s = state->input;
    if (key == key_help) print_help(stdout, s->out->command == command_emit ? -1 : (int)s->out->command);
    if (key == key_man) print_man(stdout);
    if (key == key_version) printf("tfgen %s\n", TFGEN_VERSION);
    if (key == key_help || key == key_man || key == key_version) {
        s->ended = true;
        state->next = state->argc;
        return 0;
    }
    if (key == ARGP_KEY_ARGS) {
        s->out->files = state->argv + state->next;
        s->out->file_count = state->argc - state->next;
        return 0;
    }
    for (int i = 0; i < option_count; i++) {
        if (options[i].key != key) continue;
        if (!option_is_for(&options[i], s->out->command)) {
            fprintf(stderr, "tfgen: --%s is not an option of `tfgen %s`; see tfgen %s --help\n", options[i].name,
                    commands[s->out->command].name, commands[s->out->command].name);
            s->code = code_usage;
            return EINVAL;
        }
        *(const char **)((char *)s->out + options[i].field) = given ? given : "";
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Takes a command's name out of argv; without one the command is emit. */
static command_kind take_command(int *argc, char **argv)
{
    if (*argc < 2) return command_emit;
    for (int c = 0; c < command_count; c++) {
        if (strcmp(argv[1], commands[c].name) != 0) continue;
        memmove(argv + 1, argv + 2, (size_t)(*argc - 1) * sizeof *argv);
        --*argc;
        return (command_kind)c;
    }
    return command_emit;
}

static bool needs_file(command_kind c) { return commands[c].arguments[0] != '\0'; }

bool options_parse(int argc, char **argv, cli_options *out, int *exit_code)
{
    struct argp_option table[option_count + 4] = {{0}};
    *out = (cli_options){.command = take_command(&argc, argv)};
    for (int i = 0; i < option_count; i++)
        table[i] = (struct argp_option){.name = options[i].name, .key = options[i].key, .arg = options[i].argument, .doc = options[i].help};
    table[option_count] = (struct argp_option){.name = "help", .key = key_help, .doc = "help"};
    table[option_count + 1] = (struct argp_option){.name = "man", .key = key_man, .doc = "the man page, as roff"};
    table[option_count + 2] = (struct argp_option){.name = "version", .key = key_version, .doc = "version"};
    struct argp argp = {.options = table, .parser = parse_one};
    parse_state state = {.out = out};
    program_invocation_name = "tfgen";
    argp_err_exit_status = code_usage;
    int error = argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, &state);
    *exit_code = error ? (state.code ? state.code : code_usage) : 0;
    if (error || state.ended) return false;
    if (needs_file(out->command) ? out->file_count > 0 : out->file_count == 0) return true;
    if (argc < 2 && out->command == command_emit) print_help(stderr, -1);
    else fprintf(stderr, "tfgen: usage: tfgen %s [options] %s; see tfgen --help\n", commands[out->command].name, commands[out->command].arguments);
    *exit_code = code_usage;
    return false;
}

name_list options_list(arena *a, const char *given)
{
    name_list list = {0};
    if (!given || !*given) return list;
    size_t most = 1;
    for (const char *p = given; *p; p++) most += *p == ',';
    list.names = arena_alloc(a, most * sizeof *list.names);
    for (const char *p = given;; p++) {
        size_t n = strcspn(p, ",");
        if (n) list.names[list.count++] = arena_strndup(a, p, n);
        p += n;
        if (!*p) return list;
    }
}

dim_override *options_dims(arena *a, const char *given, size_t *count)
{
    name_list list = options_list(a, given);
    dim_override *out = arena_alloc(a, (list.count + 1) * sizeof *out);
    for (size_t i = 0; i < list.count; i++) {
        const char *equals = strchr(list.names[i], '=');
        char *end = NULL;
        errno = 0;
        if (equals) out[i].value = strtoll(equals + 1, &end, 10);
        if (!equals || end == equals + 1 || *end || errno)
            bail(a, code_usage, (position){0}, "--dim: '%s' is not NAME=NUMBER", list.names[i]);
        out[i].name = arena_strndup(a, list.names[i], (size_t)(equals - list.names[i]));
    }
    *count = list.count;
    return out;
}

long long options_integer(arena *a, const char *option, const char *given, long long low, long long high, long long otherwise)
{
    if (!given) return otherwise;
    char *end;
    errno = 0;
    long long value = strtoll(given, &end, 10);
    if (end == given || *end || errno || value < low || value > high)
        bail(a, code_usage, (position){0}, "--%s: '%s' is not a whole number from %lld to %lld", option, given, low, high);
    return value;
}

static const char *const level_names[] = {"none", "ops", "tile", "block"};
const char *fusion_level_name(fusion_level level) { return level_names[level]; }

fusion_level options_level(arena *a, const char *name)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(name, level_names[i]) == 0) return (fusion_level)i;
    const char *near = nearest_name(name, level_names, 4);
    bail(a, code_usage, (position){0}, "--fusion: unknown level '%s'%s%s%s; levels are none, ops, tile", name, near ? "; did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}
