/* In: a target (tests/fuzz/fuzzing.h). Out: its program: fuzz_NAME [CASES [SEED [FIRST]]] runs mutants FIRST to FIRST+CASES-1 of a seed,
 * each a function of seed and number alone; fuzz_NAME FILE... runs files. A finding aborts, prints seed and number, and leaves its input in
 * a file. More than most_cpu seconds of CPU time for one input, or more memory than most_memory, is a finding. */
#define _GNU_SOURCE
#include "tests/fuzz/fuzzing.h"
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include "runtime/data/random.h"

enum { most_cpu = 20, most_samples = 2000, most_tokens = 2000 };

long fuzz_taken;

uint64_t fuzz_hash(const uint8_t *data, size_t size)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 1099511628211u;
    return h ^ h >> 32;
}

_Noreturn void fuzz_finding(const char *why, const char *more)
{
    fprintf(stderr, "%s: FINDING: %s\n%s\n", fuzz_this.name, why, more ? more : "");
    abort();
}

/* ---- mutation: the same for both engines ---- */

typedef struct chance {
    uint64_t seed, number, drawn;
} chance;

static size_t below(chance *c, size_t n) { return n ? (size_t)(random_bits(c->seed, c->number, c->drawn++) % n) : 0; }

static void replace(fuzz_input *m, size_t at, size_t old, const void *with, size_t n)
{
    uint8_t piece[4096];
    if (n > sizeof piece) n = sizeof piece;
    if (at > m->size || old > m->size - at || m->size - old + n > m->room) return;
    memcpy(piece, with, n); /* it may lie in m */
    memmove(m->data + at + n, m->data + at + old, m->size - at - old);
    memcpy(m->data + at, piece, n);
    m->size += n - old;
}

static size_t token_count(void)
{
    size_t n = 0;
    while (fuzz_this.tokens && fuzz_this.tokens[n]) n++;
    return n;
}

static void put_token(fuzz_input *m, chance *c, size_t at, size_t old)
{
    const size_t n = token_count();
    if (!n) return;
    const char *token = fuzz_this.tokens[below(c, n)];
    replace(m, at, old, token, strlen(token));
}

static bool in_word(uint8_t b) { return isalnum(b) || b == '_' || b == '.' || b == '%'; }

/* The word at or behind a place; its length may be 0. */
static size_t word_at(const fuzz_input *m, size_t at, size_t *length)
{
    while (at < m->size && !in_word(m->data[at])) at++;
    while (at > 0 && in_word(m->data[at - 1])) at--;
    size_t end = at;
    while (end < m->size && in_word(m->data[end])) end++;
    *length = end - at;
    return at;
}

static const long long odd_numbers[] = {0,       1,          -1,         2,          3,         7,         8,         15,        16,
                                        17,      31,         32,         33,         63,        64,        65,        127,       128,
                                        129,     255,        256,        1000,       4095,      4096,      65535,     65536,     1 << 20,
                                        1 << 30, 2147483647, 2147483648, 4294967295, 1LL << 40, 1LL << 53, 1LL << 62, INT64_MAX, INT64_MIN};
enum { odd_count = sizeof odd_numbers / sizeof *odd_numbers };

/* A number becomes another; a word becomes a word of the input or a token. */
static void change_word(fuzz_input *m, chance *c)
{
    size_t length, other, at = word_at(m, below(c, m->size), &length);
    char digits[32];
    if (length && isdigit(m->data[at]) && below(c, 2)) {
        unsigned long long n =
            strtoull((const char *)memcpy(memset(digits, 0, sizeof digits), m->data + at, length < 20 ? length : 20), NULL, 10);
        n = below(c, 2) ? (unsigned long long)odd_numbers[below(c, odd_count)] : below(c, 2) ? n + (below(c, 2) ? 1 : ~0ULL) : n * 2;
        replace(m, at, length, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)n));
    } else if (below(c, 3)) {
        size_t from = word_at(m, below(c, m->size), &other);
        for (int tries = 0; tries < 20 && other && (m->data[from] == '%') != (length && m->data[at] == '%'); tries++)
            from = word_at(m, below(c, m->size), &other);
        replace(m, at, length, m->data + from, other);
    } else put_token(m, c, at, length);
}

