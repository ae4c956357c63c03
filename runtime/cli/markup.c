/* In: markup.h. Out: escaped text. Refuses nothing. */
#include "runtime/cli/markup.h"
#include <string.h>

void markup_put(text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '<') text_printf(t, "&lt;");
        else if (*s == '>') text_printf(t, "&gt;");
        else if (*s == '&') text_printf(t, "&amp;");
        else if (*s == '"') text_printf(t, "&quot;");
        else text_append(t, s, 1);
    }
}

void csv_put(text *t, const char *s)
{
    if (!s[strcspn(s, ",\"\r\n")]) {
        text_printf(t, "%s", s);
        return;
    }
    text_printf(t, "\"");
    for (; *s; s++) text_printf(t, *s == '"' ? "\"\"" : "%c", *s);
    text_printf(t, "\"");
}
