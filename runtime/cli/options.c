/* In: argv. Out: cli_options, by getopt_long() with tables made from options.def. Refuses unknown options, and words that are neither a
 * command nor a file, with exit code 2. */
#define _GNU_SOURCE
#include "runtime/cli/options.h"
#include "runtime/cli/help.h"
#include "runtime/cli/options_table.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { key_help = 'h', key_version = 'V', key_man = 0x200 };

/* ---- which command */
static const char *nearest_command(const char *word)
{
    const char *names[command_count + 1];
    for (int c = 0; c < command_count; c++) names[c] = all_commands[c].name;
    names[command_count] = "help";
    return nearest_name(word, names, command_count + 1);
}

static void complain_near(const char *before, const char *near)
{
    if (near) fprintf(stderr, "; did you mean %s%s?\n", before, near);
    else fputs("\n", stderr);
}

/* True for a first word that is probably a misspelt command: no such file, and no slash or dot as in a path. */
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

/* tfgen help [COMMAND|environment] */
static int show_help(int argc, char **argv)
{
    const char *topic = argc > 2 ? argv[2] : "help";
    const int command = command_by_name(topic);
    if (argc > 3) return fputs("tfgen: usage: tfgen help [COMMAND]\n", stderr), code_usage;
    if (command >= 0) help_command(stdout, (command_kind)command);
    else if (strcmp(topic, "environment") == 0) help_environment(stdout);
    else if (strcmp(topic, "help") == 0) help_overview(stdout);
    else {
        fprintf(stderr, "tfgen: no command is called '%s'", topic);
        complain_near("tfgen help ", nearest_command(topic));
        return code_usage;
    }
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
        if (strncmp(all_options[i].name, name, length) == 0 && !all_options[i].name[length]) return &all_options[i];
    return NULL;
}

/* The option of the command that an unknown word probably means: a synonym from other compilers, else the nearest spelling; NULL: none. */
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

/* Reports an option that only other commands have, and names those if they are few. */
static void complain_of_another(command_kind command, const option_info *o)
{
    enum { few = 4 };
    int count = 0, told = 0;
    for (int c = 0; c < command_count; c++) count += option_for(o, (command_kind)c) != NULL;
    fprintf(stderr, "tfgen: --%s is not an option of `tfgen %s`", o->name, all_commands[command].name);
    for (int c = 0; c < command_count && count <= few; c++)
        if (option_for(o, (command_kind)c)) {
            fprintf(stderr, "%s%s", told == 0 ? ", but of " : told + 1 == count ? " and " : ", ", all_commands[c].name);
            told++;
        }
    fputc('\n', stderr);
}

/* Reports what getopt_long() refused: --NAME in full, or the letter in optopt. */
static bool complain_of_option(command_kind command, const char *given)
{
    const char *of = all_commands[command].name, *names[option_count];
    const bool is_long = strncmp(given, "--", 2) == 0;
    const size_t length = is_long ? strcspn(given + 2, "=") : 0;
    const option_info *known = is_long ? find_option(given + 2, length) : NULL;
    int starts = 0, mine = 0;
    for (int i = 0; i < option_count; i++) {
        const option_info *o = &all_options[i];
        if (!is_long && o->key == optopt) known = o;
        if (!option_for(o, command)) continue;
        names[mine++] = o->name;
        starts += is_long && strncmp(o->name, given + 2, length) == 0;
    }
    if (known && !option_for(known, command)) complain_of_another(command, known);
    else if (known) fprintf(stderr, "tfgen: --%s takes no argument\n", known->name);
    else if (!is_long) fprintf(stderr, "tfgen %s has no option -%c\n", of, optopt);
    else if (starts > 1) fprintf(stderr, "tfgen: %.*s may be several options of `tfgen %s`\n", (int)length + 2, given, of);
    else {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, given + 2);
        fprintf(stderr, "tfgen %s has no option --%s", of, word);
        complain_near("--", option_meant(word, names, (size_t)mine));
    }
    return false;
}

/* The separator with which a repeated option's values are joined to one list; NULL: the last value counts. Tiles may have commas. */
static const char *separator(const option_meaning *m)
{
    if (strcmp(m->argument, "TILE") == 0 || strcmp(m->argument, "TILES") == 0) return "\n";
    return strcmp(m->argument, "LIST") == 0 || strchr(m->argument, ',') ? "," : NULL;
}

