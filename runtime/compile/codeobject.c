/* In: the bytes of an ELF from an AMD or NVIDIA compiler. Out: architecture, producer, kernels with their registers,
 * scratch and shared memory. Refuses truncated or inconsistent files: every offset is checked before it is read. */
#define _GNU_SOURCE
#include "runtime/compile/codeobject.h"
#include "runtime/compile/msgpack.h"
#include <elf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    machine_amdgpu = 224,
    machine_cuda = 190,
    note_amdgpu_metadata = 32,
    descriptor_size = 64,
    cuda_attribute_frame_size = 0x11,
    cuda_attribute_parameter = 0x17,
    cuda_attribute_registers = 0x2f,
    cuda_attribute_max_threads = 0x05,
    cuda_reserved_shared = 1024, /* ptxas adds the system's kilobyte to a kernel's section from sm_90 on */
    max_kernels = 512,
    max_sections = 8192,
    max_symbols = 65536, /* limits the time on a hostile file; far above any real kernel file */
    max_name = 1024
};

typedef struct image {
    const unsigned char *data;
    size_t size;
    Elf64_Ehdr head;
    codeobject *out;
    char *error;
    unsigned first_byte, end_byte; /* range of the parameters, for the kernel of a cubin that is being read */
} image;

static bool refuse(image *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(image *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!*m->error) vsnprintf(m->error, codeobject_error_size, format, list);
    va_end(list);
    return false;
}

/* NULL: the range is not inside the file. */
static const void *range(const image *m, uint64_t offset, uint64_t size)
{
    return offset > m->size || size > m->size - offset ? NULL : m->data + offset;
}

static bool copy(const image *m, uint64_t offset, void *to, size_t size)
{
    const void *p = range(m, offset, size);
    if (p) memcpy(to, p, size);
    return p != NULL;
}

static bool section(const image *m, unsigned index, Elf64_Shdr *out)
{
    return index < m->head.e_shnum && copy(m, m->head.e_shoff + (uint64_t)index * sizeof *out, out, sizeof *out);
}

/* A NUL-terminated string at `at` of a string table, or NULL. */
static const char *string_at(const image *m, const Elf64_Shdr *table, uint64_t at)
{
    const char *base = table->sh_type == SHT_STRTAB ? range(m, table->sh_offset, table->sh_size) : NULL;
    if (!base || at >= table->sh_size) return NULL;
    const uint64_t left = table->sh_size - at, most = max_name + 64;
    return memchr(base + at, 0, left < most ? left : most) ? base + at : NULL;
}

static const char *section_name(const image *m, const Elf64_Shdr *s)
{
    Elf64_Shdr names;
    return section(m, m->head.e_shstrndx, &names) ? string_at(m, &names, s->sh_name) : NULL;
}

static bool find_section(const image *m, const char *name, Elf64_Shdr *out)
{
    for (unsigned i = 0; section(m, i, out); i++) {
        const char *found = section_name(m, out);
        if (found && !strcmp(found, name)) return true;
    }
    return false;
}

/* Names are printed and passed to drivers: accepts only what our linker symbols can be. */
static char *copy_name(image *m, const char *s, size_t n)
{
    bool fine = n > 0 && n <= max_name;
    for (size_t i = 0; fine && i < n; i++) fine = s[i] > ' ' && s[i] < 127;
    if (!fine) return refuse(m, "a kernel's name is not printable text"), NULL;
    char *name = strndup(s, n);
    if (!name) refuse(m, "not enough memory");
    return name;
}

/* ---- AMD ---- */

static bool key_is(const char *key, size_t n, const char *name) { return n == strlen(name) && !memcmp(key, name, n); }

typedef struct number_key {
    const char *name;
    size_t offset;
} number_key;

