/* In: OUTDIR JOBS [targets=LIST] [specs=LIST] [presets=LIST] [levels=LIST] [dtypes=LIST]. Out: every kernel that the plans
 * choose for shipped specs and presets, compiled for every GPU target and checked against its plan: OUTDIR/results.tsv (a line per source;
 * a later run does not compile again what was good), OUTDIR/failed/, OUTDIR/summary.md (a line per target). Exit code 1 if any failed. */
#define _GNU_SOURCE
#include "runtime/api/compile.h"
#include "runtime/compile/libclang.h"
#include "runtime/system/parallel.h"
#include "runtime/compile/worker.h"
#include "gen/base/names.h"
#include "gen/gen.h"
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Register files: registers per lane of a SIMD, the number of SIMDs that share a workgroup, the most registers of a wave. */
typedef struct machine {
    const char *label, *arch;
    compiler_kind kind;
    unsigned registers, simds, most;
} machine;

enum {
    machine_count = 0 /* as many as there are targets: all but the host, and gfx90a once more, with HIPRTC, which is the last */
#define TARGET(...) +1
#include "ir/target.def"
};
static machine machines[machine_count];

static void list_machines(void)
{
    size_t count, n = 0;
    const target_info *list = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        const target_info *t = &list[i];
        const bool amd = t->vendor == vendor_amd;
        const unsigned most = amd && t->wave == 64 ? (unsigned)t->registers : (unsigned)t->lane_registers;
        if (t->vendor == vendor_host) continue;
        machines[n++] = (machine){t->name, t->name, amd ? compiler_clang : compiler_nvrtc, (unsigned)t->registers, amd ? 4 : 1, most};
    }
    machines[n] = (machine){"gfx90a-hiprtc", "gfx90a", compiler_hiprtc, 512, 4, 512};
}

static const char *const presets[] = {"default", "tiny-small", "tiny-medium", "exercise", "llama-1b", "llama-8b"};
static const char *const levels[] = {"none", "ops", "tile"}; /* fusion_none.. */
static const char *const dtypes[] = {"f32", "f16", "bf16"};

typedef struct record { /* one source for one machine */
    XXH128_hash_t key;
    int machine;
    bool good;
    unsigned registers, budget, shared;
    double seconds;
    char *label, *why;
    long uses; /* kernels of this run's plans that are this source; 0: known from an earlier run only */
} record;

typedef struct combination {
    int machine;
    const char *spec; /* path */
    int preset, level, dtype;
} combination;

typedef struct sweep {
    const char *folder;
    char *const *filters;
    int filter_count;
    char *identities[machine_count]; /* NULL: no such compiler here */
    bool libclang;
    combination *list;
    size_t count, done;
    long plans[machine_count], refused[machine_count];
    record *records; /* open addressing by key; uses < 0: no record */
    size_t capacity, known;
    FILE *results;
    double start, shown;
    pthread_mutex_t lock; /* everything from done on */
} sweep;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- records */
static record *slot(sweep *s, XXH128_hash_t key)
{
    size_t at = key.low64 % s->capacity;
    while (s->records[at].uses >= 0 && !XXH128_isEqual(s->records[at].key, key)) at = (at + 1) % s->capacity;
    return &s->records[at];
}

static void make_room(sweep *s)
{
    if (2 * (s->known + 1) < s->capacity) return;
    const size_t old = s->capacity;
    record *before = s->records;
    s->capacity = old ? 2 * old : 4096;
    s->records = malloc(s->capacity * sizeof *s->records);
    if (!s->records) abort();
    for (size_t i = 0; i < s->capacity; i++) s->records[i] = (record){.uses = -1};
    for (size_t i = 0; i < old; i++)
        if (before[i].uses >= 0) *slot(s, before[i].key) = before[i];
    free(before);
}

/* True if the caller must judge this source: nobody has yet, or it failed in an earlier run. */
static bool claim(sweep *s, XXH128_hash_t key, int machine)
{
    pthread_mutex_lock(&s->lock);
    make_room(s);
    record *r = slot(s, key);
    const bool fresh = r->uses < 0;
    if (fresh) *r = (record){.key = key, .machine = machine, .good = true}, s->known++;
    const bool mine = fresh || (r->uses == 0 && !r->good);
    r->uses++;
    pthread_mutex_unlock(&s->lock);
    return mine;
}

