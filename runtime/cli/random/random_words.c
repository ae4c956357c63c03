/* In: the templates; words of the language and of vendors. Contract: random_words.h. */
#include "runtime/cli/random/random_words.h"
#include "gen/source/template_text.h"
#include "ir/base/names.h"
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* C++20's alternative tokens, identifiers with a meaning of their own, and keywords (ISO/IEC 14882:2020, 5.5, 5.10 and 5.11). */
static const char language[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await "
    "co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do "
    "double dynamic_cast else enum explicit export extern false final float for friend goto if import inline int long "
    "module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq ";

/* Names that NVRTC, HIPRTC and clang predefine or define in their headers, and names of libraries that the host engine's code links
 * with. */
static const char vendors[] =
    "threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 __hip_bfloat16 "
    "hip_bfloat16 size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uchar ushort uint ulong cudaStream_t "
    "hipStream_t cudaError_t hipError_t tensor_map CUtensorMap NULL INFINITY NAN INT_MAX FLT_MAX M_PI NDEBUG EOF errno assert linux unix "
    "i386 CUDART_VERSION HIP_VERSION HIPRT_CB std cuda hip cooperative_groups printf malloc free memcpy memset main abort exit min max abs "
    "fabs fabsf fmaf fminf fmaxf sqrtf rsqrtf expf exp2f logf log2f sinf cosf tanhf erff powf floorf ceilf roundf rintf isnan isinf "
    "signbit copysign clock clock64 atomicAdd atomicMax atomicCAS atomicExch atomicInc __syncthreads __syncwarp __threadfence "
    "__threadfence_block __shfl_sync __shfl_xor __ballot __ballot_sync __any __all __popc __clz __ffs __ldg __launch_bounds__ __global__ "
    "__device__ __host__ __shared__ __constant__ __forceinline__ __noinline__ __restrict__ __grid_constant__ __cluster_dims__ __func__ "
    "__LINE__ __FILE__ __COUNTER__ __VA_ARGS__ __CUDA_ARCH__ __CUDACC__ __HIPCC__ __AMDGCN__ __NVPTX__ index time read write open close "
    "signal y0 y1 yn j0 j1 jn gamma lgamma environ stdin stdout stderr";

typedef struct word_list {
    arena *a;
    name_map known;
    const char **items;
    int count, room;
} word_list;

static void add(word_list *l, const char *word, size_t size)
{
    char own[most_name + 1] = "";
    if (size > most_name) return;
    memcpy(own, word, size);
    if (!name_is_plain(own) || names_find(&l->known, own)) return;
    l->items = arena_more(l->a, l->items, l->count, &l->room, sizeof *l->items);
    l->items[l->count] = arena_strdup(l->a, own);
    names_add(&l->known, l->items[l->count++], l);
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void add_words(word_list *l, const char *text, size_t length)
{
    for (const char *at = text, *end = text + length; at < end;) {
        size_t size = 0;
        while (at + size < end && in_word(at[size])) size++;
        if (size) add(l, at, size);
        at += size ? size : 1;
    }
}

/* The vector types of CUDA and HIP and their constructors: float4, make_float4 */
static void add_vectors(word_list *l)
{
    static const char *const of[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float",
                                     "double"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int n = 1; n <= 4; n++) {
            const char *word = arena_printf(l->a, "%s%d make_%s%d", of[i], n, of[i], n);
            add_words(l, word, strlen(word));
        }
}

/* Made once, as the templates have 0.5 MB of words and a drawn spec asks for names several times. */
static struct {
    pthread_once_t once;
    word_list list; /* in an arena that the process keeps */
} words = {.once = PTHREAD_ONCE_INIT};

static void read_words(void)
{
    word_list *l = &words.list;
    if (!(l->a = l->known.a = arena_new())) abort(); /* out of memory */
    add_words(l, language, sizeof language - 1);
    add_words(l, vendors, sizeof vendors - 1);
    add_vectors(l);
    for (template_id i = 0; i < template_count; i++) {
        const template_text t = template_at(i);
        add_words(l, t.data, t.size);
    }
}

const char *const *random_words(int *count)
{
    pthread_once(&words.once, read_words);
    *count = words.list.count;
    return words.list.items;
}
