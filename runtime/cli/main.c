/* tfgen, the command. In: argv. Out: an exit code (see --help). Each command has a file in this folder. */
#include "runtime/cli/cli.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

/* With the memory checker the host engine keeps a file open per kernel for symbolisers (runtime/host/object.c): a plan may need
 * thousands. */
static void allow_many_files(void)
{
    const rlim_t wanted = 1 << 16;
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= wanted) return;
    r.rlim_cur = r.rlim_max < wanted ? r.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Output longer than a buffer may have failed in an earlier write, on a full disk; fflush() then returns 0, so ferror() is checked too. */
static bool printed_all(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    fprintf(stderr, "tfgen: standard output: %s\n", errno ? strerror(errno) : "not all could be written");
    return false;
}

int main(int argc, char **argv)
{
    static int (*const mains[command_count])(const cli_options *) = {
#define COMMAND(name, ...) [command_##name] = command_##name##_main,
#include "runtime/cli/options.def"
    };
    cli_options o;
    int code;
    allow_many_files();
    signal(SIGXFSZ, SIG_IGN); /* a file size limit then is an error with a message */
    if (options_parse(argc, argv, &o, &code)) code = mains[o.command](&o);
    const bool printed = printed_all();
    if (code == code_usage && o.help) fprintf(stderr, "Try '%s'.\n", o.help);
    arena_free(o.a);
    return code == code_ok && !printed ? code_io : code;
}
