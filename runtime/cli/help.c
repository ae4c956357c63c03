/* In: options.def, the table of exit codes, the table of environment variables below. Out: the overview, a page for each command (at most
 * 40 lines of 100 columns), and the man page, which has everything. */
#define _GNU_SOURCE
#include "runtime/cli/help.h"
#include "runtime/cli/options_table.h"
#include <string.h>

static const struct { int code; const char *brief, *meaning; } exit_codes[] = {
#define CODE(name, number, brief, text) {number, brief, text},
#include "ir/base/code.def"
};

static const struct { const char *name, *meaning; } variables[] = {
    {"TFGEN_CACHE_DIR", "folder of the kernel cache; default $XDG_CACHE_HOME/tfgen or ~/.cache/tfgen; empty: no cache"},
    {"TFGEN_CACHE_SIZE", "most bytes of the kernel cache, as 500M or 2G; default 1G; 0: no cache"},
    {"TFGEN_WISDOM", "tuned tiles (docs/tuning.md); default $XDG_DATA_HOME/tfgen/wisdom or ~/.local/share/tfgen/wisdom; none: use none"},
    {"TFGEN_TRIALS", "database of `tfgen tune`; default $XDG_DATA_HOME/tfgen/trials.db or ~/.local/share/tfgen/trials.db"},
    {"TFGEN_HOST_CC", "C++ compiler of the host engine; default clang-22 to clang-14, clang"},
    {"TFGEN_HOST_OPTIMISE", "0 to 3: how much the compiler of the host engine optimises; default 3; 1 compiles faster and runs slower"},
    {"TFGEN_CLANG", "clang for AMD targets; default clang-22 and older"},
    {"TFGEN_HIPRTC", "HIPRTC's library; default libhiprtc or libamdhip64 of the system or of ROCm"},
    {"TFGEN_NVRTC", "NVRTC's library, for NVIDIA targets; default libnvrtc of the system, of CUDA_HOME or of /usr/local/cuda"},
    {"TFGEN_LIBRARY_PATH", "folders, joined by colons, that are searched last for libnvrtc"},
    {"TFGEN_LIBHIP", "the HIP runtime, for AMD GPUs; default libamdhip64 of the system or of ROCm"},
    {"TFGEN_LIBCUDA", "NVIDIA's driver library; default libcuda.so.1"},
    {"TFGEN_PROFILE", "1, or a library: tell profilers what is going on, as ranges of NVTX and roctx (docs/profiling.md)"},
    {"TFGEN_LIBNVML", "NVIDIA's management library, from which `tfgen tune` records clocks; default libnvidia-ml.so.1"},
    {"TFGEN_LIBCLANG", "libclang, which checks emitted kernels against the plan; default the newest of the system"},
    {"TFGEN_WORKER", "the compile worker; default tfgen-worker beside tfgen or in ../libexec/tfgen"},
    {"NO_COLOR", "no colours"}};

enum { page_width = 100 };

/* Prints words wrapped at page_width columns; the text begins in column `at`, further lines in column `margin`. */
static void put_wrapped(FILE *out, const char *s, int at, int margin)
{
    for (bool first = true; *s; first = false) {
        const int n = (int)strcspn(s, " ");
        if (!first && at + 1 + n > page_width) at = fprintf(out, "\n%*s", margin, "") - 1;
        else if (!first) at += fprintf(out, " ");
        at += fprintf(out, "%.*s", n, s);
        s += n + (s[n] == ' ');
    }
    fputc('\n', out);
}

/* The help text with {targets} replaced by the targets' names; valid until the next call. */
static const char *filled_in(const char *help)
{
    static const char targets[] = ""
#define TARGET(name, ...) ", " #name
#include "ir/target.def"
        , mark[] = "{targets}";
    static char filled[1024];
    const char *at = strstr(help, mark);
    if (!at) return help;
    snprintf(filled, sizeof filled, "%.*s%s%s", (int)(at - help), help, targets + 2, at + sizeof mark - 1);
    return filled;
}

/* True for commands whose exit code is a verdict of the reference. */
static bool judges(command_kind c)
{
    return c == command_run || c == command_verify || c == command_bench || c == command_bisect || c == command_compare ||
           c == command_tune || c == command_table;
}

/* wrong: what exit code 1 means, "" if the command never returns it. Lines are not broken between a code and its text. */
static void put_exit_codes(FILE *out, const char *wrong, bool judging)
{
    int at = fprintf(out, "Exit codes:");
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++) {
        const bool one = exit_codes[i].code == code_check_failed;
        const char *brief = one ? wrong : exit_codes[i].brief;
        if (!*brief || (exit_codes[i].code == code_unjudged && !judging)) continue;
        if (i) at += fprintf(out, ";");
        if (at + 3 + (int)strlen(brief) + 1 > page_width) at = fprintf(out, "\n%11s", "") - 1;
        at += fprintf(out, " %d %s", exit_codes[i].code, brief);
    }
    fputc('\n', out);
}

