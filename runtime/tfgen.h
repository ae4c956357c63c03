/* libtfgen: fused transformer kernels from a YAML op-graph.
 *
 * A plan is a spec, its dimensions and a target: which kernels, what is fused into each, and their HIP source. It is immutable,
 * needs no device, and may be used from many threads at once. Nothing here prints, exits or keeps global state.
 *
 *     tfgen_plan *plan;
 *     tfgen_error error;
 *     tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
 *     options.target = "gfx942";
 *     if (tfgen_plan_create(yaml, yaml_size, "ffn.yaml", &options, &plan, &error) != TFGEN_OK) report(error.text);
 *
 * C99 and C++17. */
#ifndef TFGEN_H
#define TFGEN_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TFGEN_API
#else
#define TFGEN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are also the command's exit codes. */
typedef enum tfgen_status {
    TFGEN_OK = 0,
    TFGEN_USAGE = 2,       /* an argument of the call is wrong */
    TFGEN_BAD_INPUT = 3,   /* the spec is wrong; the text says where: "ffn.yaml:12:5: error: ..." */
    TFGEN_UNSUPPORTED = 4, /* right, but not for this target or size */
    TFGEN_NO_MEMORY = 6
} tfgen_status;

/* The first lines of what went wrong, cut to fit, always terminated. */
typedef struct tfgen_error { char text[1024]; } tfgen_error;

typedef struct tfgen_plan tfgen_plan;

typedef enum tfgen_fusion { TFGEN_FUSION_NONE = 0, TFGEN_FUSION_OPS = 1, TFGEN_FUSION_TILE = 2 } tfgen_fusion;

typedef struct tfgen_dim { const char *name; int64_t value; } tfgen_dim;

/* Set `size` to sizeof; fields that a later version adds are then taken as zero. */
typedef struct tfgen_plan_options {
    size_t size;
    const char *target;      /* "host", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_90a"; NULL: host */
    const char *preset;      /* of the spec, or NULL */
    const char *dtype;       /* "f32", "f16", "bf16", or NULL for the spec's */
    const tfgen_dim *dims;   /* overrides, stronger than the preset */
    size_t dim_count;
    tfgen_fusion fusion;
    const char *const *no_fuse; /* fusions turned off by name */
    size_t no_fuse_count;
} tfgen_plan_options;
#define TFGEN_PLAN_OPTIONS_INIT {sizeof(tfgen_plan_options), NULL, NULL, NULL, NULL, 0, TFGEN_FUSION_TILE, NULL, 0}

/* Reads `spec` (YAML, `size` bytes, not kept) and plans it. `name` is used in messages and #line directives. *plan is NULL unless
 * TFGEN_OK. options and error may be NULL. */
TFGEN_API tfgen_status tfgen_plan_create(const char *spec, size_t size, const char *name, const tfgen_plan_options *options,
                                         tfgen_plan **plan, tfgen_error *error);
TFGEN_API void tfgen_plan_free(tfgen_plan *plan); /* NULL is fine */

/* Kernels in launch order. Strings live as long as the plan; NULL when index is out of range. */
TFGEN_API size_t tfgen_plan_kernel_count(const tfgen_plan *plan);
TFGEN_API const char *tfgen_plan_kernel_name(const tfgen_plan *plan, size_t index);
TFGEN_API const char *tfgen_plan_kernel_source(const tfgen_plan *plan, size_t index); /* one self-contained HIP file */

TFGEN_API const char *tfgen_plan_text(const tfgen_plan *plan);     /* the plan as IR text, as --dump=plan prints it */
TFGEN_API const char *tfgen_plan_manifest(const tfgen_plan *plan); /* JSON: kernels, arguments, grids, packed weights, workspace */
TFGEN_API int64_t tfgen_plan_workspace_bytes(const tfgen_plan *plan);

TFGEN_API const char *tfgen_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
