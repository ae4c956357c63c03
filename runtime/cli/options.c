/* In: argv. Out: cli_options. The tables of options.def become getopt_long()'s, the help and the man page; nothing about an option
 * is written twice. Refuses what the table does not list and what is neither a command nor a file, with exit code 2. */
#define _GNU_SOURCE
#include "runtime/cli/options.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
enum { option_count = sizeof options / sizeof *options, key_help = 'h', key_man = 0x200, key_version };

typedef struct exit_code_info { int code; const char *meaning; } exit_code_info;
static const exit_code_info exit_codes[] = {
#define CODE(name, number, text) {number, text},
#include "ir/base/code.def"
};

typedef struct variable_info { const char *name, *meaning; } variable_info;
static const variable_info variables[] = {
    {"TFGEN_CACHE_DIR", "folder of the kernel cache; default $XDG_CACHE_HOME/tfgen or ~/.cache/tfgen; empty: no cache"},
    {"TFGEN_CACHE_SIZE", "most bytes of the kernel cache, as 500M or 2G; default 1G; 0: no cache"},
    {"TFGEN_WISDOM", "what tunings found (docs/tuning.md); default $XDG_DATA_HOME/tfgen/wisdom or ~/.local/share/tfgen/wisdom; none: none"},
    {"TFGEN_TRIALS", "database of `tfgen tune`; default $XDG_DATA_HOME/tfgen/trials.db or ~/.local/share/tfgen/trials.db"},
    {"TFGEN_HOST_CC", "C++ compiler of the host engine; default clang-22 to clang-14, clang"},
    {"TFGEN_HOST_OPTIMISE", "0 to 3: how much that compiler optimises; default 3, for what runs long; 1 compiles faster"},
    {"TFGEN_CLANG", "clang for AMD targets; default clang-22 and older"},
    {"TFGEN_HIPRTC", "HIPRTC's library; default libhiprtc or libamdhip64 of the system or of ROCm"},
    {"TFGEN_NVRTC", "NVRTC's library, for NVIDIA targets; default libnvrtc of the system, of CUDA_HOME or of /usr/local/cuda"},
    {"TFGEN_LIBHIP", "the HIP runtime, for AMD GPUs; default libamdhip64 of the system or of ROCm"},
    {"TFGEN_LIBCUDA", "NVIDIA's driver library; default libcuda.so.1"},
    {"TFGEN_PROFILE", "1, or a library: tell profilers what is going on, as ranges of NVTX and roctx (docs/profiling.md)"},
    {"TFGEN_LIBNVML", "NVIDIA's management library, which tells clocks to the trials of `tfgen tune`; default libnvidia-ml.so.1"},
    {"TFGEN_LIBCLANG", "libclang, which checks emitted kernels against the plan; default the newest of the system"},
    {"TFGEN_WORKER", "the compile worker; default tfgen-worker beside tfgen or in ../libexec/tfgen"},
    {"NO_COLOR", "no colours"}};

static bool option_is_for(const option_info *o, command_kind command)
{
    return strchr(o->commands, commands[command].letter) != NULL;
}

/* Words up to `width` columns a line; the text begins in column `at`, its other lines in column `margin`. */
static void put_wrapped(FILE *out, const char *s, int at, int margin)
{
    enum { width = 110 };
    for (bool first = true; *s; first = false) {
        const int n = (int)strcspn(s, " ");
        if (!first && at + n >= width) at = fprintf(out, "\n%*s", margin, "") - 1;
        else if (!first) at += fprintf(out, " ");
        at += fprintf(out, "%.*s", n, s);
        s += n + (s[n] == ' ');
    }
    fputc('\n', out);
}

/* An option's help with the targets' names in it, until the next call. */
static const char *option_help(const option_info *o)
{
    static const char targets[] = ""
#define TARGET(name, ...) ", " #name
#include "ir/target.def"
        , mark[] = "{targets}";
    static char filled[1024];
    const char *at = strstr(o->help, mark);
    if (!at) return o->help;
    snprintf(filled, sizeof filled, "%.*s%s%s", (int)(at - o->help), o->help, targets + 2, at + sizeof mark - 1);
    return filled;
}

