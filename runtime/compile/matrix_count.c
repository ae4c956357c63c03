/* In: code objects. Out: the number of their matrix instructions (matrix_count.h). Refuses files that are not ELF of a known GPU, and code
 * whose last instruction exceeds its section. NVIDIA's instructions have 16 bytes; the length of AMD's follows from the first word, as in
 * the ISA documents. */
#include "runtime/compile/matrix_count.h"
#include "runtime/compile/codeobject.h"
#include <elf.h>
#include <stdbool.h>
#include <string.h>

typedef enum machine { machine_none, machine_cuda, machine_gfx9, machine_gfx11, machine_gfx12 } machine;

typedef struct code_text {
    const unsigned char *data;
    size_t size;
} code_text;

static unsigned word_at(const code_text *t, size_t at)
{
    unsigned w;
    memcpy(&w, t->data + at, sizeof w);
    return w;
}

/* ---- NVIDIA: the low 12 bits are the opcode, of which the upper three are the operand's form */
static bool cuda_is_matrix(unsigned w) { return (w & 0xfff) == 0x23c /* HMMA */ || (w & 0x1ff) == 0x1f0 /* HGMMA */; }

static long long count_cuda(const code_text *t)
{
    long long count = 0;
    if (t->size % 16) return -1;
    for (size_t at = 0; at < t->size; at += 16) count += cuda_is_matrix(word_at(t, at));
    return count;
}

/* ---- AMD. Source operand 255 is a literal word after the instruction; SDWA and DPP also take another word. */
enum { source_literal = 255, source_sdwa = 249, source_dpp = 250, source_dpp8 = 233, source_dpp8_fi = 234 };

static bool has_more(machine m, unsigned source)
{
    if (source == source_literal || source == source_dpp) return true;
    return m == machine_gfx9 ? source == source_sdwa : source == source_dpp8 || source == source_dpp8_fi;
}

/* Words of scalar instructions: a literal source adds one, so does the value of s_setreg_imm32_b32. */
static size_t scalar_words(unsigned w)
{
    const unsigned first = w & 255, second = w >> 8 & 255, setreg = 20;
    if (w >> 23 == 0x17f) return 1;                               /* SOPP */
    if (w >> 23 == 0x17d) return first == source_literal ? 2 : 1; /* SOP1 */
    if (w >> 28 == 0xb) return (w >> 23 & 31) == setreg ? 2 : 1;  /* SOPK */
    return first == source_literal || second == source_literal ? 2 : 1;
}

/* Multiply-adds that always have a literal constant (madmk, madak, fmamk, fmaak). */
static bool has_constant(machine m, unsigned op)
{
    if (m == machine_gfx9) return op == 0x17 || op == 0x18 || op == 0x24 || op == 0x25;
    return op == 0x2c || op == 0x2d || op == 0x37 || op == 0x38;
}

static size_t vector_words(machine m, unsigned w)
{
    const unsigned op = w >> 25 & 63, source = w & 511;
    if (op < 62 && has_constant(m, op)) return 2;
    return has_more(m, source) ? 2 : 1;
}

/* VOP3, VOP3P: three 9-bit sources in the second word; no literals on gfx9. */
static size_t three_words(machine m, unsigned next)
{
    bool more = has_more(m, next & 511);
    for (int i = 1; i < 3; i++) more |= (next >> 9 * i & 511) == source_literal;
    return m != machine_gfx9 && more ? 3 : 2;
}

/* VOPD, two instructions in one: a literal of either first source, or the constant of fmamk or fmaak, adds a word. */
static size_t dual_words(unsigned w, unsigned next)
{
    const unsigned x = w >> 22 & 15, y = w >> 17 & 31;
    const bool constant = x == 1 || x == 2 || y == 1 || y == 2;
    return constant || (w & 511) == source_literal || (next & 511) == source_literal ? 3 : 2;
}

