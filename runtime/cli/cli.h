/* Shared by all commands: files, colours, progress, JSON, devices, and the compile request that the options make. */
#ifndef TFGEN_CLI_H
#define TFGEN_CLI_H
#include <jansson.h>
#include <stdio.h>
#include "runtime/api/tfgen.h"
#include "runtime/cli/options.h"
#include "runtime/cache/cache.h"
#include "runtime/api/compile.h"

int command_emit_main(const cli_options *o);
int command_import_main(const cli_options *o);
int command_run_main(const cli_options *o);
int command_generate_main(const cli_options *o);
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

/* Reads a whole file of at most 64 MB into the arena ("-" is standard input, whose content is kept for further calls); bails code_io with
 * the reason. */
char *cli_read_file(arena *a, const char *path, size_t *size);
/* Opens a regular file, or one that is open already (/dev/fd/63). The arena closes it. Bails code_bad_input. */
FILE *cli_open_input(arena *a, const char *path);
/* Writes a temporary file and renames it into place; "-" is standard output. Makes parent folders. Bails code_io. */
void cli_write_file(arena *a, const char *path, const void *data, size_t size);
/* Checks ahead of long work that a file can be written there. Makes parent folders, leaves no file. Bails code_io. */
void cli_check_output(arena *a, const char *path);
/* The index of the file name extension that the path has; bails if it has none of them. */
int cli_file_kind(arena *a, const char *option, const char *path, const char *const *ends, int count);
void cli_write_source(arena *a, const char *path, const source_text *s);
/* The whole text, as compilers take it. It lives as long as the arena, but does not count towards its limit. */
const char *cli_whole_source(arena *a, const source_text *s);
void cli_make_folder(arena *a, const char *path);

/* The compile request for one spec, from the options --dim, --preset, --dtype, --fusion, --no-fuse, --target and --from. */
compile_request cli_request(arena *a, const cli_options *o, const char *path);
/* The same for a text in memory. */
compile_request cli_request_text(arena *a, const cli_options *o, const char *name, const char *text, size_t size);

/* The layers of a stack, in turn: SPEC's, then those of --then. kind_of: by place, the layer's kind; 0 is SPEC's. A spec that the list
 * names several times is one kind. */
typedef struct layer_order {
    int *kind_of;
    int length;
} layer_order;
/* Puts the specs of --then into the request for the spec `path`. Without --then there is a single kind. */
layer_order cli_layer_order(arena *a, const cli_options *o, const char *path, compile_request *r);

/* Bails on a name that is not a fusion. */
void cli_check_fusions(arena *a, const char *option, name_list given);
/* Puts the device model that --device-model names into the request; `given` may be NULL. */
void cli_device_model(arena *a, const char *given, compile_request *r);

/* Bails if --target names several targets. */
void cli_one_target(arena *a, const cli_options *o);
void cli_layer_of_weights(arena *a, const cli_options *o); /* bails if --layer is given without --weights */
/* For commands that need one target but no device: --target, else the target of --device-model, else sm_90a. */
const char *cli_target(arena *a, const cli_options *o, const compile_request *r);
/* The first line of a log without control characters, at most 300 characters; "" for NULL. */
const char *cli_first_line(arena *a, const char *log);

/* The graph that the reference computes, with whose values results are compared: that of the input, a spec or --from=graph. If the input is
 * IR text of a later stage, it is the graph of --spec at the text's dims and dtype, or NULL without --spec. Bails if that graph and the
 * text differ in inputs, parameters, states or outputs. */
const ir_graph *cli_graph(arena *a, const cli_options *o, const compiled *c);

/* Whether one spec, or one folder of a model, was given; otherwise complains on stderr. */
bool cli_is_one_spec(const cli_options *o);
/* Bails with `what` and the first line of the device's error, followed by the log or, without one (NULL or empty), by the error's other
 * lines. */
_Noreturn void cli_device_bails(arena *a, tfgen_status status, const char *what, const tfgen_error *error, const char *log);
/* Opens the device that --device names; the arena closes it. Bails if there is none, or if tfgen has no target for it. */
tfgen_device *cli_open_device(arena *a, const char *name);
/* The host engine in a target's geometry; accesses out of bounds are errors. */
tfgen_device *cli_open_host(arena *a, const char *target, unsigned workers);
/* Returns d if its peak rates are those of `device`, so that the floor of a launch can be computed from them; NULL if d is a model of
 * another device or has no bandwidth. Bails if --device-model named a model of another device. */
const device_model *cli_peaks(arena *a, const cli_options *o, const device_model *d, const tfgen_device *device);

/* The kernel cache, closed with the arena; NULL with --no-cache or an empty TFGEN_CACHE_DIR. It warns on stderr if entries cannot be
 * written. */
cache *cli_cache(arena *a, const cli_options *o);

/* Runs body under the arena, prints its diagnostics on stderr, frees the arena, and returns the exit code. */
int cli_run(void (*body)(void *), void *argument, arena *a);
/* The worse of two exit codes: the larger one, except that any failure is worse than `unjudged` (8). */
int cli_worse(int x, int y);

json_t *cli_keep_json(arena *a, json_t *json); /* returns json, which the arena releases */
const char *cli_json_text(arena *a, const json_t *all, size_t flags); /* flags of jansson's json_dumps() */
void cli_print_json(const json_t *all); /* on stdout, with a newline */
json_t *cli_json_number(double x);      /* null if x is not finite, which JSON cannot say */
json_t *cli_json_dims(const dim_table *dims);

/* Shows done/total and an ETA on stderr, on a terminal only and after two seconds. */
typedef struct progress { double start, shown; const char *what; long long done, total; bool terminal; } progress;
progress progress_start(const char *what, long long total);
void progress_step(progress *p, const char *item);
void progress_end(progress *p);
double seconds_now(void);

typedef enum colour { colour_none, colour_good, colour_bad, colour_dim, colour_bold } colour;
/* The escape sequence for this stream; "" if it is not a terminal or NO_COLOR is set. */
const char *colour_code(FILE *out, colour c);
#endif
