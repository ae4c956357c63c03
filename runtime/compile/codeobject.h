/* In: bytes that claim to be a GPU code object (AMD HSA ELF, an offload bundle around one, or a cubin). Out: its
 * architecture and each kernel's resource usage. Refuses inconsistent files, with a message; the bytes may be hostile. */
#ifndef TFGEN_CODEOBJECT_H
#define TFGEN_CODEOBJECT_H
#include <stdbool.h>
#include <stddef.h>

typedef struct kernel_facts {
    char *name;
    unsigned vgprs; /* as allocated; AMD with a unified register file: AGPRs included; NVIDIA: registers per thread */
    unsigned agprs, sgprs;
    unsigned vgpr_spills, sgpr_spills; /* registers; a cubin does not record them (0) */
    unsigned scratch_bytes;            /* per lane; NVIDIA: local memory */
    unsigned lds_bytes;                /* static shared memory per workgroup */
    unsigned kernarg_bytes;            /* all parameters; AMD: plus the hidden arguments of kernels that use them */
    unsigned max_threads;              /* per workgroup */
    unsigned wave;
} kernel_facts;

typedef struct codeobject {
    char arch[32];     /* gfx90a, gfx942 … without feature suffixes; sm_90 (a cubin does not record the 'a') */
    char producer[64]; /* "clang 22.1.8" if the file names it, else "" */
    kernel_facts *kernels;
    size_t n_kernels;
} codeobject;

enum { codeobject_error_size = 160 };

/* False: error has the reason, and there is nothing to free. */
bool codeobject_read(const void *code, size_t size, codeobject *out, char error[codeobject_error_size]);
void codeobject_free(codeobject *c);
void kernel_facts_free(kernel_facts *kernels, size_t n);

/* The device code object inside an offload bundle, or the bytes themselves when they are no bundle. arch NULL: the
 * first device entry. False: a bundle without one, or a broken bundle. */
bool codeobject_unbundle(const void *code, size_t size, const char *arch, const unsigned char **inner,
                         size_t *inner_size);
#endif