/* Words of an instruction; 0: unknown. */
static size_t words_of(machine m, unsigned w, unsigned next)
{
    if (!(w >> 31)) return vector_words(m, w);
    if (w >> 30 == 2) return scalar_words(w);
    const unsigned class = w >> 26;
    if (m == machine_gfx9) return class == 0x34 ? three_words(m, next) : class == 0x35 ? 1 /* VINTRP */ : 2;
    if (class == 0x32) return dual_words(w, next);
    if (class == 0x35 || w >> 24 == 0xcc) return three_words(m, next);
    if (w >> 24 == 0xcd) return 2; /* VINTERP */
    if (w >> 24 == 0xce) return 1; /* LDSDIR */
    if (m == machine_gfx12) return class == 0x31 || class == 0x34 || class == 0x3b || class == 0x39 ? 3 : 2;
    if (class == 0x3c) return 2 + (w & 1); /* images: addresses may take another word */
    return 2;
}

/* Matrix products are VOP3P. On gfx9 these are the opcodes from 64 on, except v_accvgpr_read and _write (88, 89), and a few lower ones. */
static bool amd_is_matrix(machine m, unsigned w)
{
    const unsigned op = w >> 16 & 127;
    if (m != machine_gfx9) return w >> 24 == 0xcc && op >= 64 && op < 104;
    if (w >> 23 != 0x1a7) return false;
    return (op >= 64 && op != 88 && op != 89) || (op >= 0x2d && op <= 0x2e) || (op >= 0x35 && op <= 0x3f);
}

static long long count_amd(machine m, const code_text *t)
{
    long long count = 0;
    size_t at = 0;
    while (at + 4 <= t->size) {
        const unsigned w = word_at(t, at), next = at + 8 <= t->size ? word_at(t, at + 4) : 0;
        count += amd_is_matrix(m, w);
        at += 4 * words_of(m, w, next);
    }
    return at == t->size ? count : -1;
}

/* ---- files */
static machine machine_of(const Elf64_Ehdr *h)
{
    enum { elf_cuda = 190, elf_amdgpu = 224 };
    const unsigned model = h->e_flags & 255;
    if (h->e_machine == elf_cuda) return machine_cuda;
    if (h->e_machine != elf_amdgpu) return machine_none;
    if (model == 0x30 || model == 0x3f || model == 0x4c || model == 0x4f) return machine_gfx9; /* gfx908, 90a, 942, 950 */
    if (model == 0x41 || model == 0x46 || model == 0x47 || model == 0x43 || model == 0x4a || model == 0x50 || model == 0x51 ||
        model == 0x55)
        return machine_gfx11;                                 /* gfx1100, 1101, 1102, 1150, 1151, 1152 */
    if (model == 0x48 || model == 0x4e) return machine_gfx12; /* gfx1200, 1201 */
    return machine_none;
}

static long long count_section(machine m, const unsigned char *data, size_t size, const Elf64_Shdr *s)
{
    if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR)) return 0;
    if (s->sh_offset > size || s->sh_size > size - s->sh_offset) return -1;
    const code_text t = {data + s->sh_offset, s->sh_size};
    return m == machine_cuda ? count_cuda(&t) : count_amd(m, &t);
}

long long matrix_instructions(const void *code, size_t size)
{
    const unsigned char *data = code;
    Elf64_Ehdr h;
    long long count = 0;
    if (!codeobject_unbundle(code, size, NULL, &data, &size) || size < sizeof h) return -1;
    memcpy(&h, data, sizeof h);
    const machine m = memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 ? machine_of(&h) : machine_none;
    if (m == machine_none || h.e_shentsize != sizeof(Elf64_Shdr)) return -1;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s;
        if (h.e_shoff > size || (uint64_t)(i + 1) * sizeof s > size - h.e_shoff) return -1;
        memcpy(&s, data + h.e_shoff + (uint64_t)i * sizeof s, sizeof s);
        const long long one = count_section(m, data, size, &s);
        if (one < 0) return -1;
        count += one;
    }
    return count;
}
