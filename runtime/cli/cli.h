/* What the commands share: files, colours, progress, and the request that their options make. */
#ifndef TFGEN_CLI_H
#define TFGEN_CLI_H
#include <jansson.h>
#include <stdio.h>
#include "runtime/api/tfgen.h"
#include "runtime/cli/options.h"
#include "runtime/cache/cache.h"
#include "runtime/api/compile.h"

int command_emit_main(const cli_options *o);
int command_run_main(const cli_options *o);
int command_verify_main(const cli_options *o);
int command_check_main(const cli_options *o);
int command_schema_main(const cli_options *o);
int command_bisect_main(const cli_options *o);
int command_bench_main(const cli_options *o);
int command_compare_main(const cli_options *o);
int command_ablate_main(const cli_options *o);
int command_predict_main(const cli_options *o);
int command_fit_main(const cli_options *o);
int command_explain_main(const cli_options *o);
int command_access_main(const cli_options *o);
int command_trace_main(const cli_options *o);
int command_build_main(const cli_options *o);
int command_cache_main(const cli_options *o);
int command_wisdom_main(const cli_options *o);
int command_tune_main(const cli_options *o);
int command_table_main(const cli_options *o);
int command_devices_main(const cli_options *o);
int command_calibrate_main(const cli_options *o);
int command_doctor_main(const cli_options *o);

/* Reads a whole file ("-" is standard input, the same each time) of at most 64 MB into the arena; bails code_io with the reason. */
char *cli_read_file(arena *a, const char *path, size_t *size);
/* Of a regular file, or one that is open already (/dev/fd/63); closed with the arena. Bails code_bad_input. */
FILE *cli_open_input(arena *a, const char *path);
/* Writes aside and renames into place; - is standard output. Makes parent folders. Bails code_io. */
void cli_write_file(arena *a, const char *path, const void *data, size_t size);
/* Bails code_io where a file cannot be written there later. Makes parent folders, and leaves no file. */
void cli_check_output(arena *a, const char *path);
/* Which of the endings a path has; bails where it is none. */
int cli_file_kind(arena *a, const char *option, const char *path, const char *const *ends, int count);
void cli_write_source(arena *a, const char *path, const source_text *s);
/* Whole, for compilers, as long as the arena lives but none of its limited memory. */
const char *cli_whole_source(arena *a, const source_text *s);
void cli_make_folder(arena *a, const char *path);

/* The request of one spec, from options: dims, preset, dtype, fusion, no-fuse, target, from. */
compile_request cli_request(arena *a, const cli_options *o, const char *path);
/* The same of a text that is there already. */
compile_request cli_request_text(arena *a, const cli_options *o, const char *name, const char *text, size_t size);

/* Bails where one is no fusion's name. */
void cli_check_fusions(arena *a, const char *option, name_list given);
/* Of --device-model, which may be NULL. */
void cli_device_model(arena *a, const char *given, compile_request *r);

/* Bails where --target names several. */
void cli_one_target(arena *a, const cli_options *o);
/* Of commands that take one target and run nothing: --target, else that of --device-model, else the one that most is known of. */
const char *cli_target(arena *a, const cli_options *o, const compile_request *r);
/* The first line of a log, harmless, at most 300 characters; "" of NULL. */
const char *cli_first_line(arena *a, const char *log);
/* The first error of another arena, without its place: a sentence for a table. */
const char *cli_first_error(arena *a, const arena *of);

/* The graph that results are compared with: the spec's, or for IR text of a later stage that of --spec at the text's dims and dtype, which
 * must have the text's inputs, parameters, states and outputs; NULL: there is none. Bails. */
const ir_program *cli_graph(arena *a, const cli_options *o, const compiled *c);

/* False, and an error: there are several. */
bool cli_is_one_spec(const cli_options *o, const char *command);
/* Bails with the first line of what a device says, `what` ahead of it; behind it stands its log, or where there is none (NULL or empty) the
 * other lines of what it says. */
_Noreturn void cli_device_bails(arena *a, tfgen_status status, const char *what, const tfgen_error *error, const char *log);
/* Of --device, closed with the arena. Bails where there is none, or none that tfgen has a target for. */
tfgen_device *cli_open_device(arena *a, const char *name);
/* The host engine in the geometry of a target, where wild accesses are errors. */
tfgen_device *cli_open_host(arena *a, const char *target, unsigned workers);
/* The model that what a device reached is a share of: NULL: it is of another device, or does not say what its bandwidth is. One that was
 * asked for by --device-model must be this device's. */
const device_model *cli_peaks(arena *a, const cli_options *o, const device_model *d, const tfgen_device *device);

/* The kernel cache, closed with the arena; NULL with --no-cache or an empty TFGEN_CACHE_DIR. Warns on stderr. */
cache *cli_cache(arena *a, const cli_options *o);

/* Runs body under the arena, prints its diagnostics on stderr, frees the arena, and returns the exit code. */
int cli_run(void (*body)(void *), void *argument, arena *a);
/* Of two exit codes that of the command: the larger, but what is not judged hides nothing that went wrong. */
int cli_worse(int x, int y);

json_t *cli_keep_json(arena *a, json_t *json); /* released with the arena; the same */
const char *cli_json_text(arena *a, const json_t *all, size_t flags); /* flags: jansson's */
void cli_print_json(const json_t *all); /* on stdout, a line end behind it */
json_t *cli_json_number(double x);      /* null: it is not finite, of which JSON has none */
json_t *cli_json_dims(const dim_table *dims);

/* On stderr, only on a terminal, after two seconds: done/total and an ETA. */
typedef struct progress { double start, shown; const char *what; long long done, total; bool terminal; } progress;
progress progress_start(const char *what, long long total);
void progress_step(progress *p, const char *item);
void progress_end(progress *p);
double seconds_now(void);

typedef enum colour { colour_none, colour_good, colour_bad, colour_dim, colour_bold } colour;
/* The escape for this stream, or "" when it is no terminal or NO_COLOR is set. */
const char *colour_code(FILE *out, colour c);
#endif
