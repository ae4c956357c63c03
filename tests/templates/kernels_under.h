/* Compiles kernels written by hand, which follow the templates' own texts, for the host engine. */
#ifndef TEST_KERNELS_UNDER_H
#define TEST_KERNELS_UNDER_H
#include "gen/source/template_text.h"
#include "tests/host/test_host_common.h"

static inline char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *data = calloc(1, 1 << 20);
    ck_assert_uint_lt(fread(data, 1, 1 << 20, f), 1 << 20);
    fclose(f);
    return data;
}

/* The kernels of a file, compiled after the texts of these templates. */
static inline host_module *kernels_under(const char *head, const char *const *templates, size_t count, const char *path)
{
    arena *a = arena_new();
    struct text source = {.a = a};
    text_printf(&source, "%s", head);
    template_choice choice = {0};
    for (size_t k = 0; k < count; k++) template_choose(&choice, templates[k]);
    for (int i = 0; i < template_count; i++)
        if (choice.has[i]) template_append(&source, (template_id)i, false);
    char *own = slurp(path);
    ck_assert_ptr_nonnull(own);
    text_printf(&source, "#line 1 \"%s\"\n%s", path, own);
    free(own);
    const host_compile_options o = {.name = strrchr(path, '/') + 1, .cache_dir = cache, .optimise = -1};
    host_log log = {0};
    host_module *m = NULL;
    const host_status s = host_compile(source.data, source.size, &o, &m, &log);
    ck_assert_msg(s == HOST_OK && log.size == 0, "%s: %s", host_status_name(s), log.text ? log.text : "");
    host_log_free(&log);
    arena_free(a);
    return m;
}
#endif