/* The whole line at a place is dropped, doubled, or put elsewhere. */
static void change_line(fuzz_input *m, chance *c)
{
    size_t start = below(c, m->size), to = below(c, m->size);
    while (start > 0 && m->data[start - 1] != '\n') start--;
    while (to > 0 && m->data[to - 1] != '\n') to--;
    const uint8_t *newline = memchr(m->data + start, '\n', m->size - start);
    const size_t length = newline ? (size_t)(newline - m->data) - start + 1 : m->size - start;
    if (below(c, 2)) replace(m, to, 0, m->data + start, length);
    else replace(m, start, length, "", 0);
}

static void change_text(fuzz_input *m, const fuzz_input *other, chance *c)
{
    const size_t at = below(c, m->size + 1), left = m->size - at, from = below(c, other->size);
    const size_t some = below(c, 80) + 1, length = other->size - from < some ? other->size - from : some;
    switch (below(c, 12)) {
    case 0: if (left) m->data[at] = (uint8_t)below(c, 256); break;
    case 1: if (left) m->data[at] = (uint8_t)" \n,:[]{}%=#!+-*/()\"0123456789"[below(c, 29)]; break;
    case 2: replace(m, at, below(c, left < 40 ? left + 1 : 40), "", 0); break;
    case 3: put_token(m, c, at, 0); break;
    case 4: replace(m, at, 0, other->data + from, length); break;
    case 5: change_line(m, c); break;
    default: change_word(m, c); break;
    }
}

static void change_bytes(fuzz_input *m, const fuzz_input *other, chance *c)
{
    const size_t at = below(c, m->size), left = m->size - at, from = below(c, other->size), width = (size_t)1 << below(c, 4);
    const size_t some = below(c, 64) + 1, length = other->size - from < some ? other->size - from : some;
    if (!m->size) return replace(m, 0, 0, other->data, other->size);
    switch (below(c, 10)) {
    case 0: m->data[at] ^= (uint8_t)(1 << below(c, 8)); break;
    case 1: m->data[at] = (uint8_t)below(c, 256); break;
    case 2: replace(m, at, below(c, left < 40 ? left + 1 : 40), "", 0); break;
    case 3: put_token(m, c, at, below(c, left < 4 ? left + 1 : 4)); break;
    case 4: replace(m, at, 0, other->data + from, length); break;
    case 5: replace(m, at, left < length ? left : length, other->data + from, length); break;
    case 6: m->size = at + 1; break;
    default: { /* an integer, as all our formats write it */
        const unsigned long long n = below(c, 3) ? (unsigned long long)odd_numbers[below(c, odd_count)] : below(c, m->size + 8);
        for (size_t i = 0; i < width && i < left; i++) m->data[at + i] = (uint8_t)(n >> 8 * i);
    }
    }
}

static void mutate(fuzz_input *m, const fuzz_input *other, chance *c)
{
    if (!m->size && fuzz_this.text) return replace(m, 0, 0, other->data, other->size);
    if (fuzz_this.text) change_text(m, other, c);
    else change_bytes(m, other, c);
}

#ifdef TFGEN_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most,
                                 unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    chance c = {seed, 0, 0};
    if (below(&c, 4) == 0) size = LLVMFuzzerMutate(data, size, most);
    fuzz_input m = {data, size, most}, self = m;
    for (size_t n = 1 + below(&c, 3); n; n--) mutate(&m, &self, &c), self = m;
    if (fuzz_this.repair) fuzz_this.repair(&m);
    return m.size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most, unsigned seed)
{
    chance c = {seed, 1, 0};
    if (a_size > most) a_size = most;
    memcpy(out, a, a_size);
    fuzz_input m = {out, a_size, most};
    const fuzz_input other = {(uint8_t *)b, b_size, b_size};
    if (b_size) mutate(&m, &other, &c);
    if (fuzz_this.repair) fuzz_this.repair(&m);
    return m.size;
}
#else
/* ---- the program ---- */

static const size_t most_memory = (size_t)6 << 30;
static fuzz_input samples[most_samples];
static size_t sample_count;
static fuzz_input current;
static char finding[256];
static volatile long running, looked_at;
static volatile int looks;

