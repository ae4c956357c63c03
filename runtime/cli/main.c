/* tfgen, the command. In: argv. Out: an exit code (see --help). Each command has a file beside this one. */
#include "runtime/cli/cli.h"

int main(int argc, char **argv)
{
    static int (*const mains[command_count])(const cli_options *) = {
#define COMMAND(name, letter, arguments, summary, text) [command_##name] = command_##name##_main,
#include "runtime/cli/options.def"
    };
    cli_options o;
    int code;
    if (options_parse(argc, argv, &o, &code)) code = mains[o.command](&o);
    arena_free(o.a);
    if (fflush(stdout) != 0 && code == 0) {
        perror("tfgen: standard output");
        code = code_io;
    }
    return code;
}