void help_overview(FILE *out)
{
    fputs("tfgen: fused transformer kernels from one readable file, a YAML op-graph (docs/spec-language.md)\n\n"
          "usage: tfgen COMMAND [options] ...\n"
          "       tfgen SPEC [options]           the same as tfgen emit SPEC\n"
          "       tfgen help COMMAND             what a command does and takes, or tfgen COMMAND --help\n\n", out);
    for (int i = 0; i < group_row_count; i++) {
        const command_info *c = &all_commands[group_rows[i].command];
        if (group_rows[i].heading) fprintf(out, "%s\n", group_rows[i].heading);
        else fprintf(out, "  %-10s %s\n", c->name, c->summary);
    }
    fputc('\n', out);
    put_exit_codes(out, "a check failed", true);
    fputs("Also: tfgen --version (-V); tfgen help environment; tfgen --man, the man page, which has everything\n"
          "Begin with: tfgen run specs/llama-block.yaml --preset=tiny-small --dim=B=1\n", out);
}

static void put_option(FILE *out, const option_info *o, const option_meaning *m)
{
    const bool letter = o->key < 256;
    char left[64];
    snprintf(left, sizeof left, "%c%c%c --%s%s%s", letter ? '-' : ' ', letter ? o->key : ' ', letter ? ',' : ' ', o->name,
             *m->argument ? "=" : "", m->argument);
    put_wrapped(out, filled_in(m->help), fprintf(out, "  %-24s ", left), 27);
}

void help_command(FILE *out, command_kind command)
{
    const command_info *c = &all_commands[command];
    fprintf(out, "tfgen %s: %s\nusage: tfgen %s [options]%s%s\n\n", c->name, c->summary, c->name, *c->arguments ? " " : "", c->arguments);
    if (*c->text) put_wrapped(out, c->text, 0, 0), fputc('\n', out);
    for (int i = 0; i < option_count; i++) {
        const option_meaning *m = option_for(&all_options[i], command);
        if (m) put_option(out, &all_options[i], m);
    }
    fputc('\n', out);
    put_exit_codes(out, c->wrong, judges(command));
    for (int i = 0; i < 2; i++)
        fprintf(out, "%-12stfgen %s%s%s\n", i ? "" : "Examples:", c->name, *c->examples[i] ? " " : "", c->examples[i]);
}

void help_environment(FILE *out)
{
    fputs("Environment variables that tfgen and libtfgen read\n\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        put_wrapped(out, variables[i].meaning, fprintf(out, "  %-20s ", variables[i].name), 23);
}

/* roff: a leading dot or backslash would be a request. */
static void roff(FILE *out, const char *s)
{
    for (; *s; s++) fputs(*s == '\\' ? "\\e" : *s == '-' ? "\\-" : (char[2]){*s}, out);
}

static void man_command(FILE *out, const command_info *c)
{
    fprintf(out, ".TP\n.B %s %s\n", c->name, c->arguments);
    roff(out, c->summary);
    fputs(".\n", out);
    if (*c->text) roff(out, c->text), fputc('\n', out);
    if (*c->wrong) fputs("Exit code 1: ", out), roff(out, c->wrong), fputs(".\n", out);
    for (int i = 0; i < 2; i++) {
        fprintf(out, "%s\n.B tfgen %s ", i ? ".br" : ".IP", c->name);
        roff(out, c->examples[i]);
        fputc('\n', out);
    }
}

/* A paragraph for each meaning of the option. */
static void man_option(FILE *out, const option_info *o)
{
    const char *more = option_more(o->name);
    for (int i = 0; i < meaning_count; i++) {
        const option_meaning *m = &all_meanings[i];
        if (strcmp(m->name, o->name) != 0) continue;
        fputs(".TP\n.B ", out);
        if (o->key < 256) fprintf(out, "\\-%c, ", o->key);
        fputs("\\-\\-", out);
        roff(out, o->name);
        fprintf(out, "%s%s\n(", *m->argument ? "=" : "", m->argument);
        bool first = true;
        for (int c = 0; c < command_count; c++)
            if (meaning_is_for(m, (command_kind)c)) fprintf(out, "%s%s", first ? "" : ", ", all_commands[c].name), first = false;
        fputs(") ", out);
        roff(out, filled_in(m->help));
        fputs(".\n", out);
    }
    if (more) roff(out, more), fputc('\n', out);
}

void help_man(FILE *out)
{
    fprintf(out, ".TH TFGEN 1 \"\" \"tfgen %s\"\n.SH NAME\ntfgen \\- fused transformer kernels from one readable file\n.SH SYNOPSIS\n",
            TFGEN_VERSION);
    for (int c = 0; c < command_count; c++)
        fprintf(out, ".B tfgen %s\n[options] %s\n.br\n", all_commands[c].name, all_commands[c].arguments);
    fputs(".SH DESCRIPTION\nReads a YAML op\\-graph of a transformer block, fuses it into a few kernels and writes them as HIP source, "
          "compiles them, or runs them.\n.SH COMMANDS\n", out);
    for (int i = 0; i < group_row_count; i++)
        if (group_rows[i].heading) fprintf(out, ".SS %s\n", group_rows[i].heading);
        else man_command(out, &all_commands[group_rows[i].command]);
    fputs(".SH OPTIONS\nIn parentheses: the commands that take the option with this meaning.\n", out);
    for (int i = 0; i < option_count; i++) man_option(out, &all_options[i]);
    fputs(".TP\n.B \\-h, \\-\\-help\n(all) print a page about the command, without one an overview, and end.\n"
          ".TP\n.B \\-V, \\-\\-version\n(all) print the version and end.\n.TP\n.B \\-\\-man\n(all) print this page and end.\n", out);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, ".TP\n%d\n%s\n", exit_codes[i].code, exit_codes[i].meaning);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        fprintf(out, ".TP\n.B %s\n%s\n", variables[i].name, variables[i].meaning);
}
