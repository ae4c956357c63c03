/* In: a module compiled without line tables (as fast ones are) in which a kernel failed, and its source.
 * Out: the same code compiled again with line tables, as a file for symbolisers.
 * Refuses: code that differs in any byte, as its lines would mislead. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/host/engine.h"

struct module_source {
    char *text, *name, *flags;
    size_t size;
    host_compile_options options; /* its strings belong to this struct, not to the caller */
};

void lines_forget(module_source *s)
{
    if (!s) return;
    free(s->text);
    free(s->name);
    free(s->flags);
    free(s);
}

module_source *lines_keep(const char *source, size_t size, const host_compile_options *o)
{
    module_source *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (module_source){.text = malloc(size + 1), .name = strdup(compile_name(o)), .size = size,
                         .flags = o->flags ? strdup(o->flags) : NULL};
    s->options = (host_compile_options){.name = s->name, .flags = s->flags, .optimise = o->optimise, .time_limit_ms = o->time_limit_ms,
                                        .lines = true};
    if (s->text && s->name && (s->flags || !o->flags)) {
        memcpy(s->text, source, size);
        return s;
    }
    lines_forget(s);
    return NULL;
}

static bool same_segment(const host_module *m, const unsigned char *object, size_t size, const Elf64_Phdr *p, Elf64_Addr first)
{
    if (p->p_offset > size || p->p_filesz > size - p->p_offset || p->p_vaddr < first) return false;
    const uintptr_t at = m->low + (p->p_vaddr - first);
    return at >= m->low && at <= m->high && p->p_filesz <= m->high - at && memcmp((const void *)at, object + p->p_offset, p->p_filesz) == 0;
}

/* True if the loaded module and the object have equal executable segments at the same addresses. */
static bool same_code(const host_module *m, const unsigned char *object, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Phdr p;
    Elf64_Addr first = UINT64_MAX;
    bool same = false;
    if (size < sizeof head) return false;
    memcpy(&head, object, sizeof head);
    if (head.e_phentsize != sizeof p || head.e_phoff > size || head.e_phnum > (size - head.e_phoff) / sizeof p) return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        memcpy(&p, object + head.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_LOAD) continue;
        if (p.p_vaddr < first) first = p.p_vaddr;
        if (p.p_flags & PF_X && !(same = same_segment(m, object, size, &p, first))) return false;
    }
    return same;
}

int lines_file(const host_module *m)
{
    const module_source *s = m->source;
    unsigned char *object = NULL;
    size_t size = 0;
    int file = -1;
    host_log unheard = {0};
    if (s && object_compile(m->compiler, s->text, s->size, &s->options, &object, &size, &unheard) == HOST_OK && same_code(m, object, size))
        file = object_file(object, size);
    host_log_free(&unheard);
    free(object);
    return file;
}