static const number_key number_keys[] = {
    {".vgpr_count", offsetof(kernel_facts, vgprs)},
    {".agpr_count", offsetof(kernel_facts, agprs)},
    {".sgpr_count", offsetof(kernel_facts, sgprs)},
    {".vgpr_spill_count", offsetof(kernel_facts, vgpr_spills)},
    {".sgpr_spill_count", offsetof(kernel_facts, sgpr_spills)},
    {".private_segment_fixed_size", offsetof(kernel_facts, scratch_bytes)},
    {".group_segment_fixed_size", offsetof(kernel_facts, lds_bytes)},
    {".kernarg_segment_size", offsetof(kernel_facts, kernarg_bytes)},
    {".max_flat_workgroup_size", offsetof(kernel_facts, max_threads)},
    {".wavefront_size", offsetof(kernel_facts, wave)},
};

static bool read_number(image *m, msgpack *p, const char *key, size_t n, kernel_facts *k)
{
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys; i++)
        if (key_is(key, n, number_keys[i].name)) {
            const uint64_t v = msgpack_unsigned(p);
            if (v > INT_MAX) return refuse(m, "%s is out of range", number_keys[i].name);
            *(unsigned *)((char *)k + number_keys[i].offset) = (unsigned)v;
            return true;
        }
    msgpack_skip(p);
    return true;
}

/* File offset of `size` bytes at a virtual address; false when no loaded segment holds them in the file. */
static bool address_to_offset(const image *m, uint64_t address, uint64_t size, uint64_t *offset)
{
    for (unsigned i = 0; i < m->head.e_phnum; i++) {
        Elf64_Phdr ph;
        if (!copy(m, m->head.e_phoff + (uint64_t)i * sizeof ph, &ph, sizeof ph)) return false;
        if (ph.p_type != PT_LOAD || address < ph.p_vaddr || size > ph.p_filesz ||
            address - ph.p_vaddr > ph.p_filesz - size)
            continue;
        *offset = ph.p_offset + (address - ph.p_vaddr);
        return true;
    }
    return false;
}

/* Looks in the first table of the type only: valid files have one, and a hostile file could have many. */
static bool find_symbol(const image *m, unsigned table_type, const char *name, size_t length, Elf64_Sym *out)
{
    Elf64_Shdr table, strings;
    for (unsigned i = 0; section(m, i, &table); i++) {
        if (table.sh_type != table_type || !section(m, table.sh_link, &strings)) continue;
        for (uint64_t at = 0; at < table.sh_size / sizeof *out && at < max_symbols; at++) {
            if (!copy(m, table.sh_offset + at * sizeof *out, out, sizeof *out)) break;
            const char *found = string_at(m, &strings, out->st_name);
            if (found && strlen(found) == length && !memcmp(found, name, length)) return true;
        }
        return false;
    }
    return false;
}

/* Hardware reads the descriptor, the planner the metadata: refuses a file in which they differ. */
static bool check_descriptor(image *m, const kernel_facts *k, const char *symbol, size_t length)
{
    Elf64_Sym found;
    uint64_t offset;
    unsigned words[descriptor_size / 4];
    if (!symbol || !find_symbol(m, SHT_DYNSYM, symbol, length, &found))
        return refuse(m, "kernel %.64s has no descriptor symbol", k->name);
    if (!address_to_offset(m, found.st_value, descriptor_size, &offset) || !copy(m, offset, words, sizeof words))
        return refuse(m, "the descriptor of kernel %.64s is outside the file", k->name);
    if (words[0] != k->lds_bytes || words[1] != k->scratch_bytes || words[2] != k->kernarg_bytes)
        return refuse(m, "descriptor and metadata of kernel %.64s disagree", k->name);
    return true;
}

static bool read_amd_kernel(image *m, msgpack *p, kernel_facts *k)
{
    const char *symbol = NULL;
    size_t symbol_length = 0;
    for (size_t pairs = msgpack_map(p); pairs && !p->bad; pairs--) {
        size_t n, length;
        const char *key = msgpack_string(p, &n);
        if (!key) break;
        if (key_is(key, n, ".name")) {
            const char *s = msgpack_string(p, &length);
            if (!s || k->name || !(k->name = copy_name(m, s, length))) return refuse(m, "broken kernel name");
        } else if (key_is(key, n, ".symbol")) {
            symbol = msgpack_string(p, &symbol_length);
        } else if (!read_number(m, p, key, n, k)) {
            return false;
        }
    }
    if (p->bad) return refuse(m, "broken kernel metadata");
    if (!k->name) return refuse(m, "a kernel has no name");
    return check_descriptor(m, k, symbol, symbol_length);
}

