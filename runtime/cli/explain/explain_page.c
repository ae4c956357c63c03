/* In: an explanation as JSON. Out: page.html with it inside: one file that needs no other. Refuses nothing; what is in the JSON cannot end
 * the element that holds it. */
#include "runtime/cli/explain/explanation.h"
#include <stdlib.h>
#include <string.h>

__asm__(".pushsection .rodata\n.hidden tfgen_explain_page\n.global tfgen_explain_page\ntfgen_explain_page:\n"
        ".incbin \"runtime/cli/explain/page.html\"\n.byte 0\n.popsection\n");
extern const char tfgen_explain_page[] __attribute__((visibility("hidden")));

/* In JSON a '<' stands in strings alone, where it may be written so. */
static void append_harmless(text *t, const char *json)
{
    while (*json) {
        const size_t n = strcspn(json, "<");
        text_append(t, json, n);
        json += n;
        if (*json) text_append(t, "\\u003c", 6), json++;
    }
}

void explain_page(arena *a, const char *path, const json_t *all)
{
    static const char mark[] = "@DATA@";
    const char *at = strstr(tfgen_explain_page, mark);
    text page = {.a = a};
    text_append(&page, tfgen_explain_page, (size_t)(at - tfgen_explain_page));
    append_harmless(&page, cli_json_text(a, all, JSON_COMPACT));
    text_append(&page, at + strlen(mark), strlen(at + strlen(mark)));
    cli_write_file(a, path, page.data, page.size);
}