static bool take_option(cli_options *out, const option_info *o, const char *given)
{
    const char **field = (const char **)((char *)out + o->field);
    const option_meaning *m = option_for(o, out->command);
    if (o->has_argument && !given[strspn(given, ",")])
        return fprintf(stderr, "tfgen: --%s= is empty; expected %s\n", o->name, m->argument), false;
    const char *between = separator(m);
    *field = !o->has_argument ? "" : between && *field ? arena_printf(out->a, "%s%s%s", *field, between, given) : given;
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

/* True if two paths name the same regular file. Devices and pipes may be given twice. */
static bool is_one_file(const char *x, const char *y)
{
    struct stat at;
    while (strncmp(x, "./", 2) == 0) x += 2;
    while (strncmp(y, "./", 2) == 0) y += 2;
    return strcmp(x, y) == 0 && (stat(x, &at) != 0 || S_ISREG(at.st_mode));
}

/* Refuses two outputs to one file. */
static bool check_written(const cli_options *o)
{
    written list[most_written];
    const int count = list_written(o, list);
    for (int i = 0; i < count; i++) {
        const written *w = &list[i];
        if (is_stdout(w) && !strchr(w->letters, all_commands[o->command].letter))
            return fprintf(stderr, "tfgen: --%s: - (standard output) is not possible here; name a file\n", w->name), false;
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
        const option_info *o = &all_options[i];
        if (!option_for(o, command)) continue;
        longs[n++] = (struct option){o->name, o->has_argument ? required_argument : no_argument, NULL, o->key};
        if (o->key >= 256) continue;
        *shorts++ = (char)o->key;
        if (o->has_argument) *shorts++ = ':';
    }
    longs[n++] = (struct option){"help", no_argument, NULL, key_help};
    longs[n++] = (struct option){"man", no_argument, NULL, key_man};
    longs[n++] = (struct option){"version", no_argument, NULL, key_version};
    memcpy(shorts, "hV", 3);
}

/* Handles --help, --man, --version; true: nothing else is to be done. */
static bool answer(int key, const cli_options *out, bool named)
{
    if (key == key_help && named) help_command(stdout, out->command);
    else if (key == key_help) help_overview(stdout);
    else if (key == key_man) help_man(stdout);
    else if (key == key_version) printf("tfgen %s\n", TFGEN_VERSION);
    else if (out->no_fuse && strcmp(out->no_fuse, "help") == 0) print_fusions();
    else return false;
    return true;
}

/* False: the process ends now, with exit code *code. */
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
            return fprintf(stderr, "tfgen: %s needs an argument\n", argv[optind - 1]), false;
        for (int i = 0; i < option_count; i++)
            if (all_options[i].key == key && !take_option(out, &all_options[i], optarg)) return false;
        *code = code_ok;
        if (answer(key, out, named)) return false;
    }
    *code = code_usage;
    return check_values(out) && check_written(out);
}

static bool needs_file(command_kind c) { return *all_commands[c].arguments; }

/* True if the command has the files it needs, and none if it takes none. */
static bool check_files(const cli_options *o)
{
    const command_info *c = &all_commands[o->command];
    const bool reports = o->command == command_tune && o->report;
    if (needs_file(o->command) ? o->file_count > 0 || o->random || reports : o->file_count == 0) return true;
    if (needs_file(o->command))
        fprintf(stderr, "tfgen %s needs %.*s; usage: tfgen %s [options] %s\n", c->name, (int)strcspn(c->arguments, " .|"),
                c->arguments, c->name, c->arguments);
    else fprintf(stderr, "tfgen %s takes no '%s'\n", c->name, o->files[0]);
    return false;
}

/* Removes the command's name from argv; without one the command is emit. */
bool options_parse(int argc, char **argv, cli_options *out, int *exit_code)
{
    const int named = argc > 1 ? command_by_name(argv[1]) : -1;
    *out = (cli_options){.a = arena_new(), .command = named < 0 ? command_emit : (command_kind)named};
    *exit_code = code_usage;
    if (argc < 2) return help_overview(stderr), false;
    out->help = "tfgen --help";
    if (strcmp(argv[1], "help") == 0 && is_no_spec("help")) return *exit_code = show_help(argc, argv), false;
    if (argc == 3 && strcmp(argv[1], "--help") == 0 && command_by_name(argv[2]) >= 0) return *exit_code = show_help(argc, argv), false;
    if (named < 0 && argv[1][0] != '-' && is_no_spec(argv[1])) return complain_of_command(argv[1]);
    if (named >= 0) memmove(argv + 1, argv + 2, (size_t)(argc-- - 1) * sizeof *argv);
    out->help = arena_printf(out->a, "tfgen %s --help", all_commands[out->command].name);
    if (!read_options(argc, argv, out, named >= 0, exit_code)) return false;
    out->files = argv + optind;
    out->file_count = argc - optind;
    if (named < 0 && out->file_count && is_no_spec(out->files[0])) {
        out->help = "tfgen --help";
        return complain_of_command(out->files[0]);
    }
    return check_files(out);
}