static void print_help(FILE *out, int only)
{
    fputs("tfgen: fused transformer kernels from one readable file\n\n", out);
    if (only < 0)
        fputs("  tfgen SPEC                 emit kernels (same as tfgen emit SPEC)\n  tfgen help COMMAND         what a command takes\n",
              out);
    for (int c = 0; c < command_count; c++)
        if (only < 0 || only == c) fprintf(out, "  tfgen %-6s %-12s  %s\n", commands[c].name, commands[c].arguments, commands[c].summary);
    for (int c = 0; c < command_count; c++) {
        if (only >= 0 && only != c) continue;
        fputc('\n', out);
        put_wrapped(out, commands[c].text, fprintf(out, "%s: ", commands[c].name), 0);
        for (int i = 0; i < option_count; i++) {
            const option_info *o = &options[i];
            if (!option_is_for(o, (command_kind)c)) continue;
            char left[64];
            snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->key < 256 ? '-' : ' ', o->key < 256 ? o->key : ' ', o->key < 256 ? "," : " ",
                     o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
            put_wrapped(out, option_help(o), fprintf(out, "  %-24s ", left), 27);
        }
    }
    fputs("\nExit codes:\n", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, "  %d %s\n", exit_codes[i].code, exit_codes[i].meaning);
    fputs("\nExamples:\n  tfgen specs/llama-block.yaml\n  tfgen run specs/llama-block.yaml --preset=tiny-small --dim B=1\n"
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
        roff(out, option_help(o));
        fputc('\n', out);
    }
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, ".TP\n%d\n%s\n", exit_codes[i].code, exit_codes[i].meaning);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        fprintf(out, ".TP\n.B %s\n%s\n", variables[i].name, variables[i].meaning);
}

/* ---- which command */
static int command_by_name(const char *name)
{
    for (int c = 0; c < command_count; c++)
        if (strcmp(name, commands[c].name) == 0) return c;
    return -1;
}

static const char *nearest_command(const char *word)
{
    const char *names[command_count + 1];
    for (int c = 0; c < command_count; c++) names[c] = commands[c].name;
    names[command_count] = "help";
    return nearest_name(word, names, command_count + 1);
}

static void complain_near(const char *before, const char *near)
{
    if (near) fprintf(stderr, "; did you mean %s%s?\n", before, near);
    else fputs("; see tfgen --help\n", stderr);
}

/* A word where a command or a spec should stand, and neither: a path that is not there would have a slash or a dot. */
static bool is_no_spec(const char *word)
{
    return strcmp(word, "-") != 0 && !strchr(word, '/') && !strchr(word, '.') && access(word, F_OK) != 0;
}

static bool complain_of_command(const char *word)
{
    if (command_by_name(word) >= 0 || strcmp(word, "help") == 0)
        fprintf(stderr, "tfgen: '%s' is a command: it comes first, before the options\n", word);
    else {
        fprintf(stderr, "tfgen: no command and no file is called '%s'", word);
        complain_near("tfgen ", nearest_command(word));
    }
    return false;
}

/* tfgen help [COMMAND] */
static int show_help(int argc, char **argv)
{
    const int only = argc > 2 ? command_by_name(argv[2]) : -1;
    if (argc > 3) return fputs("tfgen: usage: tfgen help [COMMAND]\n", stderr), code_usage;
    if (argc > 2 && only < 0 && strcmp(argv[2], "help") != 0) {
        fprintf(stderr, "tfgen: no command is called '%s'", argv[2]);
        complain_near("tfgen help ", nearest_command(argv[2]));
        return code_usage;
    }
    print_help(stdout, only);
    return code_ok;
}

static void print_fusions(void)
{
    static const char *const lines[][3] = {
#define FUSION(name, least, help) {#name, #least, help},
#include "ir/reason.def"
    };
    printf("%-14s %-6s %s\n", "fusion", "from", "what it does");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) printf("%-14s %-6s %s\n", lines[i][0], lines[i][1], lines[i][2]);
}

/* ---- options */
static const option_info *find_option(const char *name, size_t length)
{
    for (int i = 0; i < option_count; i++)
        if (strncmp(options[i].name, name, length) == 0 && !options[i].name[length]) return &options[i];
    return NULL;
}

/* Other words for an option, as other compilers have them, of those that the command takes; else the nearest in letters, or NULL. */
static const char *option_meant(const char *word, const char *const *names, size_t count)
{
    static const char *const called[][2] = {{"level", "fusion"}, {"fuse", "fusion"},  {"fused", "fusion"},      {"arch", "target"},
                                            {"gpu", "target"},   {"type", "dtype"},   {"precision", "dtype"},   {"shape", "dim"},
                                            {"out", "output"},   {"threads", "jobs"}, {"iterations", "repeat"}, {"unfuse", "no-fuse"}};
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(word, called[i][0]) == 0 && strcmp(names[k], called[i][1]) == 0) return names[k];
    return nearest_name(word, names, count);
}

