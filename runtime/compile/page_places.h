/* In: an emitted page, NAME.hip. Out: for places in it, as compilers and symbolisers say them, the places in the spec: each line that comes
 * from an op ends in its own, `// !26:5`, and the page's first line names the spec. A page that names no spec has none. */
#ifndef TFGEN_PAGE_PLACES_H
#define TFGEN_PAGE_PLACES_H
#include <stddef.h>

typedef struct page_places page_places;

/* `name` as #line and compilers have it. Lines count as they do for compilers, so the page may have been edited. Without memory: NULL,
 * which the functions below take for a page without places. */
page_places *page_places_read(const char *page, size_t size, const char *name);
void page_places_free(page_places *p);
/* Places of both, whose pages differ in name: `more` belongs to the result. Each may be NULL. */
page_places *page_places_join(page_places *p, page_places *more);

/* "specs/llama-block.yaml:26:5" for "./llama_qkv.hip:2190:12" or without the column; NULL: it is none of the page's lines that come from an
 * op. The caller frees it. */
char *page_places_of(const page_places *p, const char *place);

/* A message with the place in the spec wherever it has one in the page: ahead of what its line begins with
 * ("specs/llama-block.yaml:26:5: llama_qkv.hip:2190:12: error: ..."), in brackets behind others. The caller frees it; NULL: no memory. */
char *page_places_log(const page_places *p, const char *log);

/* The same of one page and one log, which is replaced; it may be NULL. */
void page_log_place(const char *page, size_t size, const char *name, char **log);
#endif
