/* In: argv. Out: which command, its options and its arguments, by the table options.def.
 * Refuses unknown options, options of another command and bad values: a sentence on stderr, exit code 2. */
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
    } number; /* options that are whole numbers, read; what they are when they are not given */
    struct {
#define REAL(field, name, low, high, otherwise) double field;
#include "runtime/cli/options.def"
    } real; /* options that are numbers, likewise */
    char **files;
    int file_count;
    const char *help; /* the call that says what is right usage, or NULL: it was shown */
    arena *a; /* the caller frees it */
} cli_options;

/* Returns true when the caller should go on; else *exit_code says how to end (help and version end with 0). */
bool options_parse(int argc, char **argv, cli_options *out, int *exit_code);

bool options_fill_stdout(const cli_options *o); /* an option names - as a file: nothing else is printed there */

/* Parsed forms; they complain through the arena (position 0) and bail. */
typedef struct name_list { const char **names; size_t count; } name_list;
name_list options_list(arena *a, const char *comma_separated);           /* NULL or "" gives an empty list */
name_list options_lines(arena *a, const char *lines);                    /* of --tile */
dim_override *options_dims(arena *a, const char *option, const char *dims, size_t *count); /* N=V,N=V */
enum { sweep_most = 64 };
typedef struct dim_sweep {
    const char *dim; /* NULL: none is swept, and there is one value, which nobody reads */
    long long values[sweep_most];
    int count;
} dim_sweep;
dim_sweep options_sweep(arena *a, const char *given); /* "S=128,256", "S=16..128" by doubling; or NULL */
/* With one dim more; dim NULL: as they are. */
cli_options options_at(arena *a, const cli_options *o, const char *dim, long long value);
/* Of --option; `otherwise` when it is not given. Bails when it is no number from low to high. */
double options_real(arena *a, const char *option, const char *given, double low, double high, double otherwise);
/* Of --option: "60", "60s", "5m", "1h". */
double options_seconds(arena *a, const char *option, const char *given, double otherwise);
fusion_level options_level(arena *a, const char *name);
const char *fusion_level_name(fusion_level level);
#endif
