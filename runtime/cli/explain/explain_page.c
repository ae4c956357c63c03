/* In: an explanation as JSON. Out: page.html with it and the colours of markup.h inside: one file that needs no other. Refuses nothing;
 * what is in the JSON cannot end the element that holds it. */
#include "runtime/cli/explain/explanation.h"
#include "runtime/cli/markup.h"
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

/* What stands ahead of the mark; behind it. */
static const char *append_until(text *t, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    text_append(t, page, (size_t)(at - page));
    return at + strlen(mark);
}

void explain_page(arena *a, const char *path, const json_t *all)
{
    text page = {.a = a};
    const char *rest = append_until(&page, tfgen_explain_page, "@COLOURS@");
    markup_variables(&page);
    rest = append_until(&page, rest, "@DATA@");
    append_harmless(&page, cli_json_text(a, all, JSON_COMPACT));
    text_append(&page, rest, strlen(rest));
    cli_write_file(a, path, page.data, page.size);
}
