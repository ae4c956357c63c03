/* In: the path of what should be a safetensors file. Out: nothing, where it may be one. Refuses (bails code_bad_input) a model's folder and
 * the index of its files, and says which file has the tensor (ir/base/model_hint.h). */
#ifndef TFGEN_MODEL_FILES_H
#define TFGEN_MODEL_FILES_H
#include "ir/base/arena.h"

/* name: of a tensor that is wanted. */
void model_files_refuse(arena *a, const char *path, const char *name);
#endif