static kernel_facts *add_kernel(image *m)
{
    codeobject *c = m->out;
    if (c->n_kernels >= max_kernels) return refuse(m, "more than %d kernels", max_kernels), NULL;
    kernel_facts *grown = realloc(c->kernels, (c->n_kernels + 1) * sizeof *grown);
    if (!grown) return refuse(m, "not enough memory"), NULL;
    c->kernels = grown;
    grown += c->n_kernels++;
    *grown = (kernel_facts){0};
    return grown;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+" → gfx90a */
static bool read_target(image *m, const char *s, size_t n)
{
    size_t start = 0, end;
    for (size_t i = 0; i + 3 <= n; i++)
        if (!memcmp(s + i, "gfx", 3)) start = i;
    for (end = start; end < n && s[end] != ':'; end++)
        if (!((s[end] >= '0' && s[end] <= '9') || (s[end] >= 'a' && s[end] <= 'z') || s[end] == '-'))
            return refuse(m, "odd target name");
    if (end == start || end - start >= sizeof m->out->arch) return refuse(m, "odd target name");
    memcpy(m->out->arch, s + start, end - start);
    return true;
}

static bool read_amd_metadata(image *m, const unsigned char *data, size_t size)
{
    msgpack p = {data, data + size, false};
    for (size_t pairs = msgpack_map(&p); pairs && !p.bad; pairs--) {
        size_t n, length;
        const char *key = msgpack_string(&p, &n);
        if (!key) break;
        if (key_is(key, n, "amdhsa.target")) {
            const char *s = msgpack_string(&p, &length);
            if (!s || !read_target(m, s, length)) return refuse(m, "broken target name");
        } else if (key_is(key, n, "amdhsa.kernels")) {
            for (size_t count = msgpack_array(&p); count && !p.bad; count--) {
                kernel_facts *k = add_kernel(m);
                if (!k || !read_amd_kernel(m, &p, k)) return false;
            }
        } else {
            msgpack_skip(&p);
        }
    }
    return p.bad ? refuse(m, "broken metadata") : true;
}

/* Walks one note segment; sets *found if it has the metadata note. */
static bool read_notes(image *m, uint64_t offset, uint64_t size, bool *found)
{
    if (!range(m, offset, size)) return refuse(m, "a note segment is outside the file");
    while (size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        copy(m, offset, &note, sizeof note);
        const uint64_t name_at = sizeof note, data_at = name_at + ((note.n_namesz + 3ull) & ~3ull);
        if (data_at > size || note.n_descsz > size - data_at) return refuse(m, "a note does not fit its segment");
        const char *name = range(m, offset + name_at, note.n_namesz);
        if (note.n_type == note_amdgpu_metadata && note.n_namesz == 7 && !memcmp(name, "AMDGPU", 7)) {
            if (*found) return refuse(m, "two metadata notes");
            *found = true;
            if (!read_amd_metadata(m, range(m, offset + data_at, note.n_descsz), note.n_descsz)) return false;
        }
        const uint64_t step = data_at + ((note.n_descsz + 3ull) & ~3ull);
        if (step >= size) break;
        offset += step;
        size -= step;
    }
    return true;
}

static bool read_amd(image *m)
{
    bool found = false;
    for (unsigned i = 0; i < m->head.e_phnum; i++) {
        Elf64_Phdr ph;
        if (!copy(m, m->head.e_phoff + (uint64_t)i * sizeof ph, &ph, sizeof ph))
            return refuse(m, "program headers are outside the file");
        if (ph.p_type == PT_NOTE && !read_notes(m, ph.p_offset, ph.p_filesz, &found)) return false;
    }
    if (!found) return refuse(m, "no AMDGPU metadata (code object version 2 or older, or not linked)");
    if (!*m->out->arch) return refuse(m, "the metadata names no target");
    return true;
}

/* ---- NVIDIA ---- */

/* Kernels are the sections .text.NAME. Their registers and stack frames are in .nv.info, by symbol index; their parameters and limits of
 * threads in .nv.info.NAME. */
static kernel_facts *kernel_of_symbol(image *m, unsigned index)
{
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!find_section(m, ".symtab", &table) || !section(m, table.sh_link, &strings)) return NULL;
    if (index >= table.sh_size / sizeof symbol ||
        !copy(m, table.sh_offset + (uint64_t)index * sizeof symbol, &symbol, sizeof symbol))
        return NULL;
    const char *name = string_at(m, &strings, symbol.st_name);
    for (size_t i = 0; name && i < m->out->n_kernels; i++)
        if (!strcmp(m->out->kernels[i].name, name)) return &m->out->kernels[i];
    return NULL;
}

