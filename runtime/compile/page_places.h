/* In: an emitted kernel source, NAME.hip. Out: maps places in it, as compilers and symbolisers print them, to places in the spec. Each line
 * made from an op ends in the op's place, `// !26:5`, and the first line names the spec; a source that names no spec has no places. */
#ifndef TFGEN_PAGE_PLACES_H
#define TFGEN_PAGE_PLACES_H
#include <stddef.h>

typedef struct page_places page_places;

/* `name`: the source's name in #line and compiler messages. Lines are counted like compilers do, so the source may have been edited. NULL
 * without memory, which the functions below accept as a source without places. */
page_places *page_places_read(const char *page, size_t size, const char *name);
void page_places_free(page_places *p);
/* Joins the places of two sources with different names; the result owns `more`. Each may be NULL. */
page_places *page_places_join(page_places *p, page_places *more);

/* "specs/llama-block.yaml:26:5" for "./llama_qkv.hip:2190:12" or without the column; NULL: the line does not come from an op. The caller
 * frees it. */
char *page_places_of(const page_places *p, const char *place);

/* Adds the place in the spec to each place in the source that `log` names: before one that begins a line
 * ("specs/llama-block.yaml:26:5: llama_qkv.hip:2190:12: error: ..."), in brackets after any other. The caller frees it; NULL: no memory. */
char *page_places_log(const page_places *p, const char *log);

/* The same for one source; replaces *log, which may be NULL. */
void page_log_place(const char *page, size_t size, const char *name, char **log);
#endif
