/* In: options.def. Out: its tables. tests/cli/test_help.c checks that each option has one meaning per command. */
#include "runtime/cli/options_table.h"
#include <string.h>

const command_info all_commands[command_count] = {
#define COMMAND(name, letter, arguments, wrong, summary, text, example, another) \
    {letter, #name, arguments, wrong, summary, text, {example, another}},
#include "runtime/cli/options.def"
};

const group_row group_rows[] = {
#define GROUP(heading) {heading, 0},
#define COMMAND(name, ...) {NULL, command_##name},
#include "runtime/cli/options.def"
};
const int group_row_count = sizeof group_rows / sizeof *group_rows;

const option_info all_options[option_count] = {
#define OPTION(field, name, key, argument, commands, help) {name, key, offsetof(cli_options, field), sizeof(argument) > 1},
#include "runtime/cli/options.def"
};

const option_meaning all_meanings[] = {
#define OPTION(field, name, key, argument, commands, help) {name, argument, commands, help},
#define ALSO(name, argument, commands, help) {name, argument, commands, help},
#include "runtime/cli/options.def"
};
const int meaning_count = sizeof all_meanings / sizeof *all_meanings;

int command_by_name(const char *name)
{
    for (int c = 0; c < command_count; c++)
        if (strcmp(name, all_commands[c].name) == 0) return c;
    return -1;
}

bool meaning_is_for(const option_meaning *m, command_kind command) { return strchr(m->commands, all_commands[command].letter) != NULL; }

const option_meaning *option_for(const option_info *o, command_kind command)
{
    for (int i = 0; i < meaning_count; i++)
        if (strcmp(all_meanings[i].name, o->name) == 0 && meaning_is_for(&all_meanings[i], command)) return &all_meanings[i];
    return NULL;
}

const char *option_more(const char *name)
{
    static const char *const more[][2] = {
#define MORE(name, text) {name, text},
#include "runtime/cli/options.def"
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(more[i][0], name) == 0) return more[i][1];
    return NULL;
}