/* What getopt_long() refused: --NAME in full, or the letter in optopt. */
static bool complain_of_option(command_kind command, const char *given)
{
    const char *of = commands[command].name, *names[option_count];
    const bool is_long = strncmp(given, "--", 2) == 0;
    const size_t length = is_long ? strcspn(given + 2, "=") : 0;
    const option_info *known = is_long ? find_option(given + 2, length) : NULL;
    int starts = 0, mine = 0;
    for (int i = 0; i < option_count; i++) {
        if (!is_long && options[i].key == optopt) known = &options[i];
        if (!option_is_for(&options[i], command)) continue;
        names[mine++] = options[i].name;
        starts += is_long && strncmp(options[i].name, given + 2, length) == 0;
    }
    if (known && !option_is_for(known, command))
        fprintf(stderr, "tfgen: --%s is not an option of `tfgen %s`; see tfgen %s --help\n", known->name, of, of);
    else if (known) fprintf(stderr, "tfgen: --%s takes no argument\n", known->name);
    else if (!is_long) fprintf(stderr, "tfgen: tfgen %s has no option -%c; see tfgen %s --help\n", of, optopt, of);
    else if (starts > 1)
        fprintf(stderr, "tfgen: %.*s may be several options of `tfgen %s`; see tfgen %s --help\n", (int)length + 2, given, of, of);
    else {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, given + 2);
        fprintf(stderr, "tfgen: tfgen %s has no option --%s", of, word);
        complain_near("--", option_meant(word, names, (size_t)mine));
    }
    return false;
}

/* What stands between two of a list that is given twice, which is one list; NULL: the last one counts. Tiles may have commas. */
static const char *separator(const option_info *o)
{
    if (!o->argument) return NULL;
    if (strcmp(o->argument, "TILE") == 0 || strcmp(o->argument, "TILES") == 0) return "\n";
    return strcmp(o->argument, "LIST") == 0 || strchr(o->argument, ',') ? "," : NULL;
}

static bool take_option(cli_options *out, const option_info *o, const char *given)
{
    const char **field = (const char **)((char *)out + o->field);
    if (o->argument && !given[strspn(given, ",")])
        return fprintf(stderr, "tfgen: --%s= says nothing; it wants %s\n", o->name, o->argument), false;
    const char *between = separator(o);
    *field = !o->argument ? "" : between && *field ? arena_printf(out->a, "%s%s%s", *field, between, given) : given;
    return true;
}

static bool read_number(const char *name, const char *given, long long low, long long high, long long *out)
{
    char *end;
    if (!given) return true;
    errno = 0;
    *out = strtoll(given, &end, 10);
    if (end != given && !*end && !errno && *out >= low && *out <= high) return true;
    fprintf(stderr, "tfgen: --%s: '%s' is not a whole number from %lld to %lld\n", name, given, low, high);
    return false;
}

static bool read_real(const char *name, const char *given, double low, double high, double *out)
{
    char *end;
    if (!given) return true;
    errno = 0;
    *out = strtod(given, &end);
    if (end != given && !*end && !errno && *out >= low && *out <= high) return true;
    fprintf(stderr, "tfgen: --%s: '%s' is not a number from %g to %g\n", name, given, low, high);
    return false;
}

static bool is_word_of(const char *name, const char *given, const char *const *words, size_t count)
{
    if (!given) return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(given, words[i]) == 0) return true;
    const char *near = nearest_name(given, words, count);
    fprintf(stderr, "tfgen: --%s: '%s' is not ", name, given);
    for (size_t i = 0; i < count; i++) fprintf(stderr, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
    fprintf(stderr, near ? "; did you mean '%s'?\n" : "\n", near);
    return false;
}

static bool check_values(cli_options *o)
{
    bool good = true;
#define NUMBER(field, name, low, high, otherwise) \
    o->number.field = otherwise; \
    good = good && read_number(name, o->field, low, high, &o->number.field);
#define REAL(field, name, low, high, otherwise) \
    o->real.field = otherwise; \
    good = good && read_real(name, o->field, low, high, &o->real.field);
#define WORDS(field, name, ...)                                                                                                            \
    good =                                                                                                                                 \
        good && is_word_of(name, o->field, (const char *const[]){__VA_ARGS__}, sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *));
#include "runtime/cli/options.def"
    return good;
}

/* ---- files that are written */
typedef struct written {
    const char *name, *path, *letters;
} written;
enum { most_written = 16 };

static int list_written(const cli_options *o, written *out)
{
    int count = 0;
#define WRITES(field, name, letters) \
    if (o->field) out[count++] = (written){name, o->field, letters};
#include "runtime/cli/options.def"
    return count;
}

static bool is_stdout(const written *w) { return strcmp(w->path, "-") == 0; }

bool options_fill_stdout(const cli_options *o)
{
    written list[most_written];
    const int count = list_written(o, list);
    for (int i = 0; i < count; i++)
        if (is_stdout(&list[i])) return true;
    return false;
}

/* Devices and pipes may have all that is written. */
static bool is_one_file(const char *x, const char *y)
{
    struct stat at;
    while (strncmp(x, "./", 2) == 0) x += 2;
    while (strncmp(y, "./", 2) == 0) y += 2;
    return strcmp(x, y) == 0 && (stat(x, &at) != 0 || S_ISREG(at.st_mode));
}