static unsigned word(const unsigned char *p) { return p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24; }

/* Reads one attribute: of .nv.info.KERNEL, if k is not NULL; else of .nv.info, where the attribute has the index of its kernel's symbol. */
static bool read_attribute(image *m, kernel_facts *k, unsigned attribute, const unsigned char *data, size_t size)
{
    if (!k && size == 8 && (k = kernel_of_symbol(m, word(data)))) {
        if (attribute == cuda_attribute_registers) k->vgprs = word(data + 4);
        if (attribute == cuda_attribute_frame_size) k->scratch_bytes = word(data + 4);
    } else if (k && attribute == cuda_attribute_parameter && size == 12) {
        /* index, ordinal, offset, flags with the size in the upper bits; bytes before the first parameter are padding for its alignment */
        const unsigned at = data[6] | data[7] << 8, end = at + (word(data + 8) >> 18);
        if (at < m->first_byte) m->first_byte = at;
        if (end > m->end_byte) m->end_byte = end;
        k->kernarg_bytes = m->end_byte - m->first_byte;
    } else if (k && attribute == cuda_attribute_max_threads && size == 12) {
        const uint64_t threads = (uint64_t)word(data) * word(data + 4);
        if (threads > 1024 || threads * word(data + 8) > 1024)
            return refuse(m, "kernel %.64s asks for too many threads", k->name);
        k->max_threads = (unsigned)threads * word(data + 8);
    }
    return true;
}

static bool read_attributes(image *m, const Elf64_Shdr *s, kernel_facts *k)
{
    const unsigned char *p = range(m, s->sh_offset, s->sh_size);
    if (!p) return refuse(m, "an attribute section is outside the file");
    for (uint64_t left = s->sh_size; left >= 4;) {
        const uint64_t size = p[0] == 4 ? p[2] | p[3] << 8 : 0; /* format 4: data follow the header; others: data are inside it */
        if (size > left - 4) return refuse(m, "an attribute does not fit its section");
        if (!read_attribute(m, k, p[1], p + 4, size)) return false;
        p += 4 + size;
        left -= 4 + size;
    }
    return true;
}

static bool read_cuda_kernel(image *m, const char *name, unsigned sm)
{
    char title[max_name + 16];
    Elf64_Shdr s;
    kernel_facts *k = add_kernel(m);
    if (!k || !(k->name = copy_name(m, name, strlen(name)))) return false;
    k->wave = 32;
    k->max_threads = 1024;
    m->first_byte = UINT_MAX;
    m->end_byte = 0;
    snprintf(title, sizeof title, ".nv.shared.%s", name);
    if (find_section(m, title, &s)) {
        const unsigned reserved = sm >= 90 ? cuda_reserved_shared : 0;
        if (s.sh_size > INT_MAX) return refuse(m, "kernel %.64s has too much shared memory", name);
        k->lds_bytes = s.sh_size > reserved ? (unsigned)s.sh_size - reserved : 0;
    }
    snprintf(title, sizeof title, ".nv.info.%s", name);
    return !find_section(m, title, &s) || read_attributes(m, &s, k);
}

static bool read_cuda(image *m)
{
    Elf64_Shdr s;
    const unsigned flags = m->head.e_flags, sm = m->head.e_ident[EI_ABIVERSION] >= 8 ? flags >> 8 & 255 : flags & 255;
    snprintf(m->out->arch, sizeof m->out->arch, "sm_%u", sm);
    for (unsigned i = 0; section(m, i, &s); i++) {
        const char *name = section_name(m, &s);
        if (name && s.sh_type == SHT_PROGBITS && !strncmp(name, ".text.", 6) && !read_cuda_kernel(m, name + 6, sm))
            return false;
    }
    return !find_section(m, ".nv.info", &s) || read_attributes(m, &s, NULL);
}

