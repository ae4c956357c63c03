/* In: options.def. Out: its rows: commands by group, options, and the meaning of each option for a command. */
#ifndef TFGEN_CLI_OPTIONS_TABLE_H
#define TFGEN_CLI_OPTIONS_TABLE_H
#include "runtime/cli/options.h"

typedef struct command_info {
    char letter;
    const char *name, *arguments, *wrong, *summary, *text, *examples[2];
} command_info;
extern const command_info all_commands[command_count];

/* Headings and the commands below them, in the order of the file. */
typedef struct group_row {
    const char *heading; /* NULL: a command */
    int command;
} group_row;
extern const group_row group_rows[];
extern const int group_row_count;

typedef struct option_info {
    const char *name;
    int key; /* below 256: the letter of its short form */
    size_t field; /* offset of its field in cli_options */
    bool has_argument;
} option_info;
enum {
#define OPTION(field, name, key, argument, commands, help) option_##field,
#include "runtime/cli/options.def"
    option_count
};
extern const option_info all_options[option_count];

typedef struct option_meaning { const char *name, *argument, *commands, *help; } option_meaning; /* argument "": a flag */
extern const option_meaning all_meanings[];
extern const int meaning_count;

int command_by_name(const char *name); /* -1: none */
bool meaning_is_for(const option_meaning *m, command_kind command);
/* The meaning of an option for a command; NULL: the command does not take it. */
const option_meaning *option_for(const option_info *o, command_kind command);
/* Additional text on an option for the man page, or NULL. */
const char *option_more(const char *name);
#endif