static void write_record(FILE *out, const record *r)
{
    fprintf(out, "%016" PRIx64 "%016" PRIx64 "\t%s\t%s\t%u\t%u\t%u\t%.3f\t%s\t", r->key.high64, r->key.low64, machines[r->machine].label,
            r->good ? "good" : "FAILED", r->registers, r->budget, r->shared, r->seconds, r->label);
    for (const char *c = r->why; *c; c++) fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
    fputc('\n', out);
    fflush(out);
}

static void keep(sweep *s, const record *made)
{
    pthread_mutex_lock(&s->lock);
    record *r = slot(s, made->key);
    const long uses = r->uses;
    *r = *made;
    r->uses = uses;
    write_record(s->results, r);
    pthread_mutex_unlock(&s->lock);
}

/* Lines of earlier runs; the last of a key counts, a torn one does not. */
static void read_results(sweep *s, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) > 0) {
        record r = {.uses = 0};
        char label[40], state[16];
        int at = 0, m = 0;
        if (sscanf(line, "%16" SCNx64 "%16" SCNx64 "\t%39s\t%15s\t%u\t%u\t%u\t%lf\t%n", &r.key.high64, &r.key.low64, label, state,
                   &r.registers, &r.budget, &r.shared, &r.seconds, &at) != 8 ||
            !at || !strchr(line, '\n'))
            continue;
        while (m < machine_count && strcmp(machines[m].label, label)) m++;
        if (m == machine_count) continue;
        r.machine = m;
        r.good = !strcmp(state, "good");
        r.label = strndup(line + at, strcspn(line + at, "\t\n"));
        r.why = strdup("");
        make_room(s);
        record *to = slot(s, r.key);
        s->known += to->uses < 0;
        *to = r;
    }
    free(line);
    if (f) fclose(f);
}

/* ---- one source */
typedef struct unit {
    const char *file, *source;
    libclang_expected plan;
    int threads;
} unit;

/* The source without comments at line ends, #line and the kernel's own names, so that the same kernel of two plans or levels is compiled
 * once. */
static char *canonical(arena *a, const unit *u)
{
    char *out = arena_alloc(a, strlen(u->source) + 1), *to = out;
    const size_t name = strlen(u->plan.kernel);
    for (const char *line = u->source, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (!strncmp(line, "#line", 5) || !strncmp(line, "//", 2)) continue;
        const char *comment = memmem(line, (size_t)(end - line), " // ", 4), *stop = comment ? comment : end;
        for (const char *c = line; c < stop;) {
            const bool starts = c == line || !(isalnum((unsigned char)c[-1]) || c[-1] == '_');
            if (starts && !strncmp(c, u->plan.kernel, name) && c[name] == '_') /* the kernel, its struct, its tables */
                c += name, *to++ = 'K';
            else
                *to++ = *c++;
        }
        *to++ = '\n';
    }
    return out;
}

static XXH128_hash_t key_of(arena *a, const sweep *s, int machine, const unit *u)
{
    const char *text =
        arena_printf(a, "1 %s %s %s %u %d %d\n%s", machines[machine].label, s->identities[machine], s->libclang ? "libclang" : "",
                     u->plan.argument_bytes, u->plan.shared_bytes, u->threads, canonical(a, u));
    return XXH3_128bits(text, strlen(text));
}

/* Registers that a lane may have so that the whole workgroup is resident. */
static unsigned budget_of(const machine *m, int threads, int wave)
{
    const unsigned waves = ((unsigned)threads + (unsigned)wave - 1) / (unsigned)wave, each = (waves + m->simds - 1) / m->simds;
    const unsigned budget = m->registers / (each ? each : 1) / 8 * 8;
    return budget < m->most ? budget : m->most;
}

