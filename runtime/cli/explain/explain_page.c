/* In: an explanation as JSON. Out: page.html with the JSON, the common style and the scripts: a self-contained file. Nothing in the JSON
 * can end the element that contains it. */
#include "runtime/cli/explain/explanation.h"
#include "ir/base/embed.h"
#include "runtime/cli/page/page.h"
#include <string.h>

EMBED_FILE(tfgen_explain_page, "runtime/cli/explain/page.html");
EMBED_FILE(tfgen_explain_drawing, "runtime/cli/explain/drawing.js");
EMBED_FILE(tfgen_explain_script, "runtime/cli/explain/page.js");

/* Appends JSON with '<' escaped: it occurs only in strings, where the escape is valid. */
static void append_harmless(text *t, const char *json)
{
    while (*json) {
        const size_t n = strcspn(json, "<");
        text_append(t, json, n);
        json += n;
        if (*json) text_append(t, "\\u003c", 6), json++;
    }
}

/* Appends the page up to the mark; returns the position after it. */
static const char *append_until(text *t, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    text_append(t, page, (size_t)(at - page));
    return at + strlen(mark);
}

void explain_page(arena *a, const char *path, const json_t *all)
{
    text page = {.a = a};
    const char *rest = append_until(&page, tfgen_explain_page, "@STYLE@");
    page_style(&page);
    rest = append_until(&page, rest, "@DATA@");
    append_harmless(&page, cli_json_text(a, all, JSON_COMPACT));
    rest = append_until(&page, rest, "@SCRIPT@");
    text_printf(&page, "%s%s", tfgen_explain_drawing, tfgen_explain_script);
    text_append(&page, rest, strlen(rest));
    cli_write_file(a, path, page.data, page.size);
}
