/* tfgen, the command. In: argv. Out: an exit code (see --help). Each command has a file beside this one. */
#include "runtime/cli/cli.h"
#include <sys/resource.h>

/* A module under the checker keeps a file open for symbolisers (runtime/host/object.c): a plan of a thousand kernels, a thousand. */
static void allow_many_files(void)
{
    const rlim_t wanted = 1 << 16;
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= wanted) return;
    r.rlim_cur = r.rlim_max < wanted ? r.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &r);
}

int main(int argc, char **argv)
{
    static int (*const mains[command_count])(const cli_options *) = {
#define COMMAND(name, letter, arguments, summary, text) [command_##name] = command_##name##_main,
#include "runtime/cli/options.def"
    };
    cli_options o;
    int code;
    allow_many_files();
    if (options_parse(argc, argv, &o, &code)) code = mains[o.command](&o);
    arena_free(o.a);
    if (fflush(stdout) != 0 && code == 0) {
        perror("tfgen: standard output");
        code = code_io;
    }
    return code;
}
