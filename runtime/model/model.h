/* In: a HuggingFace model: its folder, or its config.json alone. Out: the kinds of its layers, their specs, and where their tensors lie.
 * Refuses (bails) what config.h and layer.h say; a folder whose tensors have other names than this family's, or do not fit the config
 * (code_bad_input). Runs no code from the folder and does not use the network. */
#ifndef TFGEN_MODEL_MODEL_H
#define TFGEN_MODEL_MODEL_H
#include "runtime/data/checkpoint.h"
#include "runtime/model/spec.h"

/* Layers that differ only in their layer number. */
typedef struct model_kind {
    layer_facts layer;
    const char *name;  /* "sliding", "full", "full-2" */
    const char *which; /* "layers 0-4, 6-10 of 12" */
    int count;
    const ir_graph *ir; /* of the spec that model_spec() wrote last; NULL: none */
} model_kind;

typedef struct model {
    arena *a;
    const char *path; /* the folder, or the config.json */
    model_config *config;
    checkpoint *tensors; /* NULL: no folder, or no tensors in it */
    const char *tensors_path;
    const char *prefix; /* of a layer's tensors, with {layer} */
    bool gamma;         /* layer norms' tensors are called gamma and beta (spec_request) */
    long long length;   /* tokens of the longest texts, as for layer_read() */
    long long part;     /* most tokens per prefill call; 0: 1024 */
    long long layers;
    int *kind_of; /* by layer */
    model_kind *kinds;
    int kind_count, kind_room;
} model;

bool model_is_folder(const char *path);
/* The text of a file of a folder, NUL-terminated; NULL: the folder has none of that name. Bails if it cannot be read or is too large. */
char *model_read_file(arena *a, const char *folder, const char *name, size_t *size);
/* Reads a folder's config.json and the names of its tensors. part: as for config_read(). */
model *model_open(arena *a, const char *folder, long long length, const char *part);
/* Bails if the folder has no safetensors, with the name of its pickle if there is one. */
void model_need_tensors(const model *m);
/* A config.json by itself. */
model *model_of_config(arena *a, const char *json, size_t size, const char *path, long long length, const char *part);
/* The YAML text of the spec of a kind of layer; sets k->ir. */
const char *model_spec(const model *m, model_kind *k, spec_form form, spec_padding padding);
/* Compares the folder's tensors with the specs written so far: for all layers, or only for layer `only` if it is not negative. */
void model_check_tensors(const model *m, long long only);
#endif
