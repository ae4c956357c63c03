/* In: a shared object that clang made with -fstack-size-section.
 * Out: the sum of all its functions' stack frames: an upper bound for any call chain, as kernels do not recurse; 0 if the object has no
 * such section. */
#define _GNU_SOURCE
#include <elf.h>
#include <string.h>
#include "runtime/host/engine.h"

typedef struct bytes {
    const unsigned char *at;
    size_t size;
} bytes;

/* `size` bytes of the object at offset `from`; empty if out of bounds. */
static bytes part_of(bytes of, uint64_t from, uint64_t size)
{
    if (from > of.size || size > of.size - from) return (bytes){0};
    return (bytes){of.at + from, (size_t)size};
}

/* Entries of .stack_sizes: an address, then the frame size as ULEB128. */
static size_t sum_of(bytes entries)
{
    const unsigned char *at = entries.at, *end = at + entries.size;
    size_t sum = 0;
    while ((size_t)(end - at) > sizeof(Elf64_Addr)) {
        size_t one = 0;
        at += sizeof(Elf64_Addr);
        for (unsigned shift = 0; at < end; shift += 7) {
            if (shift < 8 * sizeof one) one |= (size_t)(*at & 0x7f) << shift;
            if (!(*at++ & 0x80)) break;
        }
        sum += one;
    }
    return sum;
}

static bool is_named(bytes names, const Elf64_Shdr *s, const char *name)
{
    const bytes own = part_of(names, s->sh_name, strlen(name) + 1);
    return own.at && memcmp(own.at, name, own.size) == 0;
}

size_t frames_of(const unsigned char *object, size_t size)
{
    const bytes all = {object, size};
    Elf64_Ehdr head;
    Elf64_Shdr s;
    size_t sum = 0;
    if (size < sizeof head) return 0;
    memcpy(&head, object, sizeof head);
    const bytes table = part_of(all, head.e_shoff, (uint64_t)head.e_shnum * sizeof s);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof s ||
        !table.at || head.e_shstrndx >= head.e_shnum)
        return 0;
    memcpy(&s, table.at + head.e_shstrndx * sizeof s, sizeof s);
    const bytes names = part_of(all, s.sh_offset, s.sh_size);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        memcpy(&s, table.at + i * sizeof s, sizeof s);
        if (is_named(names, &s, ".stack_sizes")) sum += sum_of(part_of(all, s.sh_offset, s.sh_size));
    }
    return sum;
}