/* Async-signal-safe: keeps the input, whatever broke. */
static void keep_input(void)
{
    static const char says[] = "the input is in ";
    const int file = open(finding, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || !current.data) return;
    (void)!write(file, current.data, current.size);
    close(file);
    (void)!write(2, says, sizeof says - 1);
    (void)!write(2, finding, strlen(finding));
    (void)!write(2, "\n", 1);
}

static void on_signal(int number)
{
    keep_input();
    signal(number, SIG_DFL);
    raise(number);
}

/* Called once per second of CPU time of this process. */
static void on_tick(int number)
{
    static const char says[] = "FINDING: an input takes too long\n";
    (void)number;
    looks = looked_at == running ? looks + 1 : 0;
    looked_at = running;
    if (looks < most_cpu) return;
    (void)!write(2, says, sizeof says - 1);
    abort();
}

void __sanitizer_set_death_callback(void (*call)(void)) __attribute__((weak));

static void set_limits(void)
{
    for (const int *s = (const int[]){SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 0}; *s; s++) signal(*s, on_signal);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    else setrlimit(RLIMIT_AS, &(struct rlimit){most_memory, most_memory}); /* sanitizers map far more than they use */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGVTALRM, on_tick);
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){{1, 0}, {1, 0}}, NULL);
}

static bool load(const char *path)
{
    FILE *f = fopen(path, "rb");
    fuzz_input s = {.data = malloc(fuzz_this.most_bytes), .room = fuzz_this.most_bytes};
    if (!f || !s.data) return false;
    s.size = fread(s.data, 1, s.room, f);
    fclose(f);
    if (sample_count < most_samples) samples[sample_count++] = s;
    return true;
}

static void load_all(void)
{
    for (const char *const *pattern = fuzz_this.samples; *pattern; pattern++) {
        glob_t found;
        if (glob(*pattern, 0, NULL, &found)) continue;
        for (size_t i = 0; i < found.gl_pathc; i++) load(found.gl_pathv[i]);
        globfree(&found);
    }
}

static void run_one(const fuzz_input *input)
{
    current = *input;
    running++;
    LLVMFuzzerTestOneInput(input->data, input->size);
}

static void run_files(char **paths)
{
    for (; *paths; paths++) {
        sample_count = 0;
        if (!load(*paths)) fprintf(stderr, "%s: cannot be read\n", *paths), exit(2);
        run_one(&samples[0]);
        printf("%s: fine\n", *paths);
    }
}

int main(int count, char **arguments)
{
    const bool numbers = count < 2 || strspn(arguments[1], "0123456789") == strlen(arguments[1]);
    const long cases = count > 1 && numbers ? atol(arguments[1]) : fuzz_this.cases, first = count > 3 ? atol(arguments[3]) : 0;
    const uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    set_limits();
    const char *folder = access("build", W_OK) ? "" : "build/";
    snprintf(finding, sizeof finding, "%sfinding-%s", folder, fuzz_this.name);
    if (!numbers) return run_files(arguments + 1), 0;
    load_all();
    if (!sample_count) return fprintf(stderr, "%s: no samples here; run it from the top of the repository\n", fuzz_this.name), 1;
    for (size_t i = 0; i < sample_count; i++) run_one(&samples[i]);
    fuzz_taken = 0;
    fuzz_input m = {malloc(fuzz_this.most_bytes), 0, fuzz_this.most_bytes};
    for (long number = first; number < first + cases; number++) {
        chance c = {seed, (uint64_t)number, 0};
        const fuzz_input *base = &samples[below(&c, sample_count)];
        m.size = base->size;
        memcpy(m.data, base->data, base->size);
        for (size_t n = 1 + below(&c, below(&c, 3) ? 3 : 12); n; n--) mutate(&m, &samples[below(&c, sample_count)], &c);
        if (fuzz_this.repair) fuzz_this.repair(&m);
        snprintf(finding, sizeof finding, "%sfinding-%s-%llu-%ld", folder, fuzz_this.name, (unsigned long long)seed, number);
        run_one(&m);
    }
    printf("%s: %zu samples, %ld mutants of seed %llu, %ld of them taken, no findings\n", fuzz_this.name, sample_count, cases,
           (unsigned long long)seed, fuzz_taken);
    for (size_t i = 0; i < sample_count; i++) free(samples[i].data);
    free(m.data);
    return cases >= 1000 && !fuzz_taken;
}
#endif