/* ---- both ---- */

/* .comment of AMD objects: "Debian clang version 22.1.8 (…)". */
static void read_producer(image *m)
{
    Elf64_Shdr s;
    const char *text =
        find_section(m, ".comment", &s) && s.sh_type == SHT_PROGBITS ? range(m, s.sh_offset, s.sh_size) : NULL;
    const char mark[] = "clang version ";
    if (!text) return;
    for (size_t i = 0; i + sizeof mark < s.sh_size; i++) {
        if (memcmp(text + i, mark, sizeof mark - 1)) continue;
        size_t n = snprintf(m->out->producer, sizeof m->out->producer, "clang ");
        for (i += sizeof mark - 1; i < s.sh_size && n + 1 < sizeof m->out->producer; i++) {
            if (!((text[i] >= '0' && text[i] <= '9') || text[i] == '.')) break;
            m->out->producer[n++] = text[i];
        }
        m->out->producer[n] = 0;
        return;
    }
}

static bool read_image(image *m)
{
    const Elf64_Ehdr *h = &m->head;
    if (!copy(m, 0, &m->head, sizeof m->head)) return refuse(m, "shorter than an ELF header");
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
        return refuse(m, "not a 64-bit little-endian ELF file");
    if (h->e_shnum > max_sections) return refuse(m, "more than %d sections", max_sections);
    if (h->e_shnum &&
        (h->e_shentsize != sizeof(Elf64_Shdr) || !range(m, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr))))
        return refuse(m, "section headers are outside the file");
    if (h->e_phnum &&
        (h->e_phentsize != sizeof(Elf64_Phdr) || !range(m, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr))))
        return refuse(m, "program headers are outside the file");
    if (h->e_machine != machine_amdgpu && h->e_machine != machine_cuda)
        return refuse(m, "an ELF file for machine %u, neither AMDGPU nor CUDA", h->e_machine);
    read_producer(m);
    return h->e_machine == machine_amdgpu ? read_amd(m) : read_cuda(m);
}

bool codeobject_unbundle(const void *code, size_t size, const char *arch, const unsigned char **inner,
                         size_t *inner_size)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    const unsigned char *p = code;
    const image m = {.data = code, .size = size};
    uint64_t count, at = sizeof magic - 1 + sizeof count;
    *inner = p;
    *inner_size = size;
    if (size < sizeof magic - 1 || memcmp(p, magic, sizeof magic - 1)) return true;
    if (!copy(&m, sizeof magic - 1, &count, sizeof count)) return false;
    for (; count; count--) {
        uint64_t entry[3]; /* offset, size, length of the name that follows */
        if (!copy(&m, at, entry, sizeof entry)) return false;
        const char *name = range(&m, at += sizeof entry, entry[2]);
        if (!name || !range(&m, entry[0], entry[1])) return false;
        at += entry[2];
        if (!entry[1] || !memmem(name, entry[2], "amdgcn", 6)) continue;
        if (arch && !memmem(name, entry[2], arch, strcspn(arch, ":"))) continue;
        *inner = p + entry[0];
        *inner_size = entry[1];
        return true;
    }
    return false;
}

bool codeobject_read(const void *code, size_t size, codeobject *out, char error[codeobject_error_size])
{
    image m = {.out = out, .error = error};
    *out = (codeobject){0};
    *error = 0;
    if (!codeobject_unbundle(code, size, NULL, &m.data, &m.size))
        return refuse(&m, "an offload bundle without AMD device code");
    if (read_image(&m)) return true;
    codeobject_free(out);
    return false;
}

void kernel_facts_free(kernel_facts *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++) free(kernels[i].name);
    free(kernels);
}

void codeobject_free(codeobject *c)
{
    kernel_facts_free(c->kernels, c->n_kernels);
    *c = (codeobject){0};
}