/* The first fact of the code object that differs from the plan; "" if none does. */
static const char *judge_facts(arena *a, const unit *u, const code_result *c, unsigned budget)
{
    const libclang_expected *plan = &u->plan;
    if (c->n_kernels != 1 || strcmp(c->kernels[0].name, plan->symbol)) return "the code object has not just this kernel";
    const kernel_facts *f = &c->kernels[0];
    if (f->scratch_bytes) return arena_printf(a, "%u bytes of scratch", f->scratch_bytes);
    if (f->vgpr_spills) return arena_printf(a, "%u vector spills", f->vgpr_spills);
    if (f->vgprs > budget) return arena_printf(a, "%u registers, the budget is %u", f->vgprs, budget);
    if (f->kernarg_bytes != plan->argument_bytes)
        return arena_printf(a, "%u bytes of arguments, the plan has %u", f->kernarg_bytes, plan->argument_bytes);
    /* a variable that is never used is not laid out */
    if (f->lds_bytes && f->lds_bytes != (unsigned)plan->shared_bytes)
        return arena_printf(a, "%u bytes of shared memory, the plan has %d", f->lds_bytes, plan->shared_bytes);
    if (f->max_threads && f->max_threads < (unsigned)u->threads)
        return arena_printf(a, "at most %u threads, the plan has %d", f->max_threads, u->threads);
    return "";
}

static const char *judge_parse(arena *a, const code_request *q, const unit *u)
{
    libclang_facts f;
    char *log;
    const code_status status = libclang_check(q->source, q->size, q->name, q->arch, 0, &f, &log);
    char *report = libclang_report(&f, NULL), *differs = status == build_ok ? libclang_difference(&f, &u->plan) : NULL;
    const char *why = "";
    if (status == build_failed || (report && *report)) why = arena_printf(a, "libclang: %s%s", report ? report : "", log ? log : "");
    if (differs) why = arena_printf(a, "libclang: %s", differs);
    free(report);
    free(differs);
    free(log);
    libclang_facts_free(&f);
    return why;
}

