/* In: what libclang found in an emitted source, and what the plan expects of its kernel. Out: the first difference as a sentence. (The host
 * fills arguments according to the plan, and the kernel reads them according to the source.) */
#include "runtime/compile/libclang.h"
#include "runtime/compile/worker.h"
#include <string.h>

static char *field_difference(const libclang_parameter *p, const libclang_expected *e)
{
    for (int i = 0; i < e->argument_count; i++) {
        const argument *want = &e->arguments[i];
        const libclang_field *field = NULL;
        for (size_t k = 0; k < p->n_fields && !field; k++)
            if (!strcmp(p->fields[k].name, want->name)) field = &p->fields[k];
        if (!field) return printed("%s: %s has no field %s, which the plan fills", e->kernel, p->type, want->name);
        if (field->offset != want->offset)
            return printed("%s: the source has field %s of %s at byte %lld, the plan at byte %u", e->kernel, want->name,
                           p->type, field->offset, want->offset);
        if (field->size != want->size)
            return printed("%s: the source has field %s of %s in %lld bytes, the plan in %u", e->kernel, want->name,
                           p->type, field->size, want->size);
    }
    if (p->n_fields != (size_t)e->argument_count)
        return printed("%s: %s has %zu fields, the plan fills %d", e->kernel, p->type, p->n_fields, e->argument_count);
    if (p->size != e->argument_bytes)
        return printed("%s: %s is %lld bytes, the plan's arguments are %u", e->kernel, p->type, p->size,
                       e->argument_bytes);
    return NULL;
}

/* Compares static shared memory, laid out one variable after the other as compilers do; dynamic memory comes on top. */
static char *shared_difference(const libclang_kernel *k, const libclang_expected *e)
{
    long long bytes = 0;
    bool dynamic = false;
    for (size_t i = 0; i < k->n_shared; i++) {
        const libclang_shared *s = &k->shared[i];
        const long long align = s->align > 0 ? s->align : 1;
        dynamic = dynamic || s->size < 0;
        if (s->size > 0) bytes = (bytes + align - 1) / align * align + s->size;
    }
    if (dynamic ? bytes <= e->shared_bytes : bytes == e->shared_bytes) return NULL;
    return printed("%s: the source has %lld bytes of static shared memory, the plan %d", e->kernel, bytes,
                   e->shared_bytes);
}

char *libclang_difference(const libclang_facts *f, const libclang_expected *e)
{
    const libclang_kernel *k = NULL;
    for (size_t i = 0; i < f->n_kernels; i++)
        if (!strcmp(f->kernels[i].name, e->symbol)) k = &f->kernels[i];
    if (!k || f->n_kernels != 1)
        return printed("%s: the source has %zu kernels, %s", e->kernel, f->n_kernels,
                       k ? "the plan this one" : "none of this name");
    if (k->n_parameters != 1)
        return printed("%s: the kernel takes %zu parameters, the plan passes one struct", e->kernel, k->n_parameters);
    char *difference = field_difference(&k->parameters[0], e);
    return difference ? difference : shared_difference(k, e);
}
