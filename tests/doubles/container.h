/* How the double of HIPRTC passes host code to the double of the HIP runtime: a container_head and a host engine shared object are appended
 * to the real code object; a mark in the padding of its ELF identification says that they are there. */
#ifndef TFGEN_DOUBLES_CONTAINER_H
#define TFGEN_DOUBLES_CONTAINER_H
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { container_mark_at = 12, container_align = 16 };
static const char container_mark[4] = {'h', 'o', 's', 't'};

typedef struct container_head {
    char magic[16];
    uint64_t size; /* of the shared object that follows */
} container_head;
static const char container_magic[16] = "tfgen host code";

/* Size of an ELF file in bytes, from its headers, since hipModuleLoadData gets no size. 0: not ELF. */
static inline size_t container_elf_size(const unsigned char *file)
{
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64) return 0;
    size_t end = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    for (int i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, file + head.e_shoff + (size_t)i * head.e_shentsize, sizeof s);
        if (s.sh_type != SHT_NOBITS && s.sh_offset + s.sh_size > end) end = s.sh_offset + s.sh_size;
    }
    return end;
}

static inline size_t container_round(size_t n) { return (n + container_align - 1) / container_align * container_align; }
static inline bool container_has_host(const unsigned char *file)
{
    return !memcmp(file + container_mark_at, container_mark, sizeof container_mark);
}
#endif
