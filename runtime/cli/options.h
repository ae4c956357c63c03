/* In: argv. Out: the command, its options and its arguments, by the table options.def.
 * Refuses unknown options, options of another command and bad values: message on stderr, exit code 2. */
#ifndef TFGEN_CLI_OPTIONS_H
#define TFGEN_CLI_OPTIONS_H
#include <stdbool.h>
#include "ir/ir.h"

typedef enum command_kind {
#define COMMAND(name, ...) command_##name,
#include "runtime/cli/options.def"
    command_count
} command_kind;

/* The text of each option as given, or NULL; flags are "" when given. */
typedef struct cli_options {
    command_kind command;
#define OPTION(field, name, key, argument, commands, help) const char *field;
#include "runtime/cli/options.def"
    struct {
#define NUMBER(field, name, low, high, otherwise) long long field;
#include "runtime/cli/options.def"
    } number; /* parsed integer options, or their defaults */
    struct {
#define REAL(field, name, low, high, otherwise) double field;
#include "runtime/cli/options.def"
    } real; /* parsed real options, or their defaults */
    char **files;
    int file_count;
    const char *help; /* command line that prints the usage, which error messages suggest ("tfgen run --help"); NULL: the usage was printed
                       * already */
    arena *a; /* freed by the caller */
} cli_options;

/* Returns true if the caller should go on; else it should exit with *exit_code (0 after help and version). */
bool options_parse(int argc, char **argv, cli_options *out, int *exit_code);

bool options_fill_stdout(const cli_options *o); /* true if an option writes its file to stdout ("-"): print nothing else there */

/* Parsers of option values; on errors they complain() at position 0 and bail. */
typedef struct name_list { const char **names; size_t count; } name_list;
name_list options_list(arena *a, const char *comma_separated);           /* NULL or "" gives an empty list */
name_list options_lines(arena *a, const char *lines);                    /* of --tile */
dim_override *options_dims(arena *a, const char *option, const char *dims, size_t *count); /* N=V,N=V */
enum { sweep_most = 64 };
typedef struct dim_sweep {
    const char *dim; /* NULL: no sweep; count is 1 and the value is unused */
    long long values[sweep_most];
    int count;
} dim_sweep;
dim_sweep options_sweep(arena *a, const char *given); /* "S=128,256", or "S=16..128" by doubling; NULL: no sweep */
/* A copy of the options with dim=value added; dim NULL: unchanged. */
cli_options options_at(arena *a, const cli_options *o, const char *dim, long long value);
/* The value of --option, or `otherwise` if `given` is NULL. Bails unless it is a number in [low, high]. */
double options_real(arena *a, const char *option, const char *given, double low, double high, double otherwise);
long long options_whole(arena *a, const char *option, const char *given, long long low, long long high, long long otherwise);
/* The same for a duration: "60", "60s", "5m", "1h". */
double options_seconds(arena *a, const char *option, const char *given, double otherwise);
fusion_level options_level(arena *a, const char *name);
const char *fusion_level_name(fusion_level level);
#endif
