/* Escaped text and styles. Contract: markup.h. */
#include "runtime/cli/page/markup.h"
#include <string.h>

void markup_put(text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '<') text_printf(t, "&lt;");
        else if (*s == '>') text_printf(t, "&gt;");
        else if (*s == '&') text_printf(t, "&amp;");
        else if (*s == '"') text_printf(t, "&quot;");
        else if ((unsigned char)*s >= ' ') text_append(t, s, 1);
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

/* ---- colours: for the light theme, for the dark theme; each is readable on paper, card and band */
static const struct {
    const char *name, *of[2];
} palette[] = {
    [markup_ink] = {"ink", {"#1a1d21", "#e6e8ea"}},    [markup_dim] = {"dim", {"#5a626c", "#a2abb5"}},
    [markup_paper] = {"paper", {"#fbfbfa", "#121417"}}, [markup_card] = {"card", {"#fff", "#1a1d21"}},
    [markup_line] = {"line", {"#d9dce0", "#343a41"}},  [markup_band] = {"band", {"#eef1f5", "#23282e"}},
    [markup_idle] = {"idle", {"#c3cad3", "#4a525c"}},  [markup_link] = {"link", {"#0b57c4", "#8ab8ff"}},
    [markup_hot] = {"hot", {"#b3261e", "#ff9c94"}},    [markup_good] = {"good", {"#1f7044", "#69c493"}},
    [markup_hue] = {"h0", {"#2f62a8", "#7fb0f5"}},     [markup_hue + 1] = {"h1", {"#b04c14", "#f2935c"}},
    [markup_hue + 2] = {"h2", {"#1f7a48", "#69c493"}}, [markup_hue + 3] = {"h3", {"#8a4fbf", "#c59af0"}},
    [markup_hue + 4] = {"h4", {"#b3261e", "#ff8f86"}}, [markup_hue + 5] = {"h5", {"#0b7380", "#5cc7d4"}},
    [markup_hue + 6] = {"h6", {"#8a6000", "#dbb04a"}}, [markup_hue + 7] = {"h7", {"#646b78", "#a3abb8"}}};
_Static_assert(sizeof palette / sizeof *palette == markup_hue + markup_hues, "a colour each");

static const char *const around[2][2] = {{"", ""}, {"@media (prefers-color-scheme: dark){", "}"}};

void markup_rules(text *t, const markup_rule *rules, size_t count)
{
    text_printf(t, ":root{color-scheme:light dark}");
    for (int dark = 0; dark < 2; dark++) {
        text_printf(t, "%s", around[dark][0]);
        for (size_t i = 0; i < count; i++)
            text_printf(t, "%s{%s:%s}", rules[i].selector, rules[i].property, palette[rules[i].colour].of[dark]);
        text_printf(t, "%s", around[dark][1]);
    }
}

void markup_variables(text *t)
{
    for (int dark = 0; dark < 2; dark++) {
        text_printf(t, "%s:root{%s", around[dark][0], dark ? "" : "color-scheme:light dark;");
        for (size_t i = 0; i < sizeof palette / sizeof *palette; i++) text_printf(t, "--%s:%s;", palette[i].name, palette[i].of[dark]);
        text_printf(t, "}%s", around[dark][1]);
    }
}