/* One thing goes to one place. */
static bool check_written(const cli_options *o)
{
    written list[most_written];
    const int count = list_written(o, list);
    for (int i = 0; i < count; i++) {
        const written *w = &list[i];
        if (is_stdout(w) && !strchr(w->letters, commands[o->command].letter))
            return fprintf(stderr, "tfgen: --%s: - is no place for it; give it a name\n", w->name), false;
        if (is_stdout(w) && o->json) return fprintf(stderr, "tfgen: --%s=- and --json would both be standard output\n", w->name), false;
        for (int k = 0; k < i; k++)
            if (is_one_file(list[k].path, w->path))
                return fprintf(stderr, "tfgen: --%s and --%s are both '%s'; each needs a file of its own\n", list[k].name, w->name,
                               w->path), false;
    }
    return true;
}

static void make_tables(command_kind command, struct option *longs, char *shorts)
{
    int n = 0;
    *shorts++ = ':';
    for (int i = 0; i < option_count; i++) {
        const option_info *o = &options[i];
        if (!option_is_for(o, command)) continue;
        longs[n++] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL, o->key};
        if (o->key >= 256) continue;
        *shorts++ = (char)o->key;
        if (o->argument) *shorts++ = ':';
    }
    longs[n++] = (struct option){"help", no_argument, NULL, key_help};
    longs[n++] = (struct option){"man", no_argument, NULL, key_man};
    longs[n++] = (struct option){"version", no_argument, NULL, key_version};
    memcpy(shorts, "h", 2);
}

/* What is asked of tfgen itself; true: that was all. */
static bool answer(int key, const cli_options *out, bool named)
{
    if (key == key_help) print_help(stdout, named ? (int)out->command : -1);
    else if (key == key_man) print_man(stdout);
    else if (key == key_version) printf("tfgen %s\n", TFGEN_VERSION);
    else if (out->no_fuse && strcmp(out->no_fuse, "help") == 0) print_fusions();
    else return false;
    return true;
}

/* False: the call ends here, with *code. */
static bool read_options(int argc, char **argv, cli_options *out, bool named, int *code)
{
    struct option longs[option_count + 4] = {{0}};
    char shorts[2 * option_count + 4];
    make_tables(out->command, longs, shorts);
    opterr = optind = 0;
    for (int key; (key = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        *code = code_usage;
        if (key == '?') return complain_of_option(out->command, argv[optind - 1]);
        if (key == ':')
            return fprintf(stderr, "tfgen: %s needs an argument; see tfgen %s --help\n", argv[optind - 1], commands[out->command].name),
                   false;
        for (int i = 0; i < option_count; i++)
            if (options[i].key == key && !take_option(out, &options[i], optarg)) return false;
        *code = code_ok;
        if (answer(key, out, named)) return false;
    }
    *code = code_usage;
    return check_values(out) && check_written(out);
}

static bool needs_file(command_kind c) { return commands[c].arguments[0] != '\0'; }

/* The command's name leaves argv; without one the command is emit. */
bool options_parse(int argc, char **argv, cli_options *out, int *exit_code)
{
    const int named = argc > 1 ? command_by_name(argv[1]) : -1;
    *out = (cli_options){.a = arena_new(), .command = named < 0 ? command_emit : (command_kind)named};
    *exit_code = code_usage;
    if (argc > 1 && strcmp(argv[1], "help") == 0 && is_no_spec("help")) return *exit_code = show_help(argc, argv), false;
    if (argc == 3 && strcmp(argv[1], "--help") == 0 && command_by_name(argv[2]) >= 0) return *exit_code = show_help(argc, argv), false;
    if (argc > 1 && named < 0 && argv[1][0] != '-' && is_no_spec(argv[1])) return complain_of_command(argv[1]);
    if (named >= 0) memmove(argv + 1, argv + 2, (size_t)(argc-- - 1) * sizeof *argv);
    if (!read_options(argc, argv, out, named >= 0, exit_code)) return false;
    out->files = argv + optind;
    out->file_count = argc - optind;
    if (named < 0 && out->file_count && is_no_spec(out->files[0])) return complain_of_command(out->files[0]);
    const bool reports = out->command == command_tune && out->report;
    if (needs_file(out->command) ? out->file_count > 0 || out->random || reports : out->file_count == 0) return true;
    if (argc < 2 && named < 0) print_help(stderr, -1);
    else if (!needs_file(out->command))
        fprintf(stderr, "tfgen: tfgen %s takes no '%s'; see tfgen %s --help\n", commands[out->command].name, out->files[0],
                commands[out->command].name);
    else
        fprintf(stderr, "tfgen: usage: tfgen %s [options] %s; see tfgen %s --help\n", commands[out->command].name,
                commands[out->command].arguments, commands[out->command].name);
    return false;
}