static void save(arena *a, const sweep *s, XXH128_hash_t key, const char *ending, const char *text)
{
    FILE *f = fopen(arena_printf(a, "%s/failed/%016" PRIx64 "%016" PRIx64 ".%s", s->folder, key.high64, key.low64, ending), "w");
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

static void judge(arena *a, sweep *s, const combination *c, const target_info *target, const unit *u, XXH128_hash_t key)
{
    const machine *m = &machines[c->machine];
    const char *spec = strrchr(c->spec, '/') ? strrchr(c->spec, '/') + 1 : c->spec;
    const code_request q = {.source = u->source, .size = strlen(u->source), .name = u->file, .arch = m->arch, .compiler = m->kind};
    record r = {.key = key, .machine = c->machine, .budget = budget_of(m, u->threads, target->wave)};
    code_result made;
    const double began = now();
    const char *why = "";
    if (s->libclang && m->kind != compiler_hiprtc) why = judge_parse(a, &q, u);
    code_compile(&q, &made);
    if (made.status != build_ok)
        why = made.log && *made.log ? arena_strdup(a, made.log) : "not compiled";
    else if (!*why && made.log && *made.log)
        why = arena_printf(a, "the compiler says: %s", made.log);
    else if (!*why)
        why = judge_facts(a, u, &made, r.budget);
    if (made.n_kernels) r.registers = made.kernels[0].vgprs, r.shared = made.kernels[0].lds_bytes;
    code_result_free(&made);
    r.seconds = now() - began;
    r.good = !*why;
    r.label = printed("%.*s %s %s %s %s", (int)strcspn(spec, "."), spec, presets[c->preset], levels[c->level], dtypes[c->dtype],
                      u->plan.kernel);
    r.why = strndup(why, 300);
    if (!r.good) save(a, s, key, "hip", u->source), save(a, s, key, "log", why);
    keep(s, &r);
}

/* ---- one plan */
static unit unit_of_pack(arena *a, const packed_weight *k)
{
    return (unit){arena_printf(a, "%s.hip", k->name),
                  source_join(a, &k->source),
                  {k->name, name_marked(a, k->name, name_value), k->arguments, k->argument_count, k->argument_bytes, pack_shared_bytes},
                  k->threads};
}

static unit unit_of_launch(arena *a, const launch *l)
{
    return (unit){l->file,
                  source_join(a, &l->source),
                  {l->name, name_marked(a, l->name, name_value), l->arguments, l->argument_count, l->argument_bytes, l->shared_bytes},
                  l->threads};
}

static char *read_text(arena *a, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = arena_alloc(a, 1 << 20);
    *size = f ? fread(text, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return text;
}

static void judge_once(arena *a, sweep *s, const combination *c, const target_info *target, const unit *u)
{
    const XXH128_hash_t key = key_of(a, s, c->machine, u);
    if (claim(s, key, c->machine)) judge(a, s, c, target, u, key);
}

static void refuse(sweep *s, const combination *c, const char *why)
{
    pthread_mutex_lock(&s->lock);
    s->refused[c->machine]++;
    fprintf(stderr, "%s %s %s %s %s: %s", machines[c->machine].label, c->spec, presets[c->preset], levels[c->level], dtypes[c->dtype], why);
    pthread_mutex_unlock(&s->lock);
}

static void step(sweep *s)
{
    pthread_mutex_lock(&s->lock);
    s->done++;
    if (now() - s->shown > 10) {
        s->shown = now();
        fprintf(stderr, "%zu of %zu plans, %zu sources, %.0f s\n", s->done, s->count, s->known, s->shown - s->start);
    }
    pthread_mutex_unlock(&s->lock);
}

static void do_combination(void *context, size_t i)
{
    sweep *s = context;
    const combination *c = &s->list[i];
    arena *a = arena_new();
    compiled made;
    compile_request r = {.name = c->spec, .target = machines[c->machine].arch, .level = (fusion_level)c->level};
    if (!a) return refuse(s, c, "no memory\n");
    r.text = read_text(a, c->spec, &r.size);
    r.graph = (graph_options){.preset = c->preset ? presets[c->preset] : NULL, .dtype = dtypes[c->dtype]};
    if (compile(a, &r, &made) != code_ok) {
        if (!strstr(arena_diagnostics(a), "there is no preset")) refuse(s, c, arena_diagnostics(a));
    } else {
        pthread_mutex_lock(&s->lock);
        s->plans[c->machine]++;
        pthread_mutex_unlock(&s->lock);
        for (int k = 0; k < made.plan->pack_count; k++) {
            const unit u = unit_of_pack(a, &made.plan->packs[k]);
            judge_once(a, s, c, made.plan->target, &u);
        }
        for (int k = 0; k < made.plan->launch_count; k++) {
            const unit u = unit_of_launch(a, &made.plan->launches[k]);
            judge_once(a, s, c, made.plan->target, &u);
        }
    }
    arena_free(a);
    step(s);
}

/* ---- all of them */
/* Whether KEY=LIST among the filters, when there is one, has the name. */
static bool chosen(const sweep *s, const char *key, const char *name, size_t length)
{
    for (int i = 0; i < s->filter_count; i++) {
        const size_t k = strlen(key);
        if (strncmp(s->filters[i], key, k) || s->filters[i][k] != '=') continue;
        for (const char *p = s->filters[i] + k + 1; *p; p += strcspn(p, ","), p += *p == ',')
            if (strcspn(p, ",") == length && !strncmp(p, name, length)) return true;
        return false;
    }
    return true;
}

static bool chosen_name(const sweep *s, const char *key, const char *name) { return chosen(s, key, name, strlen(name)); }

static void list_one_spec(sweep *s, int machine, const char *path)
{
    for (int p = 0; p < (int)(sizeof presets / sizeof *presets); p++)
        for (int l = 0; l < 3; l++)
            for (int d = 0; d < 3; d++)
                if (chosen_name(s, "presets", presets[p]) && chosen_name(s, "levels", levels[l]) && chosen_name(s, "dtypes", dtypes[d]))
                    s->list[s->count++] = (combination){machine, path, p, l, d};
}

static void list_combinations(sweep *s, const glob_t *specs)
{
    s->list = calloc((size_t)machine_count * specs->gl_pathc * 6 * 9 + 1, sizeof *s->list);
    for (size_t i = 0; s->list && i < specs->gl_pathc; i++) {
        const char *path = specs->gl_pathv[i], *base = strrchr(path, '/') + 1;
        for (int m = 0; m < machine_count; m++)
            if (s->identities[m] && chosen(s, "specs", base, strcspn(base, "."))) list_one_spec(s, m, path);
    }
}

typedef struct total {
    long kernels, sources, failed;
    const record *most_registers, *most_shared;
} total;

static total total_of(const sweep *s, int machine)
{
    total t = {0};
    for (size_t i = 0; i < s->capacity; i++) {
        const record *r = &s->records[i];
        if (r->uses <= 0 || r->machine != machine) continue;
        t.kernels += r->uses;
        t.sources++;
        t.failed += !r->good;
        if (!t.most_registers || (long)r->registers * t.most_registers->budget > (long)t.most_registers->registers * r->budget)
            t.most_registers = r; /* the largest share of their budget */
        if (!t.most_shared || r->shared > t.most_shared->shared) t.most_shared = r;
    }
    return t;
}

static long report_machine(const sweep *s, int m, FILE *table)
{
    const machine *x = &machines[m];
    const total t = total_of(s, m);
    if (!s->identities[m]) {
        printf("%s: skipped: no compiler for it here\n", x->label);
        fprintf(table, "| %s | skipped: no compiler | | | | | |\n", x->label);
        return 0;
    }
    if (!t.sources) return printf("%s: nothing planned, %ld plans refused\n", x->label, s->refused[m]), s->refused[m];
    printf("%s: %ld plans, %ld kernels, %ld distinct, %ld failed, %ld plans refused; most registers %u of %u (%s)\n", x->label, s->plans[m],
           t.kernels, t.sources, t.failed, s->refused[m], t.most_registers->registers, t.most_registers->budget, t.most_registers->label);
    fprintf(table, "| %s | %ld | %ld | %ld | %ld | %u of %u: %s | %u: %s |\n", x->label, s->plans[m], t.kernels, t.sources,
            t.failed + s->refused[m], t.most_registers->registers, t.most_registers->budget, t.most_registers->label,
            t.most_shared->shared, t.most_shared->label);
    return t.failed + s->refused[m];
}

static long report(const sweep *s)
{
    char *path = printed("%s/summary.md", s->folder);
    FILE *table = fopen(path, "w");
    long bad = 0;
    free(path);
    if (!table) return perror("summary.md"), 1;
    fputs("| target | plans | kernels | distinct | failed | most registers | most shared memory |\n|---|---|---|---|---|---|---|\n", table);
    for (int m = 0; m < machine_count; m++)
        if (chosen_name(s, "targets", machines[m].label)) bad += report_machine(s, m, table);
    fclose(table);
    for (size_t i = 0; i < s->capacity; i++)
        if (s->records[i].uses > 0 && !s->records[i].good)
            printf("FAILED %s %s: %.200s\n", machines[s->records[i].machine].label, s->records[i].label, s->records[i].why);
    return bad;
}

static bool begin(sweep *s)
{
    char *failed = printed("%s/failed", s->folder), *results = printed("%s/results.tsv", s->folder), *clang = libclang_find();
    bool ok = (!mkdir(s->folder, 0777) || errno == EEXIST) && (!mkdir(failed, 0777) || errno == EEXIST);
    make_room(s);
    read_results(s, results);
    s->results = ok ? fopen(results, "a") : NULL;
    s->libclang = clang != NULL;
    s->start = s->shown = now();
    for (int m = 0; m < machine_count; m++)
        if (chosen_name(s, "targets", machines[m].label)) s->identities[m] = code_compiler_identity(machines[m].arch, machines[m].kind);
    free(clang);
    free(failed);
    free(results);
    return s->results != NULL;
}

int main(int argc, char **argv)
{
    list_machines();
    glob_t specs;
    if (argc < 3) return fprintf(stderr, "usage: verify_code OUTDIR JOBS [targets=|specs=|presets=|levels=|dtypes=LIST]...\n"), 2;
    sweep s = {.folder = argv[1], .filters = argv + 3, .filter_count = argc - 3, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (!begin(&s)) return fprintf(stderr, "%s: %s\n", s.folder, strerror(errno)), 7;
    if (glob("specs/*.yaml", 0, NULL, &specs)) return fprintf(stderr, "no specs/*.yaml here\n"), 2;
    list_combinations(&s, &specs);
    run_parallel(s.count, atoi(argv[2]), do_combination, &s);
    const long bad = report(&s);
    printf("verify-code: %zu plans in %.0f s, %ld failed%s\n", s.count, now() - s.start, bad, s.libclang ? "" : "; without libclang");
    fclose(s.results);
    return bad || !s.count;
}
