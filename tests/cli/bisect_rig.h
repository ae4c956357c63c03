/* What the suites of `tfgen bisect` share: a temporary folder, kernels with an injected fault, and checks of bisect's answer. */
#ifndef TFGEN_TESTS_BISECT_RIG_H
#define TFGEN_TESTS_BISECT_RIG_H
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], *content;
static json_t *found;

static inline void open_folder(void)
{
    strcpy(folder, "/tmp/tfgen-bisect-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void close_folder(void)
{
    shell("rm -rf %s", folder);
    json_decref(found);
    found = NULL;
    free(content);
    content = NULL;
}

static inline void parse(void)
{
    json_decref(found);
    found = parsed();
}

static inline const char *path_of(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static inline void write_text(const char *file, const char *whole)
{
    FILE *f = fopen(path_of(file), "w");
    ck_assert_ptr_nonnull(f);
    fputs(whole, f);
    ck_assert_int_eq(fclose(f), 0);
}

static inline void read_text(const char *file)
{
    free(content);
    content = whole_file(path_of(file));
}

/* Replaces every `from` in the kernel's file by `to`. */
static inline void edit(const char *file, const char *from, const char *to)
{
    char *made;
    size_t size;
    read_text(file);
    FILE *f = open_memstream(&made, &size);
    const char *at = content, *next = strstr(at, from);
    ck_assert_msg(next != NULL, "'%s' is not in %s", from, file);
    for (; next; at = next + strlen(from), next = strstr(at, from)) fprintf(f, "%.*s%s", (int)(next - at), at, to);
    fputs(at, f);
    fclose(f);
    write_text(file, made);
    free(made);
}

/* `arguments`: a spec and its options, as emit and bisect both take them. */
static inline void emit_sources(const char *arguments) { ck_assert_msg(tfgen("emit %s -q -o %s", arguments, folder) == 0, "%s", output); }

static inline void find(const char *arguments, const char *options)
{
    ck_assert_msg(tfgen("bisect %s %s --replace-source=%s --json", arguments, options, folder) == 1, "%s", output);
    parse();
}

static inline void find_planted(const char *arguments, const char *options, const char *file, const char *from, const char *to)
{
    emit_sources(arguments);
    edit(file, from, to);
    find(arguments, options);
}

static inline const json_t *first(void)
{
    const json_t *o = json_object_get(found, "first");
    ck_assert_msg(o != NULL, "%s", output);
    return o;
}

/* Checks the first wrong value, its op in the spec, and that op's line. */
static inline void is_first(const char *value, const char *op, int line)
{
    ck_assert_msg(strcmp(string(first(), "value"), value) == 0, "%s instead of %s:\n%.3000s", string(first(), "value"), value, output);
    ck_assert_str_eq(string(first(), "op"), op);
    ck_assert_int_eq(integer(json_object_get(first(), "spec"), "line"), line);
}

/* Checks the reported file and that its line, at the reported number, contains `part`. */
static inline void names_line(const char *file, const char *part)
{
    const json_t *source = json_object_get(first(), "source");
    const char *said = string(source, "text");
    ck_assert_str_eq(string(source, "file"), file);
    ck_assert_msg(strstr(said, part) != NULL, "'%s' is not '%s'", said, part);
    read_text(file);
    const char *at = content;
    for (long long line = integer(source, "line"); line > 1; line--) at = strchr(at, '\n') + 1;
    ck_assert_msg(strstr(at, said) != NULL && strstr(at, said) < strchr(at, '\n'), "line %lld of %s is not '%s'", integer(source, "line"),
                  file, said);
}

static inline void lies_within(long long axis, long long low, long long high)
{
    const json_t *range = json_array_get(json_object_get(first(), "within"), (size_t)axis);
    ck_assert_int_eq(json_integer_value(json_array_get(range, 0)), low);
    ck_assert_int_eq(json_integer_value(json_array_get(range, 1)), high);
}

#define ATTENTION "specs/attention.yaml --target=host"
#define SWIGLU "specs/swiglu.yaml --target=host"
#define NORM "specs/rmsnorm.yaml --target=host"

#endif
