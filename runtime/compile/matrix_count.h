/* In: the bytes of a code object (AMD HSA ELF, an offload bundle around one, or a cubin). Out: how many matrix instructions its kernels
 * have: mfma, wmma, mma, wgmma; counted in the machine code, where an instruction in a loop counts once. Refuses (-1) what it cannot read;
 * the bytes may be hostile. */
#ifndef TFGEN_MATRIX_COUNT_H
#define TFGEN_MATRIX_COUNT_H
#include <stddef.h>

long long matrix_instructions(const void *code, size_t size);
#endif
